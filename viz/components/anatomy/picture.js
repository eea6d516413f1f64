// The picture of a model, seen by a camera: what is in it, and how a pen draws it, on the screen and into files.

import { shadesOf } from "../shared/shades.js";
import { graphemes, printable } from "../shared/labels.js";
import { clamp } from "../shared/numbers.js";
import { themeOf } from "../shared/screen.js";
import { EDGES, onScreen, windowOf } from "./camera.js";
import { flowsFrom, placed, placeOf, scaleOf } from "./places.js";
import { Images, levelsOf, shadeOf } from "./values.js";
import { percent, titleOf, written } from "./words.js";

const SIZE = 12; // of text
const SMALLEST = 8.5; // of a token's label
const LETTER = 9; // width of a character's box
const MOST_LETTERS = 12; // of a token
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}]/u;
const NUMBER = { w: 46, h: 14 }; // of a cell that has its number written in
const DOMINANT = 0.45; // of the width: a part that takes so much is what is looked at
const FAINTEST = 0.04; // of attention weights that are drawn as lines
const ATTENTION = ["query", "turned query", "key", "turned key", "value", "context", "attention"];
const FEED_FORWARD = ["inner", "gate", "active", "feed-forward"];

export class Picture {
  constructor({ data, values, root }, width, look = null) {
    this.data = data;
    this.values = values;
    this.theme = look ?? themeOf(root);
    this.font = this.theme.font;
    this.scale = scaleOf(width, this.theme.scale);
    this.width = width;
    this.context = document.createElement("canvas").getContext("2d");
    this.widths = new Map();
    this.tokens = data.tokens.map((token) => printable(token));
    this.letters = data.characters.map((typed) => graphemes(printable(typed)));
    const most = Math.min(Math.max(4, ...this.letters.map((letters) => letters.length)), MOST_LETTERS);
    const measured = {
      tokens: Math.max(40 * this.scale, ...this.tokens.map((token) => this.measure(token, 13))),
      characters: Math.max(most * LETTER * this.scale, this.measure("Characters", 11)),
    };
    this.places = placed(data, width, { measured, scale: this.scale });
    this.height = Math.ceil(this.places.height);
    const { dark } = this.theme;
    this.shades = shadesOf(dark ? data.dark_scale : data.scale);
    this.weightShades = shadesOf(dark ? data.dark_weight_scale : data.weight_scale);
    this.strips = data.stages.map(({ cells }, index) => new Images(levelsOf(values.stages[index]), cells, this.shades));
    this.cards = values.states.map((state) => new Images(levelsOf(state), data.state_cells, this.shades));
    this.bar = new Images(Uint8Array.from({ length: 255 }, (_, at) => at), 255, this.shades);
    this.matrix = new Images(values.attention, data.tokens.length, this.weightShades);
  }

  // Width of a text in CSS px; texts are few and come again in every frame.
  measure(text, size) {
    const key = `${size} ${text}`;
    if (!this.widths.has(key)) {
      this.context.font = `${size * this.scale}px ${this.font}`;
      this.widths.set(key, this.context.measureText(text).width);
    }
    return this.widths.get(key);
  }

  // A text cut to a width, "" where not even a letter fits.
  fitting(text, size, room) {
    if (this.measure(text, size) <= room) return text;
    const letters = graphemes(text);
    let count = Math.floor((letters.length * room) / this.measure(text, size));
    while (count > 0 && this.measure(`${letters.slice(0, count).join("")}…`, size) > room) count--;
    return count < 1 ? "" : `${letters.slice(0, count).join("")}…`;
  }

  write(pen, text, x, y, size, more = {}) {
    const { colour = this.theme.text, opacity = 1, ...how } = /** @type {any} */ (more);
    pen.ink(colour, opacity);
    pen.text(text, x, y, { size: size * this.scale, ...how });
  }

  // ---- the whole ----------------------------------------------------------------------------------------

