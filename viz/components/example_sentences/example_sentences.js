// Example sentences: rows of a number, a sentence whose words are framed and tinted, and ways to see more of it. Texts go
// in as text, never as HTML.

import { element } from "../shared/elements.js";
import { laidOut } from "../shared/laid_out.js";
import { onAsked } from "../shared/saving.js";
import { isDark, onLook } from "../shared/screen.js";
import { mount, View } from "../shared/view.js";

export default function render({ data, parentElement, setTriggerValue }) {
  return mount(Examples, parentElement.querySelector(".examples"), data, setTriggerValue);
}

class Examples extends View {
  constructor(root) {
    super(root);
    this.list = root.querySelector(".rows");
    this.more = root.querySelector(".more");
    this.all = false;
    onAsked(this, (look) => this.saved(look));
    onLook(this, this.list, () => this.tint());
    this.listenTo(root, "click", (event) => this.clicked(event));
  }

  update(data) {
    const same = this.data && JSON.stringify(this.data.rows) === JSON.stringify(data.rows);
    this.data = data;
    if (same) return;
    this.all = false;
    this.list.setAttribute("aria-label", `${data.rows.length} sentences`);
    this.fill();
  }

  fill() {
    const { rows, first } = this.data;
    const visible = this.all ? rows : rows.slice(0, first);
    this.list.replaceChildren(...visible.map((row, place) => this.drawRow(row, place)));
    this.more.hidden = visible.length === rows.length;
    this.more.textContent = `Show all ${rows.length}`;
    this.tint();
  }

  drawRow({ parts, beside, note, label, text, ways }, place) {
    const numbers = beside ? [element("span", { className: "beside", title: this.data.quantity }, beside)] : [];
    const sentence = element("p", { className: "sentence", dir: "auto" }, ...parts.map(drawPart));
    const notes = note ? [element("p", { className: "note" }, note)] : [];
    const links = ways.map((address, way) => {
      const href = text ? `${address}&text=${encodeURIComponent(text)}` : address;
      return element("a", { className: "way", href, data: { way: `${place} ${way}` } }, this.data.ways[way]);
    });
    const middle = element("div", { className: "middle" }, sentence, ...notes);
    const after = links.length ? [element("span", { className: "ways" }, ...links)] : [];
    return element("li", { className: "row", ariaLabel: label }, ...numbers, middle, ...after);
  }

  // Colours of the theme that is there, or of the one of a file.
  tint(dark = isDark(getComputedStyle(this.root).backgroundColor)) {
    const scale = dark ? this.data.dark_scale : this.data.scale;
    for (const word of this.list.querySelectorAll("[data-shade]")) {
      const [ground, ink] = scale[word.dataset.shade];
      Object.assign(word.style, { backgroundColor: ground, color: ink });
    }
  }

  // A plain click stays in this visit; any other is the browser's, which opens the address elsewhere.
  clicked(event) {
    if (event.target === this.more) {
      this.all = true;
      const before = this.list.children.length;
      this.fill();
      /** @type {HTMLElement} */ (this.list.children[before].querySelector(".way"))?.focus({ preventScroll: true });
      return;
    }
    const way = event.target.closest("[data-way]")?.dataset.way;
    if (!way || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    this.report("open", way.split(" ").map(Number));
  }

  saved(look) {
    this.tint(look.dark);
    const copy = /** @type {HTMLElement} */ (this.list.cloneNode(true));
    for (const links of copy.querySelectorAll(".ways")) links.remove();
    const picture = laidOut(this.list, look, copy);
    this.tint();
    return picture;
  }
}

function drawPart(part) {
  if (typeof part === "string") return part;
  const classes = ["word", ...(part.framed ? ["framed"] : []), ...(part.expected ? ["expected"] : [])];
  return element("span", { className: classes.join(" "), data: part.shade ? { shade: part.shade } : {} }, part.text);
}
