// Weights of words: those of a word as a query or a key, and which of them is worth seeing first.
//
// A word is {side: "query" | "key", index}. Weights are whole numbers up to FULL, `limits` of the data.

import { clamp } from "../shared/numbers.js";

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

// A weight as it is written; "" where it is too small to matter.
export function written({ shares, limits }, matrix, weight) {
  const value = (weight / FULL) * limits[matrix];
  if (shares) return value >= 0.005 ? `${Math.round(100 * value)}%` : "";
  return weight >= 0.01 * FULL ? value.toFixed(2) : "";
}

const isWord = ({ special, text }) => !special && /[\p{L}\p{N}]/u.test(text);

// The pair {query, key} of two different words with the largest weight in a matrix, or of any tokens where there are no
// words; with a `chosen` query its own.
export function worthSeeing(data, matrix) {
  const [queries, keys] = ["query", "key"].map((side) => wordsOf(data, side));
  const [words, all] = [isWord, () => true];
  return strongest(data, matrix, queries.map(words), keys.map(words)) ??
    strongest(data, matrix, queries.map(words), keys.map(all)) ??
    strongest(data, matrix, queries.map(all), keys.map(all));
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