  // `marks`: the part where the visitor is (`here`), the part that keys are on (`focus`), the number that is read
  // ({part, row, column}); a part that is not in it is null. A `bare` picture has places for its parts, and no numbers.
  draw(pen, camera, marks, bare = false) {
    const { places, theme } = this;
    this.pen = pen;
    this.camera = camera;
    // Of what explains the whole: it goes as soon as a part is drawn out across.
    this.farness = clamp(2 - camera.kx / camera.ky, 0, 1);
    pen.setWidth(1);
    pen.ink(theme.background, 1);
    pen.box(0, 0, this.width, this.height);
    this.drawPanel();
    if (this.farness > 0) {
      this.drawHeadings();
      for (const link of places.links) this.drawLink(link);
      this.drawFlow();
      if (!bare) this.drawFlows();
    }
    const dominant = this.dominant();
    for (const part of places.parts) {
      const at = onScreen(camera, part);
      if (at.x > this.width || at.x + at.w < 0 || at.y > this.height || at.y + at.h < 0) continue;
      if (bare) this.drawPlace(part, at);
      else this.drawPart(part, at);
      if (!dominant) this.drawTitle(part, at, marks);
    }
    this.drawFollowed(bare);
    if (!dominant) this.drawNames();
    if (dominant) this.drawEdges(dominant);
    this.drawMarks(marks, dominant);
  }

  // The part that is looked at: it takes most of the width.
  dominant() {
    for (const part of this.places.parts) {
      if (part.kind !== "strip" && part.kind !== "matrix") continue;
      const { x, y, w, h } = onScreen(this.camera, part);
      const seen = Math.min(x + w, this.width) - Math.max(x, 0);
      if (this.camera.kx > 1.5 && seen > DOMINANT * this.width && y < this.height && y + h > 0) return part;
    }
    return null;
  }

  ground(part) {
    const { panel } = this.places;
    return panel && part.y >= panel.y && part.y < panel.y + panel.h ? this.theme.surface : this.theme.background;
  }

  rectangle({ x, y, w, h }, grow = 0) {
    const [left, top, right, bottom] = [x - grow, y - grow, x + w + grow, y + h + grow];
    this.pen.line(left, top, right, top);
    this.pen.line(left, bottom, right, bottom);
    this.pen.line(left, top, left, bottom);
    this.pen.line(right, top, right, bottom);
  }

  // ---- what explains the whole --------------------------------------------------------------------------

  // The ground of the opened layer, and the lines along which it opens.
  drawPanel() {
    const { pen, theme, places, data } = this;
    if (!places.panel) return;
    const panel = onScreen(this.camera, places.panel);
    pen.ink(theme.surface, 1);
    pen.box(panel.x, panel.y, panel.w, panel.h);
    const card = onScreen(this.camera, places.at.get(`layer ${data.layer}`));
    pen.setWidth(1);
    pen.ink(theme.primary, 0.55 * this.farness);
    const from = card.y + card.h + (this.places.wide ? 15 : 15) * this.scale;
    pen.line(card.x, from, panel.x, panel.y);
    pen.line(card.x + card.w, from, panel.x + panel.w, panel.y);
    pen.ink(theme.primary, 0.55);
    this.rectangle(panel);
  }

  drawHeadings() {
    const { data, places: { at, wide }, scale } = this;
    const last = (ids) => ids.map((id) => at.get(id)).filter(Boolean).at(-1);
    const first = (ids) => ids.map((id) => at.get(id)).find(Boolean);
    this.bracket("Text", at.get("characters"), at.get("pieces"));
    this.bracket("Embeddings", at.get("embeddings"), at.get("embeddings"));
    const up = wide ? 0 : 12 * scale; // nothing stands between
    this.bracket(data.n_layers === 1 ? "1 layer" : `${data.n_layers} layers`, at.get("layers"), at.get("layers"), up);
    if (at.has("words")) {
      const token = data.predicted === null ? null : `“${this.tokens[data.predicted]}”`;
      const where = token === null ? "Output" : `Output at ${token}`;
      this.bracket(
        token !== null && data.hidden ? `Output, ${token} hidden|${where}` : where,
        at.get("words"),
        at.get("words"),
        wide ? 0 : 12 * scale,
      );
    }
    if (!at.has("layer")) return;
    const { x, y } = onScreen(this.camera, at.get("layer"));
    const how = { colour: this.theme.primary, opacity: this.farness };
    if (!wide) {
      this.write(
        this.pen,
        `Layer ${data.layer + data.counts} of ${data.n_layers}, opened`,
        x + 8,
        y + 14 * scale,
        SIZE,
        how,
      );
      return;
    }
    this.write(this.pen, `Layer ${data.layer + data.counts}`, x + 9, y + 18 * scale, SIZE, how);
    this.write(this.pen, `of ${data.n_layers}, opened`, x + 9, y + 31 * scale, 10, how);
    const attention = first(ATTENTION) ?? at.get("matrix");
    const name = `Attention, head ${data.head + data.counts} of ${data.n_heads}`;
    this.bracket(name, attention, last(ATTENTION) ?? at.get("matrix"));
    if (last(FEED_FORWARD)) this.bracket("Feed-forward network|Feed-forward", first(FEED_FORWARD), last(FEED_FORWARD));
  }

