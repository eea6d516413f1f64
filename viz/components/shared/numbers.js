// Numbers within limits, and how they are written.

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// Places of the largest sizes among numbers, from the largest down: at most so many, and none of them zero. Of sizes that
// are alike the first one comes first.
export function largest(numbers, count, { from = 0, to = numbers.length, skips = null } = {}) {
  const best = [];
  for (let at = from; at < to; at++) {
    const size = Math.abs(numbers[at]);
    if (!(size > 0) || (best.length === count && size <= Math.abs(numbers[best[count - 1]])) || skips?.(at)) continue;
    const place = best.findIndex((other) => Math.abs(numbers[other]) < size);
    best.splice(place < 0 ? best.length : place, 0, at);
    best.length = Math.min(best.length, count);
  }
  return best;
}

// With two decimals, or more where all numbers up to the `largest` are small.
export const decimal = (value, largest) => value.toFixed(Math.max(2, 1 - Math.floor(Math.log10(largest))));

// The sign that stands before the size of a number; that of a `signed` one is always told.
export const signOf = (value, signed) => (value < 0 ? "−" : signed && value > 0 ? "+" : "");
