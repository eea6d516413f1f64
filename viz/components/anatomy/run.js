// The run: a text goes through the picture by itself, from part to part, until all of it is seen.
//
// Two pictures are drawn once, one with and one without its numbers. A frame copies what is there already from the
// first one onto the second, and moves the rows that are on their way: no frame draws a number again.

import { clamp } from "../shared/numbers.js";
import { penOn } from "../shared/pens.js";
import { flowsFrom, sourcesOf } from "./places.js";
import { describeBeat } from "./words.js";

export const REST = 6000; // ms that all of it is seen before it runs again
const FADE = 500; // ms in which it goes
const TIMES = { characters: 1000, pieces: 900, token: 800, query: 800, matrix: 1300, context: 900, words: 1200 };
const TIME = { card: 650, strip: 420 };
const TOGETHER = { segment: "position", key: "query", value: "query", "turned key": "turned query", gate: "inner" };
const ON_THE_WAY = 0.6; // of a row's time; the rest of it, its numbers appear
const DRAWN_OUT = 0.6; // how much later the last row sets out than the first, in times of a row
const SEEN = { weight: 0.06, faint: 0.25 }; // of attention that moves

// What comes one after the other: {parts, from, start, end, caption}, `from` the part that each of the parts comes from, or
// null. Times are ms from the beginning.
export function beatsOf(data, values, { parts, at }) {
  const strips = (group) =>
    parts.filter((part) => (part.kind === "strip" || part.kind === "matrix") && (part.group ?? "layer") === group);
  const cards = parts.filter(({ kind }) => kind === "card");
  const inside = strips("layer");
  const order = [
    at.get("characters"),
    at.get("pieces"),
    ...strips("embeddings"),
    ...cards.slice(0, data.layer),
    ...inside,
    ...cards.slice(data.layer),
    ...(at.has("words") ? [at.get("words")] : []),
  ];
  const before = cards[data.layer - 1] ?? strips("embeddings").at(-1) ?? at.get("pieces");
  const fromOf = (part) => {
    if (part.kind === "characters") return null;
    if (part.kind === "pieces") return at.get("characters");
    if (part.kind === "words") return cards.at(-1);
    if (part.kind === "card") {
      return part.layer === data.layer && inside.length
        ? at.get("output")
        : cards[part.layer - 1] ?? strips("embeddings").at(-1) ?? at.get("pieces");
    }
    if (part.id === "input") return before;
    const made = sourcesOf(data, part, at).map((name) => at.get(name)).filter(Boolean);
    if (!made.length) return part.id === strips("embeddings")[0]?.id ? at.get("pieces") : null;
    return made.at(part.kind === "matrix" || part.id === "context" ? 0 : -1);
  };
  const beats = [];
  let start = 0;
  for (const part of order) {
    const last = beats.at(-1);
    if (last && TOGETHER[part.id] && TOGETHER[part.id] === last.parts[0].id) {
      last.parts.push(part);
      last.from.push(fromOf(part));
      continue;
    }
    const end = start + (TIMES[part.id] ?? TIMES[part.kind] ?? TIME[part.kind]);
    beats.push({ parts: [part], from: [fromOf(part)], start, end, caption: "" });
    start = end;
  }
  for (const beat of beats) beat.caption = describeBeat(data, values, beat.parts);
  return beats;
}

// Which beat it is at a time from 0, and how much of it has passed, 0 to 1.
export function beatAt(beats, time) {
  const index = Math.max(0, beats.findIndex(({ end }) => time <= end));
  const { start, end } = beats[index];
  return { index, passed: clamp((time - start) / (end - start), 0, 1) };
}

// How far a row of so many has come, 0 to 1, when a part of a beat has passed.
export const rowAt = (passed, row, n) => clamp(passed * (1 + DRAWN_OUT) - (DRAWN_OUT * row) / Math.max(1, n - 1), 0, 1);

const ease = (time) => (time < 0.5 ? 2 * time ** 2 : 1 - 2 * (1 - time) ** 2);
const mix = (from, to, part) => from + (to - from) * part;

// The frames of a picture's run. A time below 0 is one in which all is seen, until it fades.
export class Run {
  constructor(picture, ratio) {
    this.picture = picture;
    this.data = picture.data;
    this.n = this.data.tokens.length;
    this.beats = beatsOf(this.data, picture.values, picture.places);
    this.length = this.beats.at(-1).end;
    this.ratio = ratio;
    this.full = this.drawn(false);
    this.empty = this.drawn(true);
  }

  drawn(bare) {
    const { picture } = this;
    const canvas = document.createElement("canvas");
    const pen = penOn(canvas, picture.width, picture.height, picture.font);
    picture.draw(pen, { here: "", focus: null, read: null }, bare);
    pen.flush();
    return canvas;
  }

  // What is said at a time; "" while all is seen.
  caption(time) {
    return time < 0 ? "" : this.beats[beatAt(this.beats, time).index].caption;
  }

  // The end of the beat that is so many after the one at a time.
  beside(time, by) {
    const to = time < 0 ? (by > 0 ? 0 : this.beats.length - 1) : beatAt(this.beats, time).index + by;
    return this.beats[clamp(to, 0, this.beats.length - 1)].end;
  }

