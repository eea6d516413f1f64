// A Plotly figure as an SVG document: what it has drawn on the page, without what only a pointer needs.

import { addCells } from "./pens.js";

const OF_THE_POINTER = ".hoverlayer, .draglayer, .zoomlayer, .menulayer, .selectionlayer, .outline-controllers, " +
  '.legendtoggle, .scrollbar, .cursor-pointer, [style^="opacity: 0;"]:not(text), [style*=" opacity: 0;"]:not(text), ' +
  '[style*="display: none"]';

// Waits until the figure in an element of a class is drawn.
export async function plotIn(name) {
  for (let frames = 0; frames < 600; frames++) {
    const plot = document.querySelector(`.${CSS.escape(name)} .js-plotly-plot`);
    if (plot?.querySelector(".infolayer")) return plot;
    await new Promise((painted) => setTimeout(painted, 16));
  }
  return null;
}

export async function plotted(plot) {
  const [first, ...others] = plot.querySelectorAll(".main-svg");
  const { namespaceURI: namespace } = first;
  const svg = document.implementation.createDocument(namespace, "svg");
  const root = svg.documentElement;
  const [width, height] = ["width", "height"].map((side) => Number(first.getAttribute(side)));
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) {
    root.setAttribute(name, String(value));
  }
  const ground = svg.createElementNS(namespace, "rect");
  for (const [name, value] of Object.entries({ width, height, fill: first.style.backgroundColor || "none" })) {
    ground.setAttribute(name, String(value));
  }
  root.append(ground, ...[first, ...others].flatMap((part) => [...part.cloneNode(true).childNodes]));
  for (const element of root.querySelectorAll(OF_THE_POINTER)) element.remove();
  // What some programs do not read: no paint at all as an opacity, and shares of a size.
  const styled = (selector) => /** @type {NodeListOf<SVGElement>} */ (root.querySelectorAll(selector));
  for (const { style } of styled('[style*="-opacity: 0;"]')) {
    for (const paint of ["fill", "stroke"]) {
      if (style.getPropertyValue(`${paint}-opacity`) === "0") style[paint] = "none";
    }
  }
  for (const { style, parentNode } of styled('[style*="%"]')) {
    if (!style.fontSize.endsWith("%")) continue;
    const around = /** @type {SVGElement} */ (/** @type {Element} */ (parentNode).closest('[style*="font-size"]'));
    style.fontSize = `${Number.parseFloat(style.fontSize) / 100 * Number.parseFloat(around.style.fontSize)}px`;
  }
  // Elsewhere a letter may be wider: nothing of a legend is cut.
  for (const element of root.querySelectorAll('[class*="legend"] [clip-path], [class*="legend"][clip-path]')) {
    element.removeAttribute("clip-path");
  }
  for (const element of root.querySelectorAll("[data-unformatted], [data-math]")) {
    for (const name of ["data-unformatted", "data-math"]) element.removeAttribute(name);
  }
  await Promise.all([...root.querySelectorAll("image")].map(vectorized));
  return svg;
}

// An image of cells becomes rectangles.
async function vectorized(image) {
  const source = image.getAttribute("href") ?? image.getAttributeNS(null, "xlink:href") ??
    [...image.attributes].find(({ localName }) => localName === "href")?.value;
  const loaded = Object.assign(new Image(), { src: source });
  await loaded.decode();
  const { naturalWidth: width, naturalHeight: height } = loaded;
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const context = canvas.getContext("2d");
  context.drawImage(loaded, 0, 0);
  const cells = addCells(image.parentNode, context.getImageData(0, 0, width, height).data, { width, height });
  const [x, y, wide, high] = ["x", "y", "width", "height"].map((name) => Number(image.getAttribute(name) ?? 0));
  cells.setAttribute("transform", `translate(${x} ${y}) scale(${wide / width} ${high / height})`);
  image.replaceWith(cells);
}
