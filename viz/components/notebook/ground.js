// Whether a widget stands on something dark. Every kind of notebook says by a class or an attribute of its own that its
// theme is a dark one; what is behind the widget says it in all of them, and in a page that was exported.

import { isDark } from "../shared/screen.js";

const SEE_THROUGH = /^(transparent|rgba\(.*, 0(\.[0-4]\d*)?\))$/;
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

// The colour behind an element, as browsers compute it; null where nothing is painted there.
export function groundOf(element, styleOf = getComputedStyle) {
  for (let at = parentOf(element); at; at = parentOf(at)) {
    const { backgroundColor } = styleOf(at);
    if (backgroundColor && !SEE_THROUGH.test(backgroundColor)) return backgroundColor;
  }
  return null;
}

export function isGroundDark(element) {
  const ground = groundOf(element);
  return ground ? isDark(ground) : matchMedia("(prefers-color-scheme: dark)").matches;
}

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
