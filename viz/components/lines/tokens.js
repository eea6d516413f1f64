// Tokens of the two columns, as {side: "query" | "key", index}: their labels, and where a key moves from one.

export const other = (side) => (side === "query" ? "key" : "query");
export const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
export const labelsOf = (data, side) => (side === "query" ? data.queries : data.keys);

// Whether the second text begins at the token.
export function beginsSegment(data, { side, index }) {
  const segments = side === "query" ? data.query_segments : data.key_segments;
  return index > 0 && segments[index] !== segments[index - 1];
}

// The token that an arrow key, Home or End leads to; undefined for any other key.
export function moved(key, { side, index }, data) {
  const last = (of) => labelsOf(data, of).length - 1;
  return {
    ArrowUp: { side, index: Math.max(index - 1, 0) },
    ArrowDown: { side, index: Math.min(index + 1, last(side)) },
    ArrowLeft: { side: "query", index: Math.min(index, last("query")) },
    ArrowRight: { side: "key", index: Math.min(index, last("key")) },
    Home: { side, index: 0 },
    End: { side, index: last(side) },
  }[key];
}

// The place in a row of `n` that an arrow key, Home or End leads to from `at`; undefined for any other key.
export function stepped(key, at, n) {
  const [back, forth] = [Math.max(at - 1, 0), Math.min(at + 1, n - 1)];
  return { ArrowLeft: back, ArrowUp: back, ArrowRight: forth, ArrowDown: forth, Home: 0, End: n - 1 }[key];
}

// What a click does to the heads that are on: switches one; with Shift, or the second of a double click, leaves it alone,
// or switches all on where it was alone before.
export function clicked(head, { on, before, detail, shiftKey }) {
  if (detail < 2 && !shiftKey) return on.map((isOn, index) => (index === head ? !isOn : isOn));
  const only = on.map((_, index) => index === head);
  return same(shiftKey ? on : before, only) ? on.map(() => true) : only;
}