  // A name over several parts of a band, and a shorter one behind "|".
  bracket(text, one, other, lower = 0) {
    const [from, to] = [one, other].map((part) => onScreen(this.camera, part));
    const [left, right, y] = [from.x, Math.max(to.x + to.w, from.x + from.w), from.y - 29 * this.scale + lower];
    const [long, short = long] = text.split("|");
    const room = right - left + 20 * this.scale;
    const shown = this.measure(long, SIZE) <= room ? long : this.fitting(short, SIZE, room);
    const width = this.measure(shown, SIZE);
    this.pen.ink(this.theme.muted, 0.6 * this.farness);
    this.pen.setWidth(1);
    const free = (right - left - width) / 2 - 6;
    if (free > 2) {
      this.pen.line(left, y - 4, left + free, y - 4);
      this.pen.line(right - free, y - 4, right, y - 4);
    }
    const how = { colour: this.theme.text, align: "center", opacity: this.farness };
    this.write(this.pen, shown, (left + right) / 2, y, SIZE, how);
  }

  arrow(x1, y1, x2, y2) {
    const { pen } = this;
    const [length, half] = [4.5 * this.scale, 3 * this.scale];
    pen.line(x1, y1, x2, y2);
    const along = Math.abs(x2 - x1) > Math.abs(y2 - y1);
    const sign = along ? Math.sign(x2 - x1) : Math.sign(y2 - y1);
    for (const side of [-half, half]) {
      if (along) pen.line(x2 - sign * length, y2 + side, x2, y2);
      else pen.line(x2 + side, y2 - sign * length, x2, y2);
    }
  }

  drawLink({ from, to, past, sign }) {
    const { pen, theme, scale } = this;
    const [a, b] = [from, to].map((part) => onScreen(this.camera, part));
    const middle = a.y + a.h / 2;
    pen.setWidth(1.25);
    pen.ink(theme.muted, this.farness);
    if (past === 0) {
      const [left, right] = [a.x + a.w, b.x];
      if (sign) {
        const how = { align: "center", colour: theme.text, opacity: this.farness };
        this.write(pen, sign, (left + right) / 2, middle + 5 * scale, 14, how);
      } else this.arrow(left + 3, middle, right - 3, middle);
      return;
    }
    const residual = this.data.stages[to.index]?.how === "sum";
    const bottom = a.y + a.h;
    const y = bottom + (2 + 7 * past) * scale;
    const [start, end] = [a.x + a.w / 2, b.x + b.w / 2];
    if (residual) pen.ink(theme.primary, 0.8 * this.farness);
    pen.line(start, bottom + 2, start, y);
    pen.line(start, y, end, y);
    this.arrow(end, y, end, bottom + 2);
    if (!residual) return;
    const text = this.fitting("residual: added unchanged", 10, end - start - 24);
    if (!text) return;
    const width = this.measure(text, 10) + 10;
    pen.ink(theme.surface, 1);
    pen.box((start + end - width) / 2, y - 6 * scale, width, 12 * scale);
    const how = { align: "center", colour: theme.primary, opacity: this.farness };
    this.write(pen, text, (start + end) / 2, y + 3.5 * scale, 10, how);
  }

  // Arrows from the text to its pieces, on to the embeddings, the layers and the output.
  drawFlow() {
    const { pen, theme, data, places: { at, wide, parts } } = this;
    pen.setWidth(1.25);
    const join = (one, other, part = 0.5) => {
      pen.ink(theme.muted, this.farness);
      const [a, b] = [one, other].map((each) => onScreen(this.camera, each));
      this.arrow(a.x + a.w + 4, a.y + a.h * part, b.x - 4, a.y + a.h * part);
    };
    join(at.get("characters"), at.get("pieces"));
    if (!wide) return;
    join(at.get("pieces"), at.get("embeddings"));
    const cards = parts.filter(({ kind }) => kind === "card");
    if (!data.flows) join(at.get("embeddings"), at.get("layers"));
    for (let layer = 1; layer < cards.length && !data.flows; layer++) {
      if (cards[layer].x - cards[layer - 1].x - cards[layer - 1].w > 12) join(cards[layer - 1], cards[layer]);
    }
    if (!at.has("words")) return;
    join(cards.at(-1), at.get("words"), data.predicted === null ? 0.5 : (data.predicted + 0.5) / data.tokens.length);
  }

