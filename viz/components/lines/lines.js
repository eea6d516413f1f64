// Lines: two columns of tokens (left: queries, right: keys) and a line a pair, its opacity the weight.
//
// Two layers of canvas lie under the tokens. `overview` holds the lines of all tokens, cut into tiles; a tile is
// drawn when it comes into view and again only when weights, heads, size or theme change. `focus` holds the lines
// of the one token that is hovered, focused or locked. So moving the pointer over 512 tokens never draws more than
// one token's lines.

import { element } from "../shared/elements.js";
import { clamp } from "../shared/numbers.js";
import { CanvasPen } from "../shared/pens.js";
import { onPoint, point } from "../shared/pointing.js";
import { onAsked } from "../shared/saving.js";
import { isDark, onRatio, sharpest, typeScale } from "../shared/screen.js";
import { mount, View } from "../shared/view.js";
import { Legend } from "./legend.js";
import { sortedLines } from "./levels.js";
import { Picture } from "./picture.js";
import { Reports } from "./reports.js";
import { status } from "./status.js";
import { drawnAlike, frontOf, strokeAll, strokeOne } from "./strokes.js";
import { Tiles } from "./tiles.js";
import { beginsSegment, clicked, labelsOf, moved, same } from "./tokens.js";
import { countLines, describeBoxes, described, meanWeights, strongestOf } from "./words.js";

export default function render({ data, parentElement, setStateValue }) {
  return mount(Lines, parentElement.querySelector(".lines"), data, setStateValue);
}

class Lines extends View {
  constructor(root) {
    super(root);
    this.legend = new Legend(root.querySelector(".heads"));
    this.status = root.querySelector(".status");
    this.stage = root.querySelector(".stage");
    this.columns = { query: root.querySelector(".query"), key: root.querySelector(".key") };
    this.overview = root.querySelector(".overview");
    this.focus = root.querySelector(".focus");
    this.boxes = root.querySelector(".boxes");
    this.tiles = new Tiles(this, this.overview, (...tile) => this.strokeTile(...tile), () => this.draw());
    this.reports = new Reports();
    this.locked = null; // {side, index}: stays until unlocked
    this.pointed = null; // {side, index}: hovered or focused by keyboard
    this.elsewhere = null; // {side, index}: pointed at in another picture
    this.stop = { side: "query", index: 0 }; // the token that Tab reaches
    this.lines = new Uint32Array(); // of the overview, weakest first: places in the weights
    this.listen();
  }

  // ---- data ---------------------------------------------------------------------------------------------

  update(data) {
    const before = this.data;
    this.data = data;
    this.reports.report = this.report;
    if (!before || !drawnAlike(before, data)) {
      if (!before || !same(before.head_names, data.head_names)) {
        this.on = data.head_names.map((_, head) => !data.off.includes(head));
      }
      this.legend.build(data.head_names);
      this.markHeads();
      this.buildColumn("query");
      this.buildColumn("key");
      this.stopAt(this.exists(this.stop) ? this.stop : { side: "query", index: 0 });
      this.pointed = this.elsewhere = null;
      this.mean = null;
      this.takeFront();
      this.layout();
    }
    if (before) {
      this.takeHeads(before);
      this.takeLock(before);
    } else {
      this.locked = data.selected;
    }
    this.markTokens();
    this.paint(); // at once: the next frame, and news of what is in view, come much later
  }

  takeHeads(before) {
    const { off } = this.data;
    if (this.reports.isNews("off", off, before.off)) this.showHeads(this.on.map((_, head) => !off.includes(head)));
  }

  // The lock outlives new weights, as long as the same token stands at its place.
  takeLock(before) {
    if (this.reports.isNews("selected", this.data.selected, before.selected)) {
      this.locked = this.data.selected;
    } else if (this.locked) {
      const { side, index } = this.locked;
      if (labelsOf(before, side)[index] !== labelsOf(this.data, side)[index]) this.lock(null);
    }
  }

  exists(token) {
    return token.index < labelsOf(this.data, token.side).length;
  }

  markHeads() {
    this.legend.mark(this.data, this.on, this.colours);
  }

  buildColumn(side) {
    const labels = labelsOf(this.data, side);
    const column = this.columns[side];
    while (column.children.length > labels.length) column.lastElementChild.remove();
    const fresh = document.createDocumentFragment();
    for (let index = column.children.length; index < labels.length; index++) {
      const token = { className: "token", dir: "auto", tabIndex: -1, role: "button", data: { side, index } };
      fresh.append(element("div", token));
    }
    column.append(fresh);
    labels.forEach((label, index) => {
      const token = column.children[index];
      if (token.textContent !== label) token.textContent = label;
      token.title = label;
      token.classList.toggle("border", beginsSegment(this.data, { side, index }));
    });
  }

