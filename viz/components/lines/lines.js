// Lines: two columns of tokens (left: queries, right: keys) and a line a pair, its opacity the weight.
//
// Two layers of canvas lie under the tokens. `overview` holds the lines of all tokens, cut into tiles; a tile is
// drawn when it comes into view and again only when weights, heads, size or theme change. `focus` holds the lines
// of the one token that is hovered, focused or locked. So moving the pointer over 512 tokens never draws more than
// one token's lines.

import { clamp } from "../shared/numbers.js";
import { CanvasPen } from "../shared/pens.js";
import { onPoint, point } from "../shared/pointing.js";
import { pictureFile, saveFrom } from "../shared/saving.js";
import { isDark, onRatio, sharpest, typeScale } from "../shared/screen.js";
import { endOf, unpack, viewOf } from "../shared/view.js";
import { sortedLines } from "./levels.js";
import { Picture } from "./picture.js";
import { Reports } from "./reports.js";
import { drawnAlike, strokeAll, strokeOne } from "./strokes.js";
import { Tiles } from "./tiles.js";
import { beginsSegment, clicked, labelsOf, moved, same } from "./tokens.js";
import { counted, described, meanWeights, sentence, strongest } from "./words.js";

export default function render({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".lines");
  const view = viewOf(root, Lines);
  view.reports.report = setStateValue;
  view.update(unpack(data));
  return endOf(root);
}

class Lines {
  constructor(root) {
    this.root = root;
    this.heads = root.querySelector(".heads");
    this.saving = root.querySelector(".saving");
    this.status = root.querySelector(".status");
    this.boxes = root.querySelector(".boxes");
    this.stage = root.querySelector(".stage");
    this.columns = { query: root.querySelector(".query"), key: root.querySelector(".key") };
    this.overview = root.querySelector(".overview");
    this.focus = root.querySelector(".focus");
    this.tiles = new Tiles(this.overview, (...tile) => this.strokeTile(...tile), () => this.draw());
    this.reports = new Reports();
    this.data = null;
    this.locked = this.pointed = null; // {side, index}: stays until unlocked; hovered or focused by keyboard
    this.tabStop = { side: "query", index: 0 };
    this.lines = new Uint32Array(); // of the overview, weakest first: places in the weights
    this.listen();
  }

  // ---- data ---------------------------------------------------------------------------------------------

