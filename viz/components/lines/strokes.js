// The lines themselves, as a pen draws them on the screen and into files. A view says what is drawn: data, heads that
// are `on`, the one among them that is in `front` or null and the `most` of its weights, their `colours`, the height of a
// `row` at a `scale` of type, and the `lines` of all tokens.

import { LEVEL, OPACITY } from "./levels.js";
import { labelsOf, other } from "./tokens.js";

const UNDRAWN = ["weights", "selected", "off"]; // fields of data; weights are compared as bytes
const BEHIND = 0.25; // what is left of the opacity of a line behind the head in front
const WIDEST = 4; // pixels, of the strongest line of the head in front
const ROOMY = 16; // pixels; in lower rows there are so many lines that only strong ones are drawn wide
const STRONG = 0.25; // weight from which on they are

// Whether two payloads have the same lines, whichever heads and token are chosen.
export function drawnAlike(a, b) {
  const header = (data) => JSON.stringify(data, (field, value) => UNDRAWN.includes(field) ? undefined : value);
  if (a.weights.length !== b.weights.length || header(a) !== header(b)) return false;
  return a.weights.every((q, at) => q === b.weights[at]);
}

// The head whose lines stand out: the only one, or the chosen one among several; null where there is none.
export function frontOf({ in_front: chosen }, on) {
  const active = on.flatMap((isOn, head) => (isOn ? [head] : []));
  if (active.length === 1) return active[0];
  return active.includes(chosen) ? chosen : null;
}

// How a line of a weight from 0 to 1 is drawn, if lines are `thin` pixels wide. In front it is what a line weighs
// beside the head's strongest that tells: lines that matter are set off from the many that do not.
export function styled(of, head, view, thin) {
  const { front, scale } = view;
  if (head !== front) return { opacity: front === null ? of : BEHIND * of, width: thin };
  const weight = setOff(Math.min(of / view.most, 1));
  const isWide = isRoomy(view) || weight > STRONG;
  return { opacity: weight, width: isWide ? (1 + (WIDEST - 1) * weight) * scale : thin };
}

// Small weights as they are; from a third on they rise in an S, up to 1 at 0.8.
function setOff(weight) {
  const part = Math.min(weight / 0.8, 1);
  return Math.max(weight, part * part * (3 - 2 * part));
}

const isRoomy = ({ row, scale }) => row > ROOMY * scale;

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
  const thin = isRoomy(view) ? 1.5 : 1 / pen.ratio; // wider than a pixel takes ten times as long
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
      const { opacity, width } = styled(OPACITY[level], head, view, thin);
      pen.ink(colours[head], opacity);
      pen.setWidth(width);
    }
    pen.line(start, from, end, to);
  }
  pen.flush();
}

// The lines of one token; returns how many. Beside each partner one box a head tells which heads made its lines: the
// larger the weight, the more of the head's colour.
export function strokeOne(pen, view, { gutter, start, end, width }, { side, index }) {
  const { data, on, front, row, colours } = view;
  const { weights, queries, keys } = data;
  const perHead = queries.length * keys.length;
  const partners = labelsOf(data, other(side)).length;
  const active = on.flatMap((isOn, head) => (isOn ? [head] : []));
  const lane = lanes(on, row);
  const [from, to] = side === "query" ? [start, end] : [end, start];
  const boxes = side === "query" ? width - gutter : 0;
  const box = gutter / active.length;
  const thin = isRoomy(view) ? 1.5 : 1;
  const places = active.map((head, place) => ({ head, place }));
  const inOrder = [...places.filter(({ head }) => head !== front), ...places.filter(({ head }) => head === front)];
  let lines = 0;
  for (const { head, place } of inOrder) {
    for (let partner = 0; partner < partners; partner++) {
      const pair = side === "query" ? index * keys.length + partner : partner * keys.length + index;
      const q = weights[head * perHead + pair];
      if (q === 0) continue;
      const { opacity, width: wide } = styled(q / 255, head, view, thin);
      pen.setWidth(wide);
      pen.ink(colours[head], opacity);
      pen.line(from, index * row + lane[head], to, partner * row + lane[head]);
      pen.ink(colours[head], q / 255);
      pen.box(boxes + place * box, partner * row + 1, box, row - 2);
      lines++;
    }
  }
  return lines;
}
