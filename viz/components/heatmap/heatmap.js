// Heatmap: a matrix of numbers as coloured cells, the tokens that look down the side, those looked at along the top.
//
// One canvas holds the picture. Over it lie a frame around the cell that is pointed at, or reached by arrow keys,
// and what that cell says. A Layout knows where everything is at a width and draws it with a pen of pens.js, on
// the screen and into files.

const LARGEST_CELL = 64; // pixels
const LARGEST_SIDE = 620;
const HIGHEST_WIDE_CELL = 24; // of cells that fill the width
const SQUARE_UP_TO = 24; // tokens; beyond, cells are small, and filling the width shows more
const PARTED_FROM = 6; // pixels of a cell; smaller ones touch
const LONGEST_LABEL = 16; // characters; what a cell says names its tokens whole
const WIDEST_LABELS = 0.4; // of the width
const SIZE = 12; // of text
const LINE = 14; // pixels that a label takes
const GAP = 6;
const TITLE = 20; // pixels that an axis' title takes
const BAR = { length: 180, height: 10 };
const BELOW = 62; // pixels below the cells: the bar, its numbers, its title
const MUTED = 0.75; // opacity of titles and of the bar's numbers
const SHADES = 256;

export default function render({ data, parentElement }) {
  const root = parentElement.querySelector(".heatmap");
  const view = viewOf(root, Heatmap);
  view.update(unpack(data));
  return endOf(root);
}

const within = (value, low, high) => Math.min(Math.max(value, low), high);

// How a number becomes a place on the scale, 0 to 1, and which place is that of zero.
const BENDS = {
  root: { bend: Math.sqrt, zero: 0 },
  "root both ways": {
    bend: (place) => (1 + Math.sign(place - 0.5) * Math.sqrt(Math.abs(2 * place - 1))) / 2,
    zero: 0.5,
  },
};

// The scale in 256 shades as red, green, blue, alpha, between its evenly spaced colours.
function shadesOf(colours) {
  const channels = colours.map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
  const shades = new Uint8ClampedArray(4 * SHADES);
  for (let shade = 0; shade < SHADES; shade++) {
    const place = (shade / (SHADES - 1)) * (colours.length - 1);
    const before = Math.min(Math.floor(place), colours.length - 2);
    for (let channel = 0; channel < 3; channel++) {
      const [from, to] = [channels[before][channel], channels[before + 1][channel]];
      shades[4 * shade + channel] = from + (to - from) * (place - before);
    }
    shades[4 * shade + 3] = 255;
  }
  return shades;
}

// An image of a pixel a number: `levels` are places in the shades.
function imageOf(levels, width, height, shades) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const colours = new Uint32Array(shades.buffer);
  for (let at = 0; at < levels.length; at++) pixels[at] = colours[levels[at]];
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

class Layout {
  constructor({ data, root }, width, ratio) {
    const style = getComputedStyle(root);
    this.data = data;
    this.ratio = ratio; // device pixels a CSS pixel
    this.font = style.fontFamily;
    this.text = style.color;
    this.background = style.backgroundColor;
    this.shades = shadesOf(isDark(root) ? data.dark_scale : data.scale);
    this.context = document.createElement("canvas").getContext("2d");
    this.context.font = `${SIZE}px ${this.font}`;
    this.width = width;
    this.rows = this.label(data.queries);
    this.columns = this.label(data.keys);
    this.place();
  }

  label(tokens) {
    return tokens.map((token) => {
      const characters = graphemes(printable(token));
      const long = characters.length > LONGEST_LABEL;
      const text = long ? `${characters.slice(0, LONGEST_LABEL - 1).join("")}…` : characters.join("");
      return { text, width: this.context.measureText(text).width };
    });
  }

