// Where every part of a model stands, in the picture.
//
// Tokens are rows, and a vector's numbers run from left to right: a part is as wide as its vectors are long, and a
// token stays at its height through a whole band. Wide pictures have two bands, the model above and the layer that is
// opened below; narrow ones have as many as they need, from top to bottom.

import { clamp } from "../shared/numbers.js";
import { runs } from "./values.js";

export const WIDE_FROM = 600; // CSS px
const FULL_FROM = 800; // below, a wide picture has smaller type,
const SMALLEST = 0.85; // at most by this factor
const MARGIN = 14;
const HIGHEST = { wide: 424, rows: 36, strips: 72 };
const MANY = { tokens: 16, more: 12 }; // so much higher is a wide picture for each further one
const WIDEST_STRIP = 64; // of the longest of a model's own width
const ABOVE = 40; // a band's title and those of its parts
const BELOW = { upper: 18, lower: 22 }; // numbers of layers; lines that lead past parts
const BETWEEN = 20; // the bands
const READ = 11.5; // height of a row in which a token is read

// Bands of narrow pictures: parts that stand in one row if the model has them.
const NARROW = [
  ["token", "position", "segment", "sum", "normed", "projected"],
  ["stack"],
  ["input", "normed before", "query", "key", "value", "turned query", "turned key"],
  ["matrix", "context", "attention", "after attention", "normed after attention", "normed between"],
  ["inner", "gate", "active"],
  ["feed-forward", "after feed-forward", "output"],
  ["words"],
];

// Parts {id, kind, x, y, w, h, index} of kinds "characters", "pieces", "strip", "card", "matrix", "heads", "words" and
// frames {id, x, y, w, h} around several of them, links between parts, and the size of all. `measured` are the widths of
// the longest token and of the longest characters.
export function placed(data, width, { measured, scale = 1 }) {
  const make = width >= WIDE_FROM ? wide : narrow;
  const places = make(data, width, { measured, scale });
  const at = new Map([...places.frames, ...places.parts].map((part) => [part.id, part]));
  return { ...places, at, rows: data.tokens.length, links: linked(data, places) };
}

// How much larger than usual a picture's type is: as the page's, or as a wide picture has room for.
export const scaleOf = (width, type) =>
  width >= WIDE_FROM ? Math.min(type, Math.max(SMALLEST, width / FULL_FROM)) : type;

const stripsOf = (data, group) =>
  data.stages.map((stage, index) => ({ id: stage.name, kind: "strip", index, size: stage.size, group: stage.group }))
    .filter((part) => part.group === group);

// The parts of the layer in their order, with the matrix of attention before what is made with it.
function opened(data) {
  const parts = stripsOf(data, "layer");
  const context = parts.findIndex(({ id }) => id === "context");
  parts.splice(context < 0 ? Math.max(1, parts.length - 1) : context, 0, { id: "matrix", kind: "matrix", size: 0 });
  return parts;
}

function wide(data, width, { measured, scale }) {
  const n = data.tokens.length;
  const [above, below, past, between] = [ABOVE, BELOW.upper, BELOW.lower, BETWEEN].map((size) => size * scale);
  const highest = HIGHEST.wide + Math.max(0, n - MANY.tokens) * MANY.more;
  const free = highest * scale - 2 * above - below - past - between - 8;
  const row = Math.min(HIGHEST.rows * scale, free / n / 2);
  const high = Math.max(row, Math.min(1.35 * row, READ * scale)); // tokens are read above
  const low = 2 * row - high;
  const lower = opened(data);
  const room = width - 2 * MARGIN;

  const label = clamp(measured.tokens + 14, 66 * scale, 100 * scale);
  const matrix = Math.min(Math.max(n * low, 60 * scale), 0.13 * room);
  const sizes = lower.reduce((sum, part) => sum + part.size, 0);
  const least = 15 * scale;
  const model = Math.max(...data.stages.map(({ size, name }) => (name === "input" ? size : 0)), 1);
  const unit = Math.min(
    (room - 20 - label - matrix - (lower.length - 1) * least) / sizes,
    WIDEST_STRIP * scale / model,
  );
  const taken = label + matrix + sizes * unit + 20;
  const gap = Math.min((room - taken) / Math.max(lower.length - 1, 1), 34 * scale);

  const parts = [];
  const top = above;
  let x = MARGIN;
  const add = (id, kind, w, more = {}) => {
    const part = { id, kind, x, y: top, w, h: n * high, ...more };
    parts.push(part);
    x += w;
    return part;
  };
  add("characters", "characters", Math.min(measured.characters, 150 * scale));
  x += 16 * scale;
  add("pieces", "pieces", Math.min(measured.tokens + 14, 110 * scale));
  x += 30 * scale;
  const embeddings = stripsOf(data, "embeddings");
  const [start, space] = [x, 22 * scale];
  for (const part of embeddings) {
    add(part.id, part.kind, part.size * unit, part);
    x += space;
  }
  const framed = { x: start, w: x - space - start };
  x += 14 * scale;
  const words = data.words.length ? 168 * scale : 0;
  const stack = { x, w: width - MARGIN - x - (words ? words + 34 * scale : 0) };
  parts.push(...cards(data, { ...stack, y: top, h: n * high }, model * unit, scale));
  const last = parts.at(-1);
  stack.w = last.x + last.w - stack.x;
  x = width - MARGIN - words;
  if (words) add("words", "words", words);

  const second = top + n * high + below + between + above;
  x = MARGIN + 10 + label + Math.max(0, (room - taken - (lower.length - 1) * gap) / 2);
  for (const part of lower) {
    const w = part.kind === "matrix" ? matrix : part.size * unit;
    parts.push({ ...part, x, y: second, w, h: n * low });
    x += w + gap;
  }
  const height = second + n * low + past + 8;
  const panel = { id: "layer", x: MARGIN - 6, y: second - above - 5, w: room + 12, h: height - second + above + 1 };
  const frames = [
    { id: "embeddings", ...framed, y: top, h: n * high },
    { id: "layers", ...stack, y: top, h: n * high },
    panel,
  ];
  return { width, height, parts, frames, wide: true, panel, label, scale, unit };
}

