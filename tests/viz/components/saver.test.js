// Pictures for files by themselves: the segments of paths, known by hand.

import { deepEqual, throws } from "node:assert/strict";
import { pathOf, rounded, segments } from "../../../viz/components/saver/shapes.js";

const near = (segments) =>
  segments.map(([kind, ...numbers]) => [kind, ...numbers.map((number) => Number(rounded(number, 4)))]);
const shape = (localName, attributes) => ({ localName, getAttribute: (name) => attributes[name] ?? null });

Deno.test("a path is where its pen goes, however it is written", () => {
  const square = [["M", 10, 20], ["L", 13, 20], ["L", 13, 24], ["L", 10, 24], ["Z"]];
  for (
    const d of [
      "M10 20H13V24H10Z",
      "m10,20h3v4h-3z",
      "M10 20 13 20 13 24 10 24z",
      "m10 20l3 0 0 4-3 0z",
      "M1e1 20h+3v4H10z",
    ]
  ) {
    deepEqual(segments(d), square, d);
  }
  deepEqual(segments("M1 1h2zl0 5").at(-1), ["L", 1, 6], "behind its end it is where it began");
});

Deno.test("a curve that one point bends is the cubic one of the same shape", () => {
  deepEqual(near(segments("M0 0q3 6 6 0")), [["M", 0, 0], ["C", 2, 4, 4, 4, 6, 0]]);
  deepEqual(segments("M1 1c1 2 3 4 5 6"), [["M", 1, 1], ["C", 2, 3, 4, 5, 6, 7]]);
  // Shapes have a path, and what is none has not.
  deepEqual(segments(pathOf(shape("rect", { x: "1", y: "2", width: "3", height: "4" }))), segments("M1 2h3v4h-3z"));
  deepEqual(segments(pathOf(shape("line", { x1: "1", y1: "2", x2: "3", y2: "4" }))), [["M", 1, 2], ["L", 3, 4]]);
  deepEqual(pathOf(shape("g", {})), null);
  throws(() => segments("M0 0S1 1 2 2"), Error);
});

Deno.test("arcs are quarters of a circle, on either side", () => {
  const bend = 0.5523; // 4/3 (√2 - 1)
  deepEqual(near(segments("M1 0A1 1 0 0 1 0 1")), [["M", 1, 0], ["C", 1, bend, bend, 1, 0, 1]]);
  deepEqual(near(segments("M1 0A1 1 0 0 0 0 1")), [
    ["M", 1, 0],
    ["C", rounded(1 - bend, 4), 0, 0, rounded(1 - bend, 4), 0, 1].map((x, i) => i ? Number(x) : x),
  ]);
  const ends = (d) => near(segments(d)).slice(1).map((segment) => segment.slice(-2));
  deepEqual(ends("M1 0A1 1 0 1 0 0 1"), [[0, -1], [-1, 0], [0, 1]]);
  deepEqual(ends("M0 0a1 1 0 0 1 4 0"), [[2, -2], [4, 0]], "a radius that does not reach is made larger");
  deepEqual(ends(pathOf(shape("circle", { cx: "5", cy: "6", r: "2" }))).slice(0, 4), [[5, 4], [7, 6], [5, 8], [3, 6]]);
});
