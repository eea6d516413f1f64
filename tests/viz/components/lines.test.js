// Lines by themselves: which are drawn and where, what is said of them, what keys and clicks do, what is news.

import { deepEqual, equal, ok } from "node:assert/strict";
import { FAINTEST, LEVEL, OPACITY, sortedLines } from "../../../viz/components/lines/levels.js";
import { Reports } from "../../../viz/components/lines/reports.js";
import { drawnAlike, frontOf, lanes, strokeAll, strokeOne, styled } from "../../../viz/components/lines/strokes.js";
import { beginsSegment, clicked, moved, stepped } from "../../../viz/components/lines/tokens.js";
import * as words from "../../../viz/components/lines/words.js";

const { countLines, described, meanWeights, strongest, strongestOf } = words;

// Two heads, two queries, three keys.
const DATA = {
  weights: new Uint8Array([255, 0, 2, 51, 102, 102, 0, 255, 0, 128, 64, 63]),
  scale: 1,
  says: "attends",
  queries: ["the", " "],
  keys: ["a", "b", "c"],
  query_segments: [0, 1],
  key_segments: [0, 0, 1],
};
const BOTH = [true, true];
const COLOURS = ["red", "blue"];
const PLACES = { gutter: 8, start: 10, end: 90, width: 100 };
const VIEW = { data: DATA, on: BOTH, front: null, most: 1, row: 20, scale: 1, colours: COLOURS };

class RecordingPen {
  constructor() {
    this.ratio = 1;
    this.drawn = [];
    this.boxes = [];
  }
  setWidth(width) {
    this.now = { ...this.now, width };
  }
  flush() {}
  ink(colour, opacity) {
    this.now = { ...this.now, colour, opacity };
  }
  line(...ends) {
    this.drawn.push({ ...this.now, ends });
  }
  box(...box) {
    this.boxes.push(box);
  }
}

Deno.test("opacities grow with the weight and stay close to it", () => {
  equal(LEVEL[FAINTEST - 1], 0);
  for (let q = FAINTEST; q < 256; q++) {
    ok(LEVEL[q] >= Math.max(LEVEL[q - 1], 1));
    ok(Math.abs(OPACITY[LEVEL[q]] - q / 255) < 0.06);
  }
  // Heads that are on share a row evenly.
  const [first, off, last] = lanes([true, false, true], 20);
  ok(Math.abs(first - 20 * 0.325) < 1e-9 && Math.abs(last - 20 * 0.675) < 1e-9);
  equal(off, 3);
});

Deno.test("lines are sorted from faint to strong, without faint ones and heads that are off", () => {
  const order = sortedLines(DATA.weights, 6, BOTH);
  deepEqual([...order].sort((a, b) => a - b), [0, 3, 4, 5, 7, 9, 10, 11]);
  const levels = [...order].map((at) => LEVEL[DATA.weights[at]]);
  deepEqual(levels, [...levels].sort((a, b) => a - b));
  deepEqual([...sortedLines(DATA.weights, 6, [false, true])].sort((a, b) => a - b), [7, 9, 10, 11]);
  equal(sortedLines(DATA.weights, 6, [false, false]).length, 0);
});

Deno.test("all lines run from their query's row to their key's", () => {
  const view = { ...VIEW, lines: sortedLines(DATA.weights, 6, BOTH) };
  const pen = new RecordingPen();
  strokeAll(pen, view, { start: 10, end: 90 }, 0, 60);
  equal(pen.drawn.length, 8);
  const [red] = lanes(BOTH, 20);
  const strongestRed = pen.drawn.filter(({ colour }) => colour === "red").at(-1);
  deepEqual(strongestRed.ends, [10, red, 90, red]); // the first query to the first key
  const below = new RecordingPen();
  strokeAll(below, view, { start: 10, end: 90 }, 30, 60);
  ok(below.drawn.length < 8 && below.drawn.every(({ ends }) => Math.max(ends[1], ends[3]) >= 29));
});

