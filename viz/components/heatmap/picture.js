// The picture of a heatmap: what is in it, and how a pen draws it, on the screen and into files.

import { BAR_SPACE, BAR_TEXT, drawBar } from "../shared/bar.js";
import { GAP } from "../shared/cells.js";
import { fitted, labelOf } from "../shared/labels.js";
import { themeOf } from "../shared/screen.js";
import { imageOf, levelsOf, shadesOf } from "../shared/shades.js";
import { SIDES } from "../shared/verbs.js";
import { borders, LINE, PARTED_FROM, placed, TITLE } from "./geometry.js";

const LONGEST_LABEL = 16; // characters; what a cell says names its tokens whole
const SIZE = 12; // of text
const SEEN = 150; // px below the first row

export class Picture {
  constructor({ data, root }, width, ratio, look = null) {
    this.data = data;
    this.theme = look ?? themeOf(root);
    this.font = this.theme.font;
    this.shades = shadesOf(this.theme.dark ? data.dark_scale : data.scale);
    this.context = document.createElement("canvas").getContext("2d");
    this.scale = this.theme.scale;
    this.size = SIZE * this.scale;
    this.context.font = `${this.size}px ${this.font}`;
    const label = (token) => labelOf(token, LONGEST_LABEL, this.context);
    this.rows = data.queries.map(label);
    this.columns = data.keys.map(label);
    const widths = (labels) => labels.map((label) => label.width);
    const limits = { scale: this.scale, limit: look ? 0 : data.height, filled: look !== null };
    this.places = placed(widths(this.rows), widths(this.columns), width, ratio, limits);
    this.width = width;
    this.height = this.places.height;
  }

  draw(pen) {
    const { data, theme, places } = this;
    const { left, top, right, bottom, across, down, pixels: [wide, high] } = places;
    pen.ink(theme.background, 1);
    pen.box(0, 0, this.width, this.height);
    pen.pixels(imageOf(levelsOf(data, [wide, high]), wide, high, this.shades), left, top, right - left, bottom - top);
    pen.setWidth(1);
    pen.ink(theme.background, 1);
    if (across >= PARTED_FROM && down >= PARTED_FROM) {
      for (let column = 1; column < this.columns.length; column++) {
        pen.line(left + column * across - 0.5, top, left + column * across - 0.5, bottom);
      }
      for (let row = 1; row < this.rows.length; row++) {
        pen.line(left, top + row * down - 0.5, right, top + row * down - 0.5);
      }
    }
    this.drawBorders(pen);
    pen.ink(theme.text, 1);
    this.drawLabels(pen);
    pen.ink(theme.muted, 1);
    const { query: ofQueries, key: ofKeys } = SIDES[this.data.says];
    const title = this.context.measureText(ofQueries).width <= bottom - top ? ofQueries : "query";
    // Of a high picture the first screen shows it.
    const seen = Math.min((top + bottom) / 2, top + SEEN * this.scale);
    pen.text(title, this.size, seen, { size: this.size, align: "center", upright: true });
    const middle = Math.max((left + right) / 2, left + this.context.measureText(ofKeys).width / 2);
    pen.text(ofKeys, middle, this.size, { size: this.size, align: "center" });
    drawBar(pen, this, left, bottom);
    const note = "More cells than pixels: each shows its strongest.";
    const below = bottom + (BAR_SPACE + LINE - 9) * this.scale;
    if (places.merged) pen.text(note, left, below, { size: BAR_TEXT * this.scale });
  }

  // A line where the second text begins, through the cells and the labels; between two lighter ones, because cells may
  // have any colour.
  drawBorders(pen) {
    const { data, theme, places: { left, top, right, bottom, across, down, scale } } = this;
    const parted = Math.min(across, down) >= PARTED_FROM;
    for (const [colour, width] of [[theme.background, parted ? 4 : 2], [theme.text, parted ? 2 : 1]]) {
      pen.setWidth(width);
      pen.ink(colour, 1);
      for (const row of borders(data.query_segments)) {
        pen.line(TITLE * scale, top + row * down - 0.5, right, top + row * down - 0.5);
      }
      for (const column of borders(data.key_segments)) {
        pen.line(left + column * across - 0.5, TITLE * scale, left + column * across - 0.5, bottom);
      }
    }
    pen.setWidth(1);
  }

  // As many labels as there is room for, smaller where cells are.
  drawLabels(pen) {
    const { left, top, across, down, upright, every: [everyRow, everyColumn], scale } = this.places;
    const fitting = (room) => Math.min(this.size, Math.max(room - 1, 10 * scale));
    const ofRows = fitting(down * everyRow);
    this.rows.forEach((label, row) => {
      if (row % everyRow) return;
      const text = fitted(label, left - TITLE * scale - GAP);
      const middle = top + (row + 0.5) * down + 0.35 * ofRows; // where letters stand
      pen.text(text, left - GAP, middle, { size: ofRows, align: "right" });
    });
    const ofColumns = upright ? fitting(across * everyColumn) : this.size;
    this.columns.forEach(({ text }, column) => {
      if (column % everyColumn) return;
      const middle = left + (column + 0.5) * across;
      if (upright) pen.text(text, middle + 0.35 * ofColumns, top - GAP, { size: ofColumns, upright: true });
      else pen.text(text, middle, top - GAP, { size: ofColumns, align: "center" });
    });
  }
}
