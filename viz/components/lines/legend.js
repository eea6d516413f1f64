// The heads that can be switched on and off: a button each, with its colour. A single one needs none.

export class Legend {
  constructor(element) {
    this.element = element;
  }

  build(names) {
    const buttons = this.element.children;
    while (buttons.length > names.length) this.element.lastElementChild.remove();
    while (buttons.length < names.length) {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Click: on or off. Double click or Shift+click: only this head.";
      this.element.append(button);
    }
    names.forEach((text, head) => (buttons[head].textContent = text));
    this.element.hidden = names.length === 1;
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

  // The place of the head whose button was hit; -1 beside the buttons.
  headOf(target) {
    return [...this.element.children].indexOf(target.closest("button"));
  }
}
