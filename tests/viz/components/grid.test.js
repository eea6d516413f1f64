// The grid of heads by itself: where its cells are, their pixels, what is drawn again, what is pointed at elsewhere.

import { deepEqual, equal, ok } from "node:assert/strict";
import { placed, span } from "../../../viz/components/grid/geometry.js";
import { drawnAlike, nameOf } from "../../../viz/components/grid/heads.js";
import { mosaicOf } from "../../../viz/components/grid/mosaic.js";
import { drawPointed } from "../../../viz/components/grid/pointed.js";

const layers = (n, heads) => Array(n).fill(heads);

Deno.test("six layers of twelve heads fit into their height and fill their width", () => {
  const places = placed(layers(6, 12), 590, 350, 1);
  ok(places.height <= 350 && places.height > 330);
  ok(places.right <= 590 && places.right > 570);
  ok(places.across / places.down < 1.1);
});

Deno.test("cells never get smaller than a finger: many layers make it higher, many heads wider", () => {
  const phone = placed(layers(6, 12), 368, 350, 1);
  ok(phone.right <= 368);
  deepEqual([phone.across, phone.down], [27, 27]);
  const places = placed(layers(24, 16), 368, 350, 1);
  deepEqual([places.across, places.down], [24, 24]);
  equal(places.width, places.left + 16 * 24 + 4);
  equal(places.bottom, places.top + 24 * 24);
  equal(placed(layers(24, 16), 368, 350, 1.5).down, 36);
});

Deno.test("larger text makes larger cells, and layers may have different numbers of heads", () => {
  const large = placed(layers(6, 12), 590, 350, 1.375);
  equal(large.top, 47);
  ok(large.height <= 350 * 1.375);
  const places = placed([2, 4, 1], 300, 350, 1);
  equal(places.right - places.left, 4 * places.across);
});

Deno.test("a cell shows every number of its thumbnail, each in its place", () => {
  const weights = Uint8Array.from({ length: 2 * 2 * 6 }, (_, at) => at + 1);
  const data = { weights, shape: [2, 2, 2, 3], heads: [2, 1] };
  const { levels, width, height } = mosaicOf(data, { across: 6, down: 4 }, 2);
  deepEqual([width, height], [24, 16]);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [layer, head] = [Math.floor(y / 8), Math.floor(x / 12)];
      const [row, column] = [Math.floor((y % 8) / 4), Math.floor((x % 12) / 4)];
      const there = head < data.heads[layer];
      equal(levels[y * width + x], there ? weights[((layer * 2 + head) * 2 + row) * 3 + column] : 0);
    }
  }
});

Deno.test("no number is lost where a screen has fewer pixels: each shows the largest of its own", () => {
  const n = 64;
  const weights = new Uint8Array(n * n);
  for (let at = 0; at < n; at++) weights[at * n + at] = 200 + (at % 50); // a diagonal one token wide
  const { levels, width } = mosaicOf({ weights, shape: [1, 1, n, n], heads: [1] }, { across: 24, down: 24 }, 1);
  equal(width, 24);
  for (let at = 0; at < 24; at++) {
    const [from, to] = [at, at + 1].map((pixel) => Math.floor((pixel * n) / 24));
    let largest = 0;
    for (let token = from; token < to; token++) largest = Math.max(largest, weights[token * n + token]);
    equal(levels[at * 24 + at], largest);
  }
});

Deno.test("an image of a screen's odd ratio has a pixel for each and no number out of place", () => {
  const weights = Uint8Array.of(10, 20, 30);
  const { levels, width, height } = mosaicOf(
    { weights, shape: [1, 3, 1, 1], heads: [3] },
    { across: 25, down: 25 },
    1.25,
  );
  deepEqual([width, height], [94, 31]);
  deepEqual([...new Set(levels)], [10, 20, 30]);
  equal(levels[31], 20);
});

Deno.test("a token is where its pixel is, which may hold several", () => {
  deepEqual(span(2, 4, 4), [0.5, 0.75]);
  // Pixel i of s holds the tokens from floor(i n / s) to floor((i + 1) n / s).
  for (const [tokens, pixels] of [[7, 3], [100, 64], [128, 64], [65, 64]]) {
    for (let pixel = 0; pixel < pixels; pixel++) {
      const first = Math.floor((pixel * tokens) / pixels);
      const next = Math.floor(((pixel + 1) * tokens) / pixels);
      for (let token = first; token < next; token++) {
        deepEqual(span(token, tokens, pixels), [pixel / pixels, (pixel + 1) / pixels]);
      }
    }
  }
});

const pointed = (place, heads = [1]) => {
  const boxes = [];
  const data = { shape: [heads.length, Math.max(...heads), 4, 4], heads, tokens: [4, 4] };
  drawPointed({ box: (...box) => boxes.push(box) }, data, { left: 100, top: 50, across: 42, down: 42 }, place);
  return boxes;
};

Deno.test("a row is between two lines, a column too, a cell within four", () => {
  deepEqual(pointed({ query: 1, key: null }), [[100, 59, 40, 1], [100, 70, 40, 1]]);
  deepEqual(pointed({ query: null, key: 0 }), [[100, 50, 1, 40], [111, 50, 1, 40]]);
  equal(pointed({ query: 1, key: 2 }).length, 4);
  // Every head that there is shows it, and no line leaves its thumbnail.
  equal(pointed({ query: 3, key: null }, [2, 1]).length, 6);
  for (const query of [0, 1, 2, 3]) {
    for (const [, y, , height] of pointed({ query, key: null })) ok(y >= 50 && y + height <= 90);
  }
  deepEqual(pointed({ query: 4, key: null }), []);
  deepEqual(pointed({ query: 0, key: 9 }), []);
});

Deno.test("another head is the same picture; another weight, scale or size is not", () => {
  const data = { weights: Uint8Array.of(1, 2), selected: [0, 0], serial: 0, scale: ["a"], shape: [1, 2, 1, 1] };
  ok(drawnAlike(data, { ...data, selected: [0, 1], serial: 3, weights: Uint8Array.of(1, 2) }));
  ok(!drawnAlike(data, { ...data, weights: Uint8Array.of(1, 3) }));
  ok(!drawnAlike(data, { ...data, scale: ["b"] }));
  ok(!drawnAlike(data, { ...data, shape: [2, 1, 1, 1] }));
});

Deno.test("heads are named as they are counted on screen", () => {
  equal(nameOf({ names: ["layer", "head"], counts: 1 }, { layer: 1, head: 3 }), "Layer 2, head 4");
  equal(nameOf({ names: ["layer"], counts: 1 }, { layer: 0, head: 3 }), "Layer 4");
  equal(nameOf({ names: ["layer", "head"], counts: 0 }, { layer: 1, head: 3 }), "Layer 1, head 3");
  // Few heads are no giants, and many layers at most twice as wide as high.
  const few = placed(layers(1, 2), 1000, 350, 1);
  deepEqual([few.across, few.down], [92, 92]);
  equal(few.width, 1000);
  const many = placed(layers(24, 4), 1000, 350, 1);
  deepEqual([many.across, many.down], [48, 24]);
});
