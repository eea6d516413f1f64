// Saver: saves the pictures on a page as SVG, PNG or PDF. Components are asked for theirs; a Plotly figure is one that is
// drawn for the purpose, out of sight. An SVG with outlines for letters, and a PDF, are made by Python: it is sent the
// SVG by the trigger `make`, {serial, kind, file, svg}, and sends the file back.

import { download, pngOf, svgText } from "../shared/files.js";
import { plotIn, plotted } from "../shared/plots.js";
import { drawn } from "../shared/saving.js";
import { mount, View } from "../shared/view.js";

const KINDS = ["svg", "png", "pdf"];

export default function render({ data, parentElement, setTriggerValue }) {
  return mount(Saver, parentElement.querySelector(".saver"), data, setTriggerValue);
}

class Saver extends View {
  constructor(root) {
    super(root);
    this.rows = root.querySelector(".pictures");
    this.said = root.querySelector(".said");
    this.namespace = root.querySelector(".icon").namespaceURI;
    this.serial = 0; // of what was sent last
    this.waiting = null; // the button whose file is being made
    this.listenTo(root, "click", (event) => this.clicked(event));
  }

  update(data) {
    const before = this.data;
    this.data = data;
    const names = ({ pictures }) => JSON.stringify(pictures.map(({ name, label }) => [name, label]));
    if (!before || names(before) !== names(data)) this.build();
    if (this.waiting && data.made?.serial === this.serial) this.take(data.made, data.weights);
  }

  build() {
    this.rows.replaceChildren(...this.data.pictures.map(({ label }, place) => {
      const row = Object.assign(document.createElement("div"), { className: "row" });
      const name = Object.assign(document.createElement("span"), { textContent: label });
      const buttons = KINDS.map((kind) => {
        const button = Object.assign(document.createElement("button"), {
          type: "button",
          textContent: kind.toUpperCase(),
        });
        button.setAttribute("aria-label", `${label} as ${kind.toUpperCase()}`);
        Object.assign(button.dataset, { kind, place });
        return button;
      });
      row.append(name, ...buttons);
      return row;
    }));
  }

  async clicked(event) {
    const button = event.target.closest("button");
    if (!button || this.waiting) return;
    this.busy(button);
    await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
    const { kind, place } = button.dataset;
    const picture = this.data.pictures[place];
    const { about, file } = picture;
    const text = await this.svg(picture);
    if (text === null) return this.done("This picture is not on the page any more. Close this box and open it again.");
    const { outlines, png } = this.data;
    if (kind === "pdf" || (outlines && kind === "svg")) {
      if (text.length > this.data.most) {
        return this.done(
          `This picture is too large for that. Save it as ${kind === "pdf" ? "SVG" : "SVG without outlines"}.`,
        );
      }
      this.report("make", { serial: ++this.serial, kind, file, svg: text });
      return;
    }
    const blob = kind === "svg" ? new Blob([text], { type: "image/svg+xml" }) : await pngOf(text, about, png);
    if (!blob) return this.done("There is too little memory for this PNG. Choose fewer pixels, or save an SVG.");
    download(blob, `${file}.${kind}`);
    this.done("");
  }

  async svg({ name, plot, about }) {
    const { look, mm } = this.data;
    const svg = plot ? await plotOf(plot) : await drawn(name, look, this.namespace);
    return svg && svgText(svg, about, mm);
  }

  take({ problem, name, type }, bytes) {
    if (!problem) download(new Blob([bytes], { type }), name);
    this.done(problem);
  }

  busy(button) {
    this.waiting = button;
    button.ariaBusy = "true";
    this.said.textContent = "";
  }

  done(said) {
    if (this.waiting) this.waiting.ariaBusy = "false";
    this.waiting = null;
    this.said.textContent = said;
  }
}

async function plotOf(name) {
  const plot = await plotIn(name);
  return plot && plotted(plot);
}
