// Words: a text whose words are tinted by the attention of the one that is pointed at.
//
// Which word is lit: the one locked by a click, else the one pointed at here or by another picture of the page, else one
// worth seeing. Without words of their own for the keys there is one strip, and a word is lit as a query or as a key as
// the reader chose; with two strips each word is lit as what it is.

import { element } from "../shared/elements.js";
import { laidOut } from "../shared/laid_out.js";
import { onPoint, point } from "../shared/pointing.js";
import { onAsked } from "../shared/saving.js";
import { isDark, isTouched } from "../shared/screen.js";
import { mount, View } from "../shared/view.js";
import { DIRECTIONS, sentenceOf } from "./sentence.js";
import { Steps } from "./steps.js";
import { moved, Strip } from "./strip.js";
import { other, shadeOf, weightsOf, wordsOf, worthSeeing, written } from "./weights.js";

const STEPS = { "[": -1, PageUp: -1, "]": 1, PageDown: 1 };
const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

export default function render({ data, parentElement, setTriggerValue }) {
  return mount(Words, parentElement.querySelector(".words"), data, setTriggerValue);
}

class Words extends View {
  constructor(root) {
    super(root);
    this.strips = root.querySelector(".strips");
    this.status = root.querySelector(".status");
    this.choices = { scope: root.querySelector(".scope"), direction: root.querySelector(".direction") };
    this.arrows = root.querySelector(".steps");
    this.matrix = 0;
    this.side = "query"; // of the words of a single strip
    this.locked = null; // {side, index}: stays until unlocked
    this.pointed = null; // {side, index}: hovered or focused by keyboard
    this.elsewhere = null; // {query, key}: pointed at in another picture
    this.reported = null; // the other pictures, of what is pointed at here
    this.steps = new Steps();
    this.listen();
  }

  // ---- data ---------------------------------------------------------------------------------------------

  update(data) {
    const before = this.data;
    this.data = { ...data, weights: new Uint16Array(data.weights.slice().buffer) };
    this.worth = [];
    this.steps.take(data.head, data.n_heads);
    this.arrows.hidden = data.n_heads < 2;
    this.choices.direction.hidden = data.keys !== null;
    this.name(before);
    const rebuilt = !before || !same(before.queries, data.queries) || !same(before.keys, data.keys);
    if (rebuilt) this.build();
    this.look();
    this.paint();
    if (rebuilt) this.moveTabStop(this.elementOf(this.chosen()));
    this.reveal();
  }

  // The buttons, by what the data is of. Of fewer or more matrices than before the last one stays chosen, else the first.
  name(before) {
    const { choices, unit, says } = this.data;
    for (const span of this.choices.direction.querySelectorAll("span")) {
      span.textContent = DIRECTIONS[says][span.parentElement.querySelector("input").value];
    }
    this.choices.scope.querySelectorAll("label").forEach((label, at) => {
      label.hidden = at >= choices.length;
      label.querySelector("span").textContent = choices[at] ?? "";
    });
    for (const button of this.arrows.querySelectorAll("button")) {
      const name = `${button.dataset.step < 0 ? "Previous" : "Next"} ${unit}`;
      button.setAttribute("aria-label", name);
      button.title = `${name}: ${button.dataset.step < 0 ? "[ or Page Up" : "] or Page Down"}`;
    }
    const last = before ? before.choices.length - 1 : 0;
    if (!before || last === choices.length - 1) return;
    this.matrix = this.matrix === last ? choices.length - 1 : 0;
    this.choices.scope.querySelectorAll("input")[this.matrix].checked = true;
  }

  // The theme's colours; what is on the screen is of others.
  look(dark = isDark(getComputedStyle(this.root).backgroundColor)) {
    const { scale, dark_scale } = this.data;
    this.scale = dark ? dark_scale : scale;
    for (const strip of this.each) strip.forget();
  }

