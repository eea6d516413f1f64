// Token line: lines of items, an item a stack of cells with a text and colours. Texts go in as text, never as HTML.

import { element } from "../shared/elements.js";
import { laidOut } from "../shared/laid_out.js";
import { onAsked } from "../shared/saving.js";
import { mount, View } from "../shared/view.js";

export default function render({ data, parentElement }) {
  return mount(TokenLine, parentElement.querySelector(".token-line"), data);
}

class TokenLine extends View {
  constructor(root) {
    super(root);
    onAsked(this, (look) => this.saved(look));
  }

  update(data) {
    this.data = data;
    fill(this.root, data.lines);
  }

  // In the other theme, too.
  saved(look) {
    const { lines, others, dark } = this.data;
    const copy = this.root.cloneNode();
    fill(copy, look.dark === dark ? lines : others);
    return laidOut(this.root, look, copy);
  }
}

function fill(root, lines) {
  root.replaceChildren(...lines.map((line) => drawLine(line)));
  const labels = lines.map((line) => line.label.length);
  root.style.setProperty("--label-width", `${Math.min(14, Math.max(0, ...labels)) * 0.55}em`);
}

function drawLine({ label, items, dir }) {
  const names = label ? [element("span", { className: "label" }, label)] : [];
  const list = element("ol", { className: "items stacked" }, ...items.map(drawItem));
  return element("div", { className: "line", dir }, ...names, list);
}

const drawItem = ({ cells, title, marked }) =>
  element("li", { className: marked ? "item marked" : "item", title: title ?? "" }, ...cells.map(drawCell));

function drawCell({ text, fill, ink, small, struck }) {
  const classes = ["cell", ...(small ? ["small"] : []), ...(struck ? ["struck"] : [])];
  const cell = element("span", { className: classes.join(" "), dir: "auto" }, text);
  if (fill) cell.style.backgroundColor = fill;
  if (ink) cell.style.color = ink;
  return cell;
}
