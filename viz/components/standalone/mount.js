// Mounts a component with the data of a page of its own, and saves its picture. There is no Python to report to: what
// the component tells is dropped.

import { download, pngOf, svgText } from "../shared/files.js";
import { drawn } from "../shared/saving.js";

const SVG = "image/svg+xml";

// A field of the payload as the component takes it: bytes were written as base64.
export function decode(value) {
  if (typeof value?.base64 !== "string") return value;
  const text = atob(value.base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at); // many times faster than with a callback
  return bytes;
}

export function mount(render) {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const data = Object.fromEntries(Object.entries(read("data")).map(([name, value]) => [name, decode(value)]));
  const [parentElement, ignore] = [document.getElementById("view"), () => {}];
  render({ data, parentElement, setStateValue: ignore, setTriggerValue: ignore, key: "view" });
  const saving = /** @type {any} */ (document.querySelector(".saving"));
  saving.hidden = !data.file;
  saving.addEventListener("click", ({ target: { dataset: { kind } } }) => {
    if (kind) save(kind, data.file, read("file"));
  });
}

// The picture as a file, in the look and of the size that the page was given for it.
async function save(kind, name, { look, mm, scale, about }) {
  const { namespaceURI: namespace } = new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg");
  const text = svgText(await drawn(name, look, namespace), about, mm);
  const file = kind === "svg" ? new Blob([text], { type: SVG }) : await pngOf(text, about, scale);
  if (file) download(file, `${name}.${kind}`);
}
