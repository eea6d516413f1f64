// A PDF of an SVG document: shapes stay shapes, texts stay texts, and their font is in it (ISO 32000-1).

import { pathOf, piecesOf, rounded, segments, styleOf } from "./shapes.js";

const POINTS = 72 / 25.4; // in a mm
const OPERATORS = { M: "m", L: "l", C: "c", Z: "h" };
const PASSED_OVER = ["title", "desc", "metadata", "defs"];

// The file, as a Blob. The picture becomes `mm` wide; `about` is what it says of itself. Raises Error for what it cannot
// hold: nothing is left out in silence.
export async function pdfOf(svg, about, mm, font) {
  const root = svg.documentElement;
  const [, , width, height] = root.getAttribute("viewBox").split(" ").map(Number);
  const scale = mm * POINTS / width;
  const drawing = new Drawing(svg, font);
  drawing.operations.push("4 M", `${scale} 0 0 ${-scale} 0 ${height * scale} cm`);
  for (const child of root.children) drawing.draw(child, styleOf(root));
  const file = new File();
  const fonts = [];
  for (const weight of drawing.weights) fonts.push(`/${weight} ${await addFont(file, font[weight])} 0 R`);
  const states = [...drawing.alphas].map(([pair, name]) => `/${name} << /ca ${pair.replace(" ", " /CA ")} >>`);
  const content = await file.add("", drawing.operations.join("\n"));
  const page = file.objects.length + 1;
  await file.add(
    `/Type /Page /Parent ${page + 1} 0 R /MediaBox [0 0 ${rounded(width * scale)} ${rounded(height * scale)}] ` +
      `/Resources << /Font << ${fonts.join(" ")} >> /ExtGState << ${states.join(" ")} >> >> /Contents ${content} 0 R`,
  );
  await file.add(`/Type /Pages /Kids [${page} 0 R] /Count 1`);
  await file.add(`/Type /Catalog /Pages ${page + 1} 0 R`);
  const { title, description } = about;
  const entries = { Title: title, Subject: description, Keywords: JSON.stringify(about), Creator: "Inside BERT" };
  await file.add(Object.entries(entries).map(([name, text]) => `/${name} <feff${utf16(text)}>`).join(" "));
  return file.blob(`/Root ${page + 2} 0 R /Info ${page + 3} 0 R`);
}

// The operations that draw a page, in the document's units.
class Drawing {
  constructor(svg, font) {
    this.svg = svg;
    this.font = font;
    this.operations = [];
    this.current = {};
    this.alphas = new Map(); // names of pairs of opacities
    this.weights = new Set(); // of the font, in use
    this.pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  }

  draw(element, inherited) {
    const style = styleOf(element, inherited);
    if (PASSED_OVER.includes(element.localName) || style.opacity === 0) return;
    const matrix = element.transform?.baseVal.consolidate()?.matrix;
    const [, clip] = /#([^"')]+)/.exec(element.getAttribute("clip-path") ?? "") ?? [];
    const before = { ...this.current };
    const kept = matrix || clip;
    if (kept) this.operations.push("q");
    if (matrix) this.operations.push(`${[..."abcdef"].map((name) => rounded(matrix[name], 6)).join(" ")} cm`);
    if (clip) {
      const shapes = [...this.svg.getElementById(clip).children];
      this.operations.push(`${shapes.map((shape) => operators(pathOf(shape))).join(" ")} W n`);
    }
    const path = pathOf(element);
    if (path !== null) this.paint(path, style);
    else if (element.localName === "text") this.write(element, inherited);
    else if (element.localName === "g") { for (const child of element.children) this.draw(child, style); }
    else throw new Error("This picture has parts that a PDF cannot hold. Save it as SVG or PNG.");
    if (!kept) return;
    this.operations.push("Q");
    this.current = before;
  }

  paint(path, style) {
    const ways = this.ink(style);
    if (path && ways) this.operations.push(`${operators(path)} ${ways}`);
  }

  // Puts the inks of a style into force, and gives the operator that paints with them.
  ink(style) {
    const [fill, fillAlpha] = this.colour(style.fill, style["fill-opacity"] * style.opacity);
    const width = Number.parseFloat(style["stroke-width"]);
    const [stroke, strokeAlpha] = this.colour(width ? style.stroke : "none", style["stroke-opacity"] * style.opacity);
    const alphas = `${fillAlpha} ${strokeAlpha}`;
    if (!this.alphas.has(alphas)) this.alphas.set(alphas, `A${this.alphas.size}`);
    const dashes = (style["stroke-dasharray"].match(/[\d.]+/g) ?? []).map(Number);
    const inks = { alphas: `/${this.alphas.get(alphas)} gs` };
    if (fill) inks.fill = `${fill} rg`;
    if (stroke) {
      inks.stroke = `${stroke} RG ${rounded(width)} w [${dashes.some(Boolean) ? dashes.join(" ") : ""}] 0 d`;
    }
    for (const [name, ink] of Object.entries(inks)) if (this.current[name] !== ink) this.operations.push(ink);
    Object.assign(this.current, inks);
    return fill ? (stroke ? "B" : "f") : stroke && "S";
  }

