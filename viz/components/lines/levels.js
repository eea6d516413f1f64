// Which lines are drawn for all tokens, how opaque, and in which order.

export const FAINTEST = 3; // of 255: fainter lines cannot be seen, nor can 8 bits hold their hue; hovering shows them
const LEVELS = 20; // opacities drawn: the canvas changes its pen once a level and head, not once a line

// Finer where lines are faint: a level is the square root of the weight, 0 is not drawn.
export const LEVEL = Uint8Array.from(
  { length: 256 },
  (_, q) => (q < FAINTEST ? 0 : 1 + Math.floor(Math.sqrt((q - FAINTEST) / (256 - FAINTEST)) * LEVELS)),
);
export const OPACITY = Array.from({ length: LEVELS + 1 }, (_, level) => {
  const members = [...LEVEL.keys()].filter((q) => LEVEL[q] === level);
  return members.reduce((sum, q) => sum + q, 0) / members.length / 255;
});

const RANK_IN_FRONT = LEVEL.map((level) => level && level + LEVELS);

// Places in the weights of the lines of the heads that are on. A counting sort by level and head: faint lines first, so
// that strong ones of any head lie on top, and those of the head in front, if there is one, on top of all.
export function sortedLines(weights, perHead, on, front = null) {
  const starts = new Uint32Array(2 * LEVELS + 2);
  const heads = on.flatMap((isOn, head) => (isOn ? [{ head, rank: head === front ? RANK_IN_FRONT : LEVEL }] : []));
  for (const { head, rank } of heads) {
    for (let at = head * perHead; at < (head + 1) * perHead; at++) starts[rank[weights[at]] + 1]++;
  }
  for (let rank = 1; rank < starts.length; rank++) starts[rank] += starts[rank - 1];
  const next = starts.slice();
  const order = new Uint32Array(starts.at(-1));
  for (const { head, rank } of heads) {
    for (let at = head * perHead; at < (head + 1) * perHead; at++) order[next[rank[weights[at]]]++] = at;
  }
  return order.subarray(starts[1]);
}
