// The walk: a text's way through a model, from its characters to probabilities, as one picture. A click on a part, or on
// a cell of one, opens its numbers in a table below.
//
// One canvas holds the picture. It is drawn anew only when something is pointed at or opened, or while the text runs
// through the picture. If the system asks for no motion, the text stands.

import { penOn } from "../shared/pens.js";
import { onAsked } from "../shared/saving.js";
import { isTouched, onLook } from "../shared/screen.js";
import { mount, View } from "../shared/view.js";
import { Picture } from "./picture.js";
import { placeOf } from "./places.js";
import { REST, Run } from "./run.js";
import { moved, next, reported } from "./steps.js";
import { fill, tableOf } from "./table.js";
import { runs, Values } from "./values.js";
import { describeNumber, describeOmissions, describePart, describePlace, describeToken } from "./words.js";

const READABLE = { across: 3, down: 6 }; // CSS px of a cell that is pointed at by itself
const OPENING = 1500; // ms that all is seen before it runs for the first time
const LONGEST_FRAME = 64; // ms; what took longer was spent elsewhere
const TITLE = 48; // CSS px above a part that comes into view

export default function render({ data, parentElement, setTriggerValue }) {
  return mount(Anatomy, parentElement.querySelector(".anatomy"), data, setTriggerValue);
}

class Anatomy extends View {
  constructor(root) {
    super(root);
    this.stage = root.querySelector(".stage");
    this.canvas = root.querySelector("canvas");
    this.status = root.querySelector(".status");
    this.numbers = root.querySelector(".numbers");
    this.tools = root.querySelector(".tools");
    this.pause = root.querySelector("[data-run]");
    this.close = root.querySelector("[data-close]");
    this.legend = root.querySelector(".legend");
    this.leftOut = root.querySelector(".left-out");
    this.focus = null; // the name of the part that keys are on
    this.pointed = null; // {id, row, column, single} that is pointed at; whether its cell is large enough by itself
    this.opened = null; // {id, row, column} that is read in the table
    this.run = null; // the frames of a text that runs through the picture
    this.time = -REST; // of the run, ms
    this.wanted = null; // whether it runs, as the visitor wants it; null if the system decides
    this.inSight = true;
    this.listen();
  }

  // ---- data ---------------------------------------------------------------------------------------------

  update(data) {
    const before = this.data;
    this.data = data;
    this.values = new Values(data);
    this.root.classList.toggle("runs", runs(data));
    if (runs(data) && !sameRun(before, data)) {
      this.pointed = null;
      this.time = this.moving ? (before ? 0 : -OPENING) : -REST;
    }
    if (before?.at !== data.at) this.opened = null;
    else if (this.opened) {
      const row = before.position === data.position ? this.opened.row : data.position;
      this.opened = { ...this.opened, row: Math.min(row, data.tokens.length - 1) };
    }
    this.layout();
    const changed = ["at", "layer", "head"].find((name) => before?.[name] !== data[name]);
    if (this.picture && changed) this.reveal(placeOf(this.picture.places, data.at || (before ? changed : "")));
  }

  layout() {
    const width = this.stage.clientWidth;
    if (!width || !this.data) return; // not to be seen; the observer of its size tells when it is
    this.picture = new Picture(this, width);
    this.pen = penOn(this.canvas, width, this.picture.height, this.picture.font);
    this.run = runs(this.data) ? new Run(this.picture, this.pen.ratio) : null;
    if (!this.partOf(this.pointed?.id)) this.pointed = null;
    const { model, n_layers, tokens } = this.data;
    this.canvas.setAttribute("aria-label", `${model}: ${tokens.length} tokens through ${n_layers} layers.`);
    this.explain();
    this.fillTable();
    this.say();
    this.draw();
    if (this.run) this.requestFrame();
  }