  // What is shown, for a file: in its colours for a moment.
  saved(look) {
    this.look(look.dark);
    this.paint();
    const picture = laidOut(this.strips, look);
    this.look();
    this.paint();
    return picture;
  }

  build() {
    const { queries, keys } = this.data;
    this.locked = this.pointed = this.elsewhere = null;
    const query = new Strip();
    query.build(queries, "query");
    this.each = [query];
    this.of = { query, key: query };
    query.element.setAttribute("aria-label", "Words of the text");
    if (keys !== null) {
      const key = new Strip();
      key.build(keys, "key");
      this.each.push(key);
      this.of.key = key;
      this.title(query, "These words look …");
      this.title(key, "… at these");
    }
    this.strips.replaceChildren(...this.each.map(({ element }) => element));
  }

  title({ element }, title) {
    element.dataset.title = title;
    element.setAttribute("aria-label", title);
  }

  // ---- what is shown ------------------------------------------------------------------------------------

  rest() {
    const pair = (this.worth[this.matrix] ??= worthSeeing(this.data, this.matrix));
    const side = this.data.keys === null ? this.side : "query";
    return { side, index: pair[side] };
  }

  chosen() {
    const { query, key } = this.elsewhere ?? { query: null, key: null };
    return this.locked ?? this.pointed ??
      (query !== null ? { side: "query", index: query } : key !== null ? { side: "key", index: key } : this.rest());
  }

  paint() {
    const { data, matrix, scale } = this;
    const chosen = this.chosen();
    const weights = weightsOf(data, matrix, chosen);
    const lit = this.of[other(chosen.side)];
    const shades = new Int16Array(weights.length);
    const numbers = Array(weights.length);
    for (let at = 0; at < weights.length; at++) {
      shades[at] = shadeOf(weights[at], scale.length);
      numbers[at] = written(data, matrix, weights[at]);
    }
    lit.light(shades, numbers, scale);
    for (const strip of this.each) {
      if (strip !== lit) strip.light(strip.words.map(() => 0), strip.words.map(() => ""), scale);
      strip.frame(this.framed().filter(({ side }) => this.of[side] === strip));
      strip.press(this.locked && this.of[this.locked.side] === strip ? this.locked.index : null);
    }
    this.say(chosen, weights);
  }

  framed() {
    const { query = null, key = null } = this.elsewhere ?? {};
    const places = [{ ...this.chosen(), other: false }];
    if (query !== null) places.push({ side: "query", index: query, other: false });
    if (key !== null) places.push({ side: "key", index: key, other: query !== null });
    return places;
  }

  say(chosen, weights) {
    const parts = sentenceOf(this.data, this.matrix, chosen, weights)
      .map(([text, standsOut]) => standsOut ? element("b", { dir: "auto" }, text) : text);
    this.status.replaceChildren(...parts, this.hint());
  }

  hint() {
    const touch = isTouched();
    if (this.locked) return ` ${touch ? "Tap" : "Click"} again to let go.`;
    if (this.pointed || this.elsewhere) return "";
    return ` ${touch ? "Tap" : "Point at"} another word.`;
  }

  // The words that were chosen elsewhere or for the reader are scrolled to, within the strips alone.
  reveal() {
    const { offsetTop, offsetHeight } = this.elementOf(this.chosen());
    const { scrollTop, clientHeight } = this.strips;
    if (offsetTop < scrollTop || offsetTop + offsetHeight > scrollTop + clientHeight) {
      this.strips.scrollTop = offsetTop - (clientHeight - offsetHeight) / 2;
    }
  }

  // ---- pointing -----------------------------------------------------------------------------------------

  point(word) {
    if (same(word, this.pointed)) return;
    this.pointed = word;
    if (!this.locked) this.paint();
    this.tell();
  }

  lock(word) {
    this.locked = same(word, this.locked) ? null : word;
    this.paint();
    this.tell();
  }

