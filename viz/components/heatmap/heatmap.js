// Heatmap: a matrix of numbers as coloured cells, the tokens that look down the side, those looked at along the top.
//
// One canvas holds the picture. Over it lie a frame around the cell that is pointed at, or reached by arrow keys,
// what that cell says, and frames around a row or a column that is pointed at, here or in another picture.

import { moved, sayAt } from "../shared/cells.js";
import { placeAt } from "../shared/elements.js";
import { penOn, SHARPNESS } from "../shared/pens.js";
import { onOpened, onPoint, point } from "../shared/pointing.js";
import { onAsked } from "../shared/saving.js";
import { onLook } from "../shared/screen.js";
import { mount, View } from "../shared/view.js";
import { described, linesOf } from "./cells.js";
import { labelled, outOfSight, pointedAt, TITLE } from "./geometry.js";
import { Picture } from "./picture.js";

export default function render({ data, parentElement }) {
  return mount(Heatmap, parentElement.querySelector(".heatmap"), data);
}

class Heatmap extends View {
  constructor(root) {
    super(root);
    this.stage = root.querySelector(".stage");
    this.canvas = root.querySelector("canvas");
    this.frame = root.querySelector(".cell");
    this.reading = root.querySelector(".reading");
    this.bands = [...root.querySelectorAll(".band")];
    this.described = root.querySelector(".described");
    this.note = root.querySelector(".note");
    this.read = null; // {row, column} of the cell that is read
    this.place = null; // {query, key} of what is framed
    this.pointsHere = false; // whether it is pointed at here, not in another picture
    this.pointed = false; // whether the pointer points there, not a key
    this.pictures = 0;
    this.listen();
  }

  update(data) {
    if (this.data?.group !== data.group) this.letGo();
    const bytes = data.weights;
    this.data = { ...data, weights: new Float32Array(bytes.slice().buffer) };
    const [rows, columns] = [data.queries.length, data.keys.length];
    this.size = { rows, columns };
    const label = `Heatmap of ${rows} queries and ${columns} keys. The arrow keys read its cells.`;
    this.canvas.setAttribute("aria-label", label);
    this.described.textContent = described(this.data);
    if (this.place?.query >= rows || this.place?.key >= columns) this.letGo();
    this.draw();
  }

  draw() {
    const width = this.stage.clientWidth;
    if (!width) return; // not to be seen; the observer of its size tells when it is
    this.picture = new Picture(this, width, devicePixelRatio);
    const { height, font } = this.picture;
    this.picture.draw(penOn(this.canvas, width, height, font));
    this.note.textContent = labelled(this.picture.places.every);
    this.show(this.read);
    this.mark(this.place);
    this.root.dataset.picture = ++this.pictures;
  }

  show(cell) {
    this.read = cell;
    this.frame.hidden = this.reading.hidden = cell === null;
    if (cell === null) return;
    const { left, top, across, down, width, height } = this.picture.places;
    const [x, y] = [left + cell.column * across, top + cell.row * down];
    const grow = Math.max(0, (8 - Math.min(across, down)) / 2); // a frame around a dot must be seen
    placeAt(this.frame, x - grow, y - grow, across + 2 * grow, down + 2 * grow);
    sayAt(this.reading, linesOf(this.data, cell), 2, { x, y, down }, { width, height });
  }

  // Frames the row and the column of a place {query, key}; none where it is null, or not among the tokens shown.
  mark(place) {
    this.place = place;
    const { left, top, right, bottom, across, down, scale } = this.picture?.places ?? {};
    for (const band of this.bands) {
      const isRow = band.dataset.side === "query";
      const at = place?.[band.dataset.side] ?? null;
      band.hidden = at === null || !this.picture || at >= (isRow ? this.size.rows : this.size.columns);
      if (band.hidden) continue;
      const edge = TITLE * scale;
      if (isRow) placeAt(band, edge, top + at * down, right - edge, down);
      else placeAt(band, left + at * across, edge, across, bottom - edge);
    }
  }

  // What is pointed at here, shown here and told to the other pictures.
  tell(place) {
    const [query, key] = [place?.query ?? null, place?.key ?? null];
    const complete = query !== null && key !== null;
    const cell = complete ? { row: query, column: key } : null;
    if (cell?.row !== this.read?.row || cell?.column !== this.read?.column) this.show(cell);
    if (!place && !this.pointsHere) return; // what is framed is another picture's
    if (this.pointsHere && query === this.place.query && key === this.place.key) return;
    this.pointsHere = place !== null;
    this.mark(place);
    point(this.root, this.data.group, place);
  }

  // Shows where another picture points. What a key reads here stays, and is framed again when the other is left.
  follow(place) {
    if (!place && this.pointsHere) return;
    if (place && this.pointed) this.show(null);
    this.pointsHere = !place && this.read !== null;
    this.mark(place ?? (this.read && { query: this.read.row, key: this.read.column }));
  }

  // Lets go of what is pointed at here.
  letGo() {
    if (this.pointsHere) point(this.root, this.data.group, null);
    this.read = this.place = null;
    this.pointsHere = false;
  }

  listen() {
    const pointed = (event) => {
      this.pointed = true;
      this.tell(pointedAt(this.picture.places, this.size, event.offsetX, event.offsetY));
    };
    this.listenTo(this.canvas, "pointermove", (event) => event.pointerType !== "touch" && pointed(event));
    this.listenTo(this.canvas, "click", pointed);
    // A page that moves under a resting pointer makes it leave, too: that takes away what the pointer read, no more.
    this.listenTo(this.canvas, "pointerleave", ({ pointerType }) => {
      if (pointerType !== "touch" && this.pointed) this.tell(null);
    });
    this.listenTo(this.canvas, "focus", () => {
      if (!this.canvas.matches(":focus-visible")) return;
      const { row, column } = this.read ?? { row: 0, column: 0 };
      this.tell({ query: row, key: column });
    });
    this.listenTo(this.canvas, "blur", () => this.tell(null));
    this.listenTo(this.canvas, "keydown", (event) => this.key(event));
    onPoint(this, (place) => this.follow(place));
    onOpened(this, () => this.comeIntoView());
    onAsked(this, (look) => new Picture(this, look.width, SHARPNESS, look));
    onLook(this, this.stage, () => this.draw());
    this.signal.addEventListener("abort", () => this.letGo());
  }

  key(event) {
    const target = moved(event, this.read ?? { row: 0, column: 0 }, this.size);
    if (target === undefined) return;
    this.pointed = false;
    this.tell(target && { query: target.row, key: target.column });
    event.preventDefault();
  }

  comeIntoView() {
    if (!outOfSight(this.stage.getBoundingClientRect(), innerHeight)) return;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.stage.scrollIntoView({ block: "nearest", behavior: still ? "instant" : "smooth" });
  }
}
