// The lines themselves, as a pen draws them on the screen and into files. A view says what is drawn: data, heads that
// are `on` and their `colours`, the height of a `row`, and the `lines` of all tokens.

import { LEVEL, OPACITY } from "./levels.js";
import { labelsOf, other } from "./tokens.js";

const UNDRAWN = ["weights", "selected", "off"]; // fields of data; weights are compared as bytes
const WIDE = 3; // pixels that the strongest line of the head in front is wider than the faintest
const STRONG = 0.3; // opacity from which on a line is wide even where rows are close: there are few of these
const BEHIND = 0.3; // of the opacity of the other heads, that of those behind the head in front

// How opaque and how wide a line is: that of the head in front stands out, and is the wider the stronger.
export function stroke({ data, on, row }, head, opacity, thin) {
  const alone = on.filter(Boolean).length === 1;
  if (data.in_front !== head && !alone) {
    const behind = data.in_front !== null && on[data.in_front];
    return { opacity: behind ? BEHIND * opacity : opacity, width: thin };
  }
  const wide = row > 16 || opacity >= STRONG;
  return { opacity: opacity ** 0.75, width: wide ? Math.max(thin, 1 + WIDE * opacity) : thin };
}

// Whether two payloads have the same lines, whichever heads and token are chosen.
export function drawnAlike(a, b) {
  const header = (data) => JSON.stringify(data, (field, value) => UNDRAWN.includes(field) ? undefined : value);
  return (
    a.weights.length === b.weights.length && header(a) === header(b) && a.weights.every((q, at) => q === b.weights[at])
  );
}

// Heads lie side by side within a row, so that lines of one pair do not cover each other.
export function lanes(on, row) {
  const active = on.filter(Boolean).length;
  let place = 0;
  return on.map((isOn) => (0.15 + (0.7 * (isOn ? place++ + 0.5 : 0)) / active) * row);
}

// The lines of all tokens that touch what lies between top and bottom, from the area's start to its end.
export function strokeAll(pen, view, { start, end }, top, bottom) {
  const { data: { weights, queries, keys }, lines, on, row, colours } = view;
  const perHead = queries.length * keys.length;
  const lane = lanes(on, row);
  const thin = row > 16 ? 1.5 : 1 / pen.ratio; // wider than a pixel takes ten times as long
  let [level, head] = [-1, -1];
  for (const at of lines) {
    const owner = Math.floor(at / perHead);
    const pair = at - owner * perHead;
    const query = Math.floor(pair / keys.length);
    const from = query * row + lane[owner];
    const to = (pair - query * keys.length) * row + lane[owner];
    if (Math.max(from, to) < top - 1 || Math.min(from, to) > bottom + 1) continue;
    if (LEVEL[weights[at]] !== level || owner !== head) {
      [level, head] = [LEVEL[weights[at]], owner];
      const { opacity, width } = stroke(view, head, OPACITY[level], thin);
      pen.setWidth(width);
      pen.ink(colours[head], opacity);
    }
    pen.line(start, from, end, to);
  }
  pen.flush();
}

// The lines of one token; returns how many. Beside each partner one box a head tells which heads made its lines.
export function strokeOne(pen, view, { gutter, start, end, width }, { side, index }) {
  const { data, on, row, colours } = view;
  const { weights, queries, keys } = data;
  const perHead = queries.length * keys.length;
  const partners = labelsOf(data, other(side)).length;
  const active = on.flatMap((isOn, head) => (isOn ? [head] : []));
  const lane = lanes(on, row);
  const [from, to] = side === "query" ? [start, end] : [end, start];
  const boxes = side === "query" ? width - gutter : 0;
  const box = gutter / active.length;
  const thin = row > 16 ? 1.5 : 1;
  let lines = 0;
  active.forEach((head, place) => {
    for (let partner = 0; partner < partners; partner++) {
      const pair = side === "query" ? index * keys.length + partner : partner * keys.length + index;
      const q = weights[head * perHead + pair];
      if (q === 0) continue;
      const { opacity, width: wide } = stroke(view, head, q / 255, thin);
      pen.setWidth(wide);
      pen.ink(colours[head], opacity);
      pen.line(from, index * row + lane[head], to, partner * row + lane[head]);
      pen.box(boxes + place * box, partner * row + 1, box, row - 2);
      lines++;
    }
  });
  return lines;
}
