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

// Places in the weights of the lines of the heads that are on, those of the head in front last: it lies on top.
export function sortedLines(weights, perHead, on, inFront = null) {
  if (inFront === null || !on[inFront]) return sorted(weights, perHead, on);
  const behind = sorted(weights, perHead, on.map((isOn, head) => isOn && head !== inFront));
  const front = sorted(weights, perHead, on.map((_, head) => head === inFront));
  const order = new Uint32Array(behind.length + front.length);
  order.set(behind);
  order.set(front, behind.length);
  return order;
}

// A counting sort by level and head: faint lines first, so that strong ones of any head lie on top.
function sorted(weights, perHead, on) {
  const starts = new Uint32Array(LEVELS + 2);
  const heads = on.flatMap((isOn, head) => (isOn ? [head] : []));
  for (const head of heads) {
    for (let at = head * perHead; at < (head + 1) * perHead; at++) starts[LEVEL[weights[at]] + 1]++;
  }
  for (let level = 1; level < starts.length; level++) starts[level] += starts[level - 1];
  const next = starts.slice();
  const order = new Uint32Array(starts[LEVELS + 1]);
  for (const head of heads) {
    for (let at = head * perHead; at < (head + 1) * perHead; at++) order[next[LEVEL[weights[at]]]++] = at;
  }
  return order.subarray(starts[1]);
}