function narrow(data, width, { measured, scale }) {
  const n = data.tokens.length;
  const room = width - 2 * MARGIN;
  const [above, below] = [ABOVE * scale, 8 * scale];
  const row = clamp(HIGHEST.strips / n, 4, 20) * scale;
  const closed = runs(data); // the layer: what runs by itself is seen at once
  const layer = opened(data);
  const matrix = 92 * scale;
  const bands = NARROW.map((ids, at) => {
    if (closed && at > 1 && at < NARROW.length - 1) return [];
    const known = [...stripsOf(data, "embeddings"), ...layer];
    return ids.flatMap((id) => known.filter((part) => part.id === id));
  });
  const unknown = closed ? [] : layer.filter(({ id }) => !NARROW.some((ids) => ids.includes(id)));
  bands[5].splice(Math.max(0, bands[5].length - 1), 0, ...unknown);
  const unit = Math.min(
    ...bands.filter((band) => band.length).map((band) => {
      const sizes = band.reduce((sum, { size }) => sum + size, 0);
      const squares = band.some(({ id }) => id === "matrix") ? matrix : 0;
      return (room - 12 - squares - (band.length - 1) * 20) / sizes;
    }),
    64 / Math.max(...data.stages.map(({ size, name }) => (name === "input" ? size : 0)), 1),
  );
  const parts = [];
  const frames = [];
  const readable = Math.min(20 * scale, Math.max(11 * scale, 96 / n));
  const characters = Math.min(measured.characters, 0.4 * room);
  const pieces = Math.min(measured.tokens + 14, 0.4 * room);
  let y = above;
  parts.push({ id: "characters", kind: "characters", x: MARGIN, y, w: characters, h: n * readable });
  parts.push({ id: "pieces", kind: "pieces", x: MARGIN + characters + 24, y, w: pieces, h: n * readable });
  y += n * readable + 14;
  let panel = null;
  bands.forEach((band, at) => {
    if (NARROW[at][0] === "stack") {
      y += above - 10 * scale;
      const all = cards(data, { x: MARGIN, y, w: room, h: n * row }, closed ? 26 : 56, scale);
      parts.push(...all);
      frames.push({ id: "layers", x: MARGIN, y, w: all.at(-1).x + all.at(-1).w - MARGIN, h: n * row });
      y += n * row + (BELOW.upper + BETWEEN) * scale;
      if (!closed) panel = { id: "layer", x: MARGIN - 8, y, w: room + 16, h: 0 };
      return;
    }
    if (NARROW[at][0] === "words") {
      if (panel) panel.h = y - panel.y;
      if (!data.words.length) return;
      y += above + 6;
      const h = Math.max(96 * scale, 16 * scale * data.words.length);
      parts.push({ id: "words", kind: "words", x: MARGIN, y, w: Math.min(room, 260 * scale), h });
      y += h + 8;
      return;
    }
    if (!band.length) return;
    y += [above, 0, above + 6 * scale][at] ?? above - 10 * scale;
    const sizes = band.reduce((sum, { size }) => sum + size, 0) * unit;
    const squares = band.some(({ id }) => id === "matrix") ? matrix : 0;
    const gap = Math.min((room - 12 - sizes - squares) / Math.max(band.length - 1, 1), 26);
    let x = MARGIN + 6;
    const from = x;
    for (const part of band) {
      const w = part.kind === "matrix" ? matrix : part.size * unit;
      parts.push({ ...part, x, y, w, h: n * row });
      x += w + gap;
    }
    if (at === 0) frames.push({ id: "embeddings", x: from, y, w: x - gap - from, h: n * row });
    y += n * row + below;
  });
  if (panel) frames.push(panel);
  return { width, height: y + 4, parts, frames, wide: false, panel, label: 0, scale, unit };
}