  // A picture may be higher than its frame: the place comes into view in there.
  reveal(place) {
    if (place) {
      this.stage.scrollTo({ top: place.y - TITLE * this.picture.scale, behavior: this.still ? "instant" : "smooth" });
    }
  }

  explain() {
    const bar = document.createElement("i");
    const colours = this.picture.theme.dark ? this.data.dark_scale : this.data.scale;
    bar.style.background = `linear-gradient(to right, ${colours.join(", ")})`;
    this.legend.replaceChildren("below zero", bar, "above; each part by its own largest number.");
    this.leftOut.textContent = describeOmissions(this.data);
  }

  // ---- drawing ------------------------------------------------------------------------------------------

  get still() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  // Whether the text runs, as far as the visitor and the system want it to.
  get moving() {
    return runs(this.data) && (this.wanted ?? !this.still);
  }

  // At most one drawing a frame, and none at rest.
  requestFrame() {
    this.atNextFrame((now) => {
      if (this.run) this.goOn(now);
      this.draw();
    });
  }

  // What is pointed at, opened or reached by keys has changed.
  changed() {
    this.say();
    this.requestFrame();
  }

  // The run by what has passed since the frame before.
  goOn(now) {
    if (!this.moving || !this.inSight) {
      this.last = null;
      return;
    }
    this.time += Math.min(LONGEST_FRAME, now - (this.last ?? now));
    this.last = now;
    if (this.time > this.run.length) this.time = -REST;
    this.changed();
  }

  draw() {
    if (!this.picture) return;
    if (this.run) {
      this.run.draw(this.pen, this.time);
      this.picture.drawMarks(this.pen, this.marks());
    } else this.picture.draw(this.pen, this.marks());
    this.pen.flush();
    this.root.dataset.still = String(!this.moving);
  }

  // Stops the run, or lets it go on; from its beginning if all is seen.
  go(on) {
    this.wanted = on;
    if (on && this.time < 0) this.time = 0;
    this.changed();
  }

  marks() {
    const cell = this.pointed ?? this.opened;
    const part = this.partOf(cell?.id);
    return { here: this.data.at, focus: this.focused, read: part ? { ...cell, part } : null };
  }

  // The part that keys are on, as long as they are.
  get focused() {
    const active = /** @type {any} */ (this.canvas.getRootNode()).activeElement;
    return active === this.canvas ? this.partOf(this.focus) : null;
  }

  partOf(id) {
    return this.picture?.places.at.get(id) ?? null;
  }

  // ---- table --------------------------------------------------------------------------------------------

  // Opens the numbers of a part, at a cell of it; without one at the followed token's.
  open(part, cell = null) {
    const column = this.data.stages[part.index]?.part?.[0] ?? 0;
    const news = this.opened?.id !== part.id;
    this.focus = part.id;
    this.pointed = null;
    this.opened = cell ?? { id: part.id, row: this.data.position, column };
    this.reveal(part);
    this.fillTable();
    this.changed();
    if (news) this.report("stage", reported(part));
  }

  leave() {
    this.opened = null;
    this.fillTable();
    this.canvas.focus({ preventScroll: true });
    this.changed();
  }

  fillTable() {
    const part = this.partOf(this.opened?.id);
    this.numbers.hidden = this.close.hidden = !part;
    this.root.dataset.opened = part?.id ?? "";
    if (!part) return;
    const { picture, data, values } = this;
    const shades = part.kind === "matrix" ? picture.weightShades : picture.shades;
    const table = this.numbers.querySelector("table");
    fill(table, tableOf(data, values, part, this.opened.row), (shade) => picture.coloursOf(shade, shades));
    this.markLine();
  }

  // Marks the line of the number that is read, and scrolls to it within the table.
  markLine() {
    this.numbers.querySelector(".read")?.classList.remove("read");
    const lines = [...this.numbers.querySelectorAll("tbody tr")];
    const line = lines.findLast(({ dataset }) => Number(dataset.column) <= this.opened.column);
    if (!line) return;
    line.classList.add("read");
    this.numbers.scrollTop = line.offsetTop - (this.numbers.clientHeight - line.offsetHeight) / 2;
  }

