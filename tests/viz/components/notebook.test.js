// A component in a notebook: what it is given, what it reports, and what stays when it ends. The page, the notebook's model
// and the component are stand-ins.

import { deepEqual, equal, match } from "node:assert/strict";
import { declaredBy, groundOf } from "../../../viz/components/notebook/ground.js";
import { base64, widget } from "../../../viz/components/notebook/notebook.js";
import { PARTS } from "../../../viz/components/notebook/parts.js";
import { onPoint, point } from "../../../viz/components/shared/pointing.js";
import { View } from "../../../viz/components/shared/view.js";

class Element {
  constructor() {
    this.children = [];
    this.dataset = {};
    const classes = new Set();
    this.classList = {
      contains: (name) => classes.has(name),
      toggle: (name, on) => on ? classes.add(name) : classes.delete(name),
    };
    this.hidden = false;
    this.isConnected = false;
    this.parentElement = null;
  }
  append(...children) {
    this.children.push(...children);
    for (const child of children) Object.assign(child, { parentElement: this, isConnected: this.isConnected });
  }
  attachShadow() {
    return this.shadow = Object.assign(new Element(), { contains: (node) => node === this.inside });
  }
  setAttribute() {}
  getAttribute() {
    return null;
  }
  getRootNode() {
    return {};
  }
  getContext() {
    return { fillRect() {}, getImageData: () => ({ data: [0, 0, 0, 0] }) };
  }
  querySelectorAll() {
    return [];
  }
  remove() {
    this.parentElement.children = this.parentElement.children.filter((child) => child !== this);
    this.isConnected = false;
  }
}

class Model {
  constructor(traits) {
    this.traits = { _views: 0, _requests: 0, _answers: 0, _by: "", _message: "", token: null, key: null, ...traits };
    this.acts = new Map();
    this.saved = 0;
  }
  get(trait) {
    return this.traits[trait];
  }
  set(trait, value) {
    if (this.traits[trait] === value) return;
    this.traits[trait] = value;
    this.fire(`change:${trait}`);
  }
  fire(event) {
    for (const act of this.acts.get(event) ?? []) act();
  }
  save_changes() {
    this.saved++;
    if (this.gone) throw new Error("Cannot send");
  }
  send() {}
  on(event, act) {
    this.acts.set(event, [...(this.acts.get(event) ?? []), act]);
  }
  off(event, act) {
    this.acts.set(event, this.acts.get(event).filter((listener) => listener !== act));
  }
  get listeners() {
    return [...this.acts.values()].flat().length;
  }
}

// The parts of a browser that the adapter uses; what is observed and timed is in the lists.
function browser() {
  const observers = [];
  const timers = new Map();
  let started = 0;
  class Observer {
    constructor(act) {
      this.act = act;
      observers.push(this);
    }
    observe() {}
    disconnect() {
      observers.splice(observers.indexOf(this), 1);
    }
  }
  const root = Object.assign(new Element(), { isConnected: true });
  const stand_ins = {
    document: {
      createElement: () => new Element(),
      documentElement: root,
      body: root,
      head: Object.assign(new Element(), { isConnected: true }),
      querySelector: (name) => name === ".s" ? {} : null,
      querySelectorAll: () => [],
    },
    DOMParser: class {
      parseFromString() {
        return { body: { childNodes: [] }, querySelector: () => ({ namespaceURI: "svg" }) };
      }
    },
    MutationObserver: Observer,
    ResizeObserver: Observer,
    getComputedStyle: () => ({ backgroundColor: "" }),
    matchMedia: () => ({ matches: false, addEventListener: () => {} }),
    setTimeout: (act, after) => timers.set(++started, { act, after }) && started,
    clearTimeout: (id) => timers.delete(id),
  };
  const before = Object.keys(stand_ins).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);
  for (const [name, value] of Object.entries(stand_ins)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  return {
    observers,
    head: stand_ins.document.head,
    pass: (after) => [...timers.values()].filter((timer) => timer.after === after).forEach(({ act }) => act()),
    leave: () =>
      before.forEach(([name, was]) =>
        was ? Object.defineProperty(globalThis, name, was) : Reflect.deleteProperty(globalThis, name)
      ),
  };
}

function packed(header, weights = []) {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(4 + json.length + weights.length);
  new DataView(bytes.buffer).setUint32(0, json.length, true);
  bytes.set(json, 4);
  bytes.set(weights, 4 + json.length);
  return new DataView(bytes.buffer);
}

