// A component as a widget of a notebook: in a shadow root of its own, so that no style goes in or out, light or dark as
// what it stands on; what it reports become traits of the widget in Python.
//
// The widget's traits that it reads: `_data`, the packed payload, and those that `PARTS` names. Those that it sets beside
// these: `token` and `key`, what is pointed at, with `_by`, the view in which; `_views`, how many of its views live; and
// `_requests`, how often something was asked of Python, which answers by `_answers`, and by `_message` where it cannot do it.

import { element } from "../shared/elements.js";
import { pngOf } from "../shared/files.js";
import { onPointed, point } from "../shared/pointing.js";
import { drawn } from "../shared/saving.js";
import { unpack } from "../shared/view.js";
import { isGroundDark, onGround } from "./ground.js";
import { PARTS } from "./parts.js";

const RESTED = { pointing: 80, theme: 50, picture: 1000 }; // ms until it is told, drawn anew, or kept
const PATIENCE = 5000; // ms until an answer of Python is missed
const SMALL_SVG = 20_000; // characters of a picture that is kept; beyond, it is kept as a PNG where that is smaller
const LARGEST = 100_000; // bytes of one
const HERE = "inside-bert:here";
const STOPPED = "The kernel has stopped: run the cell again";
const SILENT = "The kernel does not answer. If it has stopped, run the cell again";

// What anywidget mounts: a component's `render` with its markup and style. `look` is what a picture is drawn for.
export function widget(name, render, { html, css, look }) {
  return { render: ({ model, el }) => new View(PARTS[name] ?? {}, render, { html, css, look }, model, el).ended };
}

class View {
  constructor(part, render, { html, css, look }, model, el) {
    this.part = part;
    this.component = render;
    this.look = look;
    this.model = model;
    this.id = Math.random().toString(36).slice(2); // a page without TLS has no crypto.randomUUID
    // Of these keys JupyterLab would take the arrows.
    this.host = element("div", { className: "inside-bert-widget", data: { lmSuppressShortcuts: "true" } });
    this.shadow = this.host.attachShadow({ mode: "open" });
    const style = Object.assign(document.createElement("style"), { textContent: css });
    const { body } = new DOMParser().parseFromString(html, "text/html");
    this.note = Object.assign(document.createElement("p"), { className: "themed stopped", hidden: true });
    this.note.setAttribute("role", "status");
    this.shadow.append(style, ...body.childNodes, this.note);
    this.host.hidden = true; // until there is something to show: the picture that stands still is there
    this.still = document.createElement("style");
    el.append(this.host);
    this.listen(el);
    this.set({ _views: model.get("_views") + 1 });
  }

  // ---- from Python --------------------------------------------------------------------------------------

  listen(el) {
    this.listeners = new AbortController();
    const { signal } = this.listeners;
    this.ask = () => this.waiting ??= queueMicrotask(() => this.show()) ?? true;
    this.subscriptions = [
      ...["_data", ...(this.part.traits ?? [])].map((trait) => [`change:${trait}`, this.ask]),
      ...["token", "key", "_by"].map((trait) => [`change:${trait}`, () => this.take()]),
      ["change:_answers", () => this.answered()],
      ["change:_message", () => this.say(this.model.get("_message"))],
      ["comm_live_update", () => this.cut()], // Jupyter's, when the kernel was restarted or has died
    ];
    for (const [event, act] of this.subscriptions) this.model.on(event, act);
    // A notebook renders a widget before it puts it on the page.
    const placed = new ResizeObserver(() => this.endOf || this.show());
    placed.observe(el);
    signal.addEventListener("abort", () => placed.disconnect());
    onGround(this.host, (dark) => this.darken(dark), signal);
    onPointed(this.shadow, (place) => this.pointed(place), signal);
    addEventListener(HERE, (/** @type {any} */ { detail }) => detail.here ||= detail.id === this.id, { signal });
    this.ended = () => this.end();
  }

  // Several traits that change together are shown at once.
  show() {
    this.waiting = null;
    const raw = this.model.get("_data");
    if (!raw?.byteLength || !this.host.isConnected) return;
    if (raw !== this.raw) {
      this.raw = raw;
      this.data = unpack(new Uint8Array(raw.buffer ?? raw, raw.byteOffset ?? 0, raw.byteLength));
    }
    if (!this.endOf) {
      this.host.hidden = false;
      this.darken(isGroundDark(this.host));
      const twin = `.${this.data.still}`;
      this.still.textContent = `:is(.jp-OutputArea-child:has(${twin}), ${twin}) { display: none; }`;
      document.head.append(this.still);
      this.take();
    }
    const dark = this.host.classList.contains("dark");
    const data = { ...this.data, ...this.part.shows?.((trait) => this.model.get(trait), this.data, dark) };
    const report = (name, value) => this.forward(name, value);
    const reporting = { setStateValue: report, setTriggerValue: report };
    this.endOf = this.component({ data, parentElement: this.shadow, ...reporting, key: this.id });
    this.keep();
  }

