// What test_taken_away.py runs in a page: a component is drawn, disturbed, and taken away in the middle of something, over
// and over; everything that nobody caught is kept in `faults`.

const faults = [];
addEventListener("error", ({ message }) => {
  // Chromium's word for what an observer tells one frame later.
  if (!message.startsWith("ResizeObserver loop")) faults.push(message);
});
addEventListener("unhandledrejection", ({ reason }) => faults.push(String(reason?.stack ?? reason)));
const setSoon = setTimeout; // what is put off for a second comes within the test
globalThis.setTimeout = /** @type {any} */ ((act, ms = 0, ...given) => setSoon(act, Math.min(ms, 5), ...given));
HTMLAnchorElement.prototype.click = () => {}; // no file is saved

const task = () => new Promise((done) => setTimeout(done));
const frame = () => new Promise((done) => requestAnimationFrame(done));
const notify = (Observer, element) =>
  new Promise((done) => {
    const observer = new Observer(() => (observer.disconnect(), done()));
    observer.observe(element);
  });

// When a component that was drawn is taken away.
const STAGES = [
  () => {}, // within the run that drew it
  () => Promise.resolve(),
  frame, // just before a frame
  task,
  (root) => (root.parentElement.style.width = "300px", notify(ResizeObserver, root)),
  (root) => notify(IntersectionObserver, root),
  async () => (await frame(), await task()), // painted
  async () => (await frame(), await frame()),
  async (root) => (await frame(), disturb(root, 0), await frame()),
  () => new Promise((done) => setTimeout(done, 2)), // before what was put off
];

const PARTS = "canvas[tabindex], .token, .word, .head, .track, .row, button";
const POINT = { bubbles: true, clientX: 40, clientY: 40, pointerId: 1, isPrimary: true, pointerType: "mouse" };
const another = (name, detail) => () => new CustomEvent(`inside-bert:${name}`, { detail });
const ON_THE_WINDOW = [
  another("pointed", { source: null, group: "g", place: { query: 1, key: 2 } }),
  another("pointed", { source: null, group: "g", place: null }),
  another("opened", { source: null, group: "g" }),
  () => new CustomEvent("inside-bert:picture", { detail: { name: "asked for", look: globalThis.look, picture: null } }),
  () => new Event("beforeprint"),
  () => new KeyboardEvent("keydown", { key: "b" }),
];
const ON_A_PART = [
  () => new Event("transitionend", { bubbles: true }),
  () => new PointerEvent("pointerover", POINT),
  () => new PointerEvent("pointermove", POINT),
  () => new PointerEvent("click", { ...POINT, button: 0 }),
  () => new PointerEvent("pointerleave", POINT),
  () => new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }),
  () => new KeyboardEvent("keydown", { key: "Enter", bubbles: true }),
  () => new FocusEvent("focusin", { bubbles: true }),
  () => new FocusEvent("focusout", { bubbles: true }),
];

// What a visitor, the page and other pictures do to a component; other things at other times.
function disturb(root, time) {
  const parts = [root, ...root.querySelectorAll(PARTS)].filter((part) => !part.closest("[hidden]"));
  for (let at = time; at < time + 3; at++) {
    dispatchEvent(ON_THE_WINDOW[at % ON_THE_WINDOW.length]());
    parts[(7 * time + at) % parts.length].dispatchEvent(ON_A_PART[at % ON_A_PART.length]());
  }
  root.dispatchEvent(new Event("transitionend"));
  document.fonts.dispatchEvent(new Event("loadingdone"));
}

async function takeAway(packed, plain, times, look) {
  globalThis.look = look;
  const main = document.querySelector("main");
  const data = () => plain ?? Uint8Array.from(atob(packed), (byte) => byte.charCodeAt(0));
  const render = (parentElement) =>
    /** @type {any} */ (globalThis).render({
      data: data(),
      parentElement,
      setStateValue: () => {},
      setTriggerValue: () => {},
    });

  async function once(time) {
    const place = /** @type {HTMLElement} */ (main.cloneNode(true));
    place.style.width = "360px";
    document.body.append(place);
    const root = place.firstElementChild;
    const ends = [render(place)];
    if (time % 3) disturb(root, time);
    await STAGES[time % STAGES.length](root);
    if (time % 4 < 2) { // it is drawn again, and is at something
      ends.push(render(place));
      disturb(root, time);
    }
    place.remove();
    if (time % 7 < 2) ends.push(render(place)); // a run that comes too late
    if (time % 3 === 0) { for (const end of ends) end?.(); }
    for (const later of [0, 3, 5]) {
      disturb(root, time + later);
      await frame();
    }
    await task();
    for (const end of ends) end?.();
    disturb(root, time + 8);
    await new Promise((done) => setTimeout(done, 5));
  }

  for (let time = 0; time < times; time += STAGES.length) {
    await Promise.all(STAGES.map((_, at) => once(time + at)));
  }
  return faults;
}
globalThis.takeAway = takeAway;
