// Saver: saves the pictures on a page as SVG, PNG or PDF. Components are asked for theirs; a Plotly figure is one that is
// drawn for the purpose, out of sight. An SVG with outlines for letters, and a PDF, are made here, too, with a font that
// Python sends: for the letters of the trigger `letters`, {serial, normal, bold}.

import { element } from "../shared/elements.js";
import { download, pngOf, svgText } from "../shared/files.js";
import { plotIn, plotted } from "../shared/plots.js";
import { drawn } from "../shared/saving.js";
import { mount, View } from "../shared/view.js";
import { pdfOf } from "./pdf.js";
import { lettersOf, outline } from "./shapes.js";

const KINDS = ["svg", "png", "pdf"];

export default function render({ data, parentElement, setTriggerValue }) {
  return mount(Saver, parentElement.querySelector(".saver"), data, setTriggerValue);
}

class Saver extends View {
  constructor(root) {
    super(root);
    this.rows = root.querySelector(".pictures");
    this.message = root.querySelector(".message");
    this.namespace = root.querySelector(".icon").namespaceURI;
    this.serial = 0; // of the font that was asked for last
    this.waiting = null; // the button whose file is being made
    this.fontCame = null; // goes on with the font that was asked for
    this.listenTo(root, "click", (event) => this.clicked(event));
  }

  update(data) {
    const before = this.data;
    this.data = data;
    const names = ({ pictures }) => JSON.stringify(pictures.map(({ name, label }) => [name, label]));
    if (!before || names(before) !== names(data)) this.build();
    if (data.serial === this.serial) this.fontCame?.(data);
  }

  build() {
    this.rows.replaceChildren(...this.data.pictures.map(({ label }, place) => {
      const buttons = KINDS.map((kind) => {
        const name = kind.toUpperCase();
        return element("button", { type: "button", ariaLabel: `${label} as ${name}`, data: { kind, place } }, name);
      });
      return element("div", { className: "row" }, element("span", {}, label), ...buttons);
    }));
  }

  async clicked(event) {
    const button = event.target.closest("button");
    if (!button || this.waiting) return;
    this.busy(button);
    await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
    const { kind, place } = button.dataset;
    try {
      this.done(await this.save(kind, this.data.pictures[place]));
    } catch (error) {
      console.warn(error);
      this.done(`This picture cannot be saved as ${kind.toUpperCase()}. Choose another kind of file.`);
    }
  }

  // Saves a picture, and says why where it cannot.
  async save(kind, { name, plot, about, file }) {
    const { look, mm, outlines, png } = this.data;
    const svg = plot ? await plotOf(plot) : await drawn(name, look, this.namespace);
    if (!svg) return "This picture is not on the page any more. Close this box and open it again.";
    let blob;
    if (kind === "png") blob = await pngOf(svgText(svg, about, mm), about, png);
    else if (kind === "pdf" || outlines) {
      const { problem, fonts, weights } = await this.fontOf(svg);
      if (problem) return problem;
      let at = 0;
      for (const font of Object.values(fonts)) font.bytes = weights.slice(at, at += font.length);
      if (kind === "pdf") blob = await pdfOf(svg, about, mm, fonts);
      else outline(svg.documentElement, fonts);
    }
    if (kind === "svg") blob = new Blob([svgText(svg, about, mm)], { type: "image/svg+xml" });
    if (!blob) return "There is too little memory for this PNG. Choose fewer pixels, or save an SVG.";
    download(blob, `${file}.${kind}`);
    return "";
  }

  // What Python sends of its font for the letters of a picture.
  fontOf(svg) {
    const came = new Promise((resolve) => this.fontCame = resolve);
    this.report("letters", { serial: this.serial = Math.random(), ...lettersOf(svg.documentElement) });
    return came;
  }

  busy(button) {
    this.waiting = button;
    button.ariaBusy = "true";
    this.message.textContent = "";
  }

  done(message) {
    if (this.waiting) this.waiting.ariaBusy = "false";
    this.waiting = null;
    this.message.textContent = message;
  }
}

async function plotOf(name) {
  const plot = await plotIn(name);
  return plot && plotted(plot);
}
