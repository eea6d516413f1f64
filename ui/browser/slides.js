// Steps as slides: the button that shows them on a full screen, and keys that press the page's own buttons.

import { mount, View } from "../../viz/components/shared/view.js";

const BUTTONS = { on: "step-on", back: "step-back", reveal: "show-me" };
const ALWAYS = { ArrowRight: "on", ArrowLeft: "back" };
// A presenter’s remote sends PageDown and PageUp, and some send F5, Escape, and a "b" or "." that turns the screen black.
const IN_SLIDES = {
  PageDown: "on",
  " ": "on",
  PageUp: "back",
  r: "reveal",
  f: "full",
  F5: "fill",
  b: "cover",
  ".": "cover",
  Escape: "leave",
};

// Where keys have a meaning of their own.
const WRITES = "input, textarea, select, canvas, [contenteditable], [role=slider], [role=tab], [role=radio], " +
  "[role=grid], [role=application], [role=listbox], [role=combobox], [role=menu], [role=dialog]";
const PRESSED = "button, a, summary, [role=button]"; // by the space bar

export default function render({ data, parentElement, setTriggerValue }) {
  return mount(Slides, parentElement.querySelector(".slides"), data, setTriggerValue);
}

// What a key asks for, be it in slides or not; undefined for nothing.
export function meant(event, slides) {
  if (event.defaultPrevented || event.repeat || event.isComposing) return undefined;
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return undefined;
  const within = (selector) => event.composedPath().some((element) => element.matches?.(selector));
  if (within(WRITES) || event.key === " " && within(PRESSED)) return undefined;
  const { key } = event;
  return ALWAYS[key] ?? (slides ? IN_SLIDES[key.length === 1 ? key.toLowerCase() : key] : undefined);
}

class Slides extends View {
  constructor(root) {
    super(root);
    this.button = root.querySelector("button");
    this.on = false;
    this.place = null; // lesson and step
    this.full = false; // the screen, which Escape gives back
    this.curtain = null; // what covers it while a class is to look elsewhere
    this.listenTo(this.button, "click", () => this.on ? this.leave() : this.enter());
    this.listenTo(globalThis, "keydown", (event) => this.key(event));
    this.listenTo(document, "fullscreenchange", () => this.changed());
    this.signal.addEventListener("abort", () => this.uncover());
  }

  update({ on, place }) {
    this.on = on;
    this.root.classList.toggle("on", on);
    this.button.textContent = on ? "Leave slides" : "Slides";
    // Another step begins at its top, wherever the last one was left.
    if (place !== this.place) document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
    this.place = place;
  }

  enter() {
    this.button.blur(); // so that Space goes on, and does not press it again
    this.fill();
    this.report("slides", true);
  }

  leave() {
    this.full = false;
    if (document.fullscreenElement) document.exitFullscreen();
    this.report("slides", false);
  }

  // A browser may refuse: slides are slides in a window, too.
  fill() {
    document.documentElement.requestFullscreen?.().then(() => (this.full = true), () => {});
  }

  // Browsers take Escape for themselves on a full screen, and tell only that it is over.
  changed() {
    if (!document.fullscreenElement && this.full) this.leave();
  }

  key(event) {
    const action = meant(event, this.on);
    if (!action) return;
    event.preventDefault();
    if (this.uncover() && (action === "cover" || action === "leave")) return;
    if (action === "leave") this.leave();
    else if (action === "cover") this.cover();
    else if (action === "fill" || action === "full" && !document.fullscreenElement) this.fill();
    else if (action === "full") {
      this.full = false;
      document.exitFullscreen();
    } else press(wayOn(action, this.on, (key) => buttonOf(key)?.disabled === false));
  }

  cover() {
    this.curtain = document.createElement("div");
    this.curtain.style.cssText =
      "position: fixed; inset: 0; z-index: 999999; background: canvas; filter: brightness(0); cursor: none";
    this.curtain.addEventListener("click", () => this.uncover());
    document.body.append(this.curtain);
  }

  // Whether there was something to take away.
  uncover() {
    const was = this.curtain !== null;
    this.curtain?.remove();
    this.curtain = null;
    return was;
  }
}

// The button for what was asked; in slides one goes on to the answer first. ``ready`` says whether one can be pressed.
export function wayOn(action, slides, ready) {
  return BUTTONS[action === "on" && slides && ready(BUTTONS.reveal) ? "reveal" : action];
}

/** @returns {HTMLButtonElement | null} */
function buttonOf(key) {
  return document.querySelector(`.st-key-${key} button`);
}

function press(key) {
  buttonOf(key)?.click();
}
