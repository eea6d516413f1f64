// Cells as {row, column}: what one says, and where a key moves from it.

// What a cell says, in lines: its tokens, then a line a number.
export function said({ queries, keys, numbers, weights }, { row, column }) {
  const count = queries.length * keys.length;
  const values = numbers.map(({ name, signed }, layer) => {
    const value = weights[layer * count + row * keys.length + column];
    const sign = value < 0 ? "−" : signed && value > 0 ? "+" : "";
    return `${name} ${sign}${Math.abs(value).toFixed(4)}`;
  });
  return [`query ${row + 1} · ${queries[row]}`, `looks at key ${column + 1} · ${keys[column]}`, ...values];
}

const NAMED = 5; // strongest cells named

// The strongest cells in a sentence, for those who do not see the picture.
export function described({ queries, keys, numbers: [{ name }], weights }) {
  const cells = queries.length * keys.length;
  const strongest = [];
  for (let at = 0; at < cells; at++) {
    const size = Math.abs(weights[at]);
    if (!(size > 0) || (strongest.length === NAMED && size <= strongest[NAMED - 1].size)) continue;
    strongest.push({ at, size });
    strongest.sort((a, b) => b.size - a.size || a.at - b.at);
    strongest.length = Math.min(strongest.length, NAMED);
  }
  const said = strongest.map(({ at }) => {
    const [row, column] = [Math.floor(at / keys.length), at % keys.length];
    return `${queries[row]} looks at ${keys[column]}, ${weights[at].toFixed(2).replace("-", "−")}`;
  });
  return said.length ? `Strongest by ${name}: ${said.join("; ")}.` : "All cells are zero.";
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
