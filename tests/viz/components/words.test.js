// Words by themselves: whose weights, how they are written and said, which are worth seeing, where keys lead.

import { deepEqual, equal } from "node:assert/strict";
import { sentenceOf } from "../../../viz/components/words/sentence.js";
import { Steps } from "../../../viz/components/words/steps.js";
import { moved } from "../../../viz/components/words/strip.js";
import { FULL, shadeOf, weightsOf, worthSeeing, written } from "../../../viz/components/words/weights.js";

const PLAIN = { space: true, piece: false, segment: 0, dir: "ltr" };
const word = (text, special = false) => ({ text, token: text, special, ...PLAIN });

// Shares of 0..100 as the component holds them, three equal matrices unless more are given.
function data(rows, { keys = null, ...changes } = {}) {
  const matrix = rows.flat().map((share) => Math.round((share / 100) * FULL));
  return {
    weights: Uint16Array.from([matrix, matrix, matrix].flat()),
    limits: [1, 1, 1],
    shares: true,
    says: "attends",
    queries: [word("[CLS]", true), word("cat"), word("sat"), word(".")],
    keys,
    names: ["Layer 1, head 1", "Mean of layer 1", "Mean of all 4 heads"],
    chosen: null,
    ...changes,
  };
}

const ROWS = [
  [100, 0, 0, 0],
  [30, 5, 20, 45],
  [58, 41, 1, 0],
  [10, 60, 29.7, 0.3],
];

const spoken = (data, matrix, word) =>
  sentenceOf(data, matrix, word, weightsOf(data, matrix, word)).map(([text]) => text).join("");

Deno.test("a query's weights are its row, a key's its column, of the matrix asked for", () => {
  const two = data(ROWS.slice(0, 2), { queries: [word("a"), word("b")], keys: [..."wxyz"].map((text) => word(text)) });
  two.weights = Uint16Array.from({ length: 24 }, (_, at) => at);
  deepEqual([...weightsOf(two, 0, { side: "query", index: 1 })], [4, 5, 6, 7]);
  deepEqual([...weightsOf(two, 2, { side: "query", index: 0 })], [16, 17, 18, 19]);
  deepEqual([...weightsOf(two, 1, { side: "key", index: 3 })], [11, 15]);
  // Shades follow the root of a weight.
  deepEqual([0, 0.25, 1].map((weight) => shadeOf(weight * FULL, 65)), [0, 32, 64]);
});

Deno.test("shares are written as percentages from 1% on, lengths as numbers from a hundredth of the largest on", () => {
  const shares = data(ROWS);
  const percentages = [0.412, 0.996, 1, 0.005, 0.0049, 0].map((share) => written(shares, 0, share * FULL));
  deepEqual(percentages, ["41%", "100%", "100%", "1%", "", ""]);
  const lengths = data(ROWS, { shares: false, limits: [8, 2, 1] });
  deepEqual([0.5, 0.01, 0.004].map((part) => written(lengths, 0, part * FULL)), ["4.00", "0.08", ""]);
  equal(written(lengths, 1, FULL), "2.00");
  const small = data(ROWS, { shares: false, limits: [0.08, 0.3, 1] });
  deepEqual([0, 1].map((matrix) => written(small, matrix, 0.5 * FULL)), ["0.040", "0.15"]);
  equal(written(small, 1, 0.012 * FULL), "");
});

Deno.test("worth seeing is the strongest pair of two different words, neither special nor a full stop", () => {
  deepEqual(worthSeeing(data(ROWS), 0), { query: 2, key: 1 });
  deepEqual(worthSeeing(data(ROWS, { chosen: 1 }), 0), { query: 1, key: 2 });
});

Deno.test("whole words are worth more than pieces, and pieces more than nothing", () => {
  const rows = [[0, 90, 10], [5, 5, 90], [30, 60, 10]];
  const piece = { ...word("ing"), space: false };
  deepEqual(worthSeeing(data(rows, { queries: [word("a"), word("play"), word("b")] }), 0), { query: 0, key: 1 });
  deepEqual(worthSeeing(data(rows, { queries: [word("play"), piece, word("b")] }), 0), { query: 0, key: 1 });
  const four = [[0, 90, 10, 0], [5, 5, 90, 0], [30, 60, 10, 0], [70, 20, 10, 0]];
  deepEqual(worthSeeing(data(four, { queries: [word("play"), piece, word("b"), word("c")] }), 0), { query: 3, key: 2 });
  const stop = { ...word("."), space: false };
  deepEqual(worthSeeing(data(rows, { queries: [word("a"), word("b"), stop] }), 0), { query: 0, key: 1 });
});

