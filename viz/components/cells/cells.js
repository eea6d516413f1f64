// Cells: a number for every row and column, coloured by its sign and size, that can be picked.
//
// One canvas holds the picture; over it lie a frame around the cell that is pointed at, or reached by arrow keys, and
// what that cell says. A click, Enter or the space bar picks a cell or lets it go: the outline is drawn at once, and all that is
// picked is reported by the trigger `picks`.

import { cellAt, moved, sayAt } from "../shared/cells.js";
import { placeAt } from "../shared/elements.js";
import { penOn } from "../shared/pens.js";
import { onAsked } from "../shared/saving.js";
import { onLook } from "../shared/screen.js";
import { mount, View } from "../shared/view.js";
import { Picks } from "./picks.js";
import { Picture } from "./picture.js";
import { described, idOf, linesOf } from "./words.js";

export default function render({ data, parentElement, setTriggerValue }) {
  return mount(Cells, parentElement.querySelector(".cells"), data, setTriggerValue);
}

class Cells extends View {
  constructor(root) {
    super(root);
    this.scroll = root.querySelector(".scroll");
    this.stage = root.querySelector(".stage");
    this.canvas = root.querySelector("canvas");
    this.frame = root.querySelector(".cell");
    this.reading = root.querySelector(".reading");
    this.described = root.querySelector(".described");
    this.read = null; // {row, column} of the cell that is read
    this.picks = new Picks();
    this.pictures = 0;
    this.listen();
  }

  update(data) {
    this.data = { ...data, weights: new Float32Array(data.weights.slice().buffer) };
    this.picks.take(data.picked, data.known);
    this.root.classList.toggle("picked", data.pick);
    const [rows, columns] = [data.rows.length, data.columns.length];
    this.size = { rows, columns };
    const how = data.pick ? " Enter picks one." : "";
    const label = `Map of ${rows} rows and ${columns} columns. The arrow keys read its cells.${how}`;
    this.canvas.setAttribute("aria-label", label);
    this.described.textContent = described(this.data);
    if (this.read && (this.read.row >= rows || this.read.column >= columns)) this.read = null;
    this.draw();
  }

  draw() {
    const width = this.scroll.clientWidth;
    if (!width) return; // not to be seen; the observer of its size tells when it is
    this.picked = this.picks.ids;
    this.picture = new Picture(this, width);
    const { width: wide, height, font } = this.picture;
    this.canvas.style.width = `${wide}px`;
    this.picture.draw(penOn(this.canvas, wide, height, font));
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
    placeAt(this.frame, x, y, across - 1, down - 1);
    const lines = linesOf(this.data, cell, this.picked.has(idOf(cell)));
    const room = { width: this.scroll.clientWidth, height: this.canvas.clientHeight };
    sayAt(this.reading, lines, 1, { x: x - this.scroll.scrollLeft, y, down }, room);
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

  listen() {
    const under = (event) => cellAt(this.picture.places, this.size, event.offsetX, event.offsetY);
    this.listenTo(this.canvas, "pointermove", (event) => event.pointerType !== "touch" && this.show(under(event)));
    this.listenTo(this.canvas, "pointerleave", (event) => event.pointerType !== "touch" && this.show(null));
    this.listenTo(this.canvas, "click", (event) => {
      this.show(under(event));
      this.pick(this.read);
    });
    this.listenTo(this.canvas, "focus", () => {
      if (this.canvas.matches(":focus-visible")) this.show(this.read ?? { row: 0, column: 0 });
    });
    this.listenTo(this.canvas, "blur", () => this.show(null));
    this.listenTo(this.canvas, "keydown", (event) => this.key(event));
    onAsked(this, (look) => new Picture(this, look.width, look));
    onLook(this, this.scroll, () => this.draw());
  }

  key(event) {
    if (event.key === "Enter" || event.key === " ") {
      this.pick(this.read);
    } else {
      const target = moved(event, this.read ?? { row: 0, column: 0 }, this.size);
      if (target === undefined) return;
      if (target) this.bringIntoView(target);
      this.show(target);
    }
    event.preventDefault();
  }
}
