// What BertViz's head_view.js and model_view.js ask of require.js, d3 5 and jQuery, and nothing more, so that they run
// unchanged without a network; and their parameters.

import { d3 } from "./d3.js";
import { jquery } from "./jquery.js";
import { parameters } from "./parameters.js";

const modules = { d3, jquery };
globalThis.require = { config() {} };
globalThis.requirejs = (names, use) => use(...names.map((name) => modules[name]));

// The model view draws at a width of its own: as a view box it can be fitted into any other.
const fitted = () => {
  for (const drawn of document.querySelectorAll('[data-view="model"] #vis > svg')) {
    drawn.setAttribute("viewBox", `0 0 ${drawn.getAttribute("width")} ${drawn.getAttribute("height")}`);
  }
};
new MutationObserver(fitted).observe(document.getElementById("vis"), { childList: true });

globalThis.bertvizParams = () => {
  const { colours, ...data } = JSON.parse(document.getElementById("bertviz-data").textContent);
  d3.schemeCategory10 = colours;
  return parameters(data);
};
