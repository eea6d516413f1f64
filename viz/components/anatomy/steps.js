// Where keys lead: from part to part of the picture, and from number to number of a table.

import { clamp } from "../shared/numbers.js";

// The part that a key leads to: along the walk, or to the nearest one of the band above or below. Null if it leads
// nowhere.
export function next(key, order, from) {
  if (!from) return /^(Arrow|Home|End)/.test(key) ? order[0] : null;
  const at = order.indexOf(from);
  const along = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: order.length - 1 }[key];
  if (along !== undefined) return order[clamp(along, 0, order.length - 1)];
  const side = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (!side) return null;
  const beyond = order.filter(({ y }) => Math.sign(y - from.y) === side);
  const row = side > 0 ? Math.min(...beyond.map(({ y }) => y)) : Math.max(...beyond.map(({ y }) => y));
  const middle = ({ x, w }) => x + w / 2;
  const apart = (part) => Math.abs(middle(part) - middle(from));
  return beyond.filter(({ y }) => y === row).sort((a, b) => apart(a) - apart(b))[0] ?? from;
}

// The cell that a key leads to in the table of a part, whose lines are the columns of the part and which is of one of its
// rows: {row, column}, or null if the key leads nowhere.
export function moved(key, { row, column }, { rows, columns, step = 1 }) {
  const to = {
    ArrowUp: [row, column - step],
    ArrowDown: [row, column + step],
    ArrowLeft: [row - 1, column],
    ArrowRight: [row + 1, column],
    PageUp: [row, column - 10 * step],
    PageDown: [row, column + 10 * step],
    Home: [row, 0],
    End: [row, columns - 1],
  }[key];
  return to ? { row: clamp(to[0], 0, rows - 1), column: clamp(to[1], 0, columns - 1) } : null;
}

// What Python knows a part by.
export const reported = ({ kind, id }) =>
  ({ matrix: "head", words: "output", characters: "pieces" })[kind] ?? (id === "output" ? "layer output" : id);