  place() {
    const { rows, columns, width } = this;
    const widest = (labels) => Math.max(0, ...labels.map((label) => label.width));
    const longest = Math.max(rows.length, columns.length);
    const cell = (n) => Math.min(LARGEST_CELL, 300 / n + 10, LARGEST_SIDE / n);
    const crisp = (size) => (size >= PARTED_FROM ? Math.floor(size) : size);
    this.left = Math.ceil(TITLE + Math.min(widest(rows), WIDEST_LABELS * width) + GAP);
    const room = Math.max(width - this.left - 1, 1);
    this.across = crisp(room / columns.length);
    this.down = crisp(Math.min(cell(rows.length), HIGHEST_WIDE_CELL));
    if (longest <= SQUARE_UP_TO) this.across = this.down = Math.min(this.across, crisp(cell(longest)));
    this.upright = widest(columns) + GAP > this.across;
    this.top = Math.ceil(TITLE + (this.upright ? widest(columns) : LINE) + GAP);
    this.right = this.left + this.across * columns.length;
    this.bottom = this.top + this.down * rows.length;
    // Where a device has fewer pixels than there are cells, a pixel shows the cell farthest from zero.
    this.pixels = [
      Math.min(columns.length, Math.max(1, Math.floor((this.right - this.left) * this.ratio))),
      Math.min(rows.length, Math.max(1, Math.floor((this.bottom - this.top) * this.ratio))),
    ];
    this.merged = this.pixels[0] < columns.length || this.pixels[1] < rows.length;
    this.height = Math.ceil(this.bottom + BELOW + (this.merged ? LINE : 0));
  }

  levels() {
    const { limits, bend: name, weights } = this.data;
    const { bend, zero } = BENDS[name];
    const [wide, high] = this.pixels;
    const [n, m] = [this.rows.length, this.columns.length];
    const levels = new Uint8Array(wide * high).fill(Math.round(zero * (SHADES - 1)));
    const middle = zero * (SHADES - 1);
    for (let row = 0; row < n; row++) {
      const start = Math.floor((row * high) / n) * wide;
      for (let column = 0; column < m; column++) {
        const place = within((weights[row * m + column] - limits[0]) / (limits[1] - limits[0]), 0, 1);
        const level = Math.round(bend(place) * (SHADES - 1));
        const at = start + Math.floor((column * wide) / m);
        if (Math.abs(level - middle) > Math.abs(levels[at] - middle)) levels[at] = level;
      }
    }
    return levels;
  }

  draw(pen) {
    const { left, top, right, bottom, across, down } = this;
    pen.ink(this.background, 1);
    pen.box(0, 0, this.width, this.height);
    pen.pixels(imageOf(this.levels(), ...this.pixels, this.shades), left, top, right - left, bottom - top);
    pen.setWidth(1);
    pen.ink(this.background, 1);
    if (across >= PARTED_FROM && down >= PARTED_FROM) {
      for (let column = 1; column < this.columns.length; column++) {
        pen.line(left + column * across - 0.5, top, left + column * across - 0.5, bottom);
      }
      for (let row = 1; row < this.rows.length; row++) {
        pen.line(left, top + row * down - 0.5, right, top + row * down - 0.5);
      }
    }
    pen.ink(this.text, 1);
    this.drawLabels(pen);
    pen.ink(this.text, MUTED);
    const whole = "query: the token that looks";
    const title = this.context.measureText(whole).width <= bottom - top ? whole : "query";
    pen.text(title, SIZE, top, { size: SIZE, align: "right", upright: true });
    pen.text("key: the token looked at", left, SIZE, { size: SIZE });
    this.drawBar(pen);
  }

  // As many labels as there is room for.
  drawLabels(pen) {
    const size = SIZE;
    const half = 0.35 * size; // from the middle of a line to where letters stand
    const everyRow = Math.ceil(LINE / this.down);
    this.rows.forEach(({ text, width }, row) => {
      if (row % everyRow) return;
      const room = this.left - TITLE - GAP;
      const shown = width <= room ? text : this.shortened(text, width, room);
      pen.text(shown, this.left - GAP, this.top + (row + 0.5) * this.down + half, { size, align: "right" });
    });
    const everyColumn = this.upright ? Math.ceil(LINE / this.across) : 1;
    this.columns.forEach(({ text }, column) => {
      if (column % everyColumn) return;
      const middle = this.left + (column + 0.5) * this.across;
      if (this.upright) pen.text(text, middle + half, this.top - GAP, { size, upright: true });
      else pen.text(text, middle, this.top - GAP, { size, align: "center" });
    });
  }

