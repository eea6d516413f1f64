// Gives what BertViz has drawn as SVG to the page around, which asks by a message.

const LOOKS = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-opacity",
  "stroke-width",
  "font-size",
  "text-anchor",
  "opacity",
];

// The drawing as a document of its own, in a look's colours for a moment; what cannot be seen is left out.
function standaloneSvg(look) {
  const { dataset, style } = document.documentElement;
  const theme = dataset.theme;
  const roles = ["background", "surface", "text", "muted", "line", "primary"];
  dataset.theme = look.dark ? "dark" : "light";
  for (const role of roles) style.setProperty(`--${role}`, look[role]);
  const drawn = /** @type {any} */ (document.querySelector("#vis svg"));
  const copy = drawn.cloneNode(true);
  const parts = [...drawn.querySelectorAll("*")].map(seen);
  const elements = [...copy.querySelectorAll("*")];
  elements.forEach((element, at) => {
    for (const [name, value] of Object.entries(parts[at].attributes)) element.setAttribute(name, value);
    for (const name of ["style", "class"]) element.removeAttribute(name);
  });
  elements.forEach((element, at) => parts[at].hidden && element.remove());
  const { x, y, width, height } = drawn.getBBox();
  dataset.theme = theme;
  for (const role of roles) style.removeProperty(`--${role}`);
  const ground = document.createElementNS(copy.namespaceURI, "rect");
  const set = (element, values) => {
    for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
  };
  for (const name of ["style", "fill"]) copy.removeAttribute(name);
  set(copy, { viewBox: `${x} ${y} ${width} ${height}`, "font-family": look.font });
  set(ground, { x, y, width, height, fill: look.background });
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

// What an element looks like, and whether it is to be seen at all.
function seen(element) {
  const style = getComputedStyle(element);
  const attributes = Object.fromEntries(LOOKS.map((name) => [name, style.getPropertyValue(name)]));
  const hidden = style.display === "none" || style.visibility === "hidden" || style.opacity === "0" ||
    (element.tagName === "line" && Number(style.strokeOpacity) === 0);
  return { attributes, hidden };
}

addEventListener("message", ({ data, ports: [port] }) => {
  if (data?.look && port) port.postMessage(standaloneSvg(data.look));
});
