// Head view: two columns of tokens (left: queries, right: keys) and a line a pair, its opacity the weight.
//
// Two layers of canvas lie under the tokens. `overview` holds the lines of all tokens, cut into tiles; a tile is
// drawn when it comes into view and again only when weights, heads, size or theme change. `focus` holds the lines
// of the one token that is hovered, focused or locked. So moving the pointer over 512 tokens never draws more than
// one token's lines. Pictures to keep are in picture.js, the pens that draw in pens.js.

const FAINTEST = 3; // of 255: fainter lines cannot be seen, nor can 8 bits hold their hue; hovering shows them
const LEVELS = 20; // opacities drawn: the canvas changes its pen once a level and head, not once a line
// Pixels: height of a tile of the overview. A line is drawn in every tile it crosses, so tiles are high; but the first
// is what a reader waits for, and what stands above the view leaves it about so much of the window.
const TILE = Math.min(Math.max(0.75 * window.innerHeight, 480), 1280);
const LATER = 1000; // milliseconds until what is near the window is drawn: the reader looks at what is in it first
const NAMED = 3; // strongest partners named in labels
const PADDING = 6; // pixels left and right of a token's text, as in head_view.css

// The overview's opacities, finer where lines are faint: a level is the square root of the weight, 0 is not drawn.
const LEVEL = Uint8Array.from({ length: 256 }, (_, q) =>
  q < FAINTEST ? 0 : 1 + Math.floor(Math.sqrt((q - FAINTEST) / (256 - FAINTEST)) * LEVELS),
);
const OPACITY = Array.from({ length: LEVELS + 1 }, (_, level) => {
  const members = [...LEVEL.keys()].filter((q) => LEVEL[q] === level);
  return members.reduce((sum, q) => sum + q, 0) / members.length / 255;
});

