// Token line: lines of items, an item a stack of cells with a text and colours. Texts go in as text, never as HTML.

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
  const line = document.createElement("div");
  line.className = "line";
  line.dir = dir;
  if (label) line.append(textElement("span", "label", label));
  const list = document.createElement("ol");
  list.className = "items stacked";
  list.append(...items.map((item) => drawItem(item)));
  line.append(list);
  return line;
}

function drawItem({ cells, title, marked }) {
  const item = document.createElement("li");
  item.className = marked ? "item marked" : "item";
  if (title) item.title = title;
  item.append(...cells.map((cell) => drawCell(cell)));
  return item;
}

function drawCell({ text, fill, ink, small, struck }) {
  const cell = textElement("span", "cell", text);
  cell.dir = "auto";
  cell.classList.toggle("small", small);
  cell.classList.toggle("struck", struck);
  if (fill) cell.style.backgroundColor = fill;
  if (ink) cell.style.color = ink;
  return cell;
}

function textElement(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}
