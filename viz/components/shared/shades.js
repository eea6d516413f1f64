// Colours of the cells: the scale in shades, the shade of a number, and an image of a pixel a number.

import { clamp } from "./numbers.js";

export const SHADES = 256;

// How a number becomes a place on the scale, 0 to 1, and which place is that of zero.
const BENDS = {
  root: { bend: Math.sqrt, zero: 0 },
  "root both ways": {
    bend: (place) => (1 + Math.sign(place - 0.5) * Math.sqrt(Math.abs(2 * place - 1))) / 2,
    zero: 0.5,
  },
};

// The scale in 256 shades as red, green, blue, alpha, between its evenly spaced colours.
export function shadesOf(colours) {
  const channels = colours.map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
  const shades = new Uint8ClampedArray(4 * SHADES);
  for (let shade = 0; shade < SHADES; shade++) {
    const place = (shade / (SHADES - 1)) * (colours.length - 1);
    const before = Math.min(Math.floor(place), colours.length - 2);
    for (let channel = 0; channel < 3; channel++) {
      const [from, to] = [channels[before][channel], channels[before + 1][channel]];
      shades[4 * shade + channel] = from + (to - from) * (place - before);
    }
    shades[4 * shade + 3] = 255;
  }
  return shades;
}

// Places in the shades of `pixels` = [wide, high] pixels. Where a device has fewer of them than there are cells, a pixel
// shows the cell farthest from zero.
export function levelsOf({ weights, queries, keys, limits, bend: name }, [wide, high]) {
  const { bend, zero } = BENDS[name];
  const [n, m] = [queries.length, keys.length];
  const middle = zero * (SHADES - 1);
  const levels = new Uint8Array(wide * high).fill(Math.round(middle));
  for (let row = 0; row < n; row++) {
    const start = Math.floor((row * high) / n) * wide;
    for (let column = 0; column < m; column++) {
      const place = clamp((weights[row * m + column] - limits[0]) / (limits[1] - limits[0]), 0, 1);
      const level = Math.round(bend(place) * (SHADES - 1));
      const at = start + Math.floor((column * wide) / m);
      if (Math.abs(level - middle) > Math.abs(levels[at] - middle)) levels[at] = level;
    }
  }
  return levels;
}

// The whole scale as an image, for a bar that explains it.
export const barOf = (shades) => imageOf(Uint8Array.from({ length: SHADES }, (_, shade) => shade), SHADES, 1, shades);

// An image of a pixel a number: `levels` are places in the shades.
export function imageOf(levels, width, height, shades) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const colours = new Uint32Array(shades.buffer);
  for (let at = 0; at < levels.length; at++) pixels[at] = colours[levels[at]];
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}