  // A component hears of another theme by the end of its colours' transition, which does not come while it is out of sight.
  darken(dark) {
    if (dark === this.host.classList.contains("dark")) return;
    this.host.classList.toggle("dark", dark);
    if (this.part.themed && this.endOf) this.show();
    setTimeout(() => {
      for (const root of this.shadow.querySelectorAll(".themed")) root.dispatchEvent(new Event("transitionend"));
    }, RESTED.theme);
  }

  // Shows what Python says is pointed at, unless it heard it from here, where all pictures know it already.
  take() {
    const { group } = this.data ?? {};
    const detail = { id: this.model.get("_by"), here: false };
    dispatchEvent(new CustomEvent(HERE, { detail }));
    if (detail.here || !group) return;
    const place = { query: this.model.get("token") ?? null, key: this.model.get("key") ?? null };
    point(this.host, group, place.query === null && place.key === null ? null : place);
  }

  // ---- to Python ----------------------------------------------------------------------------------------

  // Sets traits in Python, too.
  set(traits) {
    for (const [trait, value] of Object.entries(traits)) this.model.set(trait, value);
    try {
      this.model.save_changes();
    } catch {
      this.stopped = true;
    }
  }

  forward(name, value) {
    const { reports = {} } = this.part;
    if (name === "selected") {
      this.kept = value && { query: null, key: null, [value.side]: value.index };
      this.tellPlace();
    } else if (name in reports) {
      this.inquire(reports[name](value, this.data));
      this.keep();
    }
  }

  // Sets traits and asks for an answer; says so where none comes. Not every notebook tells that its kernel is gone.
  inquire(traits = {}) {
    this.set({ ...traits, _requests: this.model.get("_requests") + 1 });
    clearTimeout(this.waits);
    const wait = (message) => this.say(`${message}${this.part.stopped ?? ""}.`);
    if (this.stopped) wait(STOPPED);
    else this.waits = setTimeout(() => wait(SILENT), PATIENCE);
  }

  cut() {
    this.stopped = true;
    this.inquire();
  }

  answered() {
    if (this.model.get("_answers") < this.model.get("_requests")) return;
    clearTimeout(this.waits);
    this.stopped = false;
    this.say(this.model.get("_message"));
  }

  say(message) {
    this.note.textContent = message;
    this.note.hidden = !message;
    this.host.hidden &&= !message;
  }

  pointed(place) {
    this.place = place;
    this.resting ??= setTimeout(() => this.tellPlace(), RESTED.pointing);
  }

  tellPlace() {
    clearTimeout(this.resting);
    this.resting = null;
    const { query = null, key = null } = this.kept ?? this.place ?? {};
    if (query === (this.model.get("token") ?? null) && key === (this.model.get("key") ?? null)) return;
    this.set({ _by: this.id, token: query, key }); // first by whom: each is heard here, too
  }

  // Gives Python the picture, to be seen where no script runs.
  keep() {
    clearTimeout(this.keeping);
    if (this.part.kept) this.keeping = setTimeout(() => this.sendPicture(), RESTED.picture);
  }

  async sendPicture() {
    if (!this.host.clientWidth || !document.querySelector(`.${this.data.still}`)) return;
    const page = new DOMParser().parseFromString("<svg></svg>", "text/html");
    const { namespaceURI: namespace } = page.querySelector("svg");
    const width = Math.min(this.host.clientWidth, this.look.width);
    const svg = await drawn(this.data.file, { ...this.look, width }, namespace);
    if (!svg || this.listeners.signal.aborted) return;
    const text = new XMLSerializer().serializeToString(svg);
    const png = text.length > SMALL_SVG && await pngOf(text, {}, 1);
    if (Math.min(text.length, png ? png.size : Infinity) > LARGEST) this.send({}); // that of Python is small
    else if (png && png.size < text.length) this.send({ png: base64(new Uint8Array(await png.arrayBuffer())) });
    else this.send({ svg: text });
  }

  send(content) {
    try {
      this.model.send(content);
    } catch { // the kernel is gone, and the picture before is kept
    }
  }

  end() {
    clearTimeout(this.resting);
    clearTimeout(this.keeping);
    clearTimeout(this.waits);
    this.listeners.abort();
    for (const [event, act] of this.subscriptions) this.model.off(event, act);
    this.set({ _views: Math.max(0, this.model.get("_views") - 1) });
    this.still.remove();
    this.host.remove();
    this.endOf?.();
  }
}

export function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
