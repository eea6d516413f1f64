// What of the world is seen: {x, y, kx, ky}, its left and top edge, and CSS pixels a unit of the world across and down.
// Across grows faster, because a vector's numbers are much narrower than a token's row is high.

import { clamp } from "../shared/numbers.js";

export const WHOLE = { x: 0, y: 0, kx: 1, ky: 1 };
export const CELL = { w: 112, h: 46 }; // of one number
const LARGEST = { across: 150, down: 64 }; // a cell may become
const TITLE = 42; // above several parts
const SURROUNDED = 1.45; // times as large as usual a part of a narrow picture is seen with what is around it
export const EDGES = { left: 104, right: 22, top: 58, bottom: 16 }; // around a part that fills the view

// The window that a part is shown in: all of a low picture, of a high one what is around the part.
export function windowOf(places, part) {
  const height = Math.min(places.height, Math.max(440 * places.scale, part.h + (TITLE + 24) * places.scale));
  const y = clamp(part.y + part.h / 2 - height / 2, 0, places.height - height);
  return { x: 0, y, w: places.width, h: height };
}

// All of a part, as large as it fits; rows no higher than they need.
export function around(places, part) {
  const seen = windowOf(places, part);
  const { left, right, top, bottom } = edgesOf(places);
  const [w, h] = [seen.w - left - right, seen.h - top - bottom];
  const kx = Math.max(1, w / part.w);
  const ky = clamp(h / part.h, 1, Math.max(1, (56 * places.scale * places.rows) / part.h));
  const [spareX, spareY] = [w - part.w * kx, h - part.h * ky];
  return { kx, ky, x: part.x - (left + spareX / 2) / kx, y: part.y - (seen.y + top + spareY / 2) / ky };
}

// A part of the picture with its surroundings, as the eye would see it: across and down alike.
export function near(places, frame) {
  const seen = windowOf(places, frame);
  const [title, edge] = [TITLE * places.scale, 12];
  const left = places.wide && frame.x > places.label ? places.label : 0; // for the names of the tokens
  const room = [seen.w - left - 2 * edge, seen.h - title - 2 * edge];
  const k = clamp(Math.min(room[0] / frame.w, room[1] / frame.h), 1, places.wide ? Infinity : SURROUNDED);
  const free = [seen.w - left - frame.w * k, seen.h - title - frame.h * k];
  return inside(
    { kx: k, ky: k, x: frame.x - (left + free[0] / 2) / k, y: frame.y - (seen.y + title + free[1] / 2) / k },
    places,
  );
}

// One number of a part with so many columns and rows, in the middle.
export function closeTo(places, part, { row, column }, columns) {
  const seen = windowOf(places, part);
  const { left, top } = edgesOf(places);
  const [across, down] = [part.w / columns, part.h / places.rows];
  const [kx, ky] = [(CELL.w * places.scale) / across, Math.max(1, (CELL.h * places.scale) / down)];
  const middle = [left + (seen.w - left) / 2, seen.y + top + (seen.h - top) / 2];
  const [right, bottom] = [seen.w - edgesOf(places).right, seen.y + seen.h - edgesOf(places).bottom];
  const along = (at, size, start, from, to, k) => clamp(at - start / k, from / k, Math.max(from / k, size - to / k));
  return {
    kx,
    ky,
    x: part.x + along((column + 0.5) * across, part.w, middle[0], -left, right, kx),
    y: part.y + along((row + 0.5) * down, part.h, middle[1], -(seen.y + top), bottom, ky),
  };
}

const edgesOf = ({ scale, wide }) => ({
  left: (wide ? EDGES.left : 72) * scale,
  right: (wide ? EDGES.right : 8) * scale,
  top: EDGES.top * scale,
  bottom: EDGES.bottom * scale,
});

// Nearer or farther by a factor, with what is under a point staying there. `most` is how near: {kx, ky}.
export function zoomed(camera, factor, { x, y }, places, most) {
  const ratio = Math.log(most.ky) / Math.log(most.kx);
  const kx = clamp(camera.kx * factor, 1, most.kx);
  const ky = clamp(camera.ky * factor ** ratio, 1, most.ky);
  const at = { x: camera.x + x / camera.kx, y: camera.y + y / camera.ky };
  return inside({ kx, ky, x: at.x - x / kx, y: at.y - y / ky }, places);
}

// How near the cells of a part may come.
export const nearest = (places, part, columns) => ({
  kx: Math.max(1.01, (LARGEST.across * places.scale) / (part.w / columns)),
  ky: Math.max(1.01, (LARGEST.down * places.scale) / (part.h / places.rows)),
});

// Kept to the world, with room for what stands beside a part.
export function inside({ x, y, kx, ky }, places) {
  const { left, right, top, bottom } = edgesOf(places);
  const along = (at, k, size, before, after) => {
    const spare = Math.min(1, k - 1);
    return clamp(at, (-before * spare) / k, Math.max(0, size - (size - after * spare) / k));
  };
  return { kx, ky, x: along(x, kx, places.width, left, right), y: along(y, ky, places.height, top, bottom) };
}

// Between two cameras, at a time from 0 to 1: both edges of what is seen move as an eye would that comes nearer evenly.
// From one part to another that is not in sight it goes over what holds both.
export function between(from, to, time, places) {
  const over = far(from, to, places) ? hull(from, to) : null;
  if (over && time < 0.5) return step(from, over, ease(2 * time));
  return over ? step(over, to, ease(2 * time - 1)) : step(from, to, ease(time));
}

const ease = (time) => (time < 0.5 ? 4 * time ** 3 : 1 - (2 - 2 * time) ** 3 / 2);

function far(from, to, { width, height }) {
  const apart = (a, b, ka, kb, size) => Math.abs(a + size / ka / 2 - b - size / kb / 2) > (size / ka + size / kb) / 2;
  return apart(from.x, to.x, from.kx, to.kx, width) || apart(from.y, to.y, from.ky, to.ky, height);
}

const hull = (from, to) => ({ x: 0, y: 0, kx: Math.min(1, from.kx, to.kx), ky: Math.min(1, from.ky, to.ky) });

function step(from, to, time) {
  const along = (a, ka, b, kb) => {
    const k = ka * (kb / ka) ** time;
    const [start, end, now] = [1 / ka, 1 / kb, 1 / k];
    const part = Math.abs(end - start) < 1e-9 ? time : (now - start) / (end - start);
    return [a + (b - a) * part, k];
  };
  const [x, kx] = along(from.x, from.kx, to.x, to.kx);
  const [y, ky] = along(from.y, from.ky, to.y, to.ky);
  return { x, y, kx, ky };
}

export const onScreen = ({ x, y, kx, ky }, part) => ({
  x: (part.x - x) * kx,
  y: (part.y - y) * ky,
  w: part.w * kx,
  h: part.h * ky,
});