  // The attention by which each layer makes its vectors of those before: lines as strong as the weights.
  drawFlows() {
    if (!this.data.flows) return;
    const { pen, theme, data, places: { parts } } = this;
    const n = data.tokens.length;
    pen.setWidth(1.25);
    for (const card of parts.filter(({ kind }) => kind === "card")) {
      const before = flowsFrom(parts, card);
      if (!before) continue;
      const [from, to] = [before, card].map((part) => onScreen(this.camera, part));
      const middle = (part, row) => part.y + ((row + 0.5) * part.h) / n;
      for (let row = 0; row < n; row++) {
        for (let column = 0; column < n; column++) {
          const weight = this.values.flow(card.layer, row, column);
          if (weight < FAINTEST) continue;
          pen.ink(row === data.position ? theme.primary : theme.muted, Math.min(1, 0.1 + 0.9 * weight));
          pen.line(from.x + from.w + 2, middle(from, column), to.x - 2, middle(to, row));
        }
      }
    }
  }

  // Where a part will be.
  drawPlace(part, at) {
    if (part.kind === "words") return;
    this.pen.ink(this.theme.line, 1);
    this.pen.setWidth(1);
    this.rectangle(at);
  }

  drawTitle(part, at, marks) {
    if (part.kind === "card") {
      const counted = part.layer + this.data.counts;
      const text = String(counted);
      const opened = part.layer === this.data.layer;
      const every = Math.ceil((this.measure(String(this.data.n_layers), 10) + 2) / (at.w + 3));
      const near = Math.abs(part.layer - this.data.layer) < every;
      if (!opened && every > 1 && (near || counted % every)) return;
      const colour = opened ? this.theme.primary : this.theme.muted;
      this.write(this.pen, text, at.x + at.w / 2, at.y + at.h + 12 * this.scale, 10, { colour, align: "center" });
      return;
    }
    const titles = titleOf(this.data, part);
    const room = at.w + 15 * this.scale;
    const text = titles.find((title) => this.measure(title, 11) <= room) ?? this.fitting(titles.at(-1), 11, room);
    const colour = marks.here === part.id ? this.theme.primary : this.theme.text;
    const size = this.data.stages[part.index]?.size;
    if (part.kind === "words") return;
    const x = at.x + at.w / 2;
    this.write(this.pen, text, x, at.y - 15 * this.scale, 11, { align: "center", colour });
    const shape = part.kind === "pieces" ? `${this.tokens.length}` : size?.toLocaleString("en");
    if (!shape) return;
    this.write(this.pen, shape, x, at.y - 4.5 * this.scale, 9.5, { align: "center", colour: this.theme.muted });
  }

  // ---- parts --------------------------------------------------------------------------------------------

  drawPart(part, at) {
    if (part.kind === "strip") this.drawStrip(part, at);
    else if (part.kind === "card") this.drawCard(part, at);
    else if (part.kind === "matrix") this.drawMatrix(part, at);
    else if (part.kind === "characters") this.drawCharacters(at);
    else if (part.kind === "pieces") this.drawPieces(at);
    else if (part.kind === "words") this.drawWords(at);
  }

  // Rows or columns from..to of so many that are in sight.
  seen(start, step, count, size) {
    return [clamp(Math.floor(-start / step), 0, count), clamp(Math.ceil((size - start) / step), 0, count)];
  }

  drawStrip(part, at) {
    const { pen, data } = this;
    const { size, per, scale } = data.stages[part.index];
    const image = this.strips[part.index].fitting(at.w * pen.ratio);
    const span = Math.ceil(size / per / image.width) * per * image.width; // dimensions that the image is wide
    const ground = this.ground(part);
    this.picture(image, at, Math.max(span, size) / size, ground);
    const rows = data.tokens.length;
    const [across, down] = [at.w / size, at.h / rows];
    const [fromRow, toRow] = this.seen(at.y, down, rows, this.height);
    const { position } = data;
    const whole = per > 1 && across >= 2 && position >= fromRow && position < toRow;
    const [from, to] = this.seen(at.x, across, size, this.width);
    if (whole) {
      for (let column = from; column < to; column++) {
        pen.ink(this.colourOf(shadeOf(this.values.exact[part.index][column], scale), this.shades), 1);
        pen.box(at.x + column * across, at.y + position * down, across + 0.5, down);
      }
    }
    this.drawGrid(at, { rows, columns: size, per, from, to, fromRow, toRow, ground });
    this.drawNumbers(part, at, { across, down, from, to, fromRow, toRow, per });
    this.drawPartOfHead(part, at, across);
  }

