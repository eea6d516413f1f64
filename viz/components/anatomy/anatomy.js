// The walk: a text's way through a model, from its characters to probabilities, as one picture that can be zoomed into
// from the whole to a single number.
//
// One canvas holds what the camera sees. It is drawn anew only while the camera moves or something is pointed at, or
// while the text runs through the picture. Where the system asks for no motion, the camera jumps and the text stands.

import { clamp } from "../shared/numbers.js";
import { penOn } from "../shared/pens.js";
import { onAsked } from "../shared/saving.js";
import { isTouched, onLook } from "../shared/screen.js";
import { mount, View } from "../shared/view.js";
import { around, between, closeTo, inside, near, nearest, onScreen, WHOLE, windowOf, zoomed } from "./camera.js";
import { Picture } from "./picture.js";
import { placeOf } from "./places.js";
import { REST, Run } from "./run.js";
import { moved, next, reported } from "./steps.js";
import { runs, Values } from "./values.js";
import { leftOut, saidOfNumber, saidOfPart, saidOfPlace, saidOfToken } from "./words.js";

const FLIGHT = { far: 900, near: 450, step: 160 }; // ms
const READABLE = { across: 3, down: 6 }; // CSS px of a cell that is pointed at by itself
const STILL = 4; // CSS px that a pointer may move in a click
const OPENING = 1500; // ms that all is seen before it runs for the first time
const LONGEST_FRAME = 64; // ms; what took longer was spent elsewhere

export default function render({ data, parentElement, setTriggerValue }) {
  return mount(Anatomy, parentElement.querySelector(".anatomy"), data, setTriggerValue);
}

class Anatomy extends View {
  constructor(root) {
    super(root);
    this.canvas = root.querySelector("canvas");
    this.region = root.querySelector(".region");
    this.status = root.querySelector(".status");
    this.tools = root.querySelector(".tools");
    this.pause = root.querySelector("[data-run]");
    this.legend = root.querySelector(".legend");
    this.leftOut = root.querySelector(".left-out");
    this.camera = WHOLE;
    this.flight = null; // {from, to, start, time}: where the camera is going
    this.top = 0; // of what is seen of a high picture, CSS px
    this.all = false; // whether all of a high picture is on the page, and not only what is looked at
    this.focus = null; // the name of the part that keys are on
    this.read = null; // {id, row, column} that is read: pointed at, or reached by keys
    this.number = false; // whether keys go from number to number
    this.pointers = new Map();
    this.run = null; // the frames of a text that runs through the picture
    this.time = -REST; // of the run, ms
    this.wanted = null; // whether it runs, as the visitor wants it; null where the system says so
    this.inSight = true;
    this.listen();
  }

  // ---- data ---------------------------------------------------------------------------------------------

  update(data) {
    const before = this.data;
    this.data = data;
    this.values = new Values(data);
    if (before?.at !== data.at) this.all = false;
    this.root.classList.toggle("runs", runs(data));
    if (runs(data) && !same(before, data)) {
      this.letGo();
      this.time = this.moving ? (before ? 0 : -OPENING) : -REST;
    }
    if (this.read && this.number && before.position !== data.position) this.read.row = data.position;
    this.layout();
    if (!this.picture) return;
    if (this.read && !this.partRead()) this.letGo();
    if (this.run) return;
    const { at } = data;
    const goes = (name) => placeOf(this.picture.places, name);
    if (at && at !== before?.at) this.lead(goes(at), before);
    else if (before && before.layer !== data.layer) this.lead(goes(at) ?? goes("layer"), before);
    else if (before && before.head !== data.head) this.lead(goes(at) ?? goes("head"), before);
    else if (before && before.position !== data.position && this.number) this.goToNumber(FLIGHT.near);
    else if (before?.at && !at) this.fly(WHOLE);
  }

  // To a place that was chosen elsewhere on the page. A picture may be higher than the window: the place comes into view.
  lead(place, before) {
    if (this.place && !before) this.top = this.topOf(place);
    this.goTo(place);
    const { places } = this.picture;
    if (!before || !place || places.wide || this.place) return;
    const { y, h } = windowOf(places, place);
    Object.assign(this.region.style, { top: `${y}px`, height: `${h}px` });
    this.region.scrollIntoView({ block: "nearest", behavior: this.still ? "instant" : "smooth" });
  }

