// What is said of the word that is lit, in parts: names of words and numbers are to stand out.

import { VERBS } from "../shared/verbs.js";
import { other, wordsOf, written } from "./weights.js";

const NAMED = 3; // strongest partners named

export const DIRECTIONS = {
  attends: { query: "Attends to", key: "Is attended to by" },
  takes: { query: "Takes from", key: "Gives to" },
  changes: { query: "Changes without", key: "Is missed by" },
};
const NOTHING = {
  attends: { query: "gives every word less than 1% of its attention", key: "gets less than 1% from every word" },
  takes: { query: "takes next to nothing from any word", key: "gives next to nothing to any word" },
  changes: { query: "hardly changes without any word", key: "is hardly missed by any word" },
};

// Parts [text, whether it stands out] of the sentence about a word whose weights are `weights`.
export function sentenceOf(data, matrix, { side, index }, weights) {
  const name = wordsOf(data, side)[index].text;
  const words = wordsOf(data, other(side));
  const partners = [...weights.keys()]
    .sort((a, b) => weights[b] - weights[a])
    .slice(0, NAMED)
    .map((place) => ({ place, number: written(data, matrix, weights[place]) }))
    .filter(({ number }) => number);
  const start = [[`${data.names[matrix]}: `, false], [name, true]];
  if (partners.length === 0) return [...start, [` ${NOTHING[data.says][side]}.`, false]];
  const listed = partners.flatMap(({ place, number }, at) => [
    [at ? ", " : " ", false],
    [data.keys === null && place === index ? "itself" : words[place].text, true],
    [` (${number})`, true],
  ]);
  return [...start, [` ${VERBS[data.says][side]}`, false], ...listed, [".", false]];
}
