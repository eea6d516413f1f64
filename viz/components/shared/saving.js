// Pictures as files: what is drawn becomes SVG or PNG, and a button saves it.

import { CanvasPen, SHARPNESS, SvgPen } from "./pens.js";
import { sharpest } from "./screen.js";

// What a picture (width, height, font, draw(pen)) shows, as a file: SVG or PNG. Null where memory does not suffice.
export function pictureFile(picture, kind, namespace) {
  const { width, height, font } = picture;
  if (kind === "svg") {
    const pen = new SvgPen(namespace, width, height, font);
    picture.draw(pen);
    return new Blob([pen.finish()], { type: "image/svg+xml" });
  }
  return pngOf(width, height, (context, ratio) => picture.draw(new CanvasPen(context, ratio, font)));
}

// A PNG of what is drawn on a canvas of so many CSS pixels. Null where memory does not suffice.
export function pngOf(width, height, draw) {
  const ratio = sharpest(SHARPNESS, width, height);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  draw(context, ratio);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// Saves the picture that `picture()` gives, under the name of `name()`, when one of the buttons in `saving` is clicked,
// and tells `done` whether memory sufficed. The namespace of SVG is that of the icons on the buttons.
export function onSave(saving, name, picture, signal, done = (_saved) => {}) {
  saving.addEventListener("click", async (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const { namespaceURI } = button.querySelector("svg");
    done(await saveFrom(button, name(), (kind) => pictureFile(picture(), kind, namespaceURI)));
  }, { signal });
}

// Saves what `make(kind)` gives for the button's kind under a name, once at a time; false where it gave nothing.
export async function saveFrom(button, name, make) {
  if (button.ariaBusy === "true") return true;
  button.ariaBusy = "true"; // a PNG of many lines takes seconds
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
  const { kind } = button.dataset;
  const file = await make(kind);
  button.ariaBusy = "false";
  if (file) download(file, `${name}.${kind}`);
  return file !== null;
}

function download(blob, file) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // browsers read the file some time after the click
}