  draw(pen, time) {
    pen.flush();
    this.context = pen.context;
    this.picture.pen = pen;
    const all = { x: 0, y: 0, w: this.picture.width, h: this.picture.height };
    if (time < 0) {
      this.copy(this.full, all, all, 1);
      this.copy(this.empty, all, all, clamp(1 + time / FADE, 0, 1));
      return;
    }
    this.copy(this.empty, all, all, 1);
    const { index, passed } = beatAt(this.beats, time);
    for (const { parts } of this.beats.slice(0, index)) parts.forEach((part) => this.show(part));
    const { parts, from } = this.beats[index];
    if (passed === 1) parts.forEach((part) => this.show(part));
    else parts.forEach((part, at) => this.drawComing(pen, part, from[at], passed));
    pen.ink(this.picture.theme.primary, 1);
    pen.setWidth(2);
    parts.forEach((part) => this.picture.rectangle(part, 3));
    pen.flush();
  }

  // A piece of one of the two pictures, at its place or elsewhere.
  copy(picture, from, to, opacity) {
    if (opacity <= 0 || from.w <= 0 || to.w <= 0) return;
    const { ratio } = this;
    this.context.globalAlpha = opacity;
    const source = [from.x * ratio, from.y * ratio, from.w * ratio, from.h * ratio];
    this.context.drawImage(picture, ...source, to.x, to.y, to.w, to.h);
    this.context.globalAlpha = 1;
  }

  // A part with what is drawn around it, and the lines that lead to it.
  show(part, opacity = 1) {
    const edge = part.kind === "matrix" ? 8 * this.picture.scale : 2;
    const around = { x: part.x - edge, y: part.y - edge, w: part.w + 2 * edge, h: part.h + 2 * edge };
    this.copy(this.full, around, around, opacity);
    const lines = this.lines(part);
    if (lines) this.copy(this.full, lines, lines, opacity);
  }

  lines(part) {
    const before = part.kind === "card" && this.data.flows ? flowsFrom(this.picture.places.parts, part) : null;
    return before && { x: before.x + before.w + 2, y: part.y, w: part.x - before.x - before.w - 4, h: part.h };
  }

  rowOf(part, row) {
    const h = part.h / this.n;
    return { x: part.x, y: part.y + row * h, w: part.w, h };
  }

  drawComing(pen, part, from, passed) {
    if (part.kind === "words") {
      this.drawWords(part, from, passed);
      return;
    }
    const lines = this.lines(part);
    if (lines) this.copy(this.full, lines, lines, ease(passed));
    const source = lines ? flowsFrom(this.picture.places.parts, part) : from;
    const mixes = lines
      ? (row, column) => this.picture.values.flow(part.layer, row, column)
      : part.id === "context"
      ? (row, column) => (this.picture.values.attention[row * this.n + column] / 255) ** 2
      : null;
    for (let row = 0; row < this.n; row++) {
      const come = rowAt(passed, row, this.n);
      const [there, way] = [this.rowOf(part, row), clamp(come / ON_THE_WAY, 0, 1)];
      const appears = clamp((come - ON_THE_WAY) / (1 - ON_THE_WAY), 0, 1);
      if (!from) {
        const seen = { ...there, w: there.w * (part.kind === "characters" ? come : appears) };
        this.copy(this.full, seen, seen, 1);
        continue;
      }
      if (mixes) this.drawDrops(pen, source, there, row, mixes, way);
      else if (come > 0 && appears < 1) this.drawOnTheWay(this.rowOf(from, row), there, ease(way));
      this.copy(this.full, there, there, appears);
    }
  }

  // A row of the picture on its way from one part to another.
  drawOnTheWay(from, to, part) {
    const here = Object.fromEntries(["x", "y", "w", "h"].map((edge) => [edge, mix(from[edge], to[edge], part)]));
    this.copy(this.full, from, here, 0.9);
  }

  // What a row takes from all the others, as large as the weights.
  drawDrops(pen, part, to, row, weights, way) {
    if (way <= 0 || way >= 1) return;
    const { theme, scale } = this.picture;
    for (let column = 0; column < this.n; column++) {
      const weight = weights(row, column);
      if (weight < SEEN.weight) continue;
      const from = this.rowOf(part, column);
      pen.ink(row === this.data.position ? theme.primary : theme.muted, SEEN.faint + (1 - SEEN.faint) * weight);
      const [x, y] = [mix(from.x + from.w, to.x, ease(way)), mix(from.y + from.h / 2, to.y + to.h / 2, ease(way))];
      pen.dot(x, y, (1.2 + 2.6 * Math.sqrt(weight)) * scale);
    }
  }

  // One token's vector becomes a list of words; its bars grow.
  drawWords(part, from, passed) {
    const { predicted } = this.data;
    const way = clamp(passed / 0.4, 0, 1);
    if (way < 1 && predicted !== null) {
      const row = this.rowOf(from, predicted);
      this.drawOnTheWay(row, { x: part.x + 0.4 * part.w, y: part.y, w: 0.3 * part.w, h: row.h }, ease(way));
    }
    const grown = ease(clamp((passed - 0.4) / 0.6, 0, 1));
    const edge = 2;
    const seen = { x: part.x - edge, y: part.y - edge, w: (part.w + 2 * edge) * grown, h: part.h + 2 * edge };
    this.copy(this.full, seen, seen, 1);
  }
}
