// Numbers within limits, and how they are written.

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// With two decimals, or more where all numbers up to the `largest` are small.
export const decimal = (value, largest) => value.toFixed(Math.max(2, 1 - Math.floor(Math.log10(largest))));

// The sign that stands before the size of a number; that of a `signed` one is always told.
export const signOf = (value, signed) => (value < 0 ? "−" : signed && value > 0 ? "+" : "");
