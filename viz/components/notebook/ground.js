// Whether a widget stands on something dark. Every kind of notebook says by a class or an attribute of its own that its
// theme is a dark one; what is behind the widget says it in all of them, and in a page that was exported.

import { isDark } from "../shared/screen.js";

const TELLING = [
  "class",
  "theme",
  "data-theme",
  "data-jp-theme-light",
  "data-jp-theme-name",
  "data-vscode-theme-kind",
];
const FADED = 400; // ms that a theme may take to come

const parentOf = (element) => element.parentElement ?? element.getRootNode().host ?? null;

// Red, green, blue and opacity, 0 to 255, of a colour as CSS writes it in any of its ways.
function pixelOf(colour) {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return context.getImageData(0, 0, 1, 1).data;
}

// Whether the colour behind an element is a dark one; null where nothing is painted there.
export function groundOf(element, { styleOf = getComputedStyle, pixel = pixelOf } = {}) {
  for (let at = parentOf(element); at; at = parentOf(at)) {
    const [red, green, blue, opacity] = pixel(styleOf(at).backgroundColor || "transparent");
    if (opacity > 127) return isDark(`rgb(${red}, ${green}, ${blue})`);
  }
  return null;
}

// What a document says of its theme where nothing is painted: VS Code by a class, Colab by an attribute, others by what
// they tell the browser. Null where it says nothing.
export function declaredBy({ body, documentElement: root }, styleOf = getComputedStyle) {
  const has = (name) => body.classList.contains(name);
  if (has("vscode-light") || has("vscode-high-contrast-light")) return false;
  if (has("vscode-dark") || has("vscode-high-contrast")) return true;
  const scheme = [root.getAttribute("theme"), styleOf(body).colorScheme].find((name) =>
    name === "dark" || name === "light"
  );
  return scheme ? scheme === "dark" : null;
}

export const isGroundDark = (element) =>
  groundOf(element) ?? declaredBy(document) ?? matchMedia("(prefers-color-scheme: dark)").matches;

// Calls act(dark) at once and whenever the theme may have changed, until the signal ends it.
export function onGround(element, act, signal) {
  let later = 0;
  const look = () => act(isGroundDark(element));
  const changed = () => {
    look();
    clearTimeout(later);
    later = setTimeout(look, FADED);
  };
  const themes = new MutationObserver(changed);
  for (const root of [document.documentElement, document.body]) {
    themes.observe(root, { attributes: true, attributeFilter: TELLING });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed, { signal });
  signal.addEventListener("abort", () => {
    themes.disconnect();
    clearTimeout(later);
  });
  look();
}
