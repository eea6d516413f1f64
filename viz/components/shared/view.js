// How Streamlit and a component meet: the data it is given, the view that is kept from run to run, and its end.

// Streamlit carries bytes only as the whole of a component's data: length of the JSON, the JSON, the weights.
export function unpack(data) {
  if (!(data instanceof Uint8Array)) return data;
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
  return { ...header, weights: data.subarray(4 + length) };
}

// What draws in a root: made at the first run, kept over the later ones. A root may leave the page at any moment, and has
// no size and no colours then: whatever was on its way to its view by that time, an event, a frame or what an observer
// tells, is left out.
export class View {
  constructor(root) {
    this.root = root;
    this.data = null;
    this.report = (_name, _value) => {}; // Streamlit's, set at every run
    this.listeners = new AbortController();
    this.signal = this.listeners.signal;
    this.nextFrame = null;
    this.tabStop = null; // the element that Tab reaches, of many
  }

  // An act that does nothing while the root is off the page.
  here(act) {
    return (...given) => this.root.isConnected ? act(...given) : undefined;
  }

  listenTo(target, type, act, options = {}) {
    target.addEventListener(type, this.here(act), { ...options, signal: this.signal });
  }

  // Acts on what an observer of this kind tells of an element.
  observe(Observer, element, act) {
    const observer = new Observer(this.here(act));
    observer.observe(element);
    this.signal.addEventListener("abort", () => observer.disconnect());
  }

  // Acts at the next frame, once, however often it is asked to.
  atNextFrame(act) {
    this.nextFrame ??= requestAnimationFrame((now) => {
      this.nextFrame = null;
      this.here(act)(now);
    });
  }

  // One of many elements is reached by Tab, the others by arrow keys from there.
  moveTabStop(element) {
    if (this.tabStop) this.tabStop.tabIndex = -1;
    this.tabStop = element;
    element.tabIndex = 0;
  }

  destroy() {
    this.listeners.abort();
  }
}

// Shows data in a root by its view, which reports by Streamlit's function; returns what Streamlit calls at the end. It
// calls it for a run that a newer one overtook, too, while the view is still in use: only a root that has left the page
// is done with.
const views = new WeakMap();
export function mount(Kind, root, data, report = null) {
  if (root?.isConnected) {
    if (!views.has(root)) views.set(root, new Kind(root));
    const view = views.get(root);
    if (report) view.report = view.here(report);
    view.update(unpack(data));
  }
  return () => root?.isConnected || views.get(root)?.destroy();
}
