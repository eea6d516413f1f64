// What the head view shows, as a file: an SVG of real lines and texts, or a PNG.
//
// A pen draws lines, boxes, dots and texts, on a canvas or into an SVG document. The view draws its lines with a
// pen on the screen, too, so that all three show the same. This file and head_view.js are one script.

const SHARPNESS = 2; // pixels of a PNG a CSS pixel
const MARGIN = 16;
const LONGEST_LABEL = 320; // pixels; the screen cuts labels at the width of its columns, which may be a phone's
const LEAST_GAP = 240; // pixels between the columns
const SMALL = 12; // size of headings, legend and note
const SMALL_ROW = 20;
const MUTED = 0.75; // opacity of text beside the tokens

class CanvasPen {
  constructor(context, ratio, font = "sans-serif") {
    this.context = context;
    this.ratio = ratio; // device pixels a CSS pixel
    this.font = font;
  }

  moveOrigin(x, y) {
    this.context.translate(x, y);
  }

  setWidth(width) {
    this.context.lineWidth = width;
  }

  ink(colour, opacity) {
    this.context.strokeStyle = this.context.fillStyle = colour;
    this.context.globalAlpha = opacity;
  }

  // A path a line: rasterisers are many times slower on one path that crosses itself.
  line(x1, y1, x2, y2) {
    this.context.beginPath();
    this.context.moveTo(x1, y1);
    this.context.lineTo(x2, y2);
    this.context.stroke();
  }

  box(x, y, width, height) {
    this.context.fillRect(x, y, width, height);
  }

  dot(x, y, radius) {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.context.fill();
  }

  text(text, x, y, { size, align, direction }) {
    Object.assign(this.context, { font: `${size}px ${this.font}`, textAlign: align, direction });
    this.context.fillText(text, x, y);
  }
}