Deno.test("where there is but one word, or none, something is lit all the same", () => {
  const alone = data([[90, 10, 0], [70, 30, 0], [0, 100, 0]], {
    queries: [word("[CLS]", true), word("cat"), word("[SEP]", true)],
  });
  deepEqual(worthSeeing(alone, 0), { query: 1, key: 0 });
  deepEqual(worthSeeing(data([[100]], { queries: [word("?")] }), 0), { query: 0, key: 0 });
  deepEqual(worthSeeing(data([[0]], { queries: [word("a")], keys: [word("a")] }), 0), { query: 0, key: 0 });
});

Deno.test("the sentence names the strongest three, forwards and backwards", () => {
  const sentence = (matrix, side, index) => spoken(data(ROWS), matrix, { side, index });
  equal(sentence(0, "query", 1), "Layer 1, head 1: cat attends most to . (45%), [CLS] (30%), sat (20%).");
  equal(sentence(1, "key", 1), "Mean of layer 1: cat gets most attention from . (60%), sat (41%), itself (5%).");
  equal(sentence(2, "query", 0), "Mean of all 4 heads: [CLS] attends most to itself (100%).");
});

Deno.test("of two strips no word is itself", () => {
  const cross = data([[80, 20]], { queries: [word("cat")], keys: [word("chat"), word("noir")] });
  equal(spoken(cross, 0, { side: "query", index: 0 }), "Layer 1, head 1: cat attends most to chat (80%), noir (20%).");
  equal(spoken(cross, 0, { side: "key", index: 0 }), "Layer 1, head 1: chat gets most attention from cat (80%).");
  // Names of words stand by themselves in the sentence, so that none turns a number around.
  const hebrew = data(ROWS, { queries: [word("[CLS]", true), word("החתול"), word("ישב"), word(".")] });
  const side = { side: "query", index: 2 };
  const standOut = sentenceOf(hebrew, 0, side, weightsOf(hebrew, 0, side)).filter(([, standsOut]) => standsOut);
  deepEqual(standOut.map(([text]) => text), ["ישב", "[CLS]", " (58%)", "החתול", " (41%)", "itself", " (1%)"]);
});

Deno.test("where no weight matters the sentence says so", () => {
  const rows = [[0.3, 0.3], [0.3, 0.3]];
  const faint = data(rows, { queries: [word("a"), word("b")] });
  for (const side of ["query", "key"]) equal(spoken(faint, 0, { side, index: 0 }).match(/\d+%/)[0], "1%");
});

Deno.test("lengths are not said to be looks", () => {
  const lengths = data(ROWS, { shares: false, says: "takes", limits: [2, 2, 2] });
  const sentence = (side) => spoken(lengths, 0, { side, index: 2 });
  equal(sentence("query"), "Layer 1, head 1: sat takes most from [CLS] (1.16), cat (0.82), itself (0.02).");
  equal(sentence("key"), "Layer 1, head 1: sat gives most to . (0.59), cat (0.40), itself (0.02).");
});

Deno.test("steps count from the head asked for last, and after the last head comes the first", () => {
  const steps = new Steps();
  steps.take(70, 72);
  deepEqual([steps.go(1), steps.go(1), steps.go(1)], [71, 0, 1]);
  steps.take(70, 72); // a run that began before the steps
  equal(steps.go(1), 2);
  steps.take(0, 72); // an answer that was overtaken
  equal(steps.go(1), 3);
  steps.take(3, 72);
  equal(steps.go(-1), 2);
  steps.take(40, 72); // chosen elsewhere
  equal(steps.go(-1), 39);
});

Deno.test("steps taken back and forth leave nothing behind", () => {
  const steps = new Steps();
  steps.take(0, 4);
  deepEqual([steps.go(1), steps.go(-1)], [1, 0]);
  steps.take(0, 4);
  steps.take(3, 4);
  steps.take(0, 4);
  equal(steps.go(1), 1);
});

Deno.test("arrow keys go along the words as they are read, and to the nearest above and below", () => {
  const box = (left, top) => ({ left, right: left + 10, top, bottom: top + 20 });
  const boxes = () => [box(0, 0), box(20, 0), box(40, 0), box(5, 38), box(28, 38), box(0, 76)];
  const from = (key, place, rightToLeft = false) => moved(key, place, 6, rightToLeft, boxes);
  deepEqual([from("ArrowRight", 2), from("ArrowRight", 5), from("ArrowLeft", 0), from("ArrowLeft", 3)], [3, 5, 0, 2]);
  deepEqual([from("ArrowLeft", 2, true), from("ArrowRight", 2, true)], [3, 1]);
  deepEqual([from("ArrowDown", 1), from("ArrowDown", 2), from("ArrowDown", 4)], [4, 4, 5]);
  deepEqual([from("ArrowUp", 4), from("ArrowUp", 5), from("ArrowUp", 0), from("ArrowDown", 5)], [1, 3, 0, 5]);
  deepEqual([from("Home", 4), from("End", 0), from("Tab", 0)], [0, 5, undefined]);
});