Deno.test("one token's lines are all that are not zero, with a box a head beside its partners", () => {
  const view = VIEW;
  const pen = new RecordingPen();
  equal(strokeOne(pen, view, PLACES, { side: "query", index: 0 }), 3);
  deepEqual(pen.drawn.map(({ colour }) => colour), ["red", "red", "blue"]);
  deepEqual(pen.boxes[0], [92, 1, 4, 18]);
  const key = new RecordingPen();
  equal(strokeOne(key, { ...view, on: [true, false] }, PLACES, { side: "key", index: 0 }), 2);
  ok(key.drawn.every(({ ends }) => ends[0] === 90 && ends[2] === 10));
});

Deno.test("in front is the chosen head while it is on, or the only one", () => {
  equal(frontOf({ in_front: 1 }, BOTH), 1);
  equal(frontOf({ in_front: 1 }, [true, false]), 0);
  equal(frontOf({ in_front: 0 }, [false, true, true]), null);
  equal(frontOf({ in_front: null }, BOTH), null);
  equal(frontOf({ in_front: null }, [false, true]), 1);
  // The strongest lines of a head are named, strongest first and none of them zero.
  const named = (head) => strongestOf(DATA, head).map(({ query, key, weight }) => [query, key, weight.toFixed(2)]);
  deepEqual(named(0), [["the", "a", "1.00"], [" ", "b", "0.40"], [" ", "c", "0.40"]]);
  deepEqual(named(1), [["the", "b", "1.00"], [" ", "a", "0.50"], [" ", "b", "0.25"]]);
  deepEqual(strongestOf({ ...DATA, weights: new Uint8Array(12) }, 0), []);
});

Deno.test("the head in front lies on top in full colour, the others dimmed behind it", () => {
  const lines = sortedLines(DATA.weights, 6, BOTH, 0);
  deepEqual([...lines].map((at) => Math.floor(at / 6)), [1, 1, 1, 1, 0, 0, 0, 0]);
  deepEqual([...lines].slice(-4).at(-1), 0); // its strongest is the very last
  const pen = new RecordingPen();
  strokeAll(pen, { ...VIEW, front: 0, lines }, { start: 10, end: 90 }, 0, 60);
  const [blue, red] = ["blue", "red"].map((colour) => pen.drawn.filter((line) => line.colour === colour));
  ok(blue.every(({ opacity, width }) => opacity <= 0.25 && width === 1.5));
  const opaque = red.map(({ opacity }) => opacity);
  deepEqual(opaque, [...opaque].sort((a, b) => a - b));
  ok(red.at(-1).opacity > 0.95 && red.at(-1).width > 3.8);
});

Deno.test("a line of 0.57 of a single head is seen: nearly opaque and wide, if its rows are close, too", () => {
  const alone = { ...VIEW, front: 0, most: 0.99 };
  for (const row of [13, 22]) {
    const { opacity, width } = styled(0.57, 0, { ...alone, row }, 1);
    ok(opacity > 0.75 && width > 3);
  }
  ok(styled(0.1, 0, { ...alone, row: 22 }, 1).opacity < 0.12);
  equal(styled(0.1, 0, { ...alone, row: 13 }, 0.5).width, 0.5); // of many faint lines none is wide
  deepEqual(styled(0.5, 0, { ...VIEW, front: 0, most: 0.5 }, 1), { opacity: 1, width: 4 }); // its strongest
  equal(styled(1, 0, { ...alone, row: 30, scale: 1.375 }, 1).width, 5.5); // larger type
});

Deno.test("one token's lines: those of the head in front come last, boxes keep their places", () => {
  const pen = new RecordingPen();
  strokeOne(pen, { ...VIEW, front: 0 }, PLACES, { side: "query", index: 0 });
  deepEqual(pen.drawn.map(({ colour }) => colour), ["blue", "red", "red"]);
  deepEqual(pen.boxes.map(([x]) => x), [96, 92, 92]);
});

