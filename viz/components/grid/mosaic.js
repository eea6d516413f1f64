// All thumbnails as one image of the screen's own pixels: places in the shades, and nothing between the cells yet.

// `ratio` device pixels a CSS pixel. Where a thumbnail has more pixels than the screen has for it, each shows its largest.
export function mosaicOf({ weights, shape, heads }, { across, down }, ratio) {
  const [layers, widest, rows, columns] = shape;
  const [xs, ys] = [edges(widest, across, ratio), edges(layers, down, ratio)];
  const [width, height] = [xs[widest], ys[layers]];
  const levels = new Uint8Array(width * height);
  for (let layer = 0; layer < layers; layer++) {
    const vertical = spans(ys[layer + 1] - ys[layer], rows);
    for (let head = 0; head < heads[layer]; head++) {
      const horizontal = spans(xs[head + 1] - xs[head], columns);
      const start = (layer * widest + head) * rows * columns;
      for (let y = 0; y < vertical.length; y++) {
        const line = (ys[layer] + y) * width + xs[head];
        const [from, to] = vertical[y];
        if (vertical[y - 1]?.[0] === from && vertical[y - 1][1] === to) {
          levels.copyWithin(line, line - width, line - width + horizontal.length);
          continue;
        }
        for (let x = 0; x < horizontal.length; x++) {
          let largest = 0;
          for (let row = from; row < to; row++) {
            for (let column = horizontal[x][0]; column < horizontal[x][1]; column++) {
              largest = Math.max(largest, weights[start + row * columns + column]);
            }
          }
          levels[line + x] = largest;
        }
      }
    }
  }
  return { levels, width, height };
}

const edges = (n, size, ratio) => Array.from({ length: n + 1 }, (_, at) => Math.round(at * size * ratio));

// Which of n numbers each of so many pixels shows: from, and up to.
function spans(pixels, n) {
  return Array.from({ length: pixels }, (_, pixel) => {
    const from = Math.floor((pixel * n) / pixels);
    return [from, Math.max(from + 1, Math.floor(((pixel + 1) * n) / pixels))];
  });
}