  // ---- size and theme -----------------------------------------------------------------------------------

  layout() {
    this.scale = typeScale();
    const { row, size, height } = rowsOf(this.data, this.scale);
    this.row = row;
    this.size = size;
    this.height = height;
    this.root.style.setProperty("--row", `${this.row}px`);
    this.root.style.setProperty("--size", `${this.size}px`);
    // Lines run from `start` to `end`; the gutters outside the columns are equally wide.
    this.area = {
      gutter: this.columns.query.offsetLeft,
      start: this.columns.query.offsetLeft + this.columns.query.offsetWidth,
      end: this.columns.key.offsetLeft,
      width: this.stage.clientWidth,
    };
    this.ratio = sharpest(devicePixelRatio, this.area.width, this.height);
    this.tiles.cut(this.height);
    this.draw({ everything: true });
  }

  get isDark() {
    return isDark(getComputedStyle(this.root).backgroundColor);
  }

  get colours() {
    return coloursOf(this.data, this.isDark);
  }

  // The head in front among those that are on, its strongest lines, and the largest of its weights as it is drawn, 0 to 1.
  takeFront() {
    this.front = frontOf(this.data, this.on);
    this.best = this.front === null ? [] : strongestOf(this.data, this.front);
    this.most = this.best.length ? this.best[0].weight / this.data.scale : 1;
  }

  // ---- drawing ------------------------------------------------------------------------------------------

  // At most one drawing a frame. The overview waits until it is to be seen.
  draw({ everything = false } = {}) {
    this.stale ||= everything;
    this.tiles.wait();
    this.atNextFrame(() => this.paint());
  }

  paint() {
    cancelAnimationFrame(this.nextFrame);
    this.nextFrame = null;
    this.tiles.wait();
    const chosen = this.chosen();
    this.overview.hidden = chosen !== null;
    this.focus.hidden = chosen === null;
    if (chosen) {
      this.root.dataset.lines = strokeOne(this.clear(this.focus, 0, this.height), this, this.area, chosen);
    } else {
      if (this.stale) this.sortLines();
      this.tiles.draw();
      this.root.dataset.lines = this.lines.length;
    }
  }

