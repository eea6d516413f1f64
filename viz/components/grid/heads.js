// Heads as {layer, head}, counted from 0: what one is called, and whether two grids of them are drawn alike.

export const nameOf = ({ layer, head }) => `Layer ${layer + 1}, head ${head + 1}`;

// Whether two payloads differ in the chosen head alone.
export function drawnAlike(one, other) {
  const rest = ({ weights: _, selected: _selected, asked: _asked, ...rest }) => JSON.stringify(rest);
  if (rest(one) !== rest(other) || one.weights.length !== other.weights.length) return false;
  for (let at = 0; at < one.weights.length; at++) { // many times faster than with a callback
    if (one.weights[at] !== other.weights[at]) return false;
  }
  return true;
}