  // An image that is wider than a part by a factor, because its last cell is not full.
  picture(image, { x, y, w, h }, factor, ground) {
    this.pen.ink(ground, 1); // an image is as opaque as the ink
    this.pen.pixels(image, x, y, w * factor, h);
    if (factor <= 1) return;
    this.pen.ink(ground, 1);
    this.pen.box(x + w, y, w * (factor - 1) + 1, h);
  }

  drawGrid(at, { rows, columns, per, from, to, fromRow, toRow, ground }) {
    const { pen, data } = this;
    const [across, down] = [at.w / columns, at.h / rows];
    pen.ink(ground, 1);
    if (down >= 4) {
      pen.setWidth(clamp(down * 0.12, 1, 3));
      const [left, right] = [Math.max(at.x, 0), Math.min(at.x + at.w, this.width)];
      for (let row = Math.max(1, fromRow); row < toRow; row++) {
        pen.line(left, at.y + row * down, right, at.y + row * down);
      }
    }
    if (across * per < 6) return;
    pen.setWidth(1);
    for (let row = fromRow; row < toRow; row++) {
      const step = row === data.position ? 1 : per;
      if (across * step < 6) continue;
      const start = Math.max(step, from - (from % step));
      for (let column = start; column < to; column += step) {
        pen.line(at.x + column * across, at.y + row * down, at.x + column * across, at.y + (row + 1) * down);
      }
    }
  }

  // Numbers written into the cells that are large enough.
  drawNumbers(part, at, { across, down, from, to, fromRow, toRow, per }) {
    if (down < NUMBER.h * this.scale) return;
    const { data, pen } = this;
    for (let row = fromRow; row < toRow; row++) {
      const step = row === data.position ? 1 : per;
      if (across * step < NUMBER.w * this.scale) continue;
      const size = Math.min(14, 10 + (across * step) / 30);
      for (let column = from - (from % step); column < to; column += step) {
        const { value, exact } = this.values.at(part, row, column);
        const shades = part.kind === "matrix" ? this.weightShades : this.shades;
        const scale = part.kind === "matrix" ? 1 : data.stages[part.index].scale;
        const shade = part.kind === "matrix" ? Math.round(255 * Math.sqrt(value)) : shadeOf(value, scale);
        const x = at.x + (column + Math.min(step, at.w / across - column) / 2) * across;
        const how = { colour: this.inkOn(shade, shades), align: "center" };
        const text = `${exact ? "" : "≈"}${written({ value, exact })}`;
        this.write(pen, text, x, at.y + (row + 0.5) * down + 0.35 * size * this.scale, size, how);
      }
    }
  }

  colourOf(shade, shades) {
    const at = 4 * clamp(shade, 0, 255);
    return `rgb(${shades[at]}, ${shades[at + 1]}, ${shades[at + 2]})`;
  }

  // The theme's text or ground, whichever can be read on a shade.
  inkOn(shade, shades) {
    const at = 4 * clamp(shade, 0, 255);
    const light = 0.299 * shades[at] + 0.587 * shades[at + 1] + 0.114 * shades[at + 2] > 140;
    return light === this.theme.dark ? this.theme.background : this.theme.text;
  }

  // Which of a vector's numbers belong to the head.
  drawPartOfHead(part, at, across) {
    const own = this.data.stages[part.index].part;
    if (!own || own[1] - own[0] === this.data.stages[part.index].size) return;
    this.pen.ink(this.theme.primary, 1);
    this.pen.setWidth(this.camera.kx > 3 ? 2 : 1.25);
    this.rectangle({ x: at.x + own[0] * across, y: at.y, w: (own[1] - own[0]) * across, h: at.h }, 1);
  }

  drawMatrix(part, at) {
    const { pen, data, theme } = this;
    const n = data.tokens.length;
    const ground = this.ground(part);
    if (this.farness > 0) {
      for (let card = Math.min(data.n_heads - 1, 3); card > 0; card--) {
        const off = card * 2 * this.scale;
        pen.ink(ground, this.farness);
        pen.box(at.x + off, at.y - off, at.w, at.h);
        pen.ink(theme.muted, 0.7 * this.farness);
        pen.setWidth(1);
        this.rectangle({ ...at, x: at.x + off, y: at.y - off });
      }
    }
    this.picture(this.matrix.fitting(n), at, 1, ground);
    const [across, down] = [at.w / n, at.h / n];
    const [from, to] = this.seen(at.x, across, n, this.width);
    const [fromRow, toRow] = this.seen(at.y, down, n, this.height);
    this.drawGrid(at, { rows: n, columns: n, per: 1, from, to, fromRow, toRow, ground });
    this.drawNumbers(part, at, { across, down, from, to, fromRow, toRow, per: 1 });
    pen.ink(theme.muted, 0.7);
    pen.setWidth(1);
    this.rectangle(at);
  }

