// What a cell says, and how its number is written on it.

import { largest, signOf } from "../shared/numbers.js";

// Two digits that count, in the room of a cell; a dash for what could not be had.
export function written(value) {
  if (Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size < 0.005) return "0";
  const digits = size >= 9.95 ? size.toFixed(0) : size >= 0.995 ? size.toFixed(1) : size.toFixed(2).slice(1);
  return value < 0 ? `−${digits}` : digits;
}

const exact = (value, signed) => {
  if (Number.isNaN(value)) return "none";
  return `${signOf(value, signed)}${Math.abs(value).toFixed(4)}`;
};

// A cell in lines: where it is, its number, and that it is picked.
export function linesOf({ rows, columns, down, across, quantity, mark, weights, signed }, { row, column }, picked) {
  const place = [[down, rows[row]], [across, columns[column]]].map((part) => part.filter(Boolean).join(" ")).join(", ");
  const lines = [place, `${quantity}: ${exact(weights[row * columns.length + column], signed)}`];
  return picked ? [...lines, mark] : lines;
}

const NAMED = 5; // largest cells named

// The largest cells in a sentence, for those who do not see the picture.
export function described(data) {
  const { columns, weights } = data;
  const named = largest(weights, NAMED).map((at) => {
    const [row, column] = [Math.floor(at / columns.length), at % columns.length];
    const [place, number] = linesOf(data, { row, column }, false);
    return `${place}: ${number.slice(data.quantity.length + 2)}`;
  });
  return named.length ? `Largest by ${data.quantity}: ${named.join("; ")}.` : "All cells are zero.";
}

export const idOf = ({ row, column }) => `${row}.${column}`;
