// What an SVG document draws: styles as they are inherited, paths of shapes, letters and where they stand. A font is what
// Python gives for the letters of a picture: by weight its `letters`, {letter: [glyph, width, outline]}, in thousandths of
// the size.

const NUMBER = /[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi;
const LENGTHS = { M: 2, L: 2, H: 1, V: 1, C: 6, Q: 4, A: 7, Z: 0 };
const INITIAL = {
  "fill": "black",
  "fill-opacity": "1",
  "stroke": "none",
  "stroke-opacity": "1",
  "stroke-width": "1",
  "stroke-dasharray": "none",
  "font-weight": "normal",
  "text-anchor": "start",
};

// The style of an element inside of another's: properties as texts, and as numbers the opacity with that of all around
// it, and the size of its type.
export function styleOf(element, inherited = { ...INITIAL, opacity: 1, size: 16 }) {
  const declared = (name) => element.style?.getPropertyValue(name) || element.getAttribute(name);
  const style = { ...inherited };
  for (const name in INITIAL) style[name] = declared(name) || inherited[name];
  style.opacity *= Number(declared("opacity") || 1);
  style.size = lengthOf(declared("font-size"), inherited.size) ?? inherited.size;
  return style;
}

// A length in the document's units, null for none; `size` is that of the type.
function lengthOf(text, size) {
  const number = Number.parseFloat(text);
  return Number.isNaN(number) ? null : number * (text.trim().endsWith("em") ? size : 1);
}

// The path of a shape, null for what is none.
export function pathOf(element) {
  const [x, y, width, height, x1, y1, x2, y2, cx, cy, r] = "x y width height x1 y1 x2 y2 cx cy r".split(" ")
    .map((name) => lengthOf(element.getAttribute(name)) ?? 0);
  switch (element.localName) {
    case "path":
      return element.getAttribute("d") ?? "";
    case "line":
      return `M${x1} ${y1}L${x2} ${y2}`;
    case "rect":
      return `M${x} ${y}h${width}v${height}h${-width}z`;
    case "circle":
      return `M${cx - r} ${cy}a${r} ${r} 0 1 1 ${2 * r} 0a${r} ${r} 0 1 1 ${-2 * r} 0z`;
  }
  return null;
}

// The segments of a path: [kind, x, y, …] in absolute coordinates, the kinds M, L, C and Z. Raises Error for one that no
// picture of ours has.
export function segments(d) {
  const all = [];
  let [x, y, startX, startY] = [0, 0, 0, 0]; // where the pen is, and where the outline began
  for (const [, letter, rest] of d.matchAll(/([a-df-z])([^a-df-z]*)/gi)) {
    const kind = letter.toUpperCase();
    const n = LENGTHS[kind];
    if (n === undefined) throw new Error("This picture has curves that a PDF cannot have here. Save it as SVG or PNG.");
    if (kind === "Z") {
      all.push([kind]);
      [x, y] = [startX, startY];
      continue;
    }
    const numbers = (rest.match(NUMBER) ?? []).map(Number);
    for (let at = 0; at + n <= numbers.length; at += n) {
      const here = numbers.slice(at, at + n);
      const [fromX, fromY] = letter === kind ? [0, 0] : [x, y];
      if (kind === "H") here.push(y - fromY);
      if (kind === "V") here.unshift(x - fromX);
      const points = kind === "A" ? here.splice(5) : here;
      const moved = points.map((number, place) => number + (place % 2 ? fromY : fromX));
      const [toX, toY] = moved.slice(-2);
      if (kind === "A") all.push(...arc(x, y, here[0], here[3], here[4], toX, toY));
      else if (kind === "C") all.push([kind, ...moved]);
      else if (kind === "Q") all.push(["C", ...bent(x, y, moved), ...bent(toX, toY, moved), toX, toY]);
      else all.push([kind === "M" && at === 0 ? kind : "L", toX, toY]);
      if (kind === "M" && at === 0) [startX, startY] = [toX, toY];
      [x, y] = [toX, toY];
    }
  }
  return all;
}

// Two thirds of the way to what bends a curve, which bends it likewise as a cubic one.
function bent(x, y, [controlX, controlY]) {
  return [x + (controlX - x) * 2 / 3, y + (controlY - y) * 2 / 3];
}

// An arc of a circle as curves, a quarter of it at most each (SVG 1.1, F.6.5, and 4/3 tan of a quarter of the angle).
function arc(x, y, r, large, clockwise, toX, toY) {
  const [halfX, halfY] = [(toX - x) / 2, (toY - y) / 2];
  const half = Math.hypot(halfX, halfY);
  if (!half || !r) return [["L", toX, toY]];
  const radius = Math.max(r, half);
  const off = Math.sqrt(radius ** 2 - half ** 2) / half * (large === clockwise ? 1 : -1);
  const [centreX, centreY] = [x + halfX + off * halfY, y + halfY - off * halfX];
  const from = Math.atan2(y - centreY, x - centreX);
  const turn = Math.atan2(toY - centreY, toX - centreX) - from;
  const sweep = clockwise ? (turn + 4 * Math.PI) % (2 * Math.PI) : (turn - 4 * Math.PI) % (2 * Math.PI);
  const n = Math.ceil(Math.abs(sweep) / (Math.PI / 2) - 1e-9);
  const bend = 4 / 3 * Math.tan(sweep / n / 4);
  const at = (angle, sideways) => [
    centreX + radius * (Math.cos(angle) - sideways * Math.sin(angle)),
    centreY + radius * (Math.sin(angle) + sideways * Math.cos(angle)),
  ];
  return Array.from({ length: n }, (_, place) => {
    const [begin, end] = [from + sweep * place / n, from + sweep * (place + 1) / n];
    return ["C", ...at(begin, bend), ...at(end, -bend), ...at(end, 0)];
  });
}

function weightOf(style) {
  return style["font-weight"] === "bold" || Number(style["font-weight"]) >= 600 ? "bold" : "normal";
}

// The letters of the texts inside of an element, each once, by weight.
export function lettersOf(element, inherited = undefined, letters = { normal: "", bold: "" }) {
  const style = styleOf(element, inherited);
  for (const child of element.childNodes) {
    if (child.children) lettersOf(child, style, letters);
    else if (["text", "tspan"].includes(element.localName)) {
      letters[weightOf(style)] = [...new Set(letters[weightOf(style)] + child.data)].join("");
    }
  }
  return letters;
}

// The pieces of a text: glyphs of the font, each as of `letters`, their weight, style and where they begin. A line begins
// where a place is given, and is placed as a whole.
export function piecesOf(text, inherited, font) {
  const pieces = [];
  let [x, y, line] = [0, 0, null];
  const read = (element, style) => {
    const [ownX, ownY, dx, dy] = ["x", "y", "dx", "dy"].map((name) => lengthOf(element.getAttribute(name), style.size));
    [x, y] = [(ownX ?? x) + (dx ?? 0), (ownY ?? y) + (dy ?? 0)];
    if (line === null || ownX !== null || ownY !== null) line = { x, width: 0, anchor: style["text-anchor"] };
    for (const child of element.childNodes) {
      if (child.localName === "tspan") read(child, styleOf(child, style));
      else if (child.data) {
        const weight = weightOf(style);
        const { letters } = font[weight];
        const glyphs = [...child.data].map((letter) => letters[letter]);
        pieces.push({ glyphs, weight, style, line, x: line.width, y });
        line.width += glyphs.reduce((sum, [, width]) => sum + width, 0) * style.size / 1000;
      }
    }
  };
  read(text, styleOf(text, inherited));
  for (const piece of pieces) {
    piece.x += piece.line.x - piece.line.width * ({ middle: 0.5, end: 1 }[piece.line.anchor] ?? 0);
  }
  return pieces;
}

// Makes the texts inside of an element shapes, each with the text as its label.
export function outline(element, font, inherited = undefined) {
  const style = styleOf(element, inherited);
  for (const child of [...element.children]) {
    if (child.localName !== "text") {
      outline(child, font, style);
      continue;
    }
    const path = child.ownerDocument.createElementNS(child.namespaceURI, "path");
    for (const { name, value } of child.attributes) if (name !== "x" && name !== "y") path.setAttribute(name, value);
    path.setAttribute("aria-label", child.textContent);
    path.setAttribute("d", piecesOf(child, style, font).map(outlines).join(""));
    child.replaceWith(path);
  }
}

function outlines({ glyphs, style, x, y }) {
  const scale = style.size / 1000;
  let at = x;
  return glyphs.map(([, width, shape]) => {
    const placed = (number, index) => rounded(index % 2 ? y - number * scale : at + number * scale, 2);
    const path = segments(shape).map(([kind, ...numbers]) => kind + numbers.map(placed).join(" ")).join("");
    at += width * scale;
    return path;
  }).join("");
}

export function rounded(value, digits = 3) {
  return String(Math.round(value * 10 ** digits) / 10 ** digits);
}
