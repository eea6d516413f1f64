// The picture of all heads: what is in it, and how a pen draws it, on the screen and into files.

import { drawBar } from "../shared/bar.js";
import { themeOf } from "../shared/screen.js";
import { imageOf, shadesOf } from "../shared/shades.js";
import { PARTED_BY, placed } from "./geometry.js";
import { mosaicOf } from "./mosaic.js";

const FRAME = 3; // of the chosen head, in files

export class Picture {
  constructor({ data, root }, width, look = null, selected = null) {
    this.data = data;
    this.theme = look ?? themeOf(root);
    this.font = this.theme.font;
    this.scale = this.theme.scale;
    this.shades = shadesOf(this.theme.dark ? data.dark_scale : data.scale);
    this.places = placed(data.heads, width, look ? Infinity : data.height, this.scale);
    this.selected = selected; // {layer, head} that the picture itself frames
    this.width = this.places.width;
    this.height = this.places.height;
  }

  draw(pen) {
    const { data, theme, places } = this;
    const { left, top, right, bottom, across, down } = places;
    pen.ink(theme.background, 1);
    pen.box(0, 0, this.width, this.height);
    const { levels, width, height } = mosaicOf(data, places, pen.ratio);
    pen.pixels(imageOf(levels, width, height, this.shades), left, top, right - left, bottom - top);
    pen.ink(theme.line, 1);
    const widest = data.shape[1];
    for (let head = 1; head <= widest; head++) {
      pen.box(left + head * across - PARTED_BY, top, PARTED_BY, bottom - top);
    }
    data.heads.forEach((_, layer) => {
      pen.box(left, top + (layer + 1) * down - PARTED_BY, right - left, PARTED_BY);
    });
    pen.ink(theme.background, 1);
    data.heads.forEach((heads, layer) => {
      if (heads < widest) pen.box(left + heads * across, top + layer * down, (widest - heads) * across, down);
    });
    this.drawNames(pen);
    drawBar(pen, this, left, bottom, places.bar);
    if (this.selected) this.drawFrame(pen);
  }

  drawNames(pen) {
    const { data, theme, places, scale } = this;
    const { left, top, right, bottom, across, down } = places;
    const size = 12 * scale;
    const gap = 6 * scale;
    pen.ink(theme.text, 1);
    for (let head = 0; head < data.shape[1]; head++) {
      pen.text(`${head + data.counts}`, left + (head + 0.5) * across, top - gap, { size, align: "center" });
    }
    const names = [...data.names];
    const columns = names.pop();
    pen.ink(theme.muted, 1);
    pen.text(columns, (left + right) / 2, size, { size, align: "center" });
    for (const rows of names) pen.text(rows, size, (top + bottom) / 2, { size, align: "center", upright: true });
    if (names.length === 0) return;
    pen.ink(theme.text, 1);
    data.heads.forEach((_, layer) => {
      const middle = top + (layer + 0.5) * down + 0.35 * size;
      pen.text(`${layer + data.counts}`, left - gap, middle, { size, align: "right" });
    });
  }

  drawFrame(pen) {
    const { left, top, across, down } = this.places;
    const [x, y] = [left + this.selected.head * across, top + this.selected.layer * down];
    pen.ink(this.theme.primary, 1);
    pen.box(x - 1, y - 1, across + 1, FRAME);
    pen.box(x - 1, y + down - FRAME, across + 1, FRAME);
    pen.box(x - 1, y - 1, FRAME, down + 1);
    pen.box(x + across - FRAME, y - 1, FRAME, down + 1);
  }
}