  // A colour as three numbers, null where it cannot be seen, and its opacity.
  colour(name, opacity) {
    if (name === "none" || !opacity) return [null, 1];
    this.pixel.clearRect(0, 0, 1, 1);
    this.pixel.fillStyle = name;
    this.pixel.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = [...this.pixel.getImageData(0, 0, 1, 1).data].map((part) => part / 255);
    return alpha ? [[red, green, blue].map((part) => rounded(part)).join(" "), rounded(alpha * opacity)] : [null, 1];
  }

  write(text, inherited) {
    for (const { glyphs, weight, style, x, y } of piecesOf(text, inherited, this.font)) {
      if (!this.ink({ ...style, stroke: "none" })) continue;
      this.weights.add(weight);
      const place = `/${weight} ${rounded(style.size)} Tf 1 0 0 -1 ${rounded(x)} ${rounded(y)} Tm`;
      this.operations.push(`BT ${place} <${glyphs.map(([glyph]) => hex(glyph)).join("")}> Tj ET`);
    }
  }
}

// Adds a font of these letters, whose codes are its glyphs, with what each of them is copied as.
async function addFont(file, { name, letters, metrics, bytes }) {
  const glyphs = new Map();
  for (const [letter, [glyph, width]] of Object.entries(letters)) {
    if (!glyphs.has(glyph)) glyphs.set(glyph, [width, letter]);
  }
  const base = `/BaseFont /INSIDE+${name}`;
  const data = await file.add(`/Length1 ${bytes.length}`, bytes);
  const { box, ascent, descent, capitals } = metrics;
  const described = await file.add(
    `/Type /FontDescriptor /FontName /INSIDE+${name} /Flags 4 /FontBBox [${box.join(" ")}] /ItalicAngle 0 ` +
      `/Ascent ${ascent} /Descent ${descent} /CapHeight ${capitals} /StemV 80 /FontFile2 ${data} 0 R`,
  );
  const widths = [...glyphs].map(([glyph, [width]]) => `${glyph} [${rounded(width)}]`).join(" ");
  const inside = await file.add(
    `/Type /Font /Subtype /CIDFontType2 ${base} /FontDescriptor ${described} 0 R /CIDToGIDMap /Identity ` +
      `/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /W [${widths}]`,
  );
  const copied = [...glyphs].map(([glyph, [, letter]]) => `1 beginbfchar <${hex(glyph)}> <${utf16(letter)}> endbfchar`);
  const map = await file.add(
    "",
    "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def /CMapName /Letters def\n" +
      `1 begincodespacerange <0000> <ffff> endcodespacerange\n${copied.join("\n")}\n` +
      "endcmap CMapName currentdict /CMap defineresource pop end end",
  );
  return await file.add(
    `/Type /Font /Subtype /Type0 ${base} /Encoding /Identity-H /DescendantFonts [${inside} 0 R] /ToUnicode ${map} 0 R`,
  );
}

// The objects of a PDF, counted from 1, one behind the other.
class File {
  constructor() {
    this.objects = []; // where each begins
    /** @type {BlobPart[]} */
    this.parts = [];
    this.length = 0;
    this.put("%PDF-1.7\n");
  }

  // Adds a dictionary, with a stream if one is given, and gives its number.
  async add(dictionary, stream = null) {
    this.objects.push(`${String(this.length).padStart(10, "0")} 00000 n \n`);
    const packed = stream && new Uint8Array(
      await new Response(new Blob([stream]).stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer(),
    );
    const length = packed ? `/Filter /FlateDecode /Length ${packed.length}` : "";
    this.put(`${this.objects.length} 0 obj\n<< ${dictionary} ${length} >>\n`);
    if (packed) { for (const part of ["stream\n", packed, "\nendstream\n"]) this.put(part); }
    this.put("endobj\n");
    return this.objects.length;
  }

  put(part) {
    this.parts.push(part);
    this.length += part.length;
  }

  blob(trailer) {
    const size = this.objects.length + 1;
    const table = `xref\n0 ${size}\n0000000000 65535 f \n${this.objects.join("")}`;
    const end = `trailer\n<< /Size ${size} ${trailer} >>\nstartxref\n${this.length}\n%%EOF\n`;
    return new Blob([...this.parts, table, end], { type: "application/pdf" });
  }
}

function operators(path) {
  return segments(path).map(([kind, ...numbers]) =>
    [...numbers.map((number) => rounded(number)), OPERATORS[kind]].join(" ")
  )
    .join(" ");
}

function hex(code) {
  return code.toString(16).padStart(4, "0");
}

function utf16(text) {
  return Array.from({ length: text.length }, (_, at) => hex(text.charCodeAt(at))).join("");
}