  shortened(text, width, room) {
    const characters = graphemes(text);
    return `${characters.slice(0, Math.max(1, Math.floor((characters.length * room) / width) - 1)).join("")}…`;
  }

  drawBar(pen) {
    const { left, data } = this;
    const top = this.bottom + GAP + 4;
    const { length, height } = BAR;
    const size = SIZE - 1;
    const bar = imageOf(Uint8Array.from({ length: SHADES }, (_, shade) => shade), SHADES, 1, this.shades);
    pen.ink(this.text, 1);
    pen.pixels(bar, left, top, length, height);
    pen.setWidth(1);
    pen.ink(this.text, 0.25);
    const [right, bottom] = [left + length, top + height];
    pen.line(left, top - 0.5, right, top - 0.5);
    pen.line(left, bottom + 0.5, right, bottom + 0.5);
    pen.line(left - 0.5, top, left - 0.5, bottom);
    pen.line(right + 0.5, top, right + 0.5, bottom);
    pen.ink(this.text, MUTED);
    for (const [place, name] of data.marks) {
      pen.text(name, left + place * length, bottom + 14, { size, align: "center" });
    }
    pen.text(printable(data.title), left, bottom + 31, { size });
    if (this.merged) {
      pen.text("More cells than pixels: each shows its strongest.", left, bottom + 31 + LINE, { size });
    }
  }

  // The cell under a place of the picture, null beside them all.
  cellAt(x, y) {
    const [row, column] = [Math.floor((y - this.top) / this.down), Math.floor((x - this.left) / this.across)];
    const inside = row >= 0 && row < this.rows.length && column >= 0 && column < this.columns.length;
    return inside ? { row, column } : null;
  }
}

class Heatmap {
  constructor(root) {
    this.root = root;
    this.stage = root.querySelector(".stage");
    this.canvas = root.querySelector("canvas");
    this.frame = root.querySelector(".cell");
    this.reading = root.querySelector(".reading");
    this.saving = root.querySelector(".saving");
    this.read = null; // {row, column} of the cell that is read
    this.pointed = false; // whether the pointer read it, not a key
    this.pictures = 0;
    this.listen();
  }

  update(data) {
    const bytes = data.weights;
    this.data = { ...data, weights: new Float32Array(bytes.slice().buffer) };
    const [rows, columns] = [data.queries.length, data.keys.length];
    const label = `Heatmap of ${rows} queries and ${columns} keys. The arrow keys read its cells.`;
    this.canvas.setAttribute("aria-label", label);
    if (this.read && (this.read.row >= rows || this.read.column >= columns)) this.read = null;
    this.draw();
  }

  draw() {
    const width = this.stage.clientWidth;
    if (!width) return; // not to be seen; the observer of its size tells when it is
    this.layout = new Layout(this, width, window.devicePixelRatio);
    const { height } = this.layout;
    const ratio = sharpest(window.devicePixelRatio, width, height);
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext("2d");
    context.scale(ratio, ratio);
    this.layout.draw(new CanvasPen(context, ratio, this.layout.font));
    this.show(this.read);
    this.root.dataset.picture = ++this.pictures;
  }

  // What a cell says, in lines.
  said({ row, column }) {
    const { queries, keys, numbers, weights } = this.data;
    const count = queries.length * keys.length;
    const values = numbers.map(({ name, signed }, layer) => {
      const value = weights[layer * count + row * keys.length + column];
      const sign = value < 0 ? "−" : signed && value > 0 ? "+" : "";
      return `${name} ${sign}${Math.abs(value).toFixed(4)}`;
    });
    return [`query ${row + 1} · ${queries[row]}`, `looks at key ${column + 1} · ${keys[column]}`, ...values];
  }

