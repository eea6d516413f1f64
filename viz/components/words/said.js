// What is said of the word that is lit, in parts: names of words and numbers are to stand out.

import { other, wordsOf, written } from "./weights.js";

const NAMED = 3; // strongest partners named

const VERBS = {
  shares: { query: "attends most to", key: "gets most attention from" },
  lengths: { query: "takes most from", key: "gives most to" },
};
export const DIRECTIONS = {
  shares: { query: "Attends to", key: "Is attended to by" },
  lengths: { query: "Takes from", key: "Gives to" },
};
export const numbersOf = ({ shares }) => (shares ? "shares" : "lengths");

// Parts [text, whether it stands out] of the sentence about a word whose weights are `weights`.
export function said(data, matrix, { side, index }, weights) {
  const name = wordsOf(data, side)[index].text;
  const words = wordsOf(data, other(side));
  const partners = [...weights.keys()]
    .sort((a, b) => weights[b] - weights[a])
    .slice(0, NAMED)
    .map((place) => ({ place, number: written(data, matrix, weights[place]) }))
    .filter(({ number }) => number);
  const start = [[`${data.names[matrix]}: `, false], [name, true]];
  if (partners.length === 0) return [...start, [` ${nothing(data, side)}.`, false]];
  const listed = partners.flatMap(({ place, number }, at) => [
    [at ? ", " : " ", false],
    [`${data.keys === null && place === index ? "itself" : words[place].text} (${number})`, true],
  ]);
  return [...start, [` ${VERBS[numbersOf(data)][side]}`, false], ...listed, [".", false]];
}

function nothing({ shares }, side) {
  if (!shares) return side === "query" ? "takes next to nothing from any word" : "gives next to nothing to any word";
  return side === "query" ? "gives every word less than 1% of its attention" : "gets less than 1% from every word";
}
