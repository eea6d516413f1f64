// The part of jQuery that BertViz's scripts use.

import { Selection } from "./d3.js";

class Query extends Selection {
  constructor(elements) {
    super([elements]);
  }

  /** @override */
  append(other) {
    return this.assign(null, (element) => element.append(...other.groups[0]));
  }

  empty() {
    return this.assign(null, (element) => element.replaceChildren());
  }

  val(value) {
    return this.assign(value, (element, v) => (element.value = v));
  }

  /** @override */
  on(type, handler) {
    return this.assign(null, (element) => element.addEventListener(type, handler));
  }

  change() {
    return this.assign(null, (element) => element.dispatchEvent(new Event("change")));
  }
}

// A selector, or the single empty tag "<option />".
export const jquery = (selector) =>
  new Query(selector.startsWith("<") ? [document.createElement("option")] : [...document.querySelectorAll(selector)]);