  layout() {
    const width = this.canvas.parentElement.clientWidth;
    if (!width || !this.data) return; // not to be seen; the observer of its size tells when it is
    const before = this.picture;
    this.picture = new Picture(this, width);
    const { height } = this;
    this.pen = penOn(this.canvas, width, height, this.picture.font);
    if (before && (before.width !== width || before.height !== this.picture.height)) this.land(WHOLE);
    this.top = clamp(this.top, 0, this.picture.height - height);
    this.run = runs(this.data) ? new Run(this.picture, this.pen.ratio) : null;
    const { model, n_layers, tokens } = this.data;
    this.canvas.setAttribute("aria-label", `${model}: ${tokens.length} tokens through ${n_layers} layers.`);
    this.explain();
    this.look();
    this.draw();
    if (this.run) this.ask();
  }

  // The place that is looked at where not all of a high picture is on the page.
  get place() {
    const { places } = this.picture;
    return places.wide || this.all || this.run ? null : placeOf(places, this.data.at);
  }

  // Of what is on the page, CSS px.
  get height() {
    const { place, picture } = this;
    return place ? Math.ceil(windowOf(picture.places, place).h) : picture.height;
  }

  explain() {
    const { dark } = this.picture.theme;
    const bar = document.createElement("i");
    const colours = dark ? this.data.dark_scale : this.data.scale;
    bar.style.background = `linear-gradient(to right, ${colours.join(", ")})`;
    this.legend.replaceChildren("below zero", bar, "above; each part by its own largest number.");
    this.leftOut.textContent = leftOut(this.data);
  }

  // ---- camera -------------------------------------------------------------------------------------------

  get still() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  // Whether the text runs, as far as the visitor and the system want it to.
  get moving() {
    return runs(this.data) && (this.wanted ?? !this.still);
  }

  // Where the camera is, or is going.
  get goal() {
    return this.flight?.to ?? this.camera;
  }

  // The top of what is seen when a place is looked at.
  topOf(place) {
    const { places } = this.picture;
    if (!this.place || !place) return this.place ? this.top : 0;
    return clamp(windowOf(places, place).y, 0, places.height - this.height);
  }

  fly(to, time = FLIGHT.far, top = this.top) {
    if (this.still) {
      this.top = top;
      this.land(to);
      return;
    }
    this.flight = { from: this.camera, to, start: null, time, tops: [this.top, top] };
    this.root.dataset.still = "false";
    this.ask();
  }

  land(to) {
    this.camera = to;
    this.flight = null;
    this.look();
    this.ask();
  }

  // At most one drawing a frame, and none at rest.
  ask() {
    this.atNextFrame((now) => this.paint(now));
  }

  paint(now) {
    if (this.flight) {
      this.flight.start ??= now;
      const { from, to, start, time, tops } = this.flight;
      const part = Math.min(1, (now - start) / time);
      this.top = tops[0] + (tops[1] - tops[0]) * part;
      if (part >= 1) {
        this.camera = to;
        this.flight = null;
        this.look();
      } else {
        this.camera = between(from, to, part, this.picture.places);
        this.ask();
      }
    }
    if (this.run) this.goOn(now);
    this.draw();
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
    this.say();
    this.ask();
  }

  draw() {
    if (!this.picture) return;
    if (this.run) {
      this.run.draw(this.pen, this.time);
      this.picture.drawMarks(this.marks(), null);
      this.pen.flush();
    } else this.drawSeen(this.picture, this.pen, this.marks());
    this.root.dataset.still = String(this.flight === null && !this.moving);
  }

  // Stops the run, or lets it go on; from its beginning where all is seen.
  go(on) {
    this.wanted = on;
    if (on && this.time < 0) this.time = 0;
    this.say();
    this.ask();
  }

  // The picture as the camera sees it, as much of it as is on the page.
  drawSeen(picture, pen, marks) {
    pen.moveOrigin(0, -this.top);
    picture.draw(pen, this.camera, marks);
    pen.moveOrigin(0, this.top);
  }

  marks() {
    const part = this.partRead();
    return {
      here: this.data.at,
      focus: this.focus && this.focused ? this.partOf(this.focus) : null,
      read: part ? { ...this.read, part } : null,
    };
  }

  get focused() {
    return /** @type {any} */ (this.canvas.getRootNode()).activeElement === this.canvas;
  }

  partOf(id) {
    return this.picture.places.at.get(id) ?? null;
  }

  partRead() {
    return this.read && this.partOf(this.read.id);
  }

