// The numbers of a payload: those of the followed token exactly, the others as they were rounded, and images of both.

import { imageOf } from "../shared/shades.js";

const MIDDLE = 127; // the shade of zero, in a scale that runs both ways

// Whether the text runs through the picture by itself, and a click leads to another page instead of a table.
export const runs = (data) => Object.keys(data.opens).length > 0;

export class Values {
  constructor(data) {
    this.data = data;
    const n = data.tokens.length;
    const bytes = data.weights.slice().buffer;
    let at = 0;
    const take = (Kind, count) => {
      const taken = new Kind(bytes, at, count);
      at += taken.byteLength;
      return taken;
    };
    this.exact = runs(data) ? null : data.stages.map(({ size }) => take(Float32Array, size));
    this.attended = take(Float32Array, n);
    this.scores = data.scores ? take(Float32Array, n) : null;
    this.stages = data.stages.map(({ cells }) => take(Int8Array, n * cells));
    this.states = data.states.map(() => take(Int8Array, n * data.state_cells));
    this.attention = take(Uint8Array, n * n);
    this.flows = data.flows ? Array.from({ length: data.n_layers }, () => take(Uint8Array, n * n)) : null;
  }

  // The weight that a token (row) gives another one in the layer between two states.
  flow(layer, row, column) {
    return (this.flows[layer][row * this.data.tokens.length + column] / 255) ** 2;
  }

  columnsOf(part) {
    if (part.kind === "strip") return this.data.stages[part.index].size;
    return part.kind === "card" ? this.data.state_cells : this.data.tokens.length;
  }

  // The number of a token and a dimension (or key): {value, exact, per}, where `per` dimensions share a rounded one.
  at(part, row, column) {
    const { position, tokens, stages } = this.data;
    const followed = row === position;
    if (part.kind === "matrix") {
      if (followed) return { value: this.attended[column], exact: true, per: 1 };
      return { value: (this.attention[row * tokens.length + column] / 255) ** 2, exact: false, per: 1 };
    }
    if (followed) return { value: this.exact[part.index][column], exact: true, per: 1 };
    const { per, cells, scale } = stages[part.index];
    const q = this.stages[part.index][row * cells + Math.floor(column / per)];
    return { value: dequantized(q, scale), exact: false, per };
  }
}

export const dequantized = (q, scale) => (scale * q * Math.abs(q)) / (127 * 127);

// Of strips of numbers, their shades: `levels` (rows, cells), then as many half as long as it takes. A cell of two has their
// mean size (the shade grows with the root of a number) and the sign of the larger, so that a strip is as strong in
// colour at any size.
export function shadesOfStrips(levels, cells) {
  const all = [{ levels, cells }];
  while (all.at(-1).cells > 8) {
    const { levels: fine, cells: wide } = all.at(-1);
    const half = Math.ceil(wide / 2);
    const rows = fine.length / wide;
    const coarse = new Uint8Array(rows * half);
    for (let row = 0; row < rows; row++) {
      for (let cell = 0; cell < half; cell++) {
        const left = fine[row * wide + 2 * cell];
        const right = 2 * cell + 1 < wide ? fine[row * wide + 2 * cell + 1] : left;
        const [a, b] = [left - MIDDLE, right - MIDDLE];
        const sign = Math.sign(Math.abs(b) > Math.abs(a) ? b : a);
        coarse[row * half + cell] = MIDDLE + sign * Math.round(Math.sqrt((a * a + b * b) / 2));
      }
    }
    all.push({ levels: coarse, cells: half });
  }
  return all;
}

// Images of the same strips, finest first; made when they are looked at.
export class Images {
  constructor(levels, cells, shades) {
    this.all = shadesOfStrips(levels, cells).map((strip) => ({ ...strip, image: null }));
    this.shades = shades;
  }

  // The finest whose cells have a pixel each across so many.
  fitting(pixels) {
    const strip = this.all.find(({ cells }) => cells <= pixels) ?? this.all.at(-1);
    strip.image ??= imageOf(strip.levels, strip.cells, strip.levels.length / strip.cells, this.shades);
    return strip.image;
  }
}

// The shades of rounded numbers.
export const levelsOf = (rounded) => Uint8Array.from(rounded, (q) => q + MIDDLE);

// The place of a number in 256 shades, with a scale's largest; as cells are rounded, evenly in the root.
export const shadeOf = (value, scale) =>
  MIDDLE + Math.round(127 * Math.sign(value) * Math.sqrt(Math.min(1, Math.abs(value) / (scale || 1))));