// A widget of a part on a page; `runs` is what the component was given, run by run.
function mounted(part, traits = {}) {
  const page = browser();
  const runs = [];
  let ended = 0;
  const model = new Model({ _data: packed({ names: ["layer", "head"], group: "g", still: "s" }, [7]), ...traits });
  const el = new Element();
  const component = (run) => {
    runs.push(run);
    return () => ended++;
  };
  const end = widget(part, component, { html: "", css: "", look: { width: 640 } }).render({ model, el });
  const [host] = el.children;
  const place = () => {
    host.isConnected = true;
    page.observers.forEach(({ act }) => act());
  };
  const note = host.shadow.children.at(-1);
  return { ...page, model, el, end, runs, host, note, place, ended: () => ended };
}

// The same, while a test is about it.
async function onPage(part, traits, test) {
  const page = mounted(part, traits);
  try {
    await test(page);
  } finally {
    page.leave();
  }
}

const turn = () => new Promise((done) => queueMicrotask(() => done(null)));

Deno.test("a component is given its data once it is on the page, and again when they change together", () =>
  onPage("grid", { layer: 1, head: 2 }, async ({ model, runs, place, host, head }) => {
    deepEqual([runs.length, host.hidden, model.get("_views")], [0, true, 1]);
    place();
    deepEqual([...runs[0].data.weights], [7]);
    deepEqual(runs[0].data.selected, [1, 2]);
    equal(host.hidden, false);
    match(head.children[0].textContent, /^:is\(.*\.s\) \{ display: none; \}$/);
    model.set("layer", 0);
    model.set("head", 4);
    await turn();
    deepEqual(runs.slice(1).map(({ data }) => data.selected), [[0, 4]]);
  }));

Deno.test("a widget without data shows nothing, and then what comes", () =>
  onPage("heatmap", { _data: new DataView(new ArrayBuffer(0)) }, async ({ model, runs, place, host }) => {
    place();
    deepEqual([runs.length, host.hidden], [0, true]);
    model.set("_data", packed({ group: "g", still: "s" }));
    await turn();
    deepEqual([runs.length, host.hidden], [1, false]);
  }));

Deno.test("what a component reports sets traits and asks for an answer", () =>
  onPage("grid", { layer: 0, head: 0 }, ({ model, runs, place, note, pass }) => {
    place();
    runs[0].setTriggerValue("head", [3, 5]);
    deepEqual([model.get("layer"), model.get("head"), model.get("_requests")], [3, 5, 1]);
    pass(5000);
    equal(note.textContent, "The kernel does not answer. If it has stopped, run the cell again to choose other heads.");
    equal(note.hidden, false);
    model.set("_answers", 1);
    equal(note.hidden, true);
    model.set("_message", "That layer cannot be computed.");
    deepEqual([note.hidden, note.textContent], [false, "That layer cannot be computed."]);
    model.set("_message", "");
    equal(note.hidden, true);
    runs[0].setTriggerValue("unknown", 1);
    equal(model.get("_requests"), 1);
  }));

Deno.test("a kernel that was restarted is told of at once, and a click does no harm", () =>
  onPage("heatmap", {}, ({ model, runs, place, note }) => {
    place();
    model.fire("comm_live_update");
    deepEqual([note.hidden, note.textContent], [false, "The kernel has stopped: run the cell again."]);
    model.set("_answers", model.get("_requests")); // it lives after all
    equal(note.hidden, true);
    model.gone = true;
    runs[0].setTriggerValue("head", [1, 1]);
    model.fire("comm_live_update");
    equal(note.hidden, false);
  }));

Deno.test("what is pointed at in the picture is told after a moment, with the view it is in", () =>
  onPage("heatmap", {}, ({ model, host, place, pass }) => {
    place();
    const places = [];
    onPoint(Object.assign(new View({ isConnected: true }), { data: { group: "g" } }), (where) => places.push(where));
    host.inside = {};
    point(host.inside, "g", { query: 1, key: 2 });
    point(host.inside, "g", { query: 3, key: null });
    equal(model.get("token"), null);
    pass(80);
    deepEqual([model.get("token"), model.get("key")], [3, null]);
    equal(places.length, 2); // what it reported itself does not come back
    model.set("_by", "");
    deepEqual(places.at(-1), { query: 3, key: null });
    model.set("token", 5);
    deepEqual(places.at(-1), { query: 5, key: null });
    model.set("token", null);
    equal(places.at(-1), null);
  }));

