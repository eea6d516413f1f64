// Cells: a number for every row and column, coloured by its sign and size, that can be picked.
//
// One canvas holds the picture; over it lie a frame around the cell that is pointed at, or reached by arrow keys, and
// what that cell says. A click, Enter or the space bar picks a cell or lets it go: the outline is drawn at once, and all that is
// picked is reported by the trigger `picks`.

import { clamp } from "../shared/numbers.js";
import { CanvasPen } from "../shared/pens.js";
import { pictureFile, saveFrom } from "../shared/saving.js";
import { onRatio, sharpest } from "../shared/screen.js";
import { endOf, unpack, viewOf } from "../shared/view.js";
import { cellAt, GAP } from "./geometry.js";
import { Picks } from "./picks.js";
import { Picture } from "./picture.js";
import { described, idOf, moved, said } from "./words.js";

export default function render({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".cells");
  const view = viewOf(root, Cells);
  view.report = setTriggerValue;
  view.update(unpack(data));
  return endOf(root);
}

class Cells {
  constructor(root) {
    this.root = root;
    this.scroll = root.querySelector(".scroll");
    this.stage = root.querySelector(".stage");
    this.canvas = root.querySelector("canvas");
    this.frame = root.querySelector(".cell");
    this.reading = root.querySelector(".reading");
    this.described = root.querySelector(".described");
    this.saving = root.querySelector(".saving");
    this.read = null; // {row, column} of the cell that is read
    this.picks = new Picks();
    this.pictures = 0;
    this.report = (_name, _value) => {}; // Streamlit's, set at every run
    this.listen();
  }

  update(data) {
    this.data = { ...data, weights: new Float32Array(data.weights.slice().buffer) };
    this.picks.take(data.picked, data.known);
    this.root.classList.toggle("picked", data.pick);
    const { rows, columns } = data;
    const how = data.pick ? " Enter picks one." : "";
    const label = `Map of ${rows.length} rows and ${columns.length} columns. The arrow keys read its cells.${how}`;
    this.canvas.setAttribute("aria-label", label);
    this.described.textContent = described(this.data);
    if (this.read && (this.read.row >= rows.length || this.read.column >= columns.length)) this.read = null;
    this.draw();
  }

  draw() {
    const width = this.scroll.clientWidth;
    if (!width) return; // not to be seen; the observer of its size tells when it is
    this.picked = this.picks.ids;
    this.picture = new Picture(this, width);
    this.drawnFor = width;
    const { width: wide, height, font } = this.picture;
    const ratio = sharpest(devicePixelRatio, wide, height);
    [this.canvas.width, this.canvas.height] = [Math.round(wide * ratio), Math.round(height * ratio)];
    Object.assign(this.canvas.style, { width: `${wide}px`, height: `${height}px` });
    const context = this.canvas.getContext("2d");
    context.scale(ratio, ratio);
    this.picture.draw(new CanvasPen(context, ratio, font));
    this.show(this.read);
    this.root.dataset.picture = ++this.pictures;
    this.root.dataset.picked = [...this.picked].join(" ");
    this.root.dataset.places = JSON.stringify(this.picture.places);
  }

  show(cell) {
    this.read = cell;
    this.frame.hidden = this.reading.hidden = cell === null;
    if (cell === null) return;
    const { left, top, across, down } = this.picture.places;
    const [x, y] = [left + cell.column * across, top + cell.row * down];
    Object.assign(this.frame.style, {
      left: `${x}px`,
      top: `${y}px`,
      width: `${across - 1}px`,
      height: `${down - 1}px`,
    });
    const lines = said(this.data, cell, this.picked.has(idOf(cell))).map((text) =>
      Object.assign(document.createElement("span"), { textContent: text })
    );
    lines[1].style.fontWeight = "600";
    this.reading.replaceChildren(...lines);
    const box = this.reading.getBoundingClientRect();
    const seen = x - this.scroll.scrollLeft;
    const below = y + down + GAP;
    const high = this.canvas.clientHeight;
    this.reading.style.left = `${clamp(seen, 0, Math.max(0, this.scroll.clientWidth - box.width))}px`;
    this.reading.style.top = `${below + box.height <= high ? below : Math.max(0, y - box.height - GAP)}px`;
  }

  // Picks a cell or lets it go, and says so.
  pick(cell) {
    if (!this.data.pick || cell === null) return;
    const picks = this.picks.toggle(cell);
    this.draw();
    this.report("picks", picks);
  }

  // Scrolls so that a cell reached by a key can be seen.
  bringIntoView({ column }) {
    const { left, across } = this.picture.places;
    const x = left + column * across;
    const { scrollLeft, clientWidth } = this.scroll;
    if (x < scrollLeft + left) this.scroll.scrollLeft = x - left;
    else if (x + across > scrollLeft + clientWidth) this.scroll.scrollLeft = x + across - clientWidth;
  }

  save(button) {
    const { namespaceURI } = button.querySelector("svg");
    saveFrom(button, this.data.file, (kind) => pictureFile(new Picture(this, this.drawnFor), kind, namespaceURI));
  }

  listen() {
    this.listeners = new AbortController();
    const options = { signal: this.listeners.signal };
    const on = (target, type, listener) => target.addEventListener(type, listener, options);
    const under = (event) => cellAt(this.picture.places, this.data, event.offsetX, event.offsetY);
    on(this.canvas, "pointermove", (event) => event.pointerType !== "touch" && this.show(under(event)));
    on(this.canvas, "pointerleave", (event) => event.pointerType !== "touch" && this.show(null));
    on(this.canvas, "click", (event) => {
      this.show(under(event));
      this.pick(this.read);
    });
    on(this.canvas, "focus", () => {
      if (this.canvas.matches(":focus-visible")) this.show(this.read ?? { row: 0, column: 0 });
    });
    on(this.canvas, "blur", () => this.show(null));
    on(this.canvas, "keydown", (event) => this.key(event));
    on(this.saving, "click", (event) => {
      const button = event.target.closest("button");
      if (button) this.save(button);
    });
    on(this.root, "transitionend", (event) => event.target === this.root && this.draw());
    on(document.fonts, "loadingdone", () => this.draw());
    this.sizes = new ResizeObserver(() => this.scroll.clientWidth !== this.drawnFor && this.draw());
    this.sizes.observe(this.scroll);
    onRatio(() => this.draw(), options.signal);
  }

  key(event) {
    if (event.key === "Enter" || event.key === " ") {
      this.pick(this.read);
    } else {
      const target = moved(event, this.read ?? { row: 0, column: 0 }, this.data);
      if (target === undefined) return;
      if (target) this.bringIntoView(target);
      this.show(target);
    }
    event.preventDefault();
  }

  destroy() {
    this.listeners.abort();
    this.sizes.disconnect();
  }
}