  // ---- what is said -------------------------------------------------------------------------------------

  say() {
    if (!this.picture) return;
    const message = this.run ? this.describeRun() : this.describe();
    if (message !== this.status.textContent) this.status.textContent = message;
  }

  describe() {
    const { data } = this;
    const cell = this.pointed ?? this.opened;
    if (this.partOf(cell?.id)) return this.describeCell(cell);
    if (this.focused) return `${describePart(data, this.focused)} Enter opens its numbers.`;
    const way = isTouched()
      ? "Tap a part for its numbers."
      : "Point at a part to read what it is; click for its numbers.";
    const here = data.at && placeOf(this.picture.places, data.at);
    const place = here && (here.kind ? describePart(data, here) : describePlace(data, here));
    return place ? `You are here. ${place} ${way}` : `From characters to probabilities. ${way}`;
  }

  describeCell(cell) {
    const { data, values } = this;
    const part = this.partOf(cell.id);
    if (part.kind === "characters" || part.kind === "pieces") return describeToken(data, cell.row);
    const single = cell === this.opened || cell.single;
    if (!single || (part.kind !== "strip" && part.kind !== "matrix")) return describePart(data, part);
    return describeNumber(data, values, part, cell);
  }

  // What is pointed at or what keys are on, and what it opens; else what happens. What happens by itself is not announced.
  describeRun() {
    const { data } = this;
    const part = this.partOf(this.pointed?.id) ?? this.focused;
    const [click, touch] = [this.pointed ? "Click" : "Enter", isTouched()];
    this.status.ariaLive = this.moving && !part ? "off" : "polite";
    this.pause.textContent = this.moving ? "Pause" : "Play";
    if (part) return `${describePart(data, part)} ${click} opens ${data.opens[nameOf(part)]}.`;
    return this.run.caption(this.time) ||
      `From characters to probabilities. ${touch ? "Tap" : "Click"} a part to learn about it.`;
  }

  // ---- events -------------------------------------------------------------------------------------------

  listen() {
    this.listenTo(this.canvas, "pointermove", (event) => {
      if (event.pointerType !== "touch") this.point(this.cellAt(event));
    });
    this.listenTo(this.canvas, "pointerleave", () => this.point(null));
    this.listenTo(this.canvas, "click", (event) => this.click(this.cellAt(event)));
    this.listenTo(this.canvas, "keydown", (event) => this.key(event));
    this.listenTo(this.canvas, "focus", () => {
      if (!this.canvas.matches(":focus-visible")) return;
      this.focus ??= this.nearest().id;
      this.changed();
    });
    this.listenTo(this.canvas, "blur", () => this.changed());
    this.listenTo(this.numbers, "keydown", (event) => this.keyOfTable(event));
    this.listenTo(this.numbers, "click", ({ target }) => {
      const column = target.closest("[data-column]")?.dataset.column;
      if (column) this.read({ ...this.opened, column: Number(column) });
    });
    this.listenTo(this.tools, "click", ({ target }) => {
      const button = target.closest("button");
      const key = button?.dataset.step;
      if (button === this.pause) this.go(!this.moving);
      else if (button === this.close) this.leave();
      else if (key && this.run) this.goBeside(key === "ArrowRight" ? 1 : -1);
      else if (key) {
        const from = this.partOf(this.opened?.id ?? this.focus);
        this.open(from ? next(key, this.order(), from) : this.nearest());
      }
    });
    onAsked(this, (look) => this.saved(look));
    onLook(this, this.stage, () => this.layout());
    this.observe(IntersectionObserver, this.canvas, ([{ isIntersecting }]) => {
      this.inSight = isIntersecting;
      this.requestFrame();
    });
    this.listenTo(matchMedia("(prefers-reduced-motion: reduce)"), "change", () => {
      this.wanted = null;
      if (this.still) this.time = -REST;
      this.requestFrame();
    });
  }

