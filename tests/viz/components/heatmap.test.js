// The heatmap by itself: where its cells are, their shades, what they say, where keys lead.

import { deepEqual, equal, ok } from "node:assert/strict";
import { described, linesOf } from "../../../viz/components/heatmap/cells.js";
import { borders, labelled, outOfSight, placed, pointedAt } from "../../../viz/components/heatmap/geometry.js";
import { cellAt, moved } from "../../../viz/components/shared/cells.js";
import { levelsOf, shadesOf } from "../../../viz/components/shared/shades.js";

const labels = (n, width = 30) => Array(n).fill(width);

Deno.test("few cells are square and no giants", () => {
  for (const n of [1, 4, 24]) {
    const places = placed(labels(n), labels(n), 1000, 1);
    equal(places.across, places.down);
    ok(places.across <= 64);
    equal(places.right - places.left, n * places.across);
  }
});

Deno.test("cells share pixels only where the device has fewer", () => {
  deepEqual(placed(labels(900), labels(900), 360, 1).pixels, [303, 620]);
  equal(placed(labels(900), labels(900), 360, 1).merged, true);
  equal(placed(labels(900), labels(900), 360, 3).merged, false);
  // Labels stand upright where they are wider than a cell, and take at most their part of the width.
  equal(placed(labels(4, 20), labels(4, 20), 1000, 1).upright, false);
  equal(placed(labels(4), labels(4, 100), 1000, 1).upright, true);
  equal(placed(labels(2, 900), labels(2), 500, 1).left, 20 + 200 + 6);
});

Deno.test("the cell under a point is found up to the edges", () => {
  const places = { left: 100, top: 50, across: 20, down: 10 };
  const size = { rows: 2, columns: 3 };
  deepEqual(cellAt(places, size, 100, 50), { row: 0, column: 0 });
  deepEqual(cellAt(places, size, 159.9, 69.9), { row: 1, column: 2 });
  for (const [x, y] of [[99.9, 55], [160, 55], [120, 49.9], [120, 70]]) equal(cellAt(places, size, x, y), null);
});

Deno.test("shades run through the scale's colours", () => {
  const shades = shadesOf(["#000000", "#102030", "#ff0000"]);
  deepEqual([...shades.slice(0, 4)], [0, 0, 0, 255]);
  deepEqual([...shades.slice(-4)], [255, 0, 0, 255]);
  const middle = shades.slice(4 * 127, 4 * 127 + 3); // half a shade before the middle colour
  deepEqual([...middle], [16, 32, 48]);
  // Colour follows the root of a weight, cut to the limits.
  const data = { weights: [0, 0.25, 1, 4], queries: ["a", "b"], keys: ["c", "d"], limits: [0, 1], bend: "root" };
  deepEqual([...levelsOf(data, [2, 2])], [0, 128, 255, 255]);
});

Deno.test("differences are as far from the middle on either side", () => {
  const data = { weights: [-1, -0.25, 0, 0.25, 1], queries: ["a"], keys: [..."bcdef"], limits: [-1, 1] };
  deepEqual([...levelsOf({ ...data, bend: "root both ways" }, [5, 1])], [0, 64, 128, 191, 255]);
});

Deno.test("a pixel of several cells shows the one farthest from zero", () => {
  const data = { weights: [0.1, 0.5, 0.2, -0.9], queries: ["a"], keys: [..."bcde"], limits: [-1, 1] };
  const [left, right] = levelsOf({ ...data, bend: "root both ways" }, [2, 1]);
  ok(left > 200 && right < 20);
});

Deno.test("a cell says its tokens and each of its numbers, signed where they are differences", () => {
  const data = {
    queries: ["the", "cat"],
    keys: ["sat"],
    numbers: [{ name: "difference", signed: true }, { name: "BERT", signed: false }],
    weights: [0.5, -0.25, 0.75, 0.125],
  };
  deepEqual(linesOf(data, { row: 0, column: 0 }), [
    "query 1 · the",
    "looks at key 1 · sat",
    "difference +0.5000",
    "BERT 0.7500",
  ]);
  equal(linesOf(data, { row: 1, column: 0 })[2], "difference −0.2500");
  equal(linesOf({ ...data, weights: [0, 0, 0, 0] }, { row: 0, column: 0 })[2], "difference 0.0000");
});

Deno.test("arrow keys stop at the edges; Home and End take the row, with Control the whole", () => {
  const size = { rows: 3, columns: 4 };
  const from = (key, cell, ctrlKey = false) => moved({ key, ctrlKey }, cell, size);
  deepEqual(from("ArrowUp", { row: 0, column: 2 }), { row: 0, column: 2 });
  deepEqual(from("ArrowDown", { row: 1, column: 2 }), { row: 2, column: 2 });
  deepEqual(from("ArrowRight", { row: 1, column: 3 }), { row: 1, column: 3 });
  deepEqual(from("Home", { row: 1, column: 2 }), { row: 1, column: 0 });
  deepEqual(from("End", { row: 1, column: 2 }, true), { row: 2, column: 3 });
  equal(from("Escape", { row: 1, column: 2 }), null);
  equal(from("Tab", { row: 1, column: 2 }), undefined);
  deepEqual(from("Home", { row: 1, column: 2 }, true), { row: 0, column: 0 });
});

