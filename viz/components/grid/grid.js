// Grid: all heads of all layers as small pictures, of which one opens.
//
// One canvas holds the picture. Over it lie another one for what is pointed at elsewhere, and an element a head that
// can be clicked, reached by keys and read out; that of the open head has a frame.

import { moved } from "../shared/cells.js";
import { element } from "../shared/elements.js";
import { clamp } from "../shared/numbers.js";
import { penOn } from "../shared/pens.js";
import { onPoint, opened } from "../shared/pointing.js";
import { onAsked } from "../shared/saving.js";
import { onLook } from "../shared/screen.js";
import { mount, View } from "../shared/view.js";
import { drawnAlike, nameOf } from "./heads.js";
import { Picture } from "./picture.js";
import { drawPointed } from "./pointed.js";

export default function render({ data, parentElement, setTriggerValue }) {
  return mount(Grid, parentElement.querySelector(".heads"), data, setTriggerValue);
}

class Grid extends View {
  constructor(root) {
    super(root);
    this.scroll = root.querySelector(".scroll");
    this.stage = root.querySelector(".stage");
    this.canvas = root.querySelector(".drawn");
    this.overlay = root.querySelector(".pointed");
    this.cells = root.querySelector(".cells");
    this.reading = root.querySelector(".reading");
    this.selected = null; // {layer, head} that is open
    this.named = null; // the element of the head that is named
    this.elsewhere = null; // {query, key} that another picture points at
    this.pictures = 0;
    this.listen();
  }

  update(data) {
    const before = this.data;
    this.data = data;
    if (!before || !drawnAlike(before, data)) {
      this.buildCells();
      this.elsewhere = null;
      this.draw();
    }
    // The frame stays where its reader put it until Python asks for another.
    if (!before || before.serial !== data.serial || String(before.selected) !== String(data.selected)) {
      const [layer, head] = data.selected;
      this.select({ layer, head });
    } else {
      this.select(this.selected);
    }
  }

  buildCells() {
    const rows = this.data.heads.map((heads, layer) => {
      const cells = Array.from({ length: heads }, (_, head) => {
        const ariaLabel = nameOf(this.data, { layer, head });
        return element("div", { className: "head", tabIndex: -1, role: "gridcell", ariaLabel, data: { layer, head } });
      });
      return element("div", { className: "layer", role: "row" }, ...cells);
    });
    const [first, second] = this.data.names;
    const all = second ? `All ${second}s, one row per ${first}` : `All ${first}s`;
    this.cells.setAttribute("aria-label", `${all}. The arrow keys move, Enter opens a ${second ?? first}.`);
    const focused = this.focused();
    this.read(null);
    this.cells.replaceChildren(...rows);
    this.tabStop = null;
    if (focused) {
      this.moveTabStop(this.cell(this.nearest(focused)));
      this.tabStop.focus();
    }
  }

  // The head that has the focus of the keyboard.
  focused() {
    return headOf(this.root.getRootNode().activeElement);
  }

  cell({ layer, head }) {
    return this.cells.children[layer]?.children[head];
  }

  // The head itself, or the nearest there is: some layers have none, and are stepped over on the way from another.
  nearest({ layer, head }, from = 0) {
    const { heads } = this.data;
    const there = clamp(layer, 0, heads.length - 1);
    const onwards = (step) => {
      let at = there;
      while (heads[at] === 0) at += step;
      return heads[at] && at;
    };
    const step = there < from ? -1 : 1;
    const at = onwards(step) ?? onwards(-step);
    return { layer: at, head: clamp(head, 0, heads[at] - 1) };
  }

  select(place) {
    this.selected = this.nearest(place);
    for (const cell of this.cells.querySelectorAll(".head")) {
      cell.setAttribute("aria-selected", String(cell === this.cell(this.selected)));
    }
    if (!this.focused()) this.moveTabStop(this.cell(this.selected));
  }

  open(place) {
    this.moveTabStop(this.cell(place));
    this.select(place);
    this.report("head", [place.layer, place.head]);
    opened(this.root, this.data.group);
  }

  draw() {
    const room = this.scroll.clientWidth;
    if (!room) return; // not to be seen; the observer of its size tells when it is
    this.picture = new Picture(this, room);
    const { width, height, font, places } = this.picture;
    this.canvas.style.width = this.overlay.style.width = `${width}px`;
    this.picture.draw(penOn(this.canvas, width, height, font));
    this.over = penOn(this.overlay, width, height, font);
    Object.assign(this.cells.style, { left: `${places.left}px`, top: `${places.top}px` });
    this.root.style.setProperty("--across", `${places.across}px`);
    this.root.style.setProperty("--down", `${places.down}px`);
    this.showElsewhere();
    this.root.dataset.picture = ++this.pictures;
  }

  showElsewhere() {
    if (!this.picture) return;
    const pen = this.over;
    pen.context.clearRect(0, 0, this.picture.width, this.picture.height);
    if (!this.elsewhere) return;
    pen.ink(this.picture.theme.primary, 1);
    drawPointed(pen, this.data, this.picture.places, this.elsewhere);
  }

  // Says which head is under the pointer, or has the keyboard.
  read(cell) {
    this.named = cell;
    this.reading.hidden = cell === null;
    if (cell === null) return;
    this.reading.textContent = nameOf(this.data, headOf(cell));
    const [box, ground, bubble] = [cell, this.root, this.reading].map((element) => element.getBoundingClientRect());
    const left = box.left - ground.left + (box.width - bubble.width) / 2;
    const above = box.top - ground.top - bubble.height - 4;
    this.reading.style.left = `${clamp(left, 0, Math.max(0, ground.width - bubble.width))}px`;
    this.reading.style.top = `${above >= 0 ? above : box.bottom - ground.top + 4}px`;
  }

  listen() {
    this.listenTo(this.cells, "pointerover", ({ pointerType, target }) => {
      if (pointerType !== "touch") this.read(target.closest(".head"));
    });
    this.listenTo(this.cells, "pointerleave", () => this.read(null));
    this.listenTo(this.scroll, "scroll", () => this.read(this.named));
    this.listenTo(this.cells, "click", (event) => {
      const head = headOf(event.target);
      if (head) this.open(head);
    });
    this.listenTo(this.cells, "focusin", (event) => event.target.matches(":focus-visible") && this.read(event.target));
    this.listenTo(this.cells, "focusout", () => this.read(null));
    this.listenTo(this.cells, "keydown", (event) => this.key(event, headOf(event.target)));
    onPoint(this, (place) => {
      this.elsewhere = place;
      this.showElsewhere();
    });
    onAsked(this, (look) => new Picture(this, look.width, look, this.selected));
    onLook(this, this.scroll, () => this.draw());
  }

  key(event, place) {
    if (event.key === "Enter" || event.key === " ") {
      this.open(place);
    } else {
      const { heads, shape } = this.data;
      const size = { rows: heads.length, columns: shape[1] };
      const target = moved(event, { row: place.layer, column: place.head }, size);
      if (!target) return;
      this.moveTabStop(this.cell(this.nearest({ layer: target.row, head: target.column }, place.layer)));
      this.tabStop.focus();
    }
    event.preventDefault();
  }
}

// The head of an element in the grid, null for another.
function headOf(element) {
  const cell = element?.closest(".head");
  return cell ? { layer: Number(cell.dataset.layer), head: Number(cell.dataset.head) } : null;
}
