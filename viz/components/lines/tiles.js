// The canvas of all lines, cut into tiles from top to bottom: what is in the window is drawn at once, what is next to it
// later, the rest when it comes into view.

// Pixels: height of a tile. A line is drawn in every tile it crosses, so tiles are high; but the first is what a reader
// waits for, and what stands above the view leaves it about so much of the window.
const HEIGHT = Math.min(Math.max(0.75 * globalThis.innerHeight, 480), 1280);
const LATER = 1000; // milliseconds until what is near the window is drawn: the reader looks at what is in it first

export class Tiles {
  // Of a view: `stroke(canvas, top, bottom)` draws a tile, `ask()` is called when one that is not drawn comes into view.
  constructor(view, element, stroke, ask) {
    this.element = element;
    this.stroke = stroke;
    this.inView = new IntersectionObserver(view.here((entries) => {
      for (const { target, isIntersecting: inView } of entries) {
        Object.assign(target, { inView });
        if (inView) ask();
      }
    }));
    this.drawLater = view.here((tiles) => tiles.forEach(this.drawTile, this));
    view.signal.addEventListener("abort", () => this.stop());
  }

  get all() {
    return [...this.element.children];
  }

  get drawn() {
    return this.all.filter(({ complete }) => complete).length;
  }

  cut(height) {
    this.height = height;
    const n = Math.ceil(height / HEIGHT);
    while (this.element.children.length > n) {
      this.inView.unobserve(this.element.lastElementChild);
      this.element.lastElementChild.remove();
    }
    while (this.element.children.length < n) {
      const top = this.element.children.length * HEIGHT;
      const tile = Object.assign(document.createElement("canvas"), { top, complete: false, inView: false });
      tile.style.top = `${top}px`;
      this.element.append(tile);
      const place = tile.getBoundingClientRect(); // the observer tells only after a frame
      tile.inView = place.top < globalThis.innerHeight && place.top + HEIGHT > 0;
      this.inView.observe(tile);
    }
    for (const tile of this.all) tile.style.height = `${Math.min(HEIGHT, height - tile.top)}px`;
  }

  // What they show is no longer true.
  forget() {
    for (const tile of this.all) tile.complete = false;
  }

  draw() {
    const tiles = this.all;
    const missing = tiles.filter((tile) => !tile.complete);
    for (const tile of missing) if (tile.inView) this.drawTile(tile);
    const next = (tile) =>
      !tile.complete && tiles.some((seen) => seen.inView && Math.abs(seen.top - tile.top) === HEIGHT);
    if (missing.some(next)) this.later = setTimeout(() => this.drawLater(missing.filter(next)), LATER);
  }

  // A drawing that is about to come decides anew what is drawn later.
  wait() {
    clearTimeout(this.later);
  }

  drawTile(tile) {
    const bottom = Math.min(tile.top + HEIGHT, this.height);
    tile.complete = true;
    this.stroke(tile, tile.top, bottom);
  }

  stop() {
    this.wait();
    this.inView.disconnect();
  }
}
