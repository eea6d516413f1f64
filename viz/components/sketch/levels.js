// Drawn heights: levels from 0 to so many, where a stroke and the keys lead, and how numbers are written.

import { clamp } from "../shared/numbers.js";

const PAGE = 5; // levels that Page Up and Page Down move

export const levelOf = (share, most) => clamp(Math.round(share * most), 0, most);

// The levels after a stroke from one point to another, points as {column, level}: columns in between are filled.
export function stroked(levels, from, to) {
  const way = Math.sign(to.column - from.column);
  const drawn = [...levels];
  for (let column = from.column; column !== to.column; column += way) {
    const done = (column - from.column) / (to.column - from.column);
    drawn[column] = Math.round(from.level + done * (to.level - from.level));
  }
  drawn[from.column] = from.column === to.column ? to.level : from.level;
  drawn[to.column] = to.level;
  return drawn;
}

// The level that a key leads to; undefined for a key that leads nowhere.
export function moved(key, level, most) {
  const to = {
    ArrowUp: level + 1,
    ArrowRight: level + 1,
    ArrowDown: level - 1,
    ArrowLeft: level - 1,
    PageUp: level + PAGE,
    PageDown: level - PAGE,
    Home: 0,
    End: most,
  }[key];
  return to === undefined ? undefined : clamp(to, 0, most);
}

// A number of a scale that ends at `top`, to as many digits as a drawing has. Shares of one have the unit "%".
export function drawnNumber(value, top, unit) {
  const percent = unit === "%" ? 100 : 1;
  const digits = clamp(2 - Math.floor(Math.log10(percent * top)), 0, 20);
  return written(value, unit, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

// What the model says, to four digits, however small it is.
export const exactNumber = (value, unit) => written(value, unit, { maximumSignificantDigits: 4 });

function written(value, unit, digits) {
  if (unit === "%") return `${(100 * value).toLocaleString("en", digits)}%`;
  return value.toLocaleString("en", digits) + (unit && `\u00A0${unit}`);
}