Deno.test("a token that is kept stays told while others are pointed at", () =>
  onPage("lines", { off: [] }, ({ model, host, runs, place, pass }) => {
    place();
    host.inside = {};
    runs[0].setStateValue("selected", { side: "key", index: 4 });
    point(host.inside, "g", { query: 1, key: null });
    pass(80);
    deepEqual([model.get("token"), model.get("key")], [null, 4]);
    runs[0].setStateValue("selected", null);
    deepEqual([model.get("token"), model.get("key")], [1, null]);
  }));

Deno.test("a picture that Python cannot draw is sent a moment after it was shown, and no other", () => {
  for (const [part, times] of /** @type {[string, number][]} */ ([["words", 1], ["lines", 1], ["grid", 0]])) {
    const { host, runs, place, pass, leave } = mounted(part, { off: [] });
    const widths = [];
    const ask = (event) => widths.push(event.detail.look.width);
    addEventListener("inside-bert:picture", ask);
    try {
      host.clientWidth = 500;
      place();
      equal(runs.length, 1);
      equal(widths.length, 0);
      pass(1000);
      deepEqual(widths, Array(times).fill(500));
    } finally {
      removeEventListener("inside-bert:picture", ask);
      leave();
    }
  }
});

Deno.test("nothing stays behind when a widget ends", () =>
  onPage("grid", { layer: 0, head: 0 }, ({ model, el, end, head, place, observers, ended }) => {
    place();
    end();
    deepEqual([model.listeners, observers.length, el.children.length, head.children.length], [0, 0, 0, 0]);
    deepEqual([model.get("_views"), ended()], [0, 1]);
  }));

Deno.test("parts say what their traits are in the payload, and what a report changes", () => {
  const get = (traits) => (name) => traits[name];
  const { grid, words, cells, token_line } = PARTS;
  deepEqual(grid.shows(get({ layer: 2, head: 0 }), { names: ["layer"] }), { selected: [0, 2] });
  deepEqual(grid.reports.head([0, 2], { names: ["layer"] }), { layer: 2 });
  deepEqual(words.reports.head(1, { maps: [[0, 0], [0, 1]] }), { layer: 0, head: 1 });
  deepEqual(cells.shows(get({ picked: [[0, 1]], _clicks: 3 })), { picked: [[0, 1]], known: 3 });
  deepEqual(cells.reports.picks({ cells: [[1, 1]], serial: 4 }), { picked: [[1, 1]], _clicks: 4 });
  deepEqual(token_line.shows(get({}), { lines: 1, others: 2 }, false), {});
  deepEqual(token_line.shows(get({}), { lines: 1, others: 2 }, true), { lines: 2, others: 1, dark: true });
});

Deno.test("the ground is the first that is painted behind an element, through shadow roots", () => {
  const outer = { name: "outer", getRootNode: () => ({}) };
  const shade = { name: "clear", getRootNode: () => ({ host: outer }) };
  const element = { parentElement: shade };
  const pixels = { outer: [17, 19, 26, 255], clear: [255, 255, 255, 90], light: [250, 250, 250, 255] };
  const ways = { styleOf: ({ name }) => ({ backgroundColor: name }), pixel: (name) => pixels[name] };
  equal(groundOf(element, ways), true);
  outer.name = "light";
  equal(groundOf(element, ways), false);
  outer.name = "clear";
  equal(groundOf(element, ways), null);
  // Where nothing is painted, a document says by its own ways whether its theme is dark.
  const declared = (classes, theme, colorScheme) =>
    declaredBy({
      body: { classList: { contains: (name) => classes.includes(name) } },
      documentElement: { getAttribute: () => theme },
    }, () => ({ colorScheme }));
  deepEqual([declared(["vscode-dark"]), declared(["vscode-light"])], [true, false]);
  deepEqual([declared(["vscode-high-contrast"]), declared(["vscode-high-contrast", "vscode-high-contrast-light"])], [
    true,
    false,
  ]);
  deepEqual([declared([], "dark", "normal"), declared([], null, "light"), declared([], null, "normal")], [
    true,
    false,
    null,
  ]);
  // Bytes become base64 however many they are.
  const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => at % 251);
  deepEqual(Uint8Array.from(atob(base64(bytes)), (sign) => sign.charCodeAt(0)), bytes);
});