  // Which part is looked at, and what follows from where the camera is.
  look() {
    if (!this.picture) return;
    this.picture.camera = this.camera;
    const dominant = this.picture.dominant();
    this.into = dominant?.id ?? null;
    if (!dominant && this.number) this.letGo();
    const whole = this.camera.kx <= 1.001 && this.camera.ky <= 1.001;
    this.canvas.classList.toggle("near", !whole);
    this.root.dataset.into = this.into ?? "";
    this.say();
  }

  // To a part or a frame; a part with numbers fills the view.
  goTo(place, time = FLIGHT.far) {
    if (!place) return;
    this.letGo();
    const { places } = this.picture;
    const holds = place.kind === "strip" || place.kind === "matrix";
    if (holds) this.focus = place.id;
    this.fly(holds ? around(places, place) : near(places, place), time, this.topOf(place));
    this.say();
  }

  goToNumber(time = FLIGHT.far) {
    const part = this.partRead();
    this.number = true;
    this.fly(closeTo(this.picture.places, part, this.read, this.values.columnsOf(part)), time);
    this.say();
  }

  letGo() {
    this.read = null;
    this.number = false;
  }

  zoom(factor, point, time = 0) {
    const { places } = this.picture;
    const found = this.picture.pointedAt(this.goal, point.x, point.y)?.part ?? this.partOf(this.into);
    const part = found && (found.kind === "strip" || found.kind === "matrix") ? found : null;
    const most = part ? nearest(places, part, this.values.columnsOf(part)) : { kx: 12, ky: 3 };
    const to = zoomed(this.goal, factor, point, places, most);
    if (time) this.fly(to, time);
    else this.land(to);
  }

  // ---- what is said -------------------------------------------------------------------------------------

  say() {
    const { data } = this;
    if (!this.picture) return;
    if (this.run) {
      this.sayOfRun();
      return;
    }
    const read = this.partRead();
    const told = read
      ? this.saidOf(read)
      : this.into
      ? `${saidOfPart(data, this.partOf(this.into))} ${this.closer()}`
      : this.focus && this.focused
      ? `${saidOfPart(data, this.partOf(this.focus))} Enter goes into it.`
      : this.hint();
    if (told !== this.status.textContent) this.status.textContent = told;
  }

  closer() {
    return isTouched() ? "Tap a number to come closer." : "Click a number to come closer; Escape goes back.";
  }

  // What is pointed at or what keys are on, and what it opens; else what happens. What happens by itself is not announced.
  sayOfRun() {
    const { data } = this;
    const part = this.partRead() ?? (this.focused && this.focus ? this.partOf(this.focus) : null);
    const touch = isTouched();
    const told = part
      ? `${saidOfPart(data, part)} ${this.read ? "Click" : "Enter"} opens ${data.opens[this.opened(part)]}.`
      : this.run.said(this.time) ||
        `From characters to probabilities. ${touch ? "Tap" : "Click"} a part to learn about it.`;
    this.status.ariaLive = this.moving && !part ? "off" : "polite";
    if (told !== this.status.textContent) this.status.textContent = told;
    const name = this.moving ? "Pause" : "Play";
    if (this.pause.textContent !== name) this.pause.textContent = name;
  }

  // By what name a part's opening is known.
  opened(part) {
    return part.kind === "card" ? "layer" : reported(part);
  }

  open(part, row) {
    const layer = part.kind === "card" ? part.layer : this.data.layer;
    this.report("open", { place: this.opened(part), token: this.data.first + row, layer });
  }

  saidOf(part) {
    const { data, values, read } = this;
    if (part.kind === "characters" || part.kind === "pieces") return saidOfToken(data, read.row);
    if (!read.single || (part.kind !== "strip" && part.kind !== "matrix")) return saidOfPart(data, part);
    return saidOfNumber(data, values, part, read);
  }

  hint() {
    const touch = isTouched();
    const how = touch ? "Tap a part to look inside." : "Point at a part to read what it is; click to look inside.";
    const here = this.data.at && placeOf(this.picture.places, this.data.at);
    const said = here && (here.kind ? saidOfPart(this.data, here) : saidOfPlace(this.data, here));
    return said ? `You are here. ${said} ${how}` : `From characters to probabilities. ${how}`;
  }

  // ---- events -------------------------------------------------------------------------------------------

