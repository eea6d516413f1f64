// How Streamlit and a component meet: the data it is given, the view that is kept from run to run, and its end.

// Streamlit carries bytes only as the whole of a component's data: length of the JSON, the JSON, the weights.
export function unpack(data) {
  if (!(data instanceof Uint8Array)) return data;
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
  return { ...header, weights: data.subarray(4 + length) };
}

// The view that draws in a root: made at the first run, kept over the later ones.
const views = new WeakMap();
export function viewOf(root, View) {
  if (!views.has(root)) views.set(root, new View(root));
  return views.get(root);
}

// Shows data in a root by its view, which reports by Streamlit's function; returns what Streamlit calls at the end.
export function mount(View, root, data, report = null) {
  const view = viewOf(root, View);
  view.report = report;
  view.update(unpack(data));
  return endOf(root);
}

// What Streamlit calls at a component's end. It calls it for a run that a newer one overtook, too, while the view is
// still in use: only a root that has left the page is done with.
export const endOf = (root) => () => !root.isConnected && views.get(root)?.destroy();
