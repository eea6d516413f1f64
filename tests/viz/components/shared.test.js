// What the components share: data unpacked, labels that any document can hold, limits of canvases.

import { deepEqual, equal } from "node:assert/strict";
import { crc32 } from "node:zlib";
import { described } from "../../../viz/components/shared/files.js";
import { graphemes, printable } from "../../../viz/components/shared/labels.js";
import { addCells } from "../../../viz/components/shared/pens.js";
import { isDark, sharpest } from "../../../viz/components/shared/screen.js";
import { mount, unpack, View } from "../../../viz/components/shared/view.js";
import { decode } from "../../../viz/components/standalone/mount.js";

function packed(header, weights, before = 0) {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(before + 4 + json.length + weights.length);
  new DataView(bytes.buffer).setUint32(before, json.length, true);
  bytes.set(json, before + 4);
  bytes.set(weights, before + 4 + json.length);
  return bytes.subarray(before);
}

Deno.test("packed data are the header's fields and the weights, wherever in a buffer they lie", () => {
  for (const before of [0, 5]) {
    const data = unpack(packed({ keys: ["שלום", "👩‍👧"] }, [1, 2, 255], before));
    deepEqual(data.keys, ["שלום", "👩‍👧"]);
    deepEqual([...data.weights], [1, 2, 255]);
  }
  const plain = { lines: [] };
  equal(unpack(plain), plain);
});

Deno.test("a root keeps its view, which ends only when the root has left the page", () => {
  const views = [];
  class Shown extends View {
    update(data) {
      views.push([this, data]);
    }
  }
  const root = { isConnected: true };
  const end = mount(Shown, root, 1);
  mount(Shown, root, 2);
  const [[view]] = views;
  deepEqual(views, [[view, 1], [view, 2]]);
  end();
  equal(view.signal.aborted, false);
  root.isConnected = false;
  mount(Shown, root, 3);
  equal(views.length, 2);
  end();
  equal(view.signal.aborted, true);
  mount(Shown, null, 4)(); // what it was to draw in was taken away before it came
});

Deno.test("what was on its way to a view when its root left the page is left out", () => {
  const calls = [];
  const root = { isConnected: true };
  const view = new View(root);
  const target = new EventTarget();
  view.listenTo(target, "event", () => calls.push("event"));
  const act = view.here((value) => calls.push(value) && "done");
  target.dispatchEvent(new Event("event"));
  equal(act("act"), "done");
  root.isConnected = false;
  target.dispatchEvent(new Event("event"));
  equal(act("act"), undefined);
  deepEqual(calls, ["event", "act"]);
  root.isConnected = true; // a notebook moves what it shows
  target.dispatchEvent(new Event("event"));
  view.destroy();
  target.dispatchEvent(new Event("event"));
  deepEqual(calls, ["event", "act", "event"]);
});

Deno.test("a label is one line of characters that XML can hold, and an accent and a family stay whole", () => {
  equal(printable("a\tb\nc"), "a b c");
  equal(printable("\u0001x\uD800\uFFFE"), "\uFFFDx\uFFFD\uFFFD");
  equal(printable("👩‍👧 שלום"), "👩‍👧 שלום");
  deepEqual(graphemes("e\u0301a"), ["e\u0301", "a"]);
  equal(graphemes("👩‍👩‍👧x").length, 2);
});

Deno.test("a canvas is as sharp as it can be and never larger than browsers draw", () => {
  deepEqual([sharpest(2, 800, 600), sharpest(2, 0, 600)], [2, 2]);
  deepEqual([sharpest(3, 4000, 4000), sharpest(2, 10, 16384)], [1, 1]);
  // Dark is judged by brightness as eyes see it.
  deepEqual(["rgb(17, 19, 26)", "rgb(0, 0, 255)"].map(isDark), [true, true]);
  deepEqual(["rgb(255, 255, 255)", "rgba(0, 255, 0, 1)"].map(isDark), [false, false]);
  // Bytes of a page that is one file come back, and nothing else is taken for bytes.
  deepEqual(decode({ base64: "AAH/" }), new Uint8Array([0, 1, 255]));
  equal(decode("AAH/"), "AAH/");
  equal(decode(null), null);
  deepEqual(decode(["base64"]), ["base64"]);
});

// As much of an element as cells need.
class Element {
  constructor(name) {
    Object.assign(this, { name, attributes: {}, children: [], ownerDocument: this });
  }
  createElementNS(_, name) {
    return new Element(name);
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  append(child) {
    this.children.push(child);
  }
}

Deno.test("pixels become one path a colour, of rectangles as large as they can be, without what is not seen", () => {
  const [red, blue, clear] = [[255, 0, 0, 255], [0, 0, 255, 255], [9, 9, 9, 0]];
  const rows = [[red, red, blue], [red, red, blue], [blue, clear, blue]];
  const group = addCells(new Element("svg"), new Uint8ClampedArray(rows.flat(2)), { width: 3, height: 3 });
  equal(group.attributes["shape-rendering"], "crispEdges");
  deepEqual(group.children.map(({ attributes }) => attributes), [
    { fill: "#ff0000", d: "M0 0h2v2h-2z" },
    { fill: "#0000ff", d: "M0 2h1v1h-1zM2 0h1v3h-1z" },
  ]);
});

Deno.test("a PNG says what it is behind its header, in chunks whose checksums are right", () => {
  const png = Uint8Array.from({ length: 40 }, (_, at) => at);
  const withText = described(png, { title: "It’s", layer: "2" }, 4);
  deepEqual([...withText.subarray(0, 33)], [...png.subarray(0, 33)]);
  deepEqual([...withText.subarray(-7)], [...png.subarray(33)]);
  const view = new DataView(withText.buffer);
  const chunks = [];
  for (let at = 33; at < withText.length - 7;) {
    const length = view.getUint32(at);
    const body = withText.subarray(at + 4, at + 8 + length);
    equal(view.getUint32(at + 8 + length), crc32(body));
    chunks.push(new TextDecoder().decode(body));
    at += 12 + length;
  }
  deepEqual(chunks.slice(1), ["iTXttitle\0\0\0\0\0It’s", "iTXtlayer\0\0\0\0\0" + "2"]);
  equal(view.getUint32(41), 15118); // pixels a metre: four times 96 an inch
});