  update(data) {
    const before = this.data;
    this.data = data;
    if (!before || !drawnAlike(before, data)) {
      if (!before || !same(before.head_names, data.head_names)) {
        this.on = data.head_names.map((_, head) => !data.off.includes(head));
      }
      this.buildHeads();
      this.buildColumn("query");
      this.buildColumn("key");
      this.moveTabStop(this.exists(this.tabStop) ? this.tabStop : { side: "query", index: 0 });
      this.pointed = null;
      this.mean = null;
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

  buildHeads() {
    const { head_names: names } = this.data;
    while (this.heads.children.length > names.length) this.heads.lastElementChild.remove();
    while (this.heads.children.length < names.length) {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Click: on or off. Double click or Shift+click: only this head.";
      this.heads.append(button);
    }
    names.forEach((text, head) => (this.heads.children[head].textContent = text));
    this.markHeads();
  }

  markHeads() {
    const { colours } = this;
    [...this.heads.children].forEach((button, head) => {
      button.style.setProperty("--head", colours[head]);
      button.setAttribute("aria-pressed", String(this.on[head]));
    });
  }

  buildColumn(side) {
    const labels = labelsOf(this.data, side);
    const column = this.columns[side];
    while (column.children.length > labels.length) column.lastElementChild.remove();
    const fresh = document.createDocumentFragment();
    for (let index = column.children.length; index < labels.length; index++) {
      const token = document.createElement("div");
      token.className = "token";
      token.dir = "auto";
      token.tabIndex = -1;
      token.setAttribute("role", "button");
      token.dataset.side = side;
      token.dataset.index = index;
      fresh.append(token);
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
    const rows = Math.max(this.data.queries.length, this.data.keys.length);
    const scale = typeScale();
    this.row = Math.round(clamp(Math.floor(1280 / rows), 13, 22) * scale);
    this.size = clamp(this.row - 3, 11 * scale, 14 * scale);
    this.root.style.setProperty("--row", `${this.row}px`);
    this.root.style.setProperty("--size", `${this.size}px`);
    this.height = rows * this.row;
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

  get colours() {
    return isDark(getComputedStyle(this.root).backgroundColor) ? this.data.dark_colours : this.data.colours;
  }

  // ---- drawing ------------------------------------------------------------------------------------------

  // At most one drawing a frame. The overview waits until it is to be seen.
  draw({ everything = false } = {}) {
    this.stale ||= everything;
    this.tiles.wait();
    this.frame ??= requestAnimationFrame(() => this.paint());
  }

  paint() {
    cancelAnimationFrame(this.frame);
    this.tiles.wait();
    this.frame = null;
    const shown = this.shown();
    this.overview.hidden = shown !== null;
    this.focus.hidden = shown === null;
    this.boxes.hidden = shown === null || this.on.filter(Boolean).length < 2;
    if (shown) {
      this.root.dataset.lines = strokeOne(this.clear(this.focus, 0, this.height), this, this.area, shown);
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
    this.lines = sortedLines(weights, queries.length * keys.length, this.on, this.data.in_front);
    this.stale = false;
    this.tiles.forget();
    this.say();
  }

  strokeTile(canvas, top, bottom) {
    strokeAll(this.clear(canvas, top, bottom - top), this, this.area, top, bottom);
    this.root.dataset.tiles = this.tiles.drawn;
  }

  // ---- what is shown ------------------------------------------------------------------------------------

  shown() {
    return this.locked ?? this.pointed;
  }

  token({ side, index }) {
    return this.columns[side].children[index];
  }

  markTokens() {
    for (const token of this.stage.querySelectorAll(".token.shown")) token.classList.remove("shown");
    const shown = this.shown();
    if (shown) this.token(shown).classList.add("shown");
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
    this.see(token);
    point(this.root, this.data.group, token && { query: null, key: null, [token.side]: token.index });
  }

  // Shows the lines of a token that is pointed at, here or in another picture.
  see(token) {
    this.pointed = token && this.exists(token) ? token : null;
    if (this.locked) return;
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

  counted() {
    return counted(this.data, this.on, this.lines);
  }

  say() {
    const active = this.on.filter(Boolean).length;
    const shown = this.shown();
    if (active === 0) {
      this.status.textContent = "All heads are off. Switch one on above.";
    } else if (!shown) {
      this.status.textContent = `${this.counted()} Hover a token to see all its lines, click to keep them.`;
    } else {
      const token = labelsOf(this.data, shown.side)[shown.index];
      const partners = strongest(this.data, this.means(), shown);
      const heads = active === 1 ? "" : ` (mean of ${active} heads)`;
      const kept = this.locked ? " · kept: click again or Escape to let go" : "";
      this.status.replaceChildren(...sentence(token, shown.side, partners), heads + kept);
    }
  }

  // Saves what is shown as a file. The namespace of SVG is that of the icons on the buttons.
  async save(button) {
    const { namespaceURI } = button.querySelector("svg");
    const saved = await saveFrom(button, "attention-lines", (kind) => {
      if (this.stale) this.sortLines();
      return pictureFile(new Picture(this), kind, namespaceURI);
    });
    if (!saved) this.status.textContent = "There is too little memory for a PNG. Save an SVG, or show fewer tokens.";
  }

  // ---- events -------------------------------------------------------------------------------------------

  listen() {
    this.listeners = new AbortController();
    const options = { signal: this.listeners.signal };
    const on = (target, type, listener) => target.addEventListener(type, listener, options);
    const tokenOf = (event) => {
      const token = event.target.closest(".token");
      return token && { side: token.dataset.side, index: Number(token.dataset.index) };
    };
    on(this.stage, "pointerover", (event) => event.pointerType !== "touch" && this.point(tokenOf(event)));
    on(this.stage, "pointerleave", () => this.point(null));
    on(this.stage, "click", (event) => {
      const token = tokenOf(event);
      if (!token) return;
      this.moveTabStop(token);
      this.lock(same(token, this.locked) ? null : token);
    });
    on(this.stage, "focusin", (event) => {
      const token = tokenOf(event);
      event.target.setAttribute("aria-label", described(this.data, this.means(), token));
      if (event.target.matches(":focus-visible")) this.point(token);
    });
    on(this.stage, "focusout", () => this.point(null));
    on(this.stage, "keydown", (event) => this.key(event, tokenOf(event)));
    let before = null; // the heads that were on before the first click of a double click
    on(this.heads, "click", (event) => {
      const head = [...this.heads.children].indexOf(event.target.closest("button"));
      if (head < 0) return;
      const { detail, shiftKey } = event;
      const next = clicked(head, { on: this.on, before, detail, shiftKey });
      if (detail < 2 && !shiftKey) before = this.on;
      this.switchHeads(next);
    });
    on(this.saving, "click", (event) => {
      const button = event.target.closest("button");
      if (button) this.save(button);
    });
    on(this.root, "transitionend", (event) => {
      if (event.target !== this.root) return;
      this.markHeads();
      if (event.propertyName === "font-size") this.layout();
      else this.draw({ everything: true });
    });
    on(globalThis, "beforeprint", () => this.tiles.all.forEach((tile) => this.tiles.drawTile(tile)));
    onPoint(this.root, () => this.data.group, (place) => {
      const side = (place?.query ?? null) !== null ? "query" : "key";
      this.see(place && place[side] !== null ? { side, index: place[side] } : null);
    }, options.signal);
    this.sizes = new ResizeObserver(() => {
      const width = this.stage.clientWidth; // 0 where it is not to be seen, or off the page before it is told
      if (this.data && width && width !== this.area.width) this.layout();
    });
    this.sizes.observe(this.stage);
    onRatio(() => this.layout(), options.signal);
  }

  key(event, token) {
    if (event.key === "Escape") {
      if (!this.shown()) return;
      this.pointed = null;
      this.lock(null);
      this.markTokens();
      this.draw();
    } else if (event.key === "Enter" || event.key === " ") {
      this.lock(same(token, this.locked) ? null : token);
    } else {
      const target = moved(event.key, token, this.data);
      if (!target) return;
      this.moveTabStop(target);
      this.token(target).focus();
    }
    event.preventDefault();
  }

  // One token is reached by Tab, the others by arrow keys from there.
  moveTabStop(token) {
    if (this.exists(this.tabStop)) this.token(this.tabStop).tabIndex = -1;
    this.tabStop = token;
    this.token(token).tabIndex = 0;
  }

  destroy() {
    this.listeners.abort();
    this.sizes.disconnect();
    this.tiles.stop();
    cancelAnimationFrame(this.frame);
  }
}