  // A pen on an empty canvas of the view's width whose first row of pixels is the view's `top`.
  clear(canvas, top, height) {
    const size = [Math.round(this.area.width * this.ratio), Math.round(height * this.ratio)];
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    const context = canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, ...size);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, -top * this.ratio);
    return new CanvasPen(context, this.ratio);
  }

  sortLines() {
    const { weights, queries, keys } = this.data;
    this.lines = sortedLines(weights, queries.length * keys.length, this.on, this.front);
    this.stale = false;
    this.tiles.forget();
    this.say();
  }

  strokeTile(canvas, top, bottom) {
    strokeAll(this.clear(canvas, top, bottom - top), this, this.area, top, bottom);
    this.root.dataset.tiles = this.tiles.drawn;
  }

  // ---- what is shown ------------------------------------------------------------------------------------

  chosen() {
    return this.locked ?? this.pointed ?? this.elsewhere;
  }

  token({ side, index }) {
    return this.columns[side].children[index];
  }

  markTokens() {
    for (const token of this.stage.querySelectorAll(".token.shown")) token.classList.remove("shown");
    const chosen = this.chosen();
    if (chosen) this.token(chosen).classList.add("shown");
    for (const side of ["query", "key"]) {
      [...this.columns[side].children].forEach((token, index) => {
        const pressed = String(same(this.locked, { side, index }));
        if (token.getAttribute("aria-pressed") !== pressed) token.setAttribute("aria-pressed", pressed);
      });
    }
    this.say();
  }

  point(token) {
    if (same(token, this.pointed)) return;
    this.pointed = token;
    point(this.root, this.data.group, token && { query: null, key: null, [token.side]: token.index });
    if (this.locked) return;
    this.markTokens();
    this.draw();
  }

  // What another picture points at; of a cell, its row. A place that is not among the tokens is of other ones.
  take(place) {
    const side = place && (place.query === null ? "key" : "query");
    const token = side && place[side] !== null ? { side, index: place[side] } : null;
    this.elsewhere = token && this.exists(token) ? token : null;
    if (this.locked || this.pointed) return;
    this.markTokens();
    this.draw();
  }

  lock(token) {
    if (same(token, this.locked)) return;
    this.locked = token;
    this.markTokens();
    this.draw();
    this.reports.tell("selected", token);
  }

  showHeads(on) {
    this.on = on;
    this.mean = null;
    this.takeFront();
    this.markHeads();
    this.say();
    this.draw({ everything: true });
  }

  switchHeads(on) {
    if (same(on, this.on)) return;
    this.showHeads(on);
    this.reports.tell("off", on.flatMap((isOn, head) => (isOn ? [] : [head])));
  }

  // Made when the first token asks for it.
  means() {
    this.mean ??= meanWeights(this.data, this.on);
    return this.mean;
  }

  countLines() {
    return countLines(this.data, this.on, this.lines);
  }

  describeBoxes() {
    return describeBoxes(this.on.filter(Boolean).length, this.isDark);
  }

  say() {
    this.status.replaceChildren(...status(this));
    this.boxes.hidden = !this.chosen() || !this.on.some(Boolean);
    this.boxes.textContent = this.describeBoxes();
  }

  // What is shown, for a look: the same heads and token at other sizes, in other colours.
  saved(look) {
    if (this.stale) this.sortLines();
    const { dark: isDark, scale } = look;
    const overrides = { isDark, scale, colours: coloursOf(this.data, isDark), ...rowsOf(this.data, scale) };
    const values = Object.entries(overrides).map(([name, value]) => [name, { value }]);
    return new Picture(Object.create(this, Object.fromEntries(values)), look);
  }

  // ---- events -------------------------------------------------------------------------------------------

  listen() {
    const tokenOf = (event) => {
      const token = event.target.closest(".token");
      return token && { side: token.dataset.side, index: Number(token.dataset.index) };
    };
    this.listenTo(this.stage, "pointerover", (event) => event.pointerType !== "touch" && this.point(tokenOf(event)));
    this.listenTo(this.stage, "pointerleave", () => this.point(null));
    this.listenTo(this.stage, "click", (event) => {
      const token = tokenOf(event);
      if (!token) return;
      this.stopAt(token);
      this.lock(same(token, this.locked) ? null : token);
    });
    this.listenTo(this.stage, "focusin", (event) => {
      const token = tokenOf(event);
      event.target.setAttribute("aria-label", described(this.data, this.means(), token));
      if (event.target.matches(":focus-visible")) this.point(token);
    });
    this.listenTo(this.stage, "focusout", () => this.point(null));
    this.listenTo(this.stage, "keydown", (event) => this.key(event, tokenOf(event)));
    let before = null; // the heads that were on before the first click of a double click
    this.listenTo(this.legend.element, "keydown", (event) => this.legend.key(event));
    this.listenTo(this.legend.element, "click", (event) => {
      const head = this.legend.headOf(event.target);
      if (head < 0) return;
      this.legend.moveStop(head);
      const { detail, shiftKey } = event;
      const next = clicked(head, { on: this.on, before, detail, shiftKey });
      if (detail < 2 && !shiftKey) before = this.on;
      this.switchHeads(next);
    });
    onAsked(this, (look) => this.saved(look));
    this.listenTo(this.root, "transitionend", (event) => {
      if (event.target !== this.root) return;
      this.markHeads();
      if (typeScale() === this.scale) this.draw({ everything: true });
      else this.layout();
    });
    onPoint(this, (place) => this.take(place));
    this.listenTo(globalThis, "beforeprint", () => this.tiles.all.forEach((tile) => this.tiles.drawTile(tile)));
    this.observe(ResizeObserver, this.stage, () => {
      const width = this.stage.clientWidth; // 0 where it is not to be seen
      if (this.data && width && width !== this.area.width) this.layout();
    });
    onRatio(this, () => this.layout());
  }

  key(event, token) {
    if (event.key === "Escape") {
      if (!this.chosen()) return;
      this.point(null);
      this.lock(null);
      this.markTokens();
      this.draw();
    } else if (event.key === "Enter" || event.key === " ") {
      this.lock(same(token, this.locked) ? null : token);
    } else {
      const target = moved(event.key, token, this.data);
      if (!target) return;
      this.stopAt(target);
      this.tabStop.focus();
    }
    event.preventDefault();
  }

  stopAt(token) {
    this.stop = token;
    this.moveTabStop(this.token(token));
  }
}

const coloursOf = ({ colours, dark_colours: onDark }, isDark) => (isDark ? onDark : colours);

// The height of a row, of its text and of all rows, at a scale of type.
function rowsOf({ queries, keys }, scale) {
  const rows = Math.max(queries.length, keys.length);
  const high = clamp(Math.floor(1280 / rows), 13, 22);
  const row = Math.round(high * scale);
  return { row, size: clamp(high - 3, 11, 14) * scale, height: rows * row };
}