// A card a layer, the one that is opened at its full width and the others as narrow as they must be.
function cards({ n_layers: n, layer }, { x, y, w, h }, full, scale) {
  const gap = clamp((w - n * full) / Math.max(n - 1, 1), Math.min(4 * scale, w / n / 4), 56 * scale);
  const folded = n > 1 ? Math.min(full, (w - full - gap * (n - 1)) / (n - 1)) : full;
  const made = [];
  for (let at = 0; at < n; at++) {
    const width = at === layer ? full : folded;
    made.push({ id: `layer ${at}`, kind: "card", layer: at, x, y, w: width, h });
    x += width + gap;
  }
  return made;
}

// Lines from what a part is made of to the part: to the next one, and past those between, on a level of their own.
// Queries, keys and values are one group, which is entered and left once, and so are the inner numbers and their gate.
function linked(data, { parts }) {
  const at = new Map(parts.map((part) => [part.id, part]));
  const order = parts.filter(({ kind }) => kind === "strip" || kind === "matrix");
  const links = [];
  const past = [];
  order.forEach((part, index) => {
    const sources = sourcesOf(data, part, at).filter((name) => at.get(name)?.y === part.y);
    const before = order[index - 1];
    const places = sources.map((name) => order.indexOf(at.get(name)));
    const row = data.stages[part.index]?.how === "sum" &&
      places.every((place, nth) => place === index - places.length + nth);
    if (row && places.length > 1) {
      for (let nth = index - places.length; nth < index; nth++) {
        links.push({ from: order[nth], to: order[nth + 1], past: 0, sign: nth === index - 1 ? "=" : "+" });
      }
      return;
    }
    if (part.kind === "matrix" && before?.y === part.y) {
      links.push({ from: before, to: part, past: 0, sign: "" });
      return;
    }
    for (const name of sources) {
      const from = at.get(name);
      if (from === before) links.push({ from, to: part, past: 0, sign: "" });
      else if (!GROUP.has(part.id) && !(GATED.has(name) && GATED.has(before?.id))) {
        past.push({ from, to: part, past: 1, sign: "" });
      }
    }
  });
  past.sort((one, other) => spanOf(one) - spanOf(other));
  past.forEach((link, index) => {
    const others = past.slice(0, index).filter((other) => other.from.y === link.from.y && crosses(link, other));
    link.past = 1 + Math.max(0, ...others.map((other) => other.past));
  });
  return [...links, ...past];
}

const GROUP = new Set(["query", "key", "value", "turned query", "turned key", "gate"]);
const GATED = new Set(["inner", "gate"]);

const spanOf = ({ from, to }) => to.x - from.x;
const crosses = (one, other) => one.from.x < other.to.x && other.from.x < one.to.x;

// What a part is made of, with the matrix between queries and keys and what attention gives.
export function sourcesOf(data, part, at) {
  if (part.kind === "matrix") {
    return [["turned query", "query"], ["turned key", "key"]].flatMap((names) => names.find((n) => at.has(n)) ?? []);
  }
  const { name, made_of: sources } = data.stages[part.index];
  if (name !== "context") return sources;
  return [...(at.has("value") ? ["value"] : []), "matrix"];
}

// The part beside which a layer's card stands, where lines from its rows to the card's have room; else null.
export function flowsFrom(parts, card) {
  const before = parts[parts.indexOf(card) - 1];
  return before?.y === card.y && card.x - before.x - before.w >= 12 ? before : null;
}

// Where `at` leads: the part or frame of that name, null where there is none.
export function placeOf({ at }, name) {
  if (name === "output") return at.get("words") ?? at.get("output");
  if (name === "layer output") return at.get("output");
  if (name === "pieces") return around("pieces", [at.get("characters"), at.get("pieces")]);
  if (name === "head") return at.get("matrix");
  if (name === "heads") {
    const parts = ["query", "key", "value", "matrix", "context"].flatMap((id) => at.get(id) ?? []);
    return around("heads", parts.filter(({ y }) => y === at.get("matrix").y));
  }
  return at.get(name) ?? null;
}

function around(id, parts) {
  const [x, y] = [Math.min(...parts.map((part) => part.x)), Math.min(...parts.map((part) => part.y))];
  const right = Math.max(...parts.map((part) => part.x + part.w));
  const bottom = Math.max(...parts.map((part) => part.y + part.h));
  return { id, x, y, w: right - x, h: bottom - y };
}