  drawCard(part, at) {
    const { pen, data, theme } = this;
    this.picture(this.cards[part.layer + 1].fitting(at.w * pen.ratio), at, 1, theme.background);
    const opened = part.layer === data.layer && this.places.panel !== null;
    pen.ink(opened ? theme.primary : theme.line, 1);
    pen.setWidth(opened ? 2 : 1);
    this.rectangle(at, opened ? 1 : 0);
  }

  rowSize(height) {
    return Math.min(13, (0.88 * height) / this.scale);
  }

  drawCharacters(at) {
    const { pen, theme } = this;
    const n = this.letters.length;
    const down = at.h / n;
    const size = this.rowSize(down);
    if (size < SMALLEST - 2) return;
    const box = Math.min(LETTER * this.scale * (at.w / this.places.at.get("characters").w), at.w / MOST_LETTERS * 3);
    this.letters.forEach((letters, row) => {
      const y = at.y + row * down;
      if (!letters.length) {
        this.write(pen, "added", at.x, y + down / 2 + 0.35 * size * this.scale, size, { colour: theme.muted });
        return;
      }
      const most = Math.floor(at.w / box);
      const shown = letters.length > most ? [...letters.slice(0, most - 1), "…"] : [...letters];
      if (RIGHT_TO_LEFT.test(letters.join(""))) shown.reverse();
      shown.forEach((letter, index) => {
        pen.ink(theme.surface, 1);
        pen.box(at.x + index * box, y + 0.5, box - 1, down - 1);
        const x = at.x + (index + 0.5) * box - 0.5;
        this.write(pen, letter, x, y + down / 2 + 0.35 * size * this.scale, size, { align: "center" });
      });
    });
  }

  drawPieces(at) {
    const { pen, theme, data } = this;
    const down = at.h / this.tokens.length;
    const size = this.rowSize(down);
    this.tokens.forEach((token, row) => {
      const y = at.y + row * down;
      const followed = row === data.position;
      pen.ink(followed ? theme.primary : theme.surface, 1);
      pen.box(at.x, y + 0.5, at.w, down - 1);
      const id = data.ids[row].toLocaleString("en");
      const room = at.w - 8;
      const free = room - this.measure(token, size);
      const colour = followed ? theme.background : theme.text;
      const middle = y + down / 2 + 0.35 * size * this.scale;
      this.write(pen, this.fitting(token, size, room), at.x + 4, middle, size, { colour });
      if (this.measure(id, 10) + 10 > free || down < 13) return;
      const how = { align: "right", colour: followed ? theme.background : theme.muted };
      this.write(pen, id, at.x + at.w - 4, middle, 10, how);
    });
  }

  // The likeliest words: a bar each, as long as its probability.
  drawWords(at) {
    const { pen, theme, data } = this;
    const down = Math.min(at.h / data.words.length, 22 * this.scale * this.camera.ky);
    const size = clamp(this.rowSize(down * 0.8), 9, 13);
    const label = 0.4 * at.w;
    const after = this.measure("99%", size) + 8;
    data.words.forEach(([word, probability], row) => {
      const y = at.y + row * down;
      const middle = y + down / 2 + 0.35 * size * this.scale;
      const how = { align: "right", colour: row === 0 ? theme.text : theme.muted };
      this.write(pen, this.fitting(printable(word), size, label - 8), at.x + label - 8, middle, size, how);
      const length = Math.max(1, ((at.w - label - after) * probability) / data.words[0][1]);
      pen.ink(theme.primary, row === 0 ? 1 : 0.55);
      pen.box(at.x + label, y + 0.16 * down, length, 0.68 * down);
      this.write(pen, percent(probability), at.x + label + length + 4, middle, size, { colour: theme.muted });
    });
  }

  // ---- the token that is followed, and what stands at the edges -----------------------------------------

