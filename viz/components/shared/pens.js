// What the components that draw pictures share: their data, their views, pens, and pictures to keep.
//
// A pen draws lines, boxes, dots and texts, on a canvas or into an SVG document, so that the screen and what is
// saved show the same. Each component is this file and its own as one script.

const LARGEST_CANVAS = 16e6; // device pixels; beyond that Safari draws nothing
const SHARPNESS = 2; // pixels of a PNG a CSS pixel
const HAIRLINES = 16; // lines no wider than a pixel that are drawn at once

// Streamlit carries bytes only as the whole of a component's data: length of the JSON, the JSON, the weights.
function unpack(data) {
  if (!(data instanceof Uint8Array)) return data;
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
  return { ...header, weights: data.subarray(4 + length) };
}

// The view that draws in a root: made at the first run, kept over the later ones.
const views = new WeakMap();
function viewOf(root, View) {
  if (!views.has(root)) views.set(root, new View(root));
  return views.get(root);
}

// What Streamlit calls at a component's end. It calls it for a run that a newer one overtook, too, while the view is
// still in use: only a root that has left the page is done with.
const endOf = (root) => () => !root.isConnected && views.get(root)?.destroy();

// Device pixels a CSS pixel: as many as wanted, as few as a canvas can bear.
const sharpest = (wanted, width, height) =>
  Math.min(wanted, Math.sqrt(LARGEST_CANVAS / Math.max(width * height, 1)), 16384 / height);

// Whether the page behind an element is dark.
function isDark(element) {
  const [red, green, blue] = getComputedStyle(element).backgroundColor.match(/[\d.]+/g).map(Number);
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
}

// Acts whenever a CSS pixel has another number of device pixels, until the signal ends it.
function onRatio(act, signal) {
  const query = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
  const changed = () => {
    act();
    onRatio(act, signal);
  };
  query.addEventListener("change", changed, { signal, once: true });
}

class CanvasPen {
  constructor(context, ratio, font = "sans-serif") {
    this.context = context;
    this.ratio = ratio; // device pixels a CSS pixel
    this.font = font;
    this.lines = 0; // in the path that is not drawn yet
  }

  moveOrigin(x, y) {
    this.flush();
    this.context.translate(x, y);
  }

  setWidth(width) {
    this.flush();
    this.context.lineWidth = width;
  }

  ink(colour, opacity) {
    this.flush();
    this.context.strokeStyle = this.context.fillStyle = colour;
    this.context.globalAlpha = opacity;
  }

  // Wide lines are a path each: rasterisers are many times slower on a wide path that crosses itself. Lines no wider
  // than a pixel are quicker in small groups.
  line(x1, y1, x2, y2) {
    if (this.lines === 0) this.context.beginPath();
    this.context.moveTo(x1, y1);
    this.context.lineTo(x2, y2);
    this.lines++;
    if (this.lines === HAIRLINES || this.context.lineWidth * this.ratio > 1) this.flush();
  }

  flush() {
    if (this.lines > 0) this.context.stroke();
    this.lines = 0;
  }

  box(x, y, width, height) {
    this.flush();
    this.context.fillRect(x, y, width, height);
  }

  dot(x, y, radius) {
    this.flush();
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.context.fill();
  }

  // Upright text runs from the bottom to the top.
  text(text, x, y, { size, align = "left", direction = "ltr", upright = false }) {
    this.flush();
    Object.assign(this.context, { font: `${size}px ${this.font}`, textAlign: align, direction });
    this.context.save();
    this.context.translate(x, y);
    if (upright) this.context.rotate(-Math.PI / 2);
    this.context.fillText(text, 0, 0);
    this.context.restore();
  }

  // An image of a pixel a cell, enlarged without being smoothed.
  pixels(image, x, y, width, height) {
    this.flush();
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(image, x, y, width, height);
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
  text(text, x, y, { size, align = "left", direction = "ltr", upright = false }) {
    this.flush();
    const anchor = align === "center" ? "middle" : (align === "left") === (direction === "ltr") ? "start" : "end";
    const place = { x, y, "font-size": size, "text-anchor": anchor, direction, style: "white-space: pre" };
    const element = this.add("text", { ...place, ...this.filled() });
    if (upright) element.setAttribute("transform", `rotate(-90 ${x} ${y})`);
    element.textContent = text;
  }

  pixels(image, x, y, width, height) {
    this.flush();
    const shape = { x, y, width, height, preserveAspectRatio: "none", style: "image-rendering: pixelated" };
    this.add("image", { ...shape, href: image.toDataURL() });
  }

  finish() {
    this.flush();
    return new XMLSerializer().serializeToString(this.document);
  }
}

// One line of characters that XML can hold.
const printable = (text) =>
  text.replace(/\s/g, " ").replace(/[^\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");

// A text in what readers take for characters: an accent stays with its letter where a label is cut.
const segmenter = new Intl.Segmenter();
const graphemes = (text) => Array.from(segmenter.segment(text), ({ segment }) => segment);

// What a picture (width, height, font, draw(pen)) shows, as a file: SVG or PNG. Null where memory does not suffice.
async function pictureFile(picture, kind, namespace) {
  const { width, height, font } = picture;
  if (kind === "svg") {
    const pen = new SvgPen(namespace, width, height, font);
    picture.draw(pen);
    return new Blob([pen.finish()], { type: "image/svg+xml" });
  }
  return pngOf(width, height, (context, ratio) => picture.draw(new CanvasPen(context, ratio, font)));
}

// A PNG of what is drawn on a canvas of so many CSS pixels. Null where memory does not suffice.
function pngOf(width, height, draw) {
  const ratio = sharpest(SHARPNESS, width, height);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  draw(context, ratio);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// Saves what `make(kind)` gives for the button's kind under a name, once at a time; false where it gave nothing.
async function saveFrom(button, name, make) {
  if (button.ariaBusy === "true") return true;
  button.ariaBusy = "true"; // a PNG of many lines takes seconds
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
  const { kind } = button.dataset;
  const file = await make(kind);
  button.ariaBusy = "false";
  if (file) download(file, `${name}.${kind}`);
  return file !== null;
}

function download(blob, file) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // browsers read the file some time after the click
}