  show(cell) {
    this.read = cell;
    this.frame.hidden = this.reading.hidden = cell === null;
    if (cell === null) return;
    const { left, top, across, down, width, height } = this.layout;
    const [x, y] = [left + cell.column * across, top + cell.row * down];
    const grow = Math.max(0, (8 - Math.min(across, down)) / 2); // a frame around a dot must be seen
    Object.assign(this.frame.style, {
      left: `${x - grow}px`,
      top: `${y - grow}px`,
      width: `${across + 2 * grow}px`,
      height: `${down + 2 * grow}px`,
    });
    const lines = this.said(cell).map((text) => Object.assign(document.createElement("span"), { textContent: text }));
    lines[2].style.fontWeight = 600;
    this.reading.replaceChildren(...lines);
    const box = this.reading.getBoundingClientRect();
    const below = y + down + GAP;
    this.reading.style.left = `${within(x, 0, Math.max(0, width - box.width))}px`;
    this.reading.style.top = `${below + box.height <= height ? below : Math.max(0, y - box.height - GAP)}px`;
  }

  save(button) {
    const { namespaceURI } = button.querySelector("svg");
    const { width } = this.layout;
    saveFrom(button, this.data.file, (kind) => pictureFile(new Layout(this, width, SHARPNESS), kind, namespaceURI));
  }

  listen() {
    this.listeners = new AbortController();
    const options = { signal: this.listeners.signal };
    const on = (target, type, listener) => target.addEventListener(type, listener, options);
    const point = (event) => {
      this.pointed = true;
      const cell = this.layout.cellAt(event.offsetX, event.offsetY);
      if (cell?.row !== this.read?.row || cell?.column !== this.read?.column) this.show(cell);
    };
    on(this.canvas, "pointermove", (event) => event.pointerType !== "touch" && point(event));
    on(this.canvas, "click", point);
    // A page that moves under a resting pointer makes it leave, too: that takes away what the pointer read, no more.
    on(this.canvas, "pointerleave", (event) => event.pointerType !== "touch" && this.pointed && this.show(null));
    on(this.canvas, "focus", () => this.canvas.matches(":focus-visible") && this.show(this.read ?? { row: 0, column: 0 }));
    on(this.canvas, "blur", () => this.show(null));
    on(this.canvas, "keydown", (event) => this.key(event));
    on(this.saving, "click", (event) => {
      const button = event.target.closest("button");
      if (button) this.save(button);
    });
    on(this.root, "transitionend", (event) => event.target === this.root && this.draw());
    on(document.fonts, "loadingdone", () => this.draw());
    this.sizes = new ResizeObserver(() => this.stage.clientWidth !== this.layout?.width && this.draw());
    this.sizes.observe(this.stage);
    onRatio(() => this.draw(), options.signal);
  }

  key(event) {
    const { row, column } = this.read ?? { row: 0, column: 0 };
    const [lastRow, lastColumn] = [this.data.queries.length - 1, this.data.keys.length - 1];
    const target = {
      ArrowUp: { row: Math.max(row - 1, 0), column },
      ArrowDown: { row: Math.min(row + 1, lastRow), column },
      ArrowLeft: { row, column: Math.max(column - 1, 0) },
      ArrowRight: { row, column: Math.min(column + 1, lastColumn) },
      Home: { row: event.ctrlKey ? 0 : row, column: 0 },
      End: { row: event.ctrlKey ? lastRow : row, column: lastColumn },
      Escape: null,
    }[event.key];
    if (target === undefined) return;
    this.pointed = false;
    this.show(target);
    event.preventDefault();
  }

  destroy() {
    this.listeners.abort();
    this.sizes.disconnect();
  }
}
