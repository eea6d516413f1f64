// What other pictures point at, in every thumbnail: lines on both sides of a row or column, a box around a cell.

import { PARTED_BY, span } from "./geometry.js";

const SMALLEST = 3; // px that are framed, however small a pixel is

export function drawPointed(pen, { shape, heads, tokens }, places, { query, key }) {
  const [, , rows, columns] = shape;
  if (query >= tokens[0] || key >= tokens[1]) return; // of a picture whose tokens are not these
  const { left, top, across, down } = places;
  const [y1, y2] = framed(query, tokens[0], rows, down - PARTED_BY);
  const [x1, x2] = framed(key, tokens[1], columns, across - PARTED_BY);
  heads.forEach((n, layer) => {
    for (let head = 0; head < n; head++) {
      const [x, y] = [left + head * across, top + layer * down];
      if (query !== null) { for (const at of [y1, y2 - 1]) pen.box(x + x1, y + at, x2 - x1, 1); }
      if (key !== null) { for (const at of [x1, x2 - 1]) pen.box(x + at, y + y1, 1, y2 - y1); }
    }
  });
}

// From where to where a side of `size` px is framed: a token's place and a line on either side, the whole for null.
function framed(token, tokens, pixels, size) {
  if (token === null) return [0, size];
  const [from, to] = span(token, tokens, pixels).map((place) => place * size);
  const more = Math.max(0, SMALLEST - (to - from)) / 2;
  const [low, high] = [Math.floor(from - more) - 1, Math.ceil(to + more) + 1];
  const shift = Math.max(0, -low) - Math.max(0, high - size); // the lines stay in their own thumbnail
  return [low + shift, high + shift];
}