  listen() {
    this.listenTo(this.canvas, "pointerdown", (event) => this.press(event));
    this.listenTo(this.canvas, "pointermove", (event) => this.move(event));
    this.listenTo(this.canvas, "pointerup", (event) => this.lift(event));
    this.listenTo(this.canvas, "pointercancel", (event) => this.pointers.delete(event.pointerId));
    this.listenTo(this.canvas, "pointerleave", (event) => {
      if (event.pointerType === "touch" || this.number) return;
      this.letGo();
      this.say();
      this.ask();
    });
    this.listenTo(this.canvas, "wheel", (event) => this.wheel(event), { passive: false });
    this.listenTo(this.canvas, "keydown", (event) => this.key(event));
    this.listenTo(this.canvas, "focus", () => {
      if (!this.canvas.matches(":focus-visible")) return;
      this.focus ??= this.order()[0]?.id ?? null;
      this.say();
      this.ask();
    });
    this.listenTo(this.canvas, "blur", () => {
      this.say();
      this.ask();
    });
    this.listenTo(this.tools, "click", (event) => {
      const button = event.target.closest("button");
      if (button === this.pause) this.go(!this.moving);
      else if (button?.dataset.step && this.run) this.goBeside(button.dataset.step === "ArrowRight" ? 1 : -1);
      else if (button?.dataset.step) this.walk(button.dataset.step);
      else if (button?.dataset.zoom) this.zoomBy(button.dataset.zoom);
    });
    onAsked(this, (look) => this.saved(look));
    onLook(this, this.canvas.parentElement, () => this.layout());
    this.observe(IntersectionObserver, this.canvas, ([{ isIntersecting }]) => {
      this.inSight = isIntersecting;
      this.ask();
    });
    this.listenTo(matchMedia("(prefers-reduced-motion: reduce)"), "change", () => {
      this.wanted = null;
      if (this.still) this.time = -REST;
      this.ask();
    });
  }

  order() {
    return this.picture.places.parts.filter(({ kind }) => this.run || kind !== "card");
  }

  // To the beat of the run after this one, or the one before, where it stays.
  goBeside(by) {
    this.time = this.run.beside(this.time, by);
    this.go(false);
  }

  pointOf({ offsetX, offsetY }) {
    return { x: offsetX, y: offsetY + this.top };
  }

  press(event) {
    const point = this.pointOf(event);
    this.pointers.set(event.pointerId, { ...point, from: point });
    if (this.pointers.size === 2) this.pinched = true;
    if (event.isPrimary) this.pinched = false;
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    const point = this.pointOf(event);
    const held = this.pointers.get(event.pointerId);
    if (!held) {
      if (event.pointerType !== "touch" && !this.flight) this.point(point);
      return;
    }
    if (this.run) Object.assign(held, point);
    else if (this.pointers.size === 2) this.pinch(event.pointerId, point);
    else if (distance(point, held.from) > STILL && this.canvas.classList.contains("near")) {
      this.canvas.classList.add("dragged");
      const { x, y, kx, ky } = this.camera;
      const to = { kx, ky, x: x - (point.x - held.x) / kx, y: y - (point.y - held.y) / ky };
      this.land(inside(to, this.picture.places));
    }
    Object.assign(held, point);
  }

