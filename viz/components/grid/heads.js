// Heads as {layer, head}, counted from 0: what one is called, and whether two grids of them are drawn alike. A single row
// of pictures may be of layers.

export function nameOf({ names, counts }, { layer, head }) {
  const places = [layer, head].slice(-names.length);
  const name = names.map((noun, at) => `${noun} ${places[at] + counts}`).join(", ");
  return name[0].toUpperCase() + name.slice(1);
}

// Whether two payloads differ in the chosen head alone.
export function drawnAlike(before, after) {
  const rest = ({ weights: _, selected: _selected, serial: _serial, ...rest }) => JSON.stringify(rest);
  if (rest(before) !== rest(after) || before.weights.length !== after.weights.length) return false;
  for (let at = 0; at < before.weights.length; at++) { // many times faster than with a callback
    if (before.weights[at] !== after.weights[at]) return false;
  }
  return true;
}