Deno.test("payloads are drawn alike whichever token and heads are chosen", () => {
  const other = { ...DATA, weights: DATA.weights.slice(), selected: { side: "key", index: 1 }, off: [0] };
  equal(drawnAlike(DATA, other), true);
  equal(drawnAlike(DATA, { ...other, keys: ["a", "b", "d"] }), false);
  other.weights[11]++;
  equal(drawnAlike(DATA, other), false);
  // Arrow keys move along a column and to the other, never beyond.
  deepEqual(moved("ArrowDown", { side: "query", index: 1 }, DATA), { side: "query", index: 1 });
  deepEqual(moved("ArrowUp", { side: "key", index: 2 }, DATA), { side: "key", index: 1 });
  deepEqual(moved("ArrowLeft", { side: "key", index: 2 }, DATA), { side: "query", index: 1 });
  deepEqual(moved("ArrowRight", { side: "query", index: 1 }, DATA), { side: "key", index: 1 });
  deepEqual(moved("End", { side: "key", index: 0 }, DATA), { side: "key", index: 2 });
  equal(moved("a", { side: "key", index: 0 }, DATA), undefined);
  // And along the legend.
  deepEqual(["ArrowLeft", "ArrowRight", "ArrowDown", "Home", "End"].map((key) => stepped(key, 2, 4)), [1, 3, 3, 0, 3]);
  deepEqual([stepped("ArrowUp", 0, 4), stepped("ArrowRight", 3, 4), stepped("a", 0, 4)], [0, 3, undefined]);
});

Deno.test("partners are named by their mean over the heads that are on", () => {
  const mean = meanWeights(DATA, BOTH);
  deepEqual([...mean].map((weight) => weight.toFixed(2)), ["0.50", "0.50", "0.00", "0.35", "0.33", "0.32"]);
  deepEqual(strongest(DATA, mean, { side: "query", index: 0 }).map(({ label }) => label), ["a", "b", "c"]);
  equal(described(DATA, mean, { side: "query", index: 1 }), "space, query, attends most to: a 0.35, b 0.33, c 0.32");
  equal(described(DATA, mean, { side: "key", index: 0 }), "a, key, gets most attention from: the 0.50, space 0.35");
  ok(described(DATA, meanWeights(DATA, [false, false]), { side: "key", index: 0 }).endsWith(": none"));
});

Deno.test("the note counts lines with a comma and names the faintest number", () => {
  const data = { queries: Array(40), keys: Array(50), scale: 0.5 };
  equal(countLines(data, BOTH, { length: 1234 }), "1,234 of 4,000 lines, 0.01 and more.");
  // The second text begins where segments change.
  const begins = [0, 1, 2].map((index) => beginsSegment(DATA, { side: "key", index }));
  deepEqual(begins, [false, false, true]);
  equal(beginsSegment(DATA, { side: "query", index: 1 }), true);
  // A click switches one head, a double click or Shift leaves it alone or brings all back.
  const on = [true, true, false];
  deepEqual(clicked(2, { on, before: null, detail: 1, shiftKey: false }), [true, true, true]);
  deepEqual(clicked(0, { on, before: null, detail: 1, shiftKey: true }), [true, false, false]);
  deepEqual(clicked(0, { on: [true, false, false], before: null, detail: 1, shiftKey: true }), [true, true, true]);
  // The first click of the two has switched head 0 off; it was on alone before.
  const off = [false, false, false];
  deepEqual(clicked(0, { on: off, before: [true, false, false], detail: 2, shiftKey: false }), [true, true, true]);
  deepEqual(clicked(0, { on: off, before: on, detail: 2, shiftKey: false }), [true, false, false]);
});

Deno.test("what Python repeats or echoes is no news", () => {
  const reported = [];
  const reports = new Reports();
  reports.report = (...report) => reported.push(report);
  equal(reports.isNews("off", [1], [1]), false); // repeats
  reports.tell("off", [0]);
  reports.tell("off", [0, 1]);
  deepEqual(reported, [["off", [0]], ["off", [0, 1]]]);
  equal(reports.isNews("off", [0], [1]), false); // echoes the first report
  equal(reports.isNews("off", [0, 1], [0]), false); // and the second
  equal(reports.isNews("off", [2], [0, 1]), true);
  equal(reports.isNews("selected", null, undefined), false);
});