class SvgPen {
  constructor(namespace, width, height, font) {
    this.document = document.implementation.createDocument(namespace, "svg");
    this.group = this.document.documentElement;
    const attributes = { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": font };
    for (const [name, value] of Object.entries(attributes)) this.group.setAttribute(name, value);
    this.ratio = SHARPNESS;
    this.lines = []; // of the ink in use
  }

  add(tag, attributes) {
    const element = this.document.createElementNS(this.group.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) {
      element.setAttribute(name, typeof value === "number" ? Math.round(value * 100) / 100 : value);
    }
    this.group.append(element);
    return element;
  }

  moveOrigin(x, y) {
    this.flush();
    this.group = this.add("g", { transform: `translate(${x} ${y})` });
  }

  setWidth(width) {
    this.flush();
    this.width = width;
  }

  ink(colour, opacity) {
    this.flush();
    this.colour = colour;
    this.opacity = Math.round(opacity * 1000) / 1000;
  }

  // Lines of one ink are one path: a file of 100,000 elements is more than drawing programs can bear.
  line(x1, y1, x2, y2) {
    const [fromX, fromY, toX, toY] = [x1, y1, x2, y2].map((value) => Math.round(value * 10) / 10);
    this.lines.push(`M${fromX} ${fromY}L${toX} ${toY}`);
  }

  flush() {
    if (this.lines.length === 0) return;
    const stroke = { stroke: this.colour, "stroke-opacity": this.opacity, "stroke-width": this.width };
    this.add("path", { fill: "none", ...stroke, d: this.lines.join("") });
    this.lines = [];
  }

  filled() {
    return { fill: this.colour, "fill-opacity": this.opacity };
  }

  box(x, y, width, height) {
    this.flush();
    this.add("rect", { x, y, width, height, ...this.filled() });
  }

  dot(cx, cy, r) {
    this.flush();
    this.add("circle", { cx, cy, r, ...this.filled() });
  }

  // An anchor is where a text begins or ends, which is left or right by its direction.
  text(text, x, y, { size, align, direction }) {
    this.flush();
    const anchor = (align === "left") === (direction === "ltr") ? "start" : "end";
    const place = { x, y, "font-size": size, "text-anchor": anchor, direction, style: "white-space: pre" };
    this.add("text", { ...place, ...this.filled() }).textContent = text;
  }

  finish() {
    this.flush();
    return new XMLSerializer().serializeToString(this.document);
  }
}

// One line of characters that XML can hold.
const printable = (text) =>
  text.replace(/\s/g, " ").replace(/[^\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");

// The page of a head view: legend, headings, tokens, lines and a note of what is left out.
class Picture {
  constructor(view) {
    this.view = view;
    const style = getComputedStyle(view.root);
    this.font = style.fontFamily;
    this.text = style.color;
    this.background = style.backgroundColor;
    this.primary = style.getPropertyValue("--primary");
    this.context = document.createElement("canvas").getContext("2d");
    this.labels = { query: this.fit("query"), key: this.fit("key") };
    const { gutter, start, end } = view.area;
    const [left, right] = ["query", "key"].map((side) => Math.max(...this.labels[side].map(({ width }) => width)));
    const from = gutter + left + 2 * PADDING;
    const to = from + Math.max(end - start, LEAST_GAP);
    this.area = { gutter, start: from, end: to, width: Math.ceil(to + right + 2 * PADDING + gutter) };
    this.width = this.area.width + 2 * MARGIN;
    this.legend = this.placeLegend();
    this.note = view.shown() === null && view.on.some(Boolean) ? view.counted() : "";
    this.top = MARGIN + (this.legend.at(-1)?.y ?? 0) + 2 * SMALL_ROW + 8;
    this.height = this.top + view.height + (this.note ? SMALL_ROW + 8 : 0) + MARGIN;
  }

  measure(text, size) {
    this.context.font = `${size}px ${this.font}`;
    return this.context.measureText(text).width;
  }

  fit(side) {
    return this.view.labels(side).map((label, index) => {
      let text = printable(label);
      let width = this.measure(text, this.view.size);
      while (width > LONGEST_LABEL) {
        const characters = [...text.replace(/…$/, "")];
        text = `${characters.slice(0, Math.floor((characters.length * LONGEST_LABEL) / width - 0.5)).join("")}…`;
        width = this.measure(text, this.view.size);
      }
      return { text, width, direction: getComputedStyle(this.view.token({ side, index })).direction };
    });
  }

  // Names of the heads that are on, side by side in as many rows as they need.
  placeLegend() {
    const { data, on } = this.view;
    const title = { text: "Heads", x: 0, y: 0, width: this.measure("Heads", SMALL) };
    let [x, y] = [title.width + 16, 0];
    const entries = data.head_names.flatMap((name, head) => {
      if (!on[head]) return [];
      const text = printable(name);
      const width = 14 + this.measure(text, SMALL);
      if (x + width > this.area.width && x > 0) [x, y] = [0, y + SMALL_ROW];
      x += width + 16;
      return [{ text, head, x: x - width - 16, y, width }];
    });
    return entries.length ? [title, ...entries] : [];
  }

  draw(pen) {
    const { view, area } = this;
    const colours = view.colours();
    const small = (text, x, y, align) => pen.text(text, x, y, { size: SMALL, align, direction: "ltr" });
    pen.ink(this.background, 1);
    pen.box(0, 0, this.width, this.height);
    pen.moveOrigin(MARGIN, MARGIN);
    for (const { text, head, x, y } of this.legend) {
      if (head !== undefined) {
        pen.ink(colours[head], 1);
        pen.dot(x + 5, y + 10, 5);
      }
      pen.ink(this.text, head === undefined ? MUTED : 1);
      small(text, head === undefined ? x : x + 14, y + 14, "left");
    }
    pen.moveOrigin(0, this.top - MARGIN);
    pen.ink(this.text, MUTED);
    small("Query", area.start - PADDING, -8, "right");
    small("Key", area.end + PADDING, -8, "left");
    if (this.note) small(this.note, 0, view.height + SMALL_ROW, "left");
    this.drawTokens(pen);
    if (view.shown()) view.strokeFocus(pen, area, view.shown());
    else view.strokeOverview(pen, area, 0, view.height);
  }

  drawTokens(pen) {
    const { view, area } = this;
    const { row, size } = view;
    const shown = view.shown();
    const columns = {
      query: { left: area.gutter, right: area.start, x: area.start - PADDING, align: "right" },
      key: { left: area.end, right: area.width - area.gutter, x: area.end + PADDING, align: "left" },
    };
    pen.setWidth(1);
    for (const [side, { left, right, x, align }] of Object.entries(columns)) {
      this.labels[side].forEach(({ text, direction }, index) => {
        if (view.beginsSegment(side, index)) {
          pen.ink(this.text, 0.3);
          pen.line(left, index * row - 0.5, right, index * row - 0.5);
        }
        const marked = same(shown, { side, index });
        if (marked) {
          pen.ink(this.primary, 1);
          pen.box(left, index * row, right - left, row);
        }
        pen.ink(marked ? this.background : this.text, 1);
        pen.text(text, x, (index + 0.5) * row + 0.35 * size, { size, align, direction });
      });
    }
  }

  svg(namespace) {
    const pen = new SvgPen(namespace, this.width, this.height, this.font);
    this.draw(pen);
    return new Blob([pen.finish()], { type: "image/svg+xml" });
  }

  png() {
    const canvas = document.createElement("canvas");
    const ratio = sharpest(SHARPNESS, this.width, this.height);
    [canvas.width, canvas.height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    this.draw(new CanvasPen(context, ratio, this.font));
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }
}

function download(blob, file) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // browsers read the file some time after the click
}