  order() {
    return this.picture.places.parts.filter(({ kind }) => this.run || kind !== "card");
  }

  // The part where the visitor is, the first of several, or the first of all.
  nearest() {
    const order = this.order();
    const here = placeOf(this.picture.places, this.data.at);
    const within = ({ x, y }) => x >= here?.x && y >= here?.y && x < here?.x + here?.w && y < here?.y + here?.h;
    return order.find(within) ?? order[0];
  }

  // To the beat of the run after this one, or the one before, where it stays.
  goBeside(by) {
    this.time = this.run.beside(this.time, by);
    this.go(false);
  }

  cellAt({ offsetX, offsetY }) {
    const place = this.picture.pointedAt(offsetX, offsetY);
    if (!place) return null;
    const { part, row, column } = place;
    const [across, down] = [part.w / this.values.columnsOf(part), part.h / this.picture.places.rows];
    return { id: part.id, row, column, single: across >= READABLE.across && down >= READABLE.down };
  }

  point(cell) {
    const same = ["id", "row", "column"].every((name) => cell?.[name] === this.pointed?.[name]);
    if (same) return;
    this.pointed = cell;
    this.changed();
  }

  click(cell) {
    if (!cell) return;
    const part = this.partOf(cell.id);
    if (this.run) this.follow(part, part.kind === "words" ? this.data.position : cell.row);
    else if (part.kind === "characters" || part.kind === "pieces") this.report("token", this.data.first + cell.row);
    else if (part.kind === "card") this.report("layer", part.layer);
    else this.open(part, cell);
  }

  // To what a click on a part of a running text opens.
  follow(part, row) {
    const layer = part.kind === "card" ? part.layer : this.data.layer;
    this.report("open", { place: nameOf(part), token: this.data.first + row, layer });
  }

  key(event) {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    const part = this.partOf(this.focus);
    const to = next(event.key, this.order(), part);
    if (to) {
      [this.focus, this.pointed] = [to.id, null];
      this.reveal(to);
      this.changed();
    } else if (event.key === "Enter" && part && this.run) this.follow(part, this.data.position);
    else if (event.key === "Enter" && part) {
      this.open(part);
      this.numbers.focus({ preventScroll: true });
    } else if (event.key === "Escape" && this.opened) this.leave();
    else if (event.key === " " && this.run) this.go(!this.moving);
    else return;
    event.preventDefault();
  }

  keyOfTable(event) {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    const part = this.partOf(this.opened?.id);
    const numbers = part?.kind === "strip" || part?.kind === "matrix";
    if (event.key === "Escape") this.leave();
    else if (numbers) {
      const step = this.opened.row === this.data.position ? 1 : this.data.stages[part.index]?.per ?? 1;
      const size = { rows: this.picture.places.rows, columns: this.values.columnsOf(part), step };
      const cell = moved(event.key, this.opened, size);
      if (!cell) return;
      this.read({ id: part.id, ...cell });
    } else return;
    event.preventDefault();
  }

  // Reads another number of the part that is open.
  read(cell) {
    const { row } = this.opened;
    this.opened = cell;
    if (row === cell.row) this.markLine();
    else this.fillTable();
    this.changed();
  }

  // What is saved: the picture, without what keys are on.
  saved(look) {
    const picture = new Picture(this, look.width, look);
    const { width, height } = picture;
    return { width, height, draw: (pen) => picture.draw(pen, { ...this.marks(), focus: null }) };
  }
}

// By what name the opening of a part of a running text is known.
const nameOf = (part) => part.kind === "card" ? "layer" : reported(part);

// Whether the same text runs the same way.
const sameRun = (before, after) =>
  before !== null && ["tokens", "position", "words"].every((name) => String(before[name]) === String(after[name]));
