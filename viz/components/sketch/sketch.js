// Sketch: a height over each label is drawn as a guess, then what the model says is drawn over it.
//
// Each column is a slider, which the arrow keys move; a pointer or a finger draws over all of them in one stroke. The
// drawing is reported by the button alone. While one draws, what the model says is not shown.

import { element } from "../shared/elements.js";
import { clamp } from "../shared/numbers.js";
import { isTouched } from "../shared/screen.js";
import { mount, View } from "../shared/view.js";
import { drawnNumber, exactNumber, levelOf, moved, stroked } from "./levels.js";

const HINT = "Draw a height over each label: drag, tap, or use Tab and the arrow keys.";
const HINT_TOUCHED = "Draw a height over each label: drag or tap.";
const TICKS = [1, 0.5, 0];

export default function render({ data, parentElement, setTriggerValue }) {
  return mount(Sketch, parentElement.querySelector(".sketch"), data, setTriggerValue);
}

class Sketch extends View {
  constructor(root) {
    super(root);
    this.field = root.querySelector(".field");
    this.row = root.querySelector(".columns");
    this.hint = root.querySelector(".hint");
    this.reading = root.querySelector(".reading");
    this.legend = root.querySelector(".legend");
    this.axis = root.querySelector(".axis");
    this.button = root.querySelector("button");
    this.svg = root.querySelector("svg");
    this.levels = []; // a column
    this.drawing = true; // and not comparing
    this.drawn = false; // anything, since the drawing was begun
    this.last = null; // {column, level} of the stroke that is being drawn
    this.named = null; // the column whose numbers are read
    this.listen();
  }

  // ---- data ---------------------------------------------------------------------------------------------

  update(data) {
    const before = this.data;
    this.data = data;
    const differs = (...names) => names.some((name) => JSON.stringify(before?.[name]) !== JSON.stringify(data[name]));
    const rebuilt = !before || differs("labels", "top", "unit", "kind");
    if (rebuilt) this.build();
    // A drawing that was begun stays until there is another answer.
    if (rebuilt || differs("drawn", "truth")) this.take();
    this.paint();
  }

  take() {
    const { drawn, truth, labels, top, most } = this.data;
    this.drawing = truth === null;
    this.drawn = false;
    this.levels = drawn?.map((height) => levelOf(height / top, most)) ?? labels.map(() => 0);
  }

  build() {
    const { labels, kind, top, unit, colours, dark_colours } = this.data;
    for (const [place, name] of ["--you", "--model"].entries()) {
      this.root.style.setProperty(name, `light-dark(${colours[place]}, ${dark_colours[place]})`);
    }
    this.root.classList.toggle("curve", kind === "curve");
    this.svg.setAttribute("viewBox", `0 0 ${labels.length} 1`);
    this.axis.replaceChildren(...TICKS.map((share) => element("span", {}, exactNumber(share * top, unit))));
    this.columns = labels.map((label, column) => columnElement(label, column));
    this.row.replaceChildren(...this.columns);
    this.named = this.last = null;
    this.turn();
  }

  // Labels are turned where a word of one of them is wider than its column.
  turn() {
    this.root.classList.remove("turned");
    const labels = Array.from(this.row.querySelectorAll(".label"));
    this.root.classList.toggle("turned", labels.some((label) => label.scrollWidth > label.clientWidth));
  }

  // ---- what is shown ------------------------------------------------------------------------------------

  height(column) {
    return (this.levels[column] / this.data.most) * this.data.top;
  }

  paint() {
    const { drawn, truth, top, labels, most, done } = this.data;
    const compares = !this.drawing;
    const mine = this.drawing || drawn !== null || this.drawn;
    const guess = mine ? this.levels.map((level) => level / most) : null;
    const model = compares ? truth.map((height) => Math.min(height / top, 1)) : null;
    this.root.classList.toggle("compares", compares);
    this.legend.hidden = !compares;
    this.legend.querySelector(".you").hidden = !mine;
    this.columns.forEach((element, column) => {
      const track = element.querySelector(".track");
      show(track.querySelector(".you"), guess?.[column]);
      show(track.querySelector(".model"), model?.[column]);
      track.setAttribute("aria-valuemax", String(top));
      track.setAttribute("aria-valuenow", String(mine ? this.height(column) : truth[column]));
      track.setAttribute("aria-valuetext", this.numbers(column));
      track.setAttribute("aria-readonly", String(compares));
    });
    this.svg.querySelector(".you").setAttribute("d", path(guess));
    this.svg.querySelector(".model").setAttribute("d", path(model));
    this.button.textContent = this.drawing ? done : mine ? "Draw again" : "Draw it yourself";
    this.button.disabled = this.drawing && !this.drawn;
    this.hint.textContent = this.drawing
      ? isTouched() ? HINT_TOUCHED : HINT
      : `${isTouched() ? "Tap" : "Point at"} a label for its numbers.`;
    this.hint.classList.toggle("off", this.named !== null); // and keeps its room: nothing moves under the pointer
    this.reading.textContent = this.named === null ? "" : `${labels[this.named]}: ${this.numbers(this.named)}`;
  }

