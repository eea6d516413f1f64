// Saves what BertViz has drawn as SVG or PNG. Follows pens.js in one script.

// The drawing as a document of its own: the page's rules, with their variables filled in, come along.
function standaloneSvg() {
  const drawn = document.querySelector("#vis svg");
  const { width, height } = drawn.getBoundingClientRect();
  const copy = drawn.cloneNode(true);
  const page = getComputedStyle(document.documentElement);
  const style = document.createElementNS(copy.namespaceURI, "style");
  const rules = document.querySelector("style").textContent;
  style.textContent = rules.replace(/var\((--[\w-]+)\)/g, (_, name) => page.getPropertyValue(name).trim());
  const ground = document.createElementNS(copy.namespaceURI, "rect");
  const { view } = document.getElementById("bertviz").dataset;
  const attributes = [
    [copy, { width, height, "data-theme": document.documentElement.dataset.theme, "data-view": view }],
    [ground, { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor }],
  ];
  for (const [element, values] of attributes) {
    for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
  }
  copy.setAttribute("font-family", getComputedStyle(document.body).fontFamily);
  copy.prepend(style, ground);
  return { svg: new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }), width, height };
}

async function rasterized({ svg, width, height }) {
  const image = Object.assign(new Image(), { src: URL.createObjectURL(svg) });
  await image.decode();
  URL.revokeObjectURL(image.src);
  const ratio = sharpest(SHARPNESS, width, height);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

for (const button of document.querySelectorAll(".saving button")) {
  button.addEventListener("click", async () => {
    if (button.ariaBusy === "true") return;
    button.ariaBusy = "true"; // a PNG of many lines takes seconds
    const { kind } = button.dataset;
    const drawing = standaloneSvg();
    const file = kind === "svg" ? drawing.svg : await rasterized(drawing);
    button.ariaBusy = "false";
    if (file) download(file, `bertviz-${document.getElementById("bertviz").dataset.view}.${kind}`);
  });
}