Deno.test("a picture of sixteen tokens keeps to its limit, and its cells give height for width", () => {
  const [rows, columns] = [labels(16, 50), labels(16, 50)];
  const free = placed(rows, columns, 540, 1);
  const kept = placed(rows, columns, 540, 1, { limit: 440 });
  ok(free.height > 440);
  ok(kept.height <= 440 && kept.down >= 12);
  ok(kept.across >= kept.down && kept.right <= 540);
  deepEqual(kept.every, [1, 1]);
});

Deno.test("up to a hundred rows each have room for a label, limit or not", () => {
  for (const n of [23, 78, 100]) {
    for (const limit of [0, 440]) {
      const places = placed(labels(n), labels(n), 900, 1, { limit });
      ok(places.down >= 11);
      equal(places.every[0], 1);
    }
  }
  ok(placed(labels(300), labels(300), 900, 1).every[0] > 1);
});

Deno.test("large type makes room for itself", () => {
  const [usual, large] = [1, 1.5].map((scale) => placed(labels(12), labels(12), 600, 1, { scale, limit: 400 }));
  ok(large.left > usual.left && large.top > usual.top && large.height > usual.height);
  // Many cells fill the width, and each has its place.
  const places = placed(labels(300), labels(300), 1000, 1);
  ok(places.right <= 1000 && places.right > 990);
  ok(places.height < 900);
  equal(places.merged, false);
});

Deno.test("a label points at its row or column, a cell at both, and the corner at nothing", () => {
  const [places, size] = [{ left: 100, top: 50, across: 20, down: 10 }, { rows: 2, columns: 3 }];
  deepEqual(pointedAt(places, size, 30, 65), { query: 1, key: null });
  deepEqual(pointedAt(places, size, 125, 20), { query: null, key: 1 });
  deepEqual(pointedAt(places, size, 125, 65), { query: 1, key: 1 });
  for (const [x, y] of [[30, 20], [30, 90], [200, 20], [200, 65]]) equal(pointedAt(places, size, x, y), null);
});

Deno.test("a second text begins where segments change", () => {
  deepEqual(borders([0, 0, 1, 1]), [2]);
  deepEqual(borders([0, 0]), []);
  deepEqual(borders([]), []);
  // Which tokens are labelled is written where not all are.
  equal(labelled([1, 1]), "");
  equal(labelled([2, 2]), "Every 2nd token is labelled; point to read any.");
  equal(labelled([1, 3]), "Every 3rd key is labelled; point to read any.");
  equal(labelled([4, 11]), "Every 4th query and every 11th key is labelled; point to read any.");
  // A picture is looked for where the window shows none or next to none of it.
  const from = (top) => outOfSight({ top, bottom: top + 400 }, 800);
  deepEqual([-300, -100, 0, 300, 500, 700, 900].map(from), [true, false, false, false, false, true, true]);
  equal(outOfSight({ top: -900, bottom: 900 }, 800), false); // higher than the window
  // In a file cells are as large as its width allows.
  const [screen, saved] = [false, true].map((filled) => placed(labels(13, 60), labels(13, 60), 660, 2, { filled }));
  deepEqual([screen.across, saved.across], [33, 44]);
});

Deno.test("the strongest cells are named in words, by size where numbers have signs", () => {
  const data = { queries: ["it", "was"], keys: ["cat", "mat"], numbers: [{ name: "weight", signed: false }] };
  equal(
    described({ ...data, weights: [0.57, 0, 0.1, 0.3] }),
    "Strongest by weight: it looks at cat, 0.57; was looks at mat, 0.30; was looks at cat, 0.10.",
  );
  const signed = { ...data, numbers: [{ name: "difference", signed: true }] };
  equal(
    described({ ...signed, weights: [0.1, -0.9, 0, 0.0123] }),
    "Strongest by difference: it at mat, −0.90; it at cat, +0.10; was at mat, +0.012.",
  );
  equal(described({ ...data, weights: [0, 0, 0, 0] }), "All cells are zero.");
});

Deno.test("what special tokens give each other is left out of the strongest, and words that read the same have places", () => {
  const tokens = ["[CLS]", "the", "the"];
  const special = { special_queries: [0], special_keys: [0] };
  const data = { queries: tokens, keys: tokens, numbers: [{ name: "weight", signed: false }], ...special };
  equal(
    described({ ...data, weights: [1, 0, 0, 0.8, 0.2, 0, 0.5, 0, 0.5] }),
    "Strongest by weight, leaving out what special tokens give each other: the (2) looks at [CLS], 0.80; " +
      "the (3) looks at [CLS], 0.50; the (3) looks at the (3), 0.50; the (2) looks at the (2), 0.20.",
  );
  const alone = { ...data, queries: ["[CLS]"], keys: ["[CLS]"], weights: [1] };
  equal(described(alone), "Strongest by weight: [CLS] looks at [CLS], 1.00.");
});