  pinch(id, point) {
    const [one, other] = [...this.pointers].map(([each, at]) => (each === id ? point : at));
    const before = distance(...[...this.pointers.values()]);
    const middle = { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
    this.zoom((distance(one, other) / Math.max(before, 1)) ** 1.6, middle);
  }

  lift(event) {
    const held = this.pointers.get(event.pointerId);
    this.pointers.delete(event.pointerId);
    this.canvas.classList.remove("dragged");
    if (!held || this.pinched || distance(held.from, this.pointOf(event)) > STILL) return;
    this.click(this.pointOf(event));
  }

  found(point) {
    const found = this.picture.pointedAt(this.camera, point.x, point.y);
    if (!found || (this.into && found.part.id !== this.into)) return null;
    const { part, row, column } = found;
    const at = onScreen(this.camera, part);
    const rows = this.picture.places.rows;
    const large = at.w / this.values.columnsOf(part) >= READABLE.across && at.h / rows >= READABLE.down;
    return { id: part.id, row, column, single: large };
  }

  point(point) {
    if (this.number) return;
    const found = this.found(point);
    const same = found?.id === this.read?.id && found?.row === this.read?.row && found?.column === this.read?.column;
    if (same) return;
    this.read = found;
    this.say();
    this.ask();
  }

  click(point) {
    const found = this.found(point);
    if (!found) return;
    const part = this.partOf(found.id);
    const holds = part.kind === "strip" || part.kind === "matrix";
    if (this.run) this.open(part, part.kind === "words" ? this.data.position : found.row);
    else if (part.kind === "characters" || part.kind === "pieces") {
      this.read = found;
      this.say();
      this.ask();
      this.report("token", this.data.first + found.row);
    } else if (part.kind === "card") this.report("layer", part.layer);
    else if (holds && this.into === part.id) {
      this.read = { ...found, single: true };
      this.goToNumber(this.number ? FLIGHT.near : FLIGHT.far);
    } else {
      this.goTo(part);
      this.report("stage", reported(part));
    }
  }

  // A page is scrolled over the picture as over anything else, until the picture was clicked or reached by keys.
  wheel(event) {
    const whole = !this.canvas.classList.contains("near");
    if (this.run) return;
    if (!event.ctrlKey && (!this.focused || (whole && event.deltaY > 0))) return;
    event.preventDefault();
    this.number = false;
    const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
    this.zoom(Math.exp(-clamp(pixels, -200, 200) * (event.ctrlKey ? 0.02 : 0.005)), this.pointOf(event));
  }

  zoomBy(how) {
    if (how === "whole") {
      this.letGo();
      const more = this.place !== null;
      this.all = true;
      this.fly(WHOLE, FLIGHT.far, 0);
      if (more) this.layout();
      return;
    }
    const part = this.partRead() ?? this.partOf(this.into ?? this.focus ?? "");
    const at = part && onScreen(this.goal, part);
    const middle = { x: this.picture.width / 2, y: this.top + this.height / 2 };
    const seen = at && at.x < this.picture.width && at.x + at.w > 0;
    const point = seen && !this.into ? { x: at.x + at.w / 2, y: at.y + at.h / 2 } : middle;
    this.number = false;
    this.zoom(how === "in" ? 2.2 : 1 / 2.2, point, FLIGHT.near);
  }

  key(event) {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    if (this.run) {
      this.keyOfRun(event);
      return;
    }
    const by = { "+": "in", "=": "in", "-": "out", "−": "out", 0: "whole" }[event.key];
    if (by) this.zoomBy(by);
    else if (event.key === "Enter") this.enter();
    else if (event.key === "Escape") {
      if (!this.leave()) return;
    } else if (!this.step(event.key)) return;
    event.preventDefault();
  }

  keyOfRun(event) {
    const part = this.partOf(this.focus ?? "");
    if (event.key === " ") this.go(!this.moving);
    else if (event.key === "Enter" && part) this.open(part, this.data.position);
    else if (!this.step(event.key)) return;
    event.preventDefault();
  }

  // From the whole into a part, from there to a number.
  enter() {
    const part = this.partOf(this.focus ?? "") ?? this.order()[0];
    if (!part || this.number) return;
    if (this.into === part.id) {
      const [column = 0] = this.data.stages[part.index]?.part ?? [];
      this.read ??= { id: part.id, row: this.data.position, column, single: true };
      this.read.single = true;
      this.goToNumber();
      return;
    }
    this.focus = part.id;
    this.goTo(part);
    this.report("stage", reported(part));
  }

  leave() {
    if (this.number) {
      const part = this.partRead();
      this.letGo();
      this.goTo(part);
      return true;
    }
    if (this.goal.kx <= 1.001 && this.goal.ky <= 1.001) return false;
    this.letGo();
    this.fly(WHOLE);
    return true;
  }

  step(key) {
    if (this.number) {
      const part = this.partRead();
      const size = { rows: this.picture.places.rows, columns: this.values.columnsOf(part) };
      const to = moved(key, this.read, size);
      if (!to) return false;
      this.read = { ...this.read, ...to };
      this.goToNumber(FLIGHT.step);
      return true;
    }
    const part = next(key, this.order(), this.partOf(this.focus ?? ""));
    if (!part) return false;
    this.letGo();
    this.focus = part.id;
    if (this.into) this.goTo(part);
    this.say();
    this.ask();
    return true;
  }

  // To the next part along the walk, or the one before, and into it.
  walk(key) {
    const part = next(key, this.order(), this.partOf(this.into ?? this.focus ?? ""));
    this.focus = part.id;
    this.goTo(part);
    this.report("stage", reported(part));
  }

  // What is saved: the picture as the camera sees it, without what keys are on.
  saved(look) {
    const picture = new Picture(this, look.width, look);
    const [camera, marks] = [this.camera, { ...this.marks(), focus: null }];
    const { width, height } = picture;
    return { width, height, draw: (pen) => picture.draw(pen, camera, marks) };
  }
}

// Whether the same text runs the same way.
const same = (one, other) =>
  one !== null && ["tokens", "position", "words"].every((name) => String(one[name]) === String(other[name]));

const distance = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);
