// Weights of words: those of a word as a query or a key, and which of them is worth seeing first.
//
// A word is {side: "query" | "key", index}. Weights are whole numbers up to FULL, `limits` of the data.

import { clamp, decimal } from "../shared/numbers.js";

export const FULL = 65535;

export const wordsOf = ({ queries, keys }, side) => (side === "query" ? queries : keys ?? queries);
export const other = (side) => (side === "query" ? "key" : "query");

// One matrix's weights between a word and all words of the other side.
export function weightsOf({ weights, queries, keys }, matrix, { side, index }) {
  const [n, m] = [queries.length, (keys ?? queries).length];
  const start = matrix * n * m;
  if (side === "query") return weights.subarray(start + index * m, start + (index + 1) * m);
  return Uint16Array.from({ length: n }, (_, query) => weights[start + query * m + index]);
}

// The place of a weight on a scale of so many colours that follows its square root.
export const shadeOf = (weight, shades) => clamp(Math.round(Math.sqrt(weight / FULL) * (shades - 1)), 0, shades - 1);

// A weight as it is written; "" where it is less than a hundredth of the scale, rounded.
export function written({ shares, limits }, matrix, weight) {
  const percent = Math.round((100 * weight) / FULL);
  if (percent === 0) return "";
  if (shares) return `${percent}%`;
  const number = decimal((weight / FULL) * limits[matrix], limits[matrix]);
  return Number(number) === 0 ? "" : number;
}

// What may be of a pair that is worth seeing: whole words before pieces of some, and both before all other tokens.
export const hasLetters = ({ text }) => /[\p{L}\p{N}]/u.test(text);
const isWord = (word) => !word.special && hasLetters(word);
const isWhole = (word, at, words) => {
  const next = words[at + 1];
  return isWord(word) && word.space && !(next && !next.space && hasLetters(next));
};
const isAny = () => true;

// The pair {query, key} of two different words with the largest weight in a matrix, or of any tokens where there are no
// words; with a `chosen` query its own.
export function worthSeeing(data, matrix) {
  const [queries, keys] = ["query", "key"].map((side) => wordsOf(data, side));
  for (const [mayLook, mayBeSeen] of [[isWhole, isWhole], [isWord, isWord], [isWord, isAny], [isAny, isAny]]) {
    const pair = strongest(data, matrix, queries.map(mayLook), keys.map(mayBeSeen));
    if (pair) return pair;
  }
  return null; // there are no words
}

function strongest(data, matrix, mayLook, mayBeSeen) {
  let [best, pair] = [-1, null];
  mayLook.forEach((may, query) => {
    if (data.chosen === null ? !may : query !== data.chosen) return;
    const weights = weightsOf(data, matrix, { side: "query", index: query });
    for (let key = 0; key < weights.length; key++) {
      if (weights[key] <= best || !mayBeSeen[key]) continue;
      if (data.keys === null && key === query && weights.length > 1) continue;
      [best, pair] = [weights[key], { query, key }];
    }
  });
  return pair;
}
