// Words that wrap like text as a picture: what the browser lays out from a component's elements, at a look.

const TRANSPARENT = /^(transparent|rgba\(.*, 0\))$/;

// The picture of an element, or of a `copy` to stand in its place: its colours, texts and outlines.
export function laidOut(root, look, copy = root.cloneNode(true)) {
  const host = document.createElement("div");
  const width = look.width / look.scale;
  host.style.cssText = `position: absolute; left: -99999px; top: 0; width: ${width}px`;
  for (const role of ["background", "surface", "text", "muted", "line", "primary", "font"]) {
    copy.style.setProperty(`--${role}`, look[role]);
  }
  Object.assign(copy.style, { fontFamily: look.font, color: look.text, maxHeight: "none" });
  host.append(copy);
  root.parentNode.append(host);
  try {
    const { left, top, height } = copy.getBoundingClientRect();
    const parts = [...partsOf(copy)].map((part) => ({ ...part, x: part.x - left, y: part.y - top }));
    return { width, height: Math.ceil(height) + 2, draw: (pen) => draw(pen, parts, width, height + 2, look) };
  } finally {
    host.remove();
  }
}

// Everything there is to draw, from behind to the front: boxes, outlines, and texts line by line.
function* partsOf(element) {
  const style = getComputedStyle(element);
  for (const { left: x, top: y, width, height } of element.getClientRects()) {
    if (!TRANSPARENT.test(style.backgroundColor)) {
      yield { kind: "box", x, y, width, height, colour: style.backgroundColor };
    }
    if (style.outlineStyle !== "none") yield { kind: "frame", x, y, width, height, colour: style.outlineColor };
  }
  for (const child of element.childNodes) {
    if (child.nodeType === Node.ELEMENT_NODE) yield* partsOf(child);
    else if (child.nodeType === Node.TEXT_NODE) yield* linesOf(child, style);
  }
  const { number } = element.dataset; // what a stylesheet writes below a word
  if (!number) return;
  const { left, width, bottom } = element.getBoundingClientRect();
  const size = parseFloat(getComputedStyle(element, "::after").fontSize);
  const place = { x: left + width / 2, y: bottom - 0.25 * size, align: "center" };
  yield { kind: "text", text: number, ...place, size, colour: style.color };
}

function* linesOf(node, style) {
  const size = parseFloat(style.fontSize);
  const range = document.createRange();
  let line = null;
  for (const { segment, index } of new Intl.Segmenter().segment(node.data)) {
    range.setStart(node, index);
    range.setEnd(node, index + segment.length);
    const [box] = range.getClientRects();
    if (!box || box.width === 0) continue;
    if (line && Math.abs(line.top - box.top) < 2) {
      line.text += segment;
      line.left = Math.min(line.left, box.left);
      line.right = Math.max(line.right, box.right);
    } else {
      if (line) yield written(line, size, style);
      line = { text: segment, left: box.left, right: box.right, top: box.top, bottom: box.bottom };
    }
  }
  if (line) yield written(line, size, style);
}

function written({ text, left, right, top, bottom }, size, { color: colour, direction, textDecorationLine: struck }) {
  const y = (top + bottom) / 2 + 0.35 * size;
  const place = direction === "rtl" ? { x: right, y, align: "right" } : { x: left, y, align: "left" };
  const length = struck === "line-through" ? right - left : 0;
  return { kind: "text", text, ...place, size, direction, colour, struck: length };
}

function draw(pen, parts, width, height, look) {
  pen.ink(look.background, 1);
  pen.box(0, 0, width, height);
  pen.moveOrigin(0, 1);
  for (const { kind, x, y, colour, ...part } of parts) {
    pen.ink(colour, 1);
    pen.setWidth(kind === "frame" ? 2 : 1);
    if (kind === "box") pen.box(x, y, part.width, part.height);
    if (kind === "text") pen.text(part.text, x, y, part);
    if (part.struck) pen.line(x, y - 0.3 * part.size, x + part.struck, y - 0.3 * part.size);
    if (kind !== "frame") continue;
    const [right, bottom] = [x + part.width, y + part.height];
    pen.line(x, y, right, y);
    pen.line(right, y, right, bottom);
    pen.line(right, bottom, x, bottom);
    pen.line(x, bottom, x, y);
  }
}
