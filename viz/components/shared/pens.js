// Pens that draw lines, boxes, dots and texts on a canvas or into an SVG document, so that the screen and what is saved
// show the same.

import { sharpest } from "./screen.js";

export const SHARPNESS = 2; // pixels of a picture in a file a CSS pixel, where small ones show many numbers
const HAIRLINES = 16; // lines no wider than a pixel that are drawn at once

// A pen for a canvas that is made so high, and as sharp as the screen.
export function penOn(canvas, width, height, font) {
  const ratio = sharpest(devicePixelRatio, width, height);
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return new CanvasPen(context, ratio, font);
}

export class CanvasPen {
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

export class SvgPen {
  constructor(namespace, width, height, font) {
    this.document = document.implementation.createDocument(namespace, "svg");
    /** @type {Element} */
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

  // Rectangles instead of an image.
  pixels(image, x, y, width, height) {
    this.flush();
    const { data } = image.getContext("2d").getImageData(0, 0, image.width, image.height);
    const cells = addCells(this.group, data, image);
    cells.setAttribute("transform", `translate(${x} ${y}) scale(${width / image.width} ${height / image.height})`);
  }

  finish() {
    this.flush();
    return this.document;
  }
}

// Adds the pixels of an image (red, green, blue, alpha) to an SVG element as a group of rectangles, one unit a pixel: one
// path a colour. Pixels of a colour that touch are one rectangle; those that cannot be seen are left out.
export function addCells(parent, data, { width, height }) {
  const colours = new Uint32Array(data.buffer);
  const opaque = (at) => data[4 * at + 3] > 127;
  const shapes = new Map(); // places of the first pixel, and the path, by colour
  let above = new Map(); // what ends in the row above, by where it is
  const close = ({ from, to, top, colour, at }, bottom) => {
    if (!shapes.has(colour)) shapes.set(colour, { at, path: [] });
    shapes.get(colour).path.push(`M${from} ${top}h${to - from}v${bottom - top}h${from - to}z`);
  };
  for (let row = 0; row < height; row++) {
    const here = new Map();
    for (let from = 0, to = 0; from < width; from = to) {
      const at = row * width + from;
      const colour = colours[at];
      while (to < width && colours[row * width + to] === colour) to++;
      if (!opaque(at)) continue;
      const key = `${from} ${to} ${colour}`;
      here.set(key, above.get(key) ?? { from, to, top: row, colour, at });
      above.delete(key);
    }
    for (const run of above.values()) close(run, row);
    above = here;
  }
  for (const run of above.values()) close(run, height);
  const { namespaceURI: namespace, ownerDocument } = parent;
  const group = ownerDocument.createElementNS(namespace, "g");
  group.setAttribute("class", "cells");
  group.setAttribute("shape-rendering", "crispEdges");
  for (const { at, path } of shapes.values()) {
    const element = ownerDocument.createElementNS(namespace, "path");
    element.setAttribute("fill", `#${[0, 1, 2].map((of) => data[4 * at + of].toString(16).padStart(2, "0")).join("")}`);
    element.setAttribute("d", path.join(""));
    group.append(element);
  }
  parent.append(group);
  return group;
}
