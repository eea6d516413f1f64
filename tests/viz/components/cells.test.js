// Maps of cells: what they say and write, where they are, which ink stands on a colour.

import { deepEqual, equal, ok } from "node:assert/strict";
import { placed } from "../../../viz/components/cells/geometry.js";
import { Picks } from "../../../viz/components/cells/picks.js";
import { inkOn } from "../../../viz/components/cells/picture.js";
import { described, linesOf, written } from "../../../viz/components/cells/words.js";
import { cellAt } from "../../../viz/components/shared/cells.js";

const DATA = {
  rows: ["1", "2"],
  columns: ["cat", "sat"],
  down: "layer",
  across: "",
  quantity: "bits",
  mark: "off",
  signed: true,
  weights: new Float32Array([0.5, -2, 0, NaN]),
};
const SIZE = { rows: 2, columns: 2 };

Deno.test("numbers are written in the room of a cell, with two digits that count", () => {
  equal([0.123, -0.5, 1.26, -12.4, 0.001, 0, NaN, 0.996].map(written).join(" "), ".12 −.50 1.3 −12 0 0 – 1.0");
  // A cell says where it is, its number, and that it is picked.
  deepEqual(linesOf(DATA, { row: 0, column: 1 }, false), ["layer 1, sat", "bits: −2.0000"]);
  deepEqual(linesOf(DATA, { row: 0, column: 0 }, true), ["layer 1, cat", "bits: +0.5000", "off"]);
  deepEqual(linesOf(DATA, { row: 1, column: 1 }, false), ["layer 2, sat", "bits: none"]);
  equal(linesOf({ ...DATA, signed: false }, { row: 0, column: 0 }, false)[1], "bits: 0.5000");
  // The largest are described, whatever their sign; those without a number are not.
  equal(described(DATA), "Largest by bits: layer 1, sat: −2.0000; layer 1, cat: +0.5000.");
  equal(described({ ...DATA, weights: new Float32Array(4) }), "All cells are zero.");
  // Ink stands out on every colour.
  deepEqual([[255, 255, 255], [10, 10, 60], [120, 120, 120]].map((colour) => inkOn(colour, [1, 2])), [1, 2, 1]);
});

Deno.test("an answer to the first click does not undo the second", () => {
  const picks = new Picks();
  picks.take([[0, 0]], 0);
  deepEqual(picks.toggle({ row: 1, column: 0 }), { serial: 1, cells: [[0, 0], [1, 0]] });
  deepEqual(picks.toggle({ row: 0, column: 0 }), { serial: 2, cells: [[1, 0]] });
  picks.take([[0, 0], [1, 0]], 1);
  deepEqual([...picks.ids], ["1.0"]);
  picks.take([], 2); // the page knows of both, and would not have it: what it says holds
  deepEqual([...picks.ids], []);
  // A picture that is mounted again counts on from what the page knows.
  const again = new Picks();
  again.take([[0, 1]], 7);
  deepEqual(again.toggle({ row: 1, column: 1 }), { serial: 8, cells: [[0, 1], [1, 1]] });
});

const widths = (n, width) => Array(n).fill(width);

Deno.test("cells fill the width; with many columns they stay as wide as a finger, and the picture scrolls", () => {
  const wide = placed(widths(6, 8), widths(14, 12), 700);
  ok(wide.across > 45 && wide.right <= 700 && wide.numbered);
  const phone = placed(widths(6, 8), widths(14, 12), 360);
  ok(phone.across >= 24 && phone.width <= 370);
  const many = placed(widths(6, 8), widths(40, 30), 360);
  equal(many.across, 24);
  ok(many.width > 900 && !many.numbered && many.upright);
});

Deno.test("few columns are no giants, long labels leave room, and larger type has larger cells", () => {
  const picked = placed(widths(6, 8), widths(14, 12), 360, { finger: true });
  deepEqual([picked.across, picked.down], [32, 32]); // by a finger
  equal(placed(widths(2, 8), widths(2, 12), 1200).across, 116);
  const long = placed(widths(2, 900), widths(4, 12), 400);
  ok(long.left < 200);
  equal(placed(widths(2, 8), widths(2, 12), 1200, { scale: 1.5 }).down, 41);
});

Deno.test("a place is its cell's, and nobody's beside them", () => {
  const places = placed(widths(2, 8), widths(2, 12), 300);
  deepEqual(cellAt(places, SIZE, places.left + 1, places.top + 1), { row: 0, column: 0 });
  deepEqual(cellAt(places, SIZE, places.right - 1, places.bottom - 1), { row: 1, column: 1 });
  equal(cellAt(places, SIZE, places.left - 1, places.top + 1), null);
  equal(cellAt(places, SIZE, places.left + 1, places.bottom + 1), null);
});
