// The picture of a model: what is in it, and how a pen draws it, on the screen and into files.

import { shadesOf } from "../shared/shades.js";
import { graphemes, printable } from "../shared/labels.js";
import { clamp } from "../shared/numbers.js";
import { themeOf } from "../shared/screen.js";
import { flowsFrom, placed, placeOf, scaleOf } from "./places.js";
import { Images, levelsOf } from "./values.js";
import { percent, titleOf } from "./words.js";

const SIZE = 12; // of text
const SMALLEST = 6.5; // of a token's label
const LETTER = 9; // width of a character's box
const MOST_LETTERS = 12; // of a token
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}]/u;
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
    const { colour = this.theme.text, ...how } = /** @type {any} */ (more);
    pen.ink(colour, 1);
    pen.text(text, x, y, { size: size * this.scale, ...how });
  }

  // ---- everything ---------------------------------------------------------------------------------------

  // `marks`: the part where the visitor is (`here`), the part that keys are on (`focus`), the cell that is read
  // ({part, row, column}); each is null if there is none. A `bare` picture has places for its parts, and no numbers.
  draw(pen, marks, bare = false) {
    const { places, theme } = this;
    this.pen = pen;
    pen.setWidth(1);
    pen.ink(theme.background, 1);
    pen.box(0, 0, this.width, this.height);
    this.drawPanel();
    this.drawHeadings();
    for (const link of places.links) this.drawLink(link);
    this.drawFlow();
    if (!bare) this.drawFlows();
    for (const part of places.parts) {
      if (bare) this.drawPlace(part);
      else this.drawPart(part);
      this.drawTitle(part, marks);
    }
    this.drawFollowed(bare);
    this.drawMarks(pen, marks);
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

  // ---- what explains the picture ------------------------------------------------------------------------

  // The ground of the opened layer, and the lines along which it opens.
  drawPanel() {
    const { pen, theme, places, data } = this;
    if (!places.panel) return;
    const { panel } = places;
    pen.ink(theme.surface, 1);
    pen.box(panel.x, panel.y, panel.w, panel.h);
    const card = places.at.get(`layer ${data.layer}`);
    pen.setWidth(1);
    pen.ink(theme.primary, 0.55);
    const from = card.y + card.h + 15 * this.scale;
    pen.line(card.x, from, panel.x, panel.y);
    pen.line(card.x + card.w, from, panel.x + panel.w, panel.y);
    this.rectangle(panel);
  }

  drawHeadings() {
    const { data, pen, places: { at, wide }, scale } = this;
    this.bracket("Text", ["characters", "pieces"]);
    this.bracket("Embeddings", ["embeddings"]);
    const lower = wide ? 0 : 12 * scale; // nothing stands between
    this.bracket(data.n_layers === 1 ? "1 layer" : `${data.n_layers} layers`, ["layers"], lower);
    const token = data.predicted === null ? null : `“${this.tokens[data.predicted]}”`;
    const where = token === null ? "Output" : `Output at ${token}`;
    this.bracket(token !== null && data.hidden ? `Output, ${token} hidden|${where}` : where, ["words"], lower);
    if (!at.has("layer")) return;
    const { x, y } = at.get("layer");
    const how = { colour: this.theme.primary };
    const name = `Layer ${data.layer + data.counts}`;
    if (!wide) {
      this.write(pen, `${name} of ${data.n_layers}, opened`, x + 8, y + 14 * scale, SIZE, how);
      return;
    }
    this.write(pen, name, x + 9, y + 18 * scale, SIZE, how);
    this.write(pen, `of ${data.n_layers}, opened`, x + 9, y + 31 * scale, 10, how);
    const attention = ATTENTION.some((id) => at.has(id)) ? ATTENTION : ["matrix"];
    this.bracket(`Attention, head ${data.head + data.counts} of ${data.n_heads}`, attention);
    this.bracket("Feed-forward network|Feed-forward", FEED_FORWARD);
  }

  // A name over the parts of a band that there are, and a shorter one behind "|".
  bracket(text, ids, lower = 0) {
    const parts = ids.flatMap((id) => this.places.at.get(id) ?? []);
    if (parts.length === 0) return;
    const [from, to] = [parts[0], parts.at(-1)];
    const [left, right, y] = [from.x, Math.max(to.x + to.w, from.x + from.w), from.y - 29 * this.scale + lower];
    const [long, short = long] = text.split("|");
    const room = right - left + 20 * this.scale;
    const name = this.measure(long, SIZE) <= room ? long : this.fitting(short, SIZE, room);
    const width = this.measure(name, SIZE);
    this.pen.ink(this.theme.muted, 0.6);
    this.pen.setWidth(1);
    const free = (right - left - width) / 2 - 6;
    if (free > 2) {
      this.pen.line(left, y - 4, left + free, y - 4);
      this.pen.line(right - free, y - 4, right, y - 4);
    }
    this.write(this.pen, name, (left + right) / 2, y, SIZE, { align: "center" });
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

  drawLink({ from: a, to: b, past, sign }) {
    const { pen, theme, scale } = this;
    const middle = a.y + a.h / 2;
    pen.setWidth(1.25);
    pen.ink(theme.muted, 1);
    if (past === 0) {
      const [left, right] = [a.x + a.w, b.x];
      if (sign) {
        this.write(pen, sign, (left + right) / 2, middle + 5 * scale, 14, { align: "center" });
      } else this.arrow(left + 3, middle, right - 3, middle);
      return;
    }
    const residual = this.data.stages[b.index]?.how === "sum";
    const bottom = a.y + a.h;
    const y = bottom + (2 + 7 * past) * scale;
    const [start, end] = [a.x + a.w / 2, b.x + b.w / 2];
    if (residual) pen.ink(theme.primary, 0.8);
    pen.line(start, bottom + 2, start, y);
    pen.line(start, y, end, y);
    this.arrow(end, y, end, bottom + 2);
    if (!residual) return;
    const text = this.fitting("residual: added unchanged", 10, end - start - 24);
    if (!text) return;
    const width = this.measure(text, 10) + 10;
    pen.ink(theme.surface, 1);
    pen.box((start + end - width) / 2, y - 6 * scale, width, 12 * scale);
    this.write(pen, text, (start + end) / 2, y + 3.5 * scale, 10, { align: "center", colour: theme.primary });
  }

  // Arrows from the text to its pieces, on to the embeddings, the layers and the output.
  drawFlow() {
    const { pen, theme, data, places: { at, wide, parts } } = this;
    pen.setWidth(1.25);
    pen.ink(theme.muted, 1);
    const join = (a, b, part = 0.5) => {
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
      const middle = (part, row) => part.y + ((row + 0.5) * part.h) / n;
      for (let row = 0; row < n; row++) {
        for (let column = 0; column < n; column++) {
          const weight = this.values.flow(card.layer, row, column);
          if (weight < FAINTEST) continue;
          pen.ink(row === data.position ? theme.primary : theme.muted, Math.min(1, 0.1 + 0.9 * weight));
          pen.line(before.x + before.w + 2, middle(before, column), card.x - 2, middle(card, row));
        }
      }
    }
  }

  // Where a part will be.
  drawPlace(part) {
    if (part.kind === "words") return;
    this.pen.ink(this.theme.line, 1);
    this.pen.setWidth(1);
    this.rectangle(part);
  }

  drawTitle(part, marks) {
    if (part.kind === "card") {
      const counted = part.layer + this.data.counts;
      const text = String(counted);
      const opened = part.layer === this.data.layer;
      const every = Math.ceil((this.measure(String(this.data.n_layers), 10) + 2) / (part.w + 3));
      const near = Math.abs(part.layer - this.data.layer) < every;
      if (!opened && every > 1 && (near || counted % every)) return;
      const how = { colour: opened ? this.theme.primary : this.theme.muted, align: "center" };
      this.write(this.pen, text, part.x + part.w / 2, part.y + part.h + 12 * this.scale, 10, how);
      return;
    }
    if (part.kind === "words") return;
    const titles = titleOf(this.data, part);
    const room = part.w + 15 * this.scale;
    const text = titles.find((title) => this.measure(title, 11) <= room) ?? this.fitting(titles.at(-1), 11, room);
    const colour = marks.here === part.id ? this.theme.primary : this.theme.text;
    const size = this.data.stages[part.index]?.size;
    const x = part.x + part.w / 2;
    this.write(this.pen, text, x, part.y - 15 * this.scale, 11, { align: "center", colour });
    const shape = part.kind === "pieces" ? `${this.tokens.length}` : size?.toLocaleString("en");
    if (!shape) return;
    this.write(this.pen, shape, x, part.y - 4.5 * this.scale, 9.5, { align: "center", colour: this.theme.muted });
  }

  // ---- parts --------------------------------------------------------------------------------------------

  drawPart(part) {
    if (part.kind === "strip") this.drawStrip(part);
    else if (part.kind === "card") this.drawCard(part);
    else if (part.kind === "matrix") this.drawMatrix(part);
    else if (part.kind === "characters") this.drawCharacters(part);
    else if (part.kind === "pieces") this.drawPieces(part);
    else if (part.kind === "words") this.drawWords(part);
  }

  drawStrip(part) {
    const { size, per } = this.data.stages[part.index];
    const image = this.strips[part.index].fitting(part.w * this.pen.ratio);
    const span = Math.ceil(size / per / image.width) * per * image.width; // dimensions that the image is wide
    const ground = this.ground(part);
    this.drawImage(image, part, Math.max(span, size) / size, ground);
    this.drawGrid(part, size, ground);
    this.drawPartOfHead(part);
  }

  // An image that is wider than a part by a factor, because its last cell is not full.
  drawImage(image, { x, y, w, h }, factor, ground) {
    this.pen.ink(ground, 1); // an image is as opaque as the ink
    this.pen.pixels(image, x, y, w * factor, h);
    if (factor > 1) this.pen.box(x + w, y, w * (factor - 1) + 1, h);
  }

  // Lines between the rows, and between the columns if they are wide enough.
  drawGrid({ x, y, w, h }, columns, ground) {
    const rows = this.data.tokens.length;
    const [across, down] = [w / columns, h / rows];
    this.pen.ink(ground, 1);
    if (down >= 4) {
      this.pen.setWidth(clamp(down * 0.12, 1, 3));
      for (let row = 1; row < rows; row++) this.pen.line(x, y + row * down, x + w, y + row * down);
    }
    if (across < 6) return;
    this.pen.setWidth(1);
    for (let column = 1; column < columns; column++) this.pen.line(x + column * across, y, x + column * across, y + h);
  }

  // Colour of a number in a cell, and that of a text on it: the theme's text or ground, whichever can be read.
  coloursOf(shade, shades) {
    const at = 4 * clamp(shade, 0, 255);
    const light = 0.299 * shades[at] + 0.587 * shades[at + 1] + 0.114 * shades[at + 2] > 140;
    return {
      backgroundColor: `rgb(${shades[at]}, ${shades[at + 1]}, ${shades[at + 2]})`,
      color: light === this.theme.dark ? this.theme.background : this.theme.text,
    };
  }

  // Which of a vector's numbers belong to the head.
  drawPartOfHead({ index, x, y, w, h }) {
    const { part, size } = this.data.stages[index];
    if (!part || part[1] - part[0] === size) return;
    const across = w / size;
    this.pen.ink(this.theme.primary, 1);
    this.pen.setWidth(1.25);
    this.rectangle({ x: x + part[0] * across, y, w: (part[1] - part[0]) * across, h }, 1);
  }

  drawMatrix(part) {
    const { pen, data, theme } = this;
    const n = data.tokens.length;
    const ground = this.ground(part);
    for (let card = Math.min(data.n_heads - 1, 3); card > 0; card--) {
      const off = card * 2 * this.scale;
      pen.ink(ground, 1);
      pen.box(part.x + off, part.y - off, part.w, part.h);
      pen.ink(theme.muted, 0.7);
      pen.setWidth(1);
      this.rectangle({ ...part, x: part.x + off, y: part.y - off });
    }
    this.drawImage(this.matrix.fitting(n), part, 1, ground);
    this.drawGrid(part, n, ground);
    pen.ink(theme.muted, 0.7);
    pen.setWidth(1);
    this.rectangle(part);
  }

  drawCard(part) {
    const { pen, data, theme } = this;
    this.drawImage(this.cards[part.layer + 1].fitting(part.w * pen.ratio), part, 1, theme.background);
    const opened = part.layer === data.layer && this.places.panel !== null;
    pen.ink(opened ? theme.primary : theme.line, 1);
    pen.setWidth(opened ? 2 : 1);
    this.rectangle(part, opened ? 1 : 0);
  }

  rowSize(height) {
    return Math.min(13, (0.88 * height) / this.scale);
  }

  drawCharacters(at) {
    const { pen, theme } = this;
    const n = this.letters.length;
    const down = at.h / n;
    const size = this.rowSize(down);
    if (size < SMALLEST) return;
    const box = Math.min(LETTER * this.scale, at.w / MOST_LETTERS * 3);
    this.letters.forEach((letters, row) => {
      const y = at.y + row * down;
      if (!letters.length) {
        this.write(pen, "added", at.x, y + down / 2 + 0.35 * size * this.scale, size, { colour: theme.muted });
        return;
      }
      const most = Math.floor(at.w / box);
      const boxed = letters.length > most ? [...letters.slice(0, most - 1), "…"] : [...letters];
      if (RIGHT_TO_LEFT.test(letters.join(""))) boxed.reverse();
      boxed.forEach((letter, index) => {
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
    const down = Math.min(at.h / data.words.length, 22 * this.scale);
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

  // ---- the token that is followed, and marks ------------------------------------------------------------

  // Its row in every part, and its name before the layer.
  drawFollowed(bare) {
    const { pen, theme, data, places } = this;
    const n = data.tokens.length;
    for (const part of places.parts) {
      if (bare || (part.kind !== "strip" && part.kind !== "matrix")) continue;
      const down = part.h / n;
      pen.ink(theme.primary, 1);
      pen.setWidth(1.25);
      this.rectangle({ x: part.x, y: part.y + data.position * down, w: part.w, h: down }, 0.5);
    }
    if (!places.wide) return;
    const at = places.at.get("input") ?? places.at.get("matrix");
    const down = at.h / n;
    const readable = down >= 9.5 * this.scale;
    const size = readable ? this.rowSize(down) : 10.5;
    this.tokens.forEach((token, row) => {
      if (!readable && row !== data.position) return;
      const middle = at.y + (row + 0.5) * down + 0.35 * size * this.scale;
      const colour = row === data.position ? theme.primary : theme.muted;
      const text = this.fitting(token, size, places.label - 8);
      this.write(pen, text, at.x - 7, middle, size, { align: "right", colour });
    });
  }

  // A part or a frame around several, with what is written above.
  withTitle(place) {
    const { x, y, w, h } = place;
    const title = (place.id === "layer" ? 0 : place.kind && place.kind !== "words" ? 24 : 40) * this.scale;
    const above = Math.min(title, y - 5); // no frame is cut at the edge
    return { x, y: y - above, w, h: h + above };
  }

  drawMarks(pen, { here, focus, read }) {
    this.pen = pen;
    const { theme, places } = this;
    const place = here && placeOf(places, here);
    if (place) {
      pen.setWidth(2.5);
      pen.ink(theme.primary, 1);
      this.rectangle(this.withTitle(place), place.id === "layer" ? 0 : 4);
    }
    if (focus && !read) {
      pen.setWidth(2);
      pen.ink(theme.text, 1);
      this.rectangle(this.withTitle(focus), 4);
    }
    if (!read || (read.part.kind !== "strip" && read.part.kind !== "matrix")) return;
    const { x, y, w, h } = read.part;
    const columns = this.values.columnsOf(read.part);
    const [across, down] = [w / columns, h / places.rows];
    const rounded = read.part.kind === "strip" && read.row !== this.data.position;
    const per = rounded ? this.data.stages[read.part.index].per : 1;
    const column = read.column - (read.column % per);
    const wide = across * Math.min(per, columns - column);
    const cell = { x: x + column * across, y: y + read.row * down, w: wide, h: down };
    const grow = Math.max(0, (6 - Math.min(cell.w, cell.h)) / 2);
    for (const [colour, width] of [[theme.background, 4], [theme.text, 2]]) {
      pen.ink(colour, 1);
      pen.setWidth(width);
      this.rectangle(cell, grow);
    }
  }

  // ---- what is where ------------------------------------------------------------------------------------

  // The part at a place of the picture, with its row and column: {part, row, column}, or null.
  pointedAt(x, y) {
    for (const part of this.places.parts) {
      if (x < part.x || y < part.y - 1 || x >= part.x + part.w || y >= part.y + part.h + 1) continue;
      const { rows } = this.places;
      const columns = part.kind === "strip" || part.kind === "matrix" ? this.values.columnsOf(part) : 1;
      const row = clamp(Math.floor(((y - part.y) / part.h) * rows), 0, rows - 1);
      const column = clamp(Math.floor(((x - part.x) / part.w) * columns), 0, columns - 1);
      return { part, row, column };
    }
    return null;
  }
}
