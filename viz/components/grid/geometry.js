// Where everything is in a grid of heads, in CSS pixels from its left and top edge.

import { BAR_SPACE, LONGEST_BAR } from "../shared/bar.js";

const SMALLEST_CELL = 24; // a finger hits nothing smaller
const LARGEST_CELL = 92;
const WIDEST_FOR_ITS_HEIGHT = 2;
const GUTTER = 38; // left of the cells: the word "layer" and its numbers
const ABOVE = 34; // the word "head" and, under it, its numbers
const BESIDE = 4; // right of the cells: the outline of the last one
export const PARTED_BY = 2; // px between two cells

// Places of `heads` (of each layer) in a picture of a width that is to keep to a height, all text `scale` times as large.
// A cell is `across` wide and `down` high, its line to the next one included. The picture is wider than asked for, or
// higher, where cells would be too small.
export function placed(heads, width, height, scale) {
  const widest = Math.max(...heads);
  const [smallest, largest] = [SMALLEST_CELL * scale, LARGEST_CELL * scale];
  const [left, top, below] = [GUTTER, ABOVE, BAR_SPACE].map((size) => Math.round(size * scale));
  const room = Math.min(largest, (width - left - BESIDE) / widest);
  const down = Math.floor(Math.max(smallest, Math.min(room, (height * scale - top - below) / heads.length)));
  const across = Math.floor(Math.max(smallest, Math.min(room, WIDEST_FOR_ITS_HEIGHT * down)));
  const [right, bottom] = [left + widest * across, top + heads.length * down];
  const bar = Math.min(LONGEST_BAR * scale, width - left - BESIDE);
  const size = { width: Math.max(width, right + BESIDE), height: bottom + below };
  return { ...size, left, top, right, bottom, across, down, bar };
}

// Where a token lies on a side of a thumbnail: from where to where, 0 to 1, of a side of `pixels` for `tokens`. A pixel
// holds the tokens from floor(i · tokens / pixels) up to the next pixel's.
export function span(token, tokens, pixels) {
  const pixel = Math.ceil(((token + 1) * pixels) / tokens) - 1;
  return [pixel / pixels, (pixel + 1) / pixels];
}