  tell() {
    const word = this.locked ?? this.pointed;
    const place = word && { query: null, key: null, [word.side]: word.index };
    if (same(place, this.reported)) return;
    this.reported = place;
    point(this.root, this.data.group, place);
  }

  // What another picture points at; a place that is not among the words is of other tokens.
  follow(place) {
    const within = (side) => place[side] === null || place[side] < wordsOf(this.data, side).length;
    this.elsewhere = place && within("query") && within("key") ? place : null;
    this.paint();
    if (this.elsewhere) this.reveal();
  }

  elementOf({ side, index }) {
    return this.of[side].words[index];
  }

  // The word at an element, as what it is pointed at.
  wordAt(target) {
    for (const strip of this.each) {
      const index = strip.indexOf(target);
      if (index >= 0) return { side: this.data.keys === null ? this.side : strip.side, index };
    }
    return null;
  }

  // ---- events -------------------------------------------------------------------------------------------

  listen() {
    this.listenTo(this.strips, "pointermove", (event) => {
      const word = event.pointerType === "touch" ? null : this.wordAt(event.target);
      if (word) this.point(word); // between two words the last one stays
    });
    this.listenTo(this.strips, "pointerleave", (event) => event.pointerType !== "touch" && this.point(null));
    this.listenTo(this.strips, "click", (event) => {
      const word = this.wordAt(event.target);
      if (!word) return;
      this.moveTabStop(this.elementOf(word));
      this.lock(word);
    });
    this.listenTo(this.strips, "focusin", ({ target }) => {
      if (target.matches(":focus-visible")) this.point(this.wordAt(target));
    });
    this.listenTo(this.strips, "focusout", ({ relatedTarget }) => {
      if (!this.strips.contains(relatedTarget)) this.point(null);
    });
    this.listenTo(this.root, "keydown", (event) => this.key(event));
    this.listenTo(this.arrows, "click", (event) => {
      const button = event.target.closest("button");
      if (button) this.step(Number(button.dataset.step));
    });
    this.listenTo(this.choices.scope, "change", (event) => this.choose(Number(event.target.value), this.side));
    this.listenTo(this.choices.direction, "change", (event) => this.choose(this.matrix, event.target.value));
    this.listenTo(this.root, "transitionend", (event) => {
      if (event.target !== this.root) return;
      this.look();
      this.paint();
    });
    onAsked(this, (look) => this.saved(look));
    onPoint(this, (place) => this.follow(place));
  }

  key(event) {
    const word = this.wordAt(event.target);
    if (event.key === "Escape" && this.locked) this.lock(this.locked);
    else if (event.key in STEPS && this.data.n_heads > 1) this.step(STEPS[event.key]);
    else if (word && (event.key === "Enter" || event.key === " ")) this.lock(word);
    else if (!word || !this.goFrom(event)) return;
    event.preventDefault();
  }

  // Goes on to the word that a key leads to; false where it leads nowhere.
  goFrom(event) {
    const elements = this.each.flatMap(({ words }) => words);
    const from = elements.indexOf(event.target);
    const rightToLeft = event.target.closest("p").dir === "rtl";
    const boxes = () => elements.map((element) => element.getBoundingClientRect());
    const target = moved(event.key, from, elements.length, rightToLeft, boxes);
    if (target === undefined) return false;
    this.moveTabStop(elements[target]);
    elements[target].focus();
    return true;
  }

  // Another head is of no use to a mean: stepping shows the head itself.
  step(step) {
    if (this.matrix !== 0) {
      this.choices.scope.querySelector("input").checked = true;
      this.choose(0, this.side);
    }
    this.report("head", this.steps.go(step));
  }

  choose(matrix, side) {
    this.matrix = matrix;
    this.side = side;
    if (this.data.keys === null && this.locked) this.locked = { ...this.locked, side };
    this.paint();
    this.reveal();
    this.tell();
  }
}
