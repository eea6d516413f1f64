// Sketch: a prediction by drawing. A bar a label is as long as the reader makes it, by pointer over one row after the
// other or by keyboard; "Compare" reports the lengths, and the model's own then stand under them.

import { isDark } from "../shared/screen.js";
import { viewOf } from "../shared/view.js";

const STEPS = 35; // levels of a bar, as an address holds them

export default function render({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".sketch");
  const view = viewOf(root, Sketch);
  view.report = setTriggerValue;
  view.update(data);
}

// A height as it is written: a share as percent, anything else as a number.
export function written(value, unit) {
  if (unit === "%") return `${Math.round(value * 100)}%`;
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)}${unit}`.replace("-", "−");
}

// Which level a pointer means, from where it is in a track: 0 at its left end, all at its right.
export const levelAt = (x, { left, width }) => Math.round(Math.min(Math.max((x - left) / width, 0), 1) * STEPS);

class Sketch {
  constructor(root) {
    this.root = root;
    this.rows = root.querySelector(".rows");
    this.legend = root.querySelector(".legend");
    this.button = root.querySelector(".compare");
    this.data = null;
    this.report = (_name, _value) => {}; // Streamlit's, set at every run
    this.button.addEventListener("click", () => this.report("drawn", this.heights()));
    this.rows.addEventListener("pointerdown", (event) => this.begin(event));
    this.rows.addEventListener("pointermove", (event) => this.drawing && this.draw(event));
    for (const end of ["pointerup", "pointercancel"]) this.rows.addEventListener(end, () => (this.drawing = false));
    this.drawing = false;
  }

  update(data) {
    const same =
      JSON.stringify([data.labels, data.question]) === JSON.stringify([this.data?.labels, this.data?.question]);
    const drawn = same && !data.drawn ? this.heights() : data.drawn;
    this.data = data;
    if (!same) this.build();
    const dark = isDark(
      `rgb(${getComputedStyle(this.root).color.match(/[\d.]+/g).map((part) => 255 - Number(part)).slice(0, 3)})`,
    );
    this.root.style.setProperty("--its", dark ? data.dark_colour : data.colour);
    this.inputs.forEach((input, place) => {
      input.value = String(Math.round((drawn?.[place] ?? 0) / data.top * STEPS));
    });
    const compared = data.truth !== null;
    this.root.classList.toggle("compared", compared);
    this.legend.hidden = !compared;
    this.button.textContent = compared ? "Compare again" : "Compare with the model";
    this.write();
  }

  build() {
    this.rows.replaceChildren(...this.data.labels.map((label, place) => row(label, place)));
    this.inputs = [...this.rows.querySelectorAll("input")];
    this.outputs = [...this.rows.querySelectorAll("output")];
    this.inputs.forEach((input) => input.addEventListener("input", () => this.write()));
  }

  heights() {
    return this.inputs.map((input) => Number(input.value) / STEPS * this.data.top);
  }

  write() {
    const { truth, top, unit } = this.data;
    this.heights().forEach((height, place) => {
      const input = this.inputs[place];
      input.style.setProperty("--mine", `${height / top * 100}%`);
      input.setAttribute("aria-valuetext", written(height, unit));
      const its = truth === null ? "" : written(truth[place], unit);
      input.parentElement.style.setProperty("--truth", truth === null ? "0%" : `${truth[place] / top * 100}%`);
      const mine = document.createElement("span");
      mine.textContent = written(height, unit);
      const model = document.createElement("span");
      model.className = "its";
      model.textContent = its && ` ${its}`;
      this.outputs[place].replaceChildren(mine, model);
    });
  }

  begin(event) {
    if (event.button !== 0 || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    event.target.focus();
    this.rows.setPointerCapture(event.pointerId);
    this.drawing = true;
    this.draw(event);
  }

  // The row nearest to the pointer takes its place: one stroke draws all of them.
  draw({ clientX, clientY }) {
    const places = this.inputs.map((input) => input.getBoundingClientRect());
    const away = places.map(({ top, bottom }) => Math.abs((top + bottom) / 2 - clientY));
    const nearest = away.indexOf(Math.min(...away));
    this.inputs[nearest].value = String(levelAt(clientX, places[nearest]));
    this.write();
  }
}

function row(text, place) {
  const whole = document.createElement("div");
  whole.className = "row";
  const label = document.createElement("label");
  label.textContent = label.title = text;
  label.htmlFor = `bar-${place}`;
  const track = document.createElement("div");
  track.className = "track";
  const input = document.createElement("input");
  Object.assign(input, { type: "range", id: `bar-${place}`, min: "0", max: String(STEPS), step: "1", value: "0" });
  input.setAttribute("aria-label", text);
  const bar = document.createElement("span");
  bar.className = "bar";
  track.append(input, bar);
  whole.append(label, track, document.createElement("output"));
  return whole;
}