  // Its row in every part, and its name before the layer.
  drawFollowed(bare) {
    const { pen, theme, data, places } = this;
    const n = data.tokens.length;
    for (const part of places.parts) {
      if (bare || (part.kind !== "strip" && part.kind !== "matrix")) continue;
      const at = onScreen(this.camera, part);
      if (at.x > this.width || at.x + at.w < 0) continue;
      const down = at.h / n;
      pen.ink(theme.primary, 1);
      pen.setWidth(1.25);
      this.rectangle({ x: at.x, y: at.y + data.position * down, w: at.w, h: down }, 0.5);
    }
    if (this.farness === 0 || !places.wide) return;
    const at = onScreen(this.camera, places.at.get("input") ?? places.at.get("matrix"));
    const down = at.h / n;
    const readable = down >= 9.5 * this.scale;
    const size = readable ? this.rowSize(down) : 10.5;
    this.tokens.forEach((token, row) => {
      if (!readable && row !== data.position) return;
      const middle = at.y + (row + 0.5) * down + 0.35 * size * this.scale;
      const colour = row === data.position ? theme.primary : theme.muted;
      const text = this.fitting(token, size, places.label - 8);
      this.write(pen, text, at.x - 7, middle, size, { align: "right", colour, opacity: this.farness });
    });
  }

  // The tokens beside what is seen of a band, where the camera has left them behind.
  drawNames() {
    const { pen, theme, data, places, scale } = this;
    if (!places.wide || this.camera.kx <= 1) return;
    for (const part of ["pieces", "input"].map((id) => places.at.get(id)).filter(Boolean)) {
      const { x, y, h } = onScreen(this.camera, part);
      if (x >= (part.kind === "pieces" ? 0 : places.label) || y > this.height || y + h < 0) continue;
      const down = h / data.tokens.length;
      const size = this.rowSize(down);
      pen.ink(this.ground(part), 1);
      pen.box(0, y - 2, places.label, h + 4);
      this.tokens.forEach((token, row) => {
        const colour = row === data.position ? theme.primary : theme.text;
        const text = this.fitting(token, size, places.label - 12);
        const middle = y + (row + 0.5) * down + 0.35 * size * scale;
        this.write(pen, text, places.label - 7, middle, size, { align: "right", colour });
      });
    }
  }

  // Of the part that is looked at: its title, which tokens its rows and which dimensions its columns are.
  drawEdges(part) {
    const { pen, theme, data, places, scale } = this;
    const seen = windowOf(places, part);
    const at = onScreen(this.camera, part);
    const n = data.tokens.length;
    const [across, down] = [at.w / this.values.columnsOf(part), at.h / n];
    const left = Math.max(0, at.x) < 1 ? EDGES.left * scale * (places.wide ? 1 : 0.7) : at.x;
    const top = Math.max(at.y, seen.y + EDGES.top * scale);
    pen.ink(theme.background, 1);
    for (
      const [x, y, w, h] of [
        [0, 0, this.width, top - 1],
        [0, Math.min(at.y + at.h, seen.y + seen.h) + 1, this.width, this.height],
        [0, 0, left - 1, this.height],
        [at.x + at.w + 1, 0, this.width, this.height],
      ]
    ) if (w > 0 && h > 0) pen.box(x, y, w, h);
    const [from, to] = this.seen(at.y - top, down, n, Math.min(seen.y + seen.h, at.y + at.h) - top);
    const size = clamp(this.rowSize(down), 9, 13);
    const every = Math.ceil((10 * scale) / down);
    for (let row = from; row < to; row++) {
      const followed = row === data.position;
      if (row % every && !followed) continue;
      const middle = clamp(at.y + (row + 0.5) * down, top + 6, seen.y + seen.h) + 0.35 * size * scale;
      const text = this.fitting(this.tokens[row], size, left - 12);
      this.write(pen, text, left - 7, middle, size, { align: "right", colour: followed ? theme.primary : theme.text });
    }
    const [title] = titleOf(this.data, part);
    const stage = data.stages[part.index];
    const shape = stage
      ? `${n} tokens × ${stage.size.toLocaleString("en")} numbers`
      : `head ${data.head + data.counts} of ${data.n_heads}: rows give, columns get`;
    const of = part.group === "embeddings" ? "Embeddings" : `Layer ${data.layer + data.counts}`;
    const start = places.wide ? left : 8;
    const y = top - 42 * scale;
    this.write(pen, title, start, y, 14);
    const behind = start + this.measure(title, 14) + 10;
    const more = this.fitting(`${of} · ${shape}`, 11, this.width - behind - 8);
    this.write(pen, more, behind, y, 11, { colour: theme.muted });
    this.drawColumns(part, at, { across, left, y: top - 7 * scale });
    if (stage) this.drawBar(stage.scale, y);
  }

