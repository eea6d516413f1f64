// What a cell of a heatmap says, and what the picture says to those who do not see it.

import { largest, signOf } from "../shared/numbers.js";

// What a cell says, in lines: its tokens, then a line a number.
export function linesOf({ queries, keys, numbers, weights }, { row, column }) {
  const count = queries.length * keys.length;
  const values = numbers.map(({ name, signed }, layer) => {
    const value = weights[layer * count + row * keys.length + column];
    return `${name} ${signOf(value, signed)}${Math.abs(value).toFixed(4)}`;
  });
  return [`query ${row + 1} · ${queries[row]}`, `looks at key ${column + 1} · ${keys[column]}`, ...values];
}

const NAMED = 5; // strongest cells named

// The strongest cells in a sentence, for those who do not see the picture. What special tokens give each other is left
// out where there is anything else: it is often the largest and says nothing of the text.
export function described({ queries, keys, numbers: [{ name, signed }], weights, special_queries, special_keys }) {
  const [ofQueries, ofKeys] = [new Set(special_queries), new Set(special_keys)];
  const others = ofQueries.size < queries.length || ofKeys.size < keys.length;
  const leavesOut = others && ofQueries.size > 0 && ofKeys.size > 0;
  const placeOf = (at) => [Math.floor(at / keys.length), at % keys.length];
  const skips = (at) => {
    const [query, key] = placeOf(at);
    return leavesOut && ofQueries.has(query) && ofKeys.has(key);
  };
  const strongest = largest(weights, NAMED, { to: queries.length * keys.length, skips });
  const but = leavesOut ? ", leaving out what special tokens give each other" : "";
  const phrases = strongest.map((at) => {
    const [query, key] = placeOf(at);
    const verb = signed ? "at" : "looks at"; // a difference says who looks more, not where one looks
    return `${named(queries, query)} ${verb} ${named(keys, key)}, ${signOf(weights[at], signed)}${
      short(Math.abs(weights[at]))
    }`;
  });
  return phrases.length ? `Strongest by ${name}${but}: ${phrases.join("; ")}.` : `All cells are zero${but}.`;
}

// A token, with its place where others read the same.
function named(tokens, place) {
  const alone = tokens.indexOf(tokens[place]) === tokens.lastIndexOf(tokens[place]);
  return alone ? tokens[place] : `${tokens[place]} (${place + 1})`;
}

// Two places after the point, and as many as two digits take that count.
const short = (value) =>
  value.toFixed(value >= 0.095 || value === 0 ? 2 : Math.min(1 - Math.floor(Math.log10(value)), 9));
