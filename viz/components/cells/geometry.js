// Where everything is in a map of cells, in CSS pixels from its left and top edge. `scale` is how much larger than usual
// type is, and all that holds type with it.

import { BAR_SPACE } from "../shared/bar.js";
import { GAP } from "../shared/cells.js";
import { clamp } from "../shared/numbers.js";

const DOWN = 27; // of a cell
const FINGER = 32; // of a cell that a finger picks, both ways
const WIDEST_CELL = 116;
const NARROWEST_CELL = 24; // with more columns the picture scrolls
export const NUMBERED_FROM = 27; // narrower cells have no room for a number
const WIDEST_LABELS = 0.42; // of the width
export const AXIS = 18; // what an axis' name takes
const LINE = 14; // what a label takes

// Places for labels of these widths, down the side and along the top, in a picture of a width; `finger` says whether
// cells are picked by one.
export function placed(rows, columns, width, { scale = 1, finger = false } = {}) {
  const narrowest = finger ? FINGER : NARROWEST_CELL;
  const widest = (widths) => Math.max(0, ...widths);
  const [axis, line] = [AXIS * scale, LINE * scale];
  const left = Math.ceil(axis + Math.min(widest(rows), WIDEST_LABELS * width) + GAP);
  const room = Math.max(width - left - 2, 1);
  const across = Math.floor(clamp(room / columns.length, narrowest * scale, WIDEST_CELL * scale));
  const upright = widest(columns) + GAP > across;
  const top = Math.ceil(axis + (upright ? widest(columns) : line) + GAP);
  const down = Math.round((finger ? FINGER : DOWN) * scale);
  const [right, bottom] = [left + across * columns.length, top + down * rows.length];
  const numbered = across >= NUMBERED_FROM * scale;
  const size = { width: Math.max(width, right + 2), height: Math.ceil(bottom + BAR_SPACE * scale) };
  return { ...size, left, top, right, bottom, across, down, upright, scale, numbered };
}
