// The heads that can be switched on and off: a button each, with its colour. A single one needs none. Tab reaches one of
// them, the others are reached by arrow keys from there.

import { element } from "../shared/elements.js";
import { stepped } from "./tokens.js";

export class Legend {
  constructor(element) {
    this.element = element;
    this.stop = 0; // the head that Tab reaches
  }

  build(names) {
    const buttons = this.element.children;
    while (buttons.length > names.length) this.element.lastElementChild.remove();
    while (buttons.length < names.length) {
      const title = "Click: on or off. Double click or Shift+click: only this head.";
      this.element.append(element("button", { type: "button", title }));
    }
    names.forEach((text, head) => (buttons[head].textContent = text));
    this.element.hidden = names.length === 1;
    this.moveStop(Math.min(this.stop, names.length - 1));
  }

  // Which heads are on, and which one is the chosen one.
  mark({ in_front: inFront }, on, colours) {
    [...this.element.children].forEach((button, head) => {
      button.style.setProperty("--head", colours[head]);
      button.setAttribute("aria-pressed", String(on[head]));
      if (head === inFront) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
  }

  moveStop(head) {
    this.stop = head;
    [...this.element.children].forEach((button, place) => (button.tabIndex = place === head ? 0 : -1));
  }

  key(event) {
    const target = stepped(event.key, this.stop, this.element.children.length);
    if (target === undefined) return;
    this.moveStop(target);
    this.element.children[target].focus();
    event.preventDefault();
  }

  // The place of the head whose button was hit; -1 beside the buttons.
  headOf(target) {
    return [...this.element.children].indexOf(target.closest("button"));
  }
}
