// A strip of words that wraps like text and runs in its direction: what each looks like, and the next one along a key.

import { element } from "../shared/elements.js";
import { hasLetters } from "./weights.js";

export class Strip {
  constructor() {
    this.element = element("div", { className: "strip", role: "group" });
    this.words = [];
  }

  build(words, side) {
    this.side = side;
    this.words = words.map((word, index) => wordElement(word, goesOn(words, index)));
    this.tight = words.map(({ text, space }, index) => text.length < 3 && (!space || goesOn(words, index)));
    const lines = [];
    words.forEach((word, index) => {
      const { segment, space, piece, dir } = word;
      const begins = index === 0 || segment !== words[index - 1].segment;
      if (begins) lines.push(element("p", { dir }));
      else if (space) lines.at(-1).append(" ");
      // Each word runs as its letters do, and a bracket as the text does.
      if (begins || !piece) {
        lines.at(-1).append(element("bdi", { dir: hasLetters(word) ? "auto" : dir }));
      }
      lines.at(-1).lastChild.append(this.words[index]);
    });
    this.element.replaceChildren(...lines);
    this.forget();
    this.frames = [];
    this.pressed = null;
  }

  // What the words look like is no longer known.
  forget() {
    this.shades = new Int16Array(this.words.length).fill(-1);
    this.numbers = this.words.map(() => null);
  }

  // Tints the words: `shades` are places in `scale` [ground, text], 0 for none; `numbers` stand below. Only words that
  // change are touched.
  light(shades, numbers, scale) {
    for (let index = 0; index < this.words.length; index++) {
      const word = this.words[index];
      if (this.shades[index] !== shades[index]) {
        const lit = (this.shades[index] = shades[index]) > 0;
        const [ground, ink] = lit ? scale[shades[index]] : ["", ""];
        word.style.backgroundColor = ground;
        word.style.color = ink;
        word.classList.toggle("lit", lit);
      }
      if (this.numbers[index] !== numbers[index]) {
        this.numbers[index] = numbers[index];
        const short = numbers[index].replace(/^0(?=\.\d{3})/, ""); // .012 takes no more room than 0.12
        word.dataset.number = this.tight[index] ? short.replace("%", "") : short;
      }
    }
  }

  // Frames {index, other}; `other` is drawn as the one that is looked at.
  frame(frames) {
    for (const { index } of this.frames) this.words[index].classList.remove("framed", "other");
    for (const { index, other } of frames) {
      this.words[index].classList.add("framed");
      this.words[index].classList.toggle("other", other);
    }
    this.frames = frames;
  }

  press(pressed) {
    if (pressed === this.pressed) return;
    this.words[this.pressed]?.setAttribute("aria-pressed", "false");
    this.words[pressed]?.setAttribute("aria-pressed", "true");
    this.pressed = pressed;
  }

  indexOf(target) {
    return this.words.indexOf(target.closest(".word"));
  }
}

// Whether the next word follows without a space.
function goesOn(words, index) {
  const next = words[index + 1];
  return next !== undefined && !next.space && next.segment === words[index].segment;
}

function wordElement({ text, token, space, special }, goesOn) {
  const { length } = text;
  const title = token === text ? "" : `token ${token}`;
  const word = element("span", { className: "word", tabIndex: -1, role: "button", ariaPressed: "false", title }, text);
  word.classList.toggle("special", special);
  word.classList.toggle("joined", !space);
  word.classList.toggle("goes-on", goesOn);
  if (!special && length < 3) word.classList.add(length === 1 ? "tiny" : "short");
  return word;
}

// Where a key leads from one of so many places: along them, or to the nearest on the line above or below. `boxes` are
// where they are on the screen, asked for only when they are needed. Undefined for any other key.
export function moved(key, from, count, rightToLeft, boxes) {
  const onward = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (onward) return Math.min(Math.max(from + (rightToLeft ? -onward : onward), 0), count - 1);
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (key === "ArrowUp" || key === "ArrowDown") return nearest(boxes(), from, key === "ArrowDown" ? 1 : -1);
  return undefined;
}

function nearest(boxes, from, way) {
  const middle = ({ left, right }) => (left + right) / 2;
  const half = (boxes[from].bottom - boxes[from].top) / 2;
  const away = boxes.map(({ top }) => (top - boxes[from].top) * way);
  const line = Math.min(...away.filter((distance) => distance > half)); // of the next line
  let best = from;
  let least = Infinity;
  boxes.forEach((box, index) => {
    const distance = Math.abs(middle(box) - middle(boxes[from]));
    if (Math.abs(away[index] - line) < half && distance < least) [best, least] = [index, distance];
  });
  return best;
}
