// The colour bar of every heatmap, as viz/layout.py draws it for Plotly: below the cells, from their left edge on, the
// numbers under it, and then what they are.

import { printable } from "./labels.js";
import { barOf } from "./shades.js";

export const LONGEST_BAR = 180; // px
export const BAR_SPACE = 56; // px that it takes below the cells
const [ABOVE, HEIGHT] = [8, 10]; // px: of the gap to the cells, and of the colours
export const BAR_TEXT = 11; // px

// Draws that of a picture with a pen below a place. `marks` are places on it, 0 to 1, and their names; all is `scale`
// times as large.
export function drawBar(pen, picture, left, bottom, length = LONGEST_BAR * picture.scale) {
  const { data: { marks, title }, shades, theme, scale } = picture;
  const [top, size, height] = [bottom + ABOVE * scale, BAR_TEXT * scale, HEIGHT * scale];
  pen.ink(theme.line, 1);
  pen.box(left - 1, top - 1, length + 2, height + 2);
  pen.pixels(barOf(shades), left, top, length, height);
  pen.ink(theme.muted, 1);
  for (const [place, name] of marks) {
    // A word at an end stays within the bar.
    const align = !/\p{L}/u.test(name) || place % 1 ? "center" : place ? "right" : "left";
    pen.text(name, left + place * length, top + height + 13 * scale, { size, align });
  }
  pen.text(printable(title), left, top + height + 29 * scale, { size });
}
