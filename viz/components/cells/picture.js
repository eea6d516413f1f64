// The picture of a map of cells: what is in it, and how a pen draws it, on the screen and into files.

import { drawBar } from "../shared/bar.js";
import { GAP } from "../shared/cells.js";
import { fitted, labelOf } from "../shared/labels.js";
import { clamp } from "../shared/numbers.js";
import { isTouched, themeOf } from "../shared/screen.js";
import { SHADES, shadesOf } from "../shared/shades.js";
import { AXIS, placed } from "./geometry.js";
import { idOf, written } from "./words.js";

const LONGEST_LABEL = 26; // characters; what a cell says names its row and column whole
const LONGEST_COLUMN = 14;
const SIZE = 12; // of text
const OUTLINE = 2.5; // of a picked cell

export class Picture {
  constructor({ data, root, picked }, width, look = null) {
    this.data = data;
    this.picked = picked;
    this.theme = look ?? themeOf(root);
    this.font = this.theme.font;
    this.shades = shadesOf(this.theme.dark ? data.dark_scale : data.scale);
    this.scale = this.theme.scale;
    this.size = SIZE * this.scale;
    this.context = document.createElement("canvas").getContext("2d");
    this.context.font = `${this.size}px ${this.font}`;
    this.rows = data.rows.map((name) => labelOf(name, LONGEST_LABEL, this.context));
    this.columns = data.columns.map((name) => labelOf(name, LONGEST_COLUMN, this.context));
    const widths = (labels) => labels.map((label) => label.width);
    const finger = data.pick && isTouched();
    this.places = placed(widths(this.rows), widths(this.columns), width, { scale: this.scale, finger });
    this.width = this.places.width;
    this.height = this.places.height;
  }

  // Red, green, blue of a number in a row; null where there is none.
  colour(row, value) {
    if (Number.isNaN(value)) return null;
    const { ends, signed } = this.data;
    const place = clamp(signed ? 0.5 + value / (2 * ends[row]) : value / ends[row], 0, 1);
    const at = 4 * Math.round(place * (SHADES - 1));
    return [...this.shades.slice(at, at + 3)];
  }

  draw(pen) {
    const { data, theme, places } = this;
    const { left, top, across, down, numbered } = places;
    pen.ink(theme.background, 1);
    pen.box(0, 0, this.width, this.height);
    const small = 10.5 * this.scale;
    data.rows.forEach((_, row) => {
      data.columns.forEach((_, column) => {
        const value = data.weights[row * data.columns.length + column];
        const colour = this.colour(row, value);
        const [x, y] = [left + column * across, top + row * down];
        pen.ink(colour ? `rgb(${colour.join(", ")})` : theme.surface, 1);
        pen.box(x, y, across - 1, down - 1);
        if (!numbered) return;
        pen.ink(colour ? inkOn(colour, data.inks) : theme.muted, 1);
        pen.text(written(value), x + across / 2, y + down / 2 + 0.35 * small, { size: small, align: "center" });
      });
    });
    this.drawPicked(pen);
    this.drawNames(pen);
    drawBar(pen, this, left, places.bottom);
  }

  drawPicked(pen) {
    const { left, top, across, down } = this.places;
    pen.ink(this.theme.text, 1);
    this.data.rows.forEach((_, row) => {
      this.data.columns.forEach((_, column) => {
        if (!this.picked.has(idOf({ row, column }))) return;
        const [x, y] = [left + column * across - 1, top + row * down - 1];
        pen.box(x, y, across + 1, OUTLINE);
        pen.box(x, y + down + 1 - OUTLINE, across + 1, OUTLINE);
        pen.box(x, y, OUTLINE, down + 1);
        pen.box(x + across + 1 - OUTLINE, y, OUTLINE, down + 1);
      });
    });
  }

  drawNames(pen) {
    const { data, theme, size, scale } = this;
    const { left, top, right, bottom, across, down, upright } = this.places;
    pen.ink(theme.text, 1);
    const room = left - GAP - AXIS * scale;
    this.rows.forEach((label, row) => {
      pen.text(fitted(label, room), left - GAP, top + (row + 0.5) * down + 0.35 * size, { size, align: "right" });
    });
    this.columns.forEach(({ text }, column) => {
      const middle = left + (column + 0.5) * across;
      if (upright) pen.text(text, middle + 0.35 * size, top - GAP, { size, upright: true });
      else pen.text(text, middle, top - GAP, { size, align: "center" });
    });
    pen.ink(theme.muted, 1);
    pen.text(data.down, size, (top + bottom) / 2, { size, align: "center", upright: true });
    pen.text(data.across, (left + right) / 2, size, { size, align: "center" });
  }
}

// The first ink on a light colour, the second on a dark one (WCAG's relative luminance).
export function inkOn(colour, inks) {
  const linear = (channel) => (channel <= 10 ? channel / 3294 : ((channel / 255 + 0.055) / 1.055) ** 2.4);
  const [red, green, blue] = colour.map(linear);
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return inks[luminance > 0.179 ? 0 : 1];
}
