// Cells as {row, column}: which one lies under a place, where a key moves from it, and what is said of it.

import { element } from "./elements.js";
import { clamp } from "./numbers.js";

export const GAP = 6; // CSS px between a cell and what is said of it, or a picture and its labels

// The cell under a place of a picture with so many rows and columns, null beside them all.
export function cellAt({ left, top, across, down }, { rows, columns }, x, y) {
  const [row, column] = [Math.floor((y - top) / down), Math.floor((x - left) / across)];
  const inside = row >= 0 && row < rows && column >= 0 && column < columns;
  return inside ? { row, column } : null;
}

// Where a key leads from a cell, in so many rows and columns: to no cell (null), or nowhere (undefined).
export function moved({ key, ctrlKey }, { row, column }, { rows, columns }) {
  return {
    ArrowUp: { row: Math.max(row - 1, 0), column },
    ArrowDown: { row: Math.min(row + 1, rows - 1), column },
    ArrowLeft: { row, column: Math.max(column - 1, 0) },
    ArrowRight: { row, column: Math.min(column + 1, columns - 1) },
    Home: { row: ctrlKey ? 0 : row, column: 0 },
    End: { row: ctrlKey ? rows - 1 : row, column: columns - 1 },
    Escape: null,
  }[key];
}

// Says lines, of which one is set off, below the cell that begins at x and y and is `down` high; above it where there is
// no room below in a picture of a width and a height.
export function sayAt(reading, lines, setOff, { x, y, down }, { width, height }) {
  const spans = lines.map((text) => element("span", {}, text));
  spans[setOff].style.fontWeight = "600";
  reading.replaceChildren(...spans);
  const box = reading.getBoundingClientRect();
  const below = y + down + GAP;
  reading.style.left = `${clamp(x, 0, Math.max(0, width - box.width))}px`;
  reading.style.top = `${below + box.height <= height ? below : Math.max(0, y - box.height - GAP)}px`;
}
