// What the lines' view shows, as a picture to be saved: an SVG of real lines and texts, or a PNG.

import { graphemes, printable } from "../shared/labels.js";
import { strokeAll, strokeOne } from "./strokes.js";
import { beginsSegment, labelsOf, same } from "./tokens.js";

const MARGIN = 8;
const LONGEST_LABEL = 320; // pixels, at the usual size of type
const LEAST_GAP = 120; // pixels between the columns, at the usual size of type
const GUTTER = 12; // pixels outside of the columns, for the boxes of a token's heads
const SMALL = 12; // size of headings, legend and note, at the usual size of type
const SMALL_ROW = 20;
const PADDING = 6; // pixels left and right of a token's text, as in lines.css

// The page of a view at a look: legend, headings, tokens, lines and a note of what is left out.
export class Picture {
  constructor(view, look) {
    this.view = view;
    this.theme = look;
    this.font = this.theme.font;
    this.small = SMALL * this.theme.scale;
    this.smallRow = SMALL_ROW * this.theme.scale;
    this.context = document.createElement("canvas").getContext("2d");
    this.labels = { query: this.fit("query"), key: this.fit("key") };
    const gutter = GUTTER * look.scale;
    const [left, right] = ["query", "key"].map((side) => Math.max(...this.labels[side].map(({ width }) => width)));
    const from = gutter + left + 2 * PADDING;
    const least = look.width - 2 * MARGIN - right - 2 * PADDING - gutter;
    const to = Math.max(from + LEAST_GAP * look.scale, least);
    this.area = { gutter, start: from, end: to, width: Math.ceil(to + right + 2 * PADDING + gutter) };
    this.width = this.area.width + 2 * MARGIN;
    this.legend = this.placeLegend();
    this.note = !view.on.some(Boolean) ? "" : view.chosen() ? view.describeBoxes() : view.countLines();
    this.top = MARGIN + (this.legend.at(-1)?.y ?? 0) + 2 * this.smallRow + 8;
    this.height = this.top + view.height + (this.note ? this.smallRow + 8 : 0) + MARGIN;
  }

  measure(text, size) {
    this.context.font = `${size}px ${this.font}`;
    return this.context.measureText(text).width;
  }

  fit(side) {
    const longest = LONGEST_LABEL * this.theme.scale;
    return labelsOf(this.view.data, side).map((label, index) => {
      let text = printable(label);
      let width = this.measure(text, this.view.size);
      while (width > longest) {
        const characters = graphemes(text.replace(/…$/, ""));
        text = `${characters.slice(0, Math.floor((characters.length * longest) / width - 0.5)).join("")}…`;
        width = this.measure(text, this.view.size);
      }
      return { text, width, direction: getComputedStyle(this.view.token({ side, index })).direction };
    });
  }

  // Names of the heads that are on, side by side in as many rows as they need.
  placeLegend() {
    const { data, on } = this.view;
    const title = { text: "Heads", x: 0, y: 0, width: this.measure("Heads", this.small) };
    let [x, y] = [title.width + 16, 0];
    const entries = data.head_names.flatMap((name, head) => {
      if (!on[head]) return [];
      const text = printable(name);
      const width = 14 + this.measure(text, this.small);
      if (x + width > this.area.width && x > 0) [x, y] = [0, y + this.smallRow];
      x += width + 16;
      return [{ text, head, x: x - width - 16, y, width }];
    });
    return entries.length ? [title, ...entries] : [];
  }

  draw(pen) {
    const { view, area, theme } = this;
    const { colours } = view;
    const small = (text, x, y, align) => pen.text(text, x, y, { size: this.small, align, direction: "ltr" });
    pen.ink(theme.background, 1);
    pen.box(0, 0, this.width, this.height);
    pen.moveOrigin(MARGIN, MARGIN);
    for (const { text, head, x, y } of this.legend) {
      if (head !== undefined) {
        pen.ink(colours[head], 1);
        pen.dot(x + 5, y + this.smallRow / 2, 5);
      }
      pen.ink(head === undefined ? theme.muted : theme.text, 1);
      small(text, head === undefined ? x : x + 14, y + 0.7 * this.smallRow, "left");
    }
    pen.moveOrigin(0, this.top - MARGIN);
    pen.ink(theme.muted, 1);
    small("Query", area.start - PADDING, -8, "right");
    small("Key", area.end + PADDING, -8, "left");
    if (this.note) small(this.note, 0, view.height + this.smallRow, "left");
    this.drawTokens(pen);
    if (view.chosen()) strokeOne(pen, view, area, view.chosen());
    else strokeAll(pen, view, area, 0, view.height);
  }

  drawTokens(pen) {
    const { view, area, theme } = this;
    const { row, size } = view;
    const chosen = view.chosen();
    const columns = {
      query: { left: area.gutter, right: area.start, x: area.start - PADDING, align: "right" },
      key: { left: area.end, right: area.width - area.gutter, x: area.end + PADDING, align: "left" },
    };
    pen.setWidth(1);
    for (const [side, { left, right, x, align }] of Object.entries(columns)) {
      this.labels[side].forEach(({ text, direction }, index) => {
        if (beginsSegment(view.data, { side, index })) {
          pen.ink(theme.line, 1);
          pen.line(left, index * row - 0.5, right, index * row - 0.5);
        }
        const marked = same(chosen, { side, index });
        if (marked) {
          pen.ink(theme.primary, 1);
          pen.box(left, index * row, right - left, row);
        }
        pen.ink(marked ? theme.background : theme.text, 1);
        pen.text(text, x, (index + 0.5) * row + 0.35 * size, { size, align, direction });
      });
    }
  }
}
