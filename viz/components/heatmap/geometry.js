// Where everything is in a heatmap, in CSS pixels from its left and top edge. `scale` is how much larger than usual type
// is, and all that holds type with it.

import { BAR_SPACE } from "../shared/bar.js";
import { cellAt, GAP } from "../shared/cells.js";

const LARGEST_CELL = 64;
const WIDEST = 96; // of a low cell, so that a short text fills the width
const WIDEST_FOR_ITS_HEIGHT = 4.5;
const LARGEST_SIDE = 620;
const HIGHEST_WIDE_CELL = 24; // of cells that fill the width
const SQUARE_UP_TO = 24; // tokens; beyond, cells are small, and filling the width shows more
const LABELLED_UP_TO = 100; // tokens; so many rows are high enough for a label each
const WIDEST_LABELS = 0.4; // of the width
const BELOW = BAR_SPACE + 6; // below the cells
const SMALLEST_LINE = 11; // what the smallest label takes
export const PARTED_FROM = 6; // smaller cells touch
export const LINE = 14; // what a label takes
export const TITLE = 20; // what an axis' title takes

// Places for labels of these widths, down the side and along the top, in a picture of a width on a screen of `ratio`
// device pixels a CSS pixel. A cell is `across` wide and `down` high; `pixels` are what the device has for all of them.
// Cells are as large as the width allows where it is to be `filled`. With a `limit` the picture is no higher, as long as every row has room for its label.
export function placed(rows, columns, width, ratio, { scale = 1, limit = 0, filled = false } = {}) {
  const widest = (widths) => Math.max(0, ...widths);
  const longest = Math.max(rows.length, columns.length);
  const [title, line, below, smallest] = [TITLE, LINE, BELOW, SMALLEST_LINE].map((size) => size * scale);
  const cell = (n) => Math.min(LARGEST_CELL, filled ? Infinity : 300 / n + 10, LARGEST_SIDE / n) * scale;
  const crisp = (size) => (size >= PARTED_FROM ? Math.floor(size) : size);
  const left = Math.ceil(title + Math.min(widest(rows), WIDEST_LABELS * width) + GAP);
  const room = Math.max(width - left - 1, 1);
  const least = rows.length <= LABELLED_UP_TO ? smallest : 0;
  let across = crisp(room / columns.length);
  let down = Math.max(crisp(Math.min(cell(rows.length), HIGHEST_WIDE_CELL * scale)), least);
  if (longest <= SQUARE_UP_TO) across = down = Math.min(across, Math.max(crisp(cell(longest)), least));
  let upright = widest(columns) + GAP > across;
  const topOf = () => Math.ceil(title + (upright ? widest(columns) : line) + GAP);
  const highest = limit && crisp((limit * scale - topOf() - below) / rows.length);
  if (limit && highest < down) {
    down = Math.max(highest, least, 1);
    // What a cell loses in height it may have in width.
    if (longest <= SQUARE_UP_TO) {
      across = Math.min(crisp(room / columns.length), WIDEST * scale, crisp(WIDEST_FOR_ITS_HEIGHT * down));
    }
    upright = widest(columns) + GAP > across;
  }
  const top = topOf();
  const right = left + across * columns.length;
  const bottom = top + down * rows.length;
  const pixels = [
    Math.min(columns.length, Math.max(1, Math.floor((right - left) * ratio))),
    Math.min(rows.length, Math.max(1, Math.floor((bottom - top) * ratio))),
  ];
  const merged = pixels[0] < columns.length || pixels[1] < rows.length; // more cells than pixels
  const every = [down, upright ? across : line].map((size) => Math.ceil(smallest / size)); // which rows are labelled
  const height = Math.ceil(bottom + below + (merged ? line : 0));
  return { width, height, left, top, right, bottom, across, down, upright, pixels, merged, every, scale };
}

// Says which tokens are labelled, of every so-manieth row and column; "" where all are.
export function labelled(every) {
  const [ofRows, ofColumns] = every;
  const nth = (step) =>
    `every ${step}${step % 100 > 10 && step % 100 < 14 ? "th" : ["th", "st", "nd", "rd"][step % 10] ?? "th"}`;
  const both = ofRows === ofColumns ? [[ofRows, "token"]] : [[ofRows, "query"], [ofColumns, "key"]];
  const phrase = both.filter(([step]) => step > 1).map(([step, noun]) => `${nth(step)} ${noun}`).join(" and ");
  return phrase && `${phrase[0].toUpperCase()}${phrase.slice(1)} is labelled; point to read any.`;
}

// Whether what stands from `top` to `bottom` is out of a window of a height, or just looks in at one of its ends.
export const outOfSight = ({ top, bottom }, height) => top > 0.75 * height || bottom < 0.25 * height;

// What is pointed at under a place, as {query, key}: a cell, a row or a column by its label, or null.
export function pointedAt(places, size, x, y) {
  const cell = cellAt(places, size, x, y);
  if (cell) return { query: cell.row, key: cell.column };
  const { left, top, across, down } = places;
  if (x < left) return cellAt(places, size, left, y) && { query: Math.floor((y - top) / down), key: null };
  if (y < top) return cellAt(places, size, x, top) && { query: null, key: Math.floor((x - left) / across) };
  return null;
}

// Where a new text begins among these segments of tokens.
export const borders = (segments) => segments.flatMap((of, at) => (at > 0 && of !== segments[at - 1] ? [at] : []));