  numbers(column) {
    const { drawn, truth, top, unit } = this.data;
    const guess = drawnNumber(this.height(column), top, unit);
    if (this.drawing) return guess;
    const model = `the model ${exactNumber(truth[column], unit)}`;
    return drawn !== null || this.drawn ? `you ${guess}, ${model}` : model;
  }

  name(column) {
    if (this.named === column) return;
    this.named = column;
    this.paint();
  }

  // ---- drawing ------------------------------------------------------------------------------------------

  listen() {
    this.listenTo(this.row, "pointerdown", (event) => {
      const to = this.pointOf(event);
      if (!this.drawing || event.button !== 0 || !event.target.closest(".track")) return;
      this.row.setPointerCapture(event.pointerId);
      this.draw(to, to);
    });
    this.listenTo(this.row, "pointermove", (event) => {
      const to = this.pointOf(event);
      if (this.last) this.draw(this.last, to);
      else this.name(to.column);
    });
    for (const name of ["pointerup", "pointercancel"]) this.listenTo(this.row, name, () => (this.last = null));
    this.listenTo(this.row, "pointerleave", () => this.last || this.name(this.focused()));
    this.listenTo(this.row, "focusin", () => this.name(this.focused()));
    this.listenTo(this.row, "focusout", () => this.name(null));
    this.listenTo(this.row, "keydown", (event) => this.key(event));
    this.listenTo(this.button, "click", () => this.drawing ? this.compare() : this.again());
    this.observe(ResizeObserver, this.field, () => this.columns && this.turn());
  }

  // The column and the level under a pointer, the nearest ones where it is outside.
  pointOf({ clientX, clientY }) {
    const { left, width } = this.row.getBoundingClientRect();
    const track = this.columns[0].querySelector(".track").getBoundingClientRect();
    const { length } = this.columns;
    return {
      column: clamp(Math.floor(((clientX - left) / width) * length), 0, length - 1),
      level: levelOf((track.bottom - clientY) / track.height, this.data.most),
    };
  }

  draw(from, to) {
    this.levels = stroked(this.levels, from, to);
    this.last = to;
    this.drawn = true;
    this.named = to.column;
    this.paint();
  }

  focused() {
    const focused = this.row.querySelector(".track:focus");
    return focused && Number(focused.dataset.column);
  }

  key(event) {
    const column = this.focused();
    if (!this.drawing || column === null || event.altKey || event.ctrlKey || event.metaKey) return;
    const level = moved(event.key, this.levels[column], this.data.most);
    if (level === undefined) return;
    event.preventDefault();
    this.levels[column] = level;
    this.drawn = true;
    this.paint();
  }

  compare() {
    this.drawing = this.data.truth === null; // which Python is asked for
    this.report("drawn", this.levels.map((_, column) => this.height(column)));
    this.paint();
  }

  again() {
    this.drawing = true;
    this.drawn = false;
    this.levels = this.levels.map(() => 0);
    this.paint();
  }
}

function columnElement(label, column) {
  const slider = { role: "slider", ariaOrientation: "vertical", ariaLabel: label, ariaValueMin: "0" };
  const marks = ["you", "model"].map((className) => element("i", { className }));
  const track = element("div", { className: "track", tabIndex: 0, ...slider, data: { column } }, ...marks);
  const name = element("span", { className: "label", ariaHidden: "true" }, label);
  return element("div", { className: "column" }, track, name);
}

function show(mark, share) {
  mark.hidden = share === undefined;
  if (share !== undefined) mark.style.setProperty("--share", String(share));
}

const path = (shares) => shares ? "M" + shares.map((share, column) => `${column + 0.5},${1 - share}`).join("L") : "";