  drawColumns(part, at, { across, left, y }) {
    const { pen, theme, scale } = this;
    const count = this.values.columnsOf(part);
    const [from, to] = this.seen(at.x - left, across, count, this.width - left);
    if (part.kind === "matrix") {
      const size = clamp(this.rowSize(across), 9, 12);
      const upright = this.tokens.some((token) => this.measure(token, size) > across - 4);
      const every = upright ? Math.ceil((10 * scale) / across) : 1;
      for (let column = from; column < to; column += every) {
        const x = at.x + (column + 0.5) * across;
        const text = this.fitting(this.tokens[column], size, upright ? 30 * scale : across);
        const how = upright ? { upright } : { align: "center" };
        this.write(pen, text, x + (upright ? 0.35 * size * scale : 0), y, size, { ...how, colour: theme.text });
      }
      return;
    }
    const step = stepOf((46 * scale) / across);
    for (let column = from; column < to; column++) {
      const name = column + this.data.counts;
      if (column !== 0 && name % step) continue;
      const x = at.x + (column + 0.5) * across;
      if (x < left + 4) continue; // the name of the axis stands there
      if (column === 0 && step > 1 && step * across < 60) continue;
      this.write(pen, name.toLocaleString("en"), x, y, 10, { align: "center", colour: theme.muted });
    }
    this.write(pen, "dimension", left - 7, y, 10, { align: "right", colour: theme.muted });
  }

  // What the colours of the part that is looked at mean.
  drawBar(largest, y) {
    const { pen, theme, scale } = this;
    if (!this.places.wide) return;
    const width = 96 * scale;
    const right = this.width - EDGES.right * scale;
    const names = [largest >= 100 ? 0 : largest >= 10 ? 1 : 2].map((places) => largest.toFixed(places))[0];
    const room = this.measure(`−${names}`, 10) + 6;
    const x = right - room - width;
    pen.ink(theme.text, 1);
    pen.pixels(this.bar.fitting(255), x, y - 8 * scale, width, 9 * scale);
    this.write(pen, `−${names}`, x - 5, y, 10, { align: "right", colour: theme.muted });
    this.write(pen, names, x + width + 5, y, 10, { colour: theme.muted });
  }

  // A part or a frame around several on the screen, with what is written above.
  withTitle(place) {
    const { x, y, w, h } = onScreen(this.camera, place);
    const above = (place.id === "layer" ? 0 : place.kind && place.kind !== "words" ? 24 : 40) * this.scale;
    return { x, y: y - above, w, h: h + above };
  }

  drawMarks({ here, focus, read }, dominant) {
    const { pen, theme, places } = this;
    const place = here && placeOf(places, here);
    if (place && !dominant) {
      pen.setWidth(2.5);
      pen.ink(theme.primary, 1);
      this.rectangle(this.withTitle(place), place.id === "layer" ? 0 : 4);
    }
    if (focus && !dominant && !read) {
      pen.setWidth(2);
      pen.ink(theme.text, 1);
      this.rectangle(this.withTitle(focus), 4);
    }
    if (!read || (read.part.kind !== "strip" && read.part.kind !== "matrix")) return;
    const at = onScreen(this.camera, read.part);
    const columns = this.values.columnsOf(read.part);
    const [across, down] = [at.w / columns, at.h / places.rows];
    if (across * down < 12 && !dominant) return;
    const per = read.part.kind === "strip" && read.row !== this.data.position
      ? this.data.stages[read.part.index].per
      : 1;
    const column = read.column - (read.column % per);
    const cell = {
      x: at.x + column * across,
      y: at.y + read.row * down,
      w: across * Math.min(per, columns - column),
      h: down,
    };
    const grow = Math.max(0, (6 - Math.min(cell.w, cell.h)) / 2);
    pen.ink(theme.background, 1);
    pen.setWidth(4);
    this.rectangle(cell, grow);
    pen.ink(theme.text, 1);
    pen.setWidth(2);
    this.rectangle(cell, grow);
  }

  // ---- what is where ------------------------------------------------------------------------------------

  // The part at a place of the screen, with its row and column: {part, row, column}, or null.
  pointedAt(camera, x, y) {
    for (const part of this.places.parts) {
      const at = onScreen(camera, part);
      if (x < at.x || y < at.y - 1 || x >= at.x + at.w || y >= at.y + at.h + 1) continue;
      const columns = part.kind === "strip" || part.kind === "matrix" ? this.values.columnsOf(part) : 1;
      return {
        part,
        row: clamp(Math.floor(((y - at.y) / at.h) * this.places.rows), 0, this.places.rows - 1),
        column: clamp(Math.floor(((x - at.x) / at.w) * columns), 0, columns - 1),
      };
    }
    return null;
  }
}

// The smallest of 1, 2, 5, 10, 20 ... that is no less.
function stepOf(least) {
  for (let power = 1;; power *= 10) {
    for (const factor of [1, 2, 5]) if (factor * power >= least) return factor * power;
  }
}