export default function render({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".head-view");
  const view = viewOf(root, HeadView);
  view.report = setStateValue;
  view.update(unpack(data));
  return endOf(root);
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const name = (token) => token.trim() || "space";
const other = (side) => (side === "query" ? "key" : "query");
const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

function sameLines(a, b) {
  const header = ({ weights, selected, off, ...rest }) => rest;
  return (
    a.weights.length === b.weights.length && same(header(a), header(b)) && a.weights.every((q, at) => q === b.weights[at])
  );
}

class HeadView {
  constructor(root) {
    this.root = root;
    this.heads = root.querySelector(".heads");
    this.saving = root.querySelector(".saving");
    this.status = root.querySelector(".status");
    this.stage = root.querySelector(".stage");
    this.columns = { query: root.querySelector(".query"), key: root.querySelector(".key") };
    this.overview = root.querySelector(".overview");
    this.focus = root.querySelector(".focus");
    this.data = null;
    this.locked = null; // {side, index}: stays until unlocked
    this.pointed = null; // {side, index}: hovered or focused by keyboard
    this.tabStop = { side: "query", index: 0 };
    this.lines = []; // of the overview, weakest first: places in the weights
    this.pending = { selected: [], off: [] }; // reported to Python and not yet seen coming back
    this.listen();
  }

  // ---- data ---------------------------------------------------------------------------------------------

  update(data) {
    const before = this.data;
    this.data = data;
    if (!before || !sameLines(before, data)) {
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

  // What Python asks for counts only when it is news: not when it repeats what it said before, and not when it
  // echoes an action made here.
  isNews(field, before) {
    const echo = this.pending[field].findIndex((reported) => same(reported, this.data[field]));
    this.pending[field].splice(0, echo + 1);
    const news = echo < 0 && !same(this.data[field], before[field]);
    if (news) this.pending[field] = [];
    return news;
  }

  tell(field, value) {
    this.pending[field].push(value);
    if (this.pending[field].length > 8) this.pending[field].shift();
    this.report(field, value);
  }

  takeHeads(before) {
    if (this.isNews("off", before)) this.showHeads(this.on.map((_, head) => !this.data.off.includes(head)));
  }

  // The lock outlives new weights, as long as the same token stands at its place.
  takeLock(before) {
    if (this.isNews("selected", before)) {
      this.locked = this.data.selected;
    } else if (this.locked) {
      const { side, index } = this.locked;
      const labelsBefore = side === "query" ? before.queries : before.keys;
      if (labelsBefore[index] !== this.labels(side)[index]) this.lock(null);
    }
  }

  labels(side) {
    return side === "query" ? this.data.queries : this.data.keys;
  }

  // Whether the second text begins at the token.
  beginsSegment(side, index) {
    const segments = side === "query" ? this.data.query_segments : this.data.key_segments;
    return index > 0 && segments[index] !== segments[index - 1];
  }

  pairs() {
    return this.data.queries.length * this.data.keys.length;
  }

  exists(token) {
    return token.index < this.labels(token.side).length;
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
    const colours = this.colours();
    [...this.heads.children].forEach((button, head) => {
      button.style.setProperty("--head", colours[head]);
      button.setAttribute("aria-pressed", String(this.on[head]));
    });
  }

  buildColumn(side) {
    const labels = this.labels(side);
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
      token.classList.toggle("border", this.beginsSegment(side, index));
    });
  }

  // ---- size and theme -----------------------------------------------------------------------------------

  layout() {
    const rows = Math.max(this.data.queries.length, this.data.keys.length);
    this.row = clamp(Math.floor(1280 / rows), 13, 22);
    this.size = clamp(this.row - 3, 11, 14);
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
    this.ratio = sharpest(window.devicePixelRatio, this.area.width, this.height);
    this.cutTiles();
    this.draw({ everything: true });
  }

  cutTiles() {
    const n = Math.ceil(this.height / TILE);
    while (this.overview.children.length > n) {
      this.inView.unobserve(this.overview.lastElementChild);
      this.overview.lastElementChild.remove();
    }
    while (this.overview.children.length < n) {
      const top = this.overview.children.length * TILE;
      const tile = Object.assign(document.createElement("canvas"), { top, whole: false });
      tile.style.top = `${top}px`;
      this.overview.append(tile);
      const place = tile.getBoundingClientRect(); // the observer tells only after a frame
      tile.inView = place.top < window.innerHeight && place.top + TILE > 0;
      this.inView.observe(tile);
    }
    [...this.overview.children].forEach((tile) => {
      tile.style.height = `${Math.min(TILE, this.height - tile.top)}px`;
    });
  }

  colours() {
    return isDark(this.root) ? this.data.dark_colours : this.data.colours;
  }

  // ---- drawing ------------------------------------------------------------------------------------------

  // At most one drawing a frame. The overview waits until it is to be seen.
  draw({ everything = false } = {}) {
    this.stale ||= everything;
    this.frame ??= requestAnimationFrame(() => this.paint());
  }

  paint() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.later);
    this.frame = null;
    const shown = this.shown();
    this.overview.hidden = shown !== null;
    this.focus.hidden = shown === null;
    if (shown) {
      this.root.dataset.lines = this.drawFocus(shown);
    } else {
      if (this.stale) this.sortLines();
      this.drawTiles();
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

  // Heads lie side by side within a row, so that lines of one pair do not cover each other.
  lanes() {
    const active = this.on.filter(Boolean).length;
    let place = 0;
    return this.on.map((on) => (0.15 + (0.7 * (on ? place++ + 0.5 : 0)) / active) * this.row);
  }

  // Counting sort of the pairs by level and head: faint lines first, so that strong ones of any head lie on top.
  sortLines() {
    const { weights } = this.data;
    const perHead = this.pairs();
    const starts = new Uint32Array(LEVELS + 2);
    this.on.forEach((on, head) => {
      if (on) for (let at = head * perHead; at < (head + 1) * perHead; at++) starts[LEVEL[weights[at]] + 1]++;
    });
    for (let level = 1; level < starts.length; level++) starts[level] += starts[level - 1];
    const next = starts.slice();
    const order = new Uint32Array(starts[LEVELS + 1]);
    this.on.forEach((on, head) => {
      if (on) for (let at = head * perHead; at < (head + 1) * perHead; at++) order[next[LEVEL[weights[at]]]++] = at;
    });
    this.lines = order.subarray(starts[1]);
    this.stale = false;
    for (const tile of this.overview.children) tile.whole = false;
    this.say();
  }

  // What is on the screen at once; what is next to it later, for those who scroll.
  drawTiles() {
    const tiles = [...this.overview.children];
    const missing = tiles.filter((tile) => !tile.whole);
    for (const tile of missing) if (tile.inView) this.drawTile(tile);
    const next = (tile) => !tile.whole && tiles.some((seen) => seen.inView && Math.abs(seen.top - tile.top) === TILE);
    // A drawing that is about to come decides anew what is next.
    const draw = () => this.frame === null && missing.filter(next).forEach(this.drawTile, this);
    if (missing.some(next)) this.later = setTimeout(draw, LATER);
  }

  drawTile(tile) {
    const bottom = Math.min(tile.top + TILE, this.height);
    const pen = this.clear(tile, tile.top, bottom - tile.top);
    this.strokeOverview(pen, this.area, tile.top, bottom);
    tile.whole = true;
    this.root.dataset.tiles = [...this.overview.children].filter(({ whole }) => whole).length;
  }

  drawFocus(token) {
    return this.strokeFocus(this.clear(this.focus, 0, this.height), this.area, token);
  }

  // The lines of all tokens that touch what lies between top and bottom.
  strokeOverview(pen, { start, end }, top, bottom) {
    const { weights, keys } = this.data;
    const perHead = this.pairs();
    const colours = this.colours();
    const lanes = this.lanes();
    pen.setWidth(this.row > 16 ? 1.5 : 1 / pen.ratio); // wider than a pixel takes ten times as long
    let [level, head] = [-1, -1];
    for (const at of this.lines) {
      const owner = Math.floor(at / perHead);
      const pair = at - owner * perHead;
      const query = Math.floor(pair / keys.length);
      const from = query * this.row + lanes[owner];
      const to = (pair - query * keys.length) * this.row + lanes[owner];
      if (Math.max(from, to) < top - 1 || Math.min(from, to) > bottom + 1) continue;
      if (LEVEL[weights[at]] !== level || owner !== head) {
        [level, head] = [LEVEL[weights[at]], owner];
        pen.ink(colours[head], OPACITY[level]);
      }
      pen.line(start, from, end, to);
    }
    pen.flush();
  }

  // The lines of one token; returns how many.
  strokeFocus(pen, { gutter, start, end, width }, { side, index }) {
    const { weights, keys } = this.data;
    const perHead = this.pairs();
    const partners = this.labels(other(side)).length;
    const colours = this.colours();
    const active = this.on.flatMap((on, head) => (on ? [head] : []));
    const lanes = this.lanes();
    const [from, to] = side === "query" ? [start, end] : [end, start];
    // Beside each partner one box a head tells which heads made its lines.
    const boxes = side === "query" ? width - gutter : 0;
    const box = gutter / active.length;
    pen.setWidth(this.row > 16 ? 1.5 : 1);
    let lines = 0;
    active.forEach((head, place) => {
      for (let partner = 0; partner < partners; partner++) {
        const pair = side === "query" ? index * keys.length + partner : partner * keys.length + index;
        const q = weights[head * perHead + pair];
        if (q === 0) continue;
        pen.ink(colours[head], q / 255);
        pen.line(from, index * this.row + lanes[head], to, partner * this.row + lanes[head]);
        pen.box(boxes + place * box, partner * this.row + 1, box, this.row - 2);
        lines++;
      }
    });
    return lines;
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
    this.pointed = token;
    if (this.locked) return;
    this.markTokens();
    this.draw();
  }

  lock(token) {
    if (same(token, this.locked)) return;
    this.locked = token;
    this.markTokens();
    this.draw();
    this.tell("selected", token);
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
    this.tell("off", on.flatMap((isOn, head) => (isOn ? [] : [head])));
  }

  // Mean weight over the heads that are on, a row a query; made when the first token asks for it.
  meanWeights() {
    const { weights, scale } = this.data;
    const perHead = this.pairs();
    const active = this.on.flatMap((on, head) => (on ? [head] : []));
    const mean = new Float32Array(perHead);
    for (const head of active) for (let pair = 0; pair < perHead; pair++) mean[pair] += weights[head * perHead + pair];
    const unit = scale / 255 / Math.max(active.length, 1);
    return mean.map((sum) => sum * unit);
  }

  strongest({ side, index }) {
    this.mean ??= this.meanWeights();
    const n = this.data.keys.length;
    return this.labels(other(side))
      .map((label, partner) => ({
        label,
        weight: this.mean[side === "query" ? index * n + partner : partner * n + index],
      }))
      .sort((a, b) => b.weight - a.weight)
      .slice(0, NAMED)
      .filter(({ weight }) => weight > 0);
  }

  describe(token) {
    const verb = token.side === "query" ? "attends most to" : "gets most from";
    const partners = this.strongest(token).map(({ label, weight }) => `${name(label)} ${weight.toFixed(2)}`);
    return `${name(this.labels(token.side)[token.index])}, ${token.side}, ${verb}: ${partners.join(", ") || "none"}`;
  }

  counted() {
    const all = this.on.filter(Boolean).length * this.pairs();
    const weakest = ((FAINTEST / 255) * this.data.scale).toFixed(2);
    const [drawn, possible] = [this.lines.length, all].map((lines) => lines.toLocaleString("en"));
    return `${drawn} of ${possible} lines, weight ${weakest} and more.`;
  }

  say() {
    const active = this.on.filter(Boolean).length;
    const shown = this.shown();
    if (active === 0) {
      this.status.textContent = "All heads are off. Switch one on above.";
    } else if (!shown) {
      this.status.textContent = `${this.counted()} Hover a token to see all its lines, click to keep them.`;
    } else {
      const bold = (text) => Object.assign(document.createElement("b"), { textContent: text });
      const isolated = (text) => Object.assign(document.createElement("bdi"), { textContent: name(text) });
      const head = bold("");
      head.append(isolated(this.labels(shown.side)[shown.index]), shown.side === "query" ? " → " : " ← ");
      const parts = this.strongest(shown).flatMap(({ label, weight }, place) => [
        place ? ", " : "",
        isolated(label),
        ` ${weight.toFixed(2)}`,
      ]);
      const heads = active === 1 ? "" : ` (mean of ${active} heads)`;
      const kept = this.locked ? " · kept: click again or Escape to let go" : "";
      this.status.replaceChildren(head, ...parts, heads + kept);
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
      event.target.setAttribute("aria-label", this.describe(token));
      if (event.target.matches(":focus-visible")) this.point(token);
    });
    on(this.stage, "focusout", () => this.point(null));
    on(this.stage, "keydown", (event) => this.key(event, tokenOf(event)));
    let before = null; // the heads that were on before the first click of a double click
    on(this.heads, "click", (event) => {
      const head = [...this.heads.children].indexOf(event.target.closest("button"));
      if (head < 0) return;
      const only = this.on.map((_, index) => index === head);
      if (event.detail >= 2 || event.shiftKey) {
        const whole = event.shiftKey ? this.on : before;
        this.switchHeads(same(whole, only) ? this.on.map(() => true) : only);
      } else {
        before = this.on;
        this.switchHeads(this.on.map((isOn, index) => (index === head ? !isOn : isOn)));
      }
    });
    on(this.saving, "click", (event) => {
      const button = event.target.closest("button");
      if (button) this.save(button);
    });
    on(this.root, "transitionend", (event) => {
      if (event.target !== this.root) return;
      this.markHeads();
      this.draw({ everything: true });
    });
    const see = (tile, inView) => {
      tile.inView = inView;
      if (inView) this.draw();
    };
    this.inView = new IntersectionObserver((entries) =>
      entries.forEach(({ target, isIntersecting }) => see(target, isIntersecting)),
    );
    on(window, "beforeprint", () => [...this.overview.children].forEach((tile) => this.drawTile(tile)));
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
      const last = (side) => this.labels(side).length - 1;
      const { side, index } = token;
      const target = {
        ArrowUp: { side, index: Math.max(index - 1, 0) },
        ArrowDown: { side, index: Math.min(index + 1, last(side)) },
        ArrowLeft: { side: "query", index: Math.min(index, last("query")) },
        ArrowRight: { side: "key", index: Math.min(index, last("key")) },
        Home: { side, index: 0 },
        End: { side, index: last(side) },
      }[event.key];
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
    this.inView.disconnect();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.later);
  }
}
