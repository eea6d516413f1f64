// Files of a picture: an SVG document gets its size in print and says what it is; a PNG is made of it and says the same.

import { sharpest } from "./screen.js";

const MM = 25.4 / 96; // of a CSS pixel
const UNPRINTABLE = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu; // what XML cannot hold

// The text of an SVG document (drawn by `drawn` or `plotted`) that is `mm` wide. `about` is what it is: title,
// description, and what else there is to say, by its name.
export function svgText(svg, about, mm) {
  const root = svg.documentElement;
  const [, , width, height] = root.getAttribute("viewBox").split(" ").map(Number);
  root.setAttribute("width", `${mm}mm`);
  root.setAttribute("height", `${Math.round((mm * height * 100) / width) / 100}mm`);
  root.setAttribute("role", "img");
  const { title, description } = about;
  const notes = [["title", title], ["desc", description], ["metadata", JSON.stringify(about, null, 1)]];
  const elements = notes.map(([tag, text]) => {
    const element = svg.createElementNS(root.namespaceURI, tag);
    element.textContent = text.replace(UNPRINTABLE, "\uFFFD");
    return element;
  });
  root.prepend(...elements);
  return new XMLSerializer().serializeToString(svg);
}

// A PNG of an SVG's text, with `scale` pixels a CSS pixel or as many as a canvas can bear, as a Blob. Null where memory
// does not suffice.
export async function pngOf(text, about, scale) {
  const image = Object.assign(new Image(), { src: `data:image/svg+xml,${encodeURIComponent(text)}` });
  await image.decode();
  const canvas = document.createElement("canvas");
  const ratio = sharpest(scale, image.width, image.height);
  [canvas.width, canvas.height] = [image.width, image.height].map((side) => Math.round(side * ratio));
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  return blob && new Blob([described(new Uint8Array(await blob.arrayBuffer()), about, ratio)], { type: "image/png" });
}

// The bytes of a PNG with what it is, as texts (iTXt, UTF-8), and its pixels a metre (pHYs), behind its header.
export function described(png, about, scale) {
  const HEADER = 33; // the signature, and the chunk that says its size
  const perMetre = Math.round((scale * 1000) / MM);
  const size = new Uint8Array(9);
  const view = new DataView(size.buffer);
  view.setUint32(0, perMetre);
  view.setUint32(4, perMetre);
  size[8] = 1;
  const texts = Object.entries(about).map(([name, text]) =>
    chunk("iTXt", new TextEncoder().encode(`${name}\0\0\0\0\0${text}`))
  );
  const parts = [png.subarray(0, HEADER), chunk("pHYs", size), ...texts, png.subarray(HEADER)];
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function chunk(type, data) {
  const bytes = new Uint8Array(12 + data.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(data, 8);
  view.setUint32(8 + data.length, checksum(bytes.subarray(4, 8 + data.length)));
  return bytes;
}

// CRC-32, as PNG has it.
function checksum(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

export function download(blob, file) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // browsers read the file some time after the click
}
