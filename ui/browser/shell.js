// What the page does before Streamlit is there and without it: light or dark, the page's parts in their places before
// they are seen, and words where the connection is lost. It runs in the document itself, before its first paint.

const THEME = "inside-bert:theme"; // "light" or "dark" is kept there; as the system is set where nothing is
const DARK = "(prefers-color-scheme: dark)";
const AT_REST = 100; // milliseconds without a change after which a page that arrives is in its place
const AT_REST_AT_WORK = 800; // the same while the server is at work on the rest of it
const QUIET = 4; // frames
const PATIENCE = 10_000; // milliseconds after its first part in which it is waited for; what computes longer is seen doing so
const LOST = "The connection is lost. What you typed is kept, and the page goes on by itself.";

export function start() {
  theme();
  arrive();
  menu();
  connection();
}

// Whether it is dark, by what was chosen and how the system is set.
export function isDark(choice, systemIsDark) {
  return choice === "dark" || (choice !== "light" && systemIsDark);
}

// Streamlit follows the system, so what is chosen is told to it as the system's. A choice of its own, which it keeps by
// the path, is not made any more.
function theme() {
  const ask = globalThis.matchMedia.bind(globalThis);
  const system = ask(DARK);
  let choice = kept();
  const scheme = Object.assign(new EventTarget(), { media: DARK, onchange: null });
  Object.defineProperty(scheme, "matches", { get: () => isDark(choice, system.matches) });
  const tell = () => {
    document.documentElement.style.colorScheme = scheme["matches"] ? "dark" : "light";
    scheme.dispatchEvent(new Event("change"));
  };
  globalThis.matchMedia = (query) => (query === DARK ? /** @type {any} */ (scheme) : ask(query));
  globalThis[Symbol.for("look inside BERT: light or dark")] = {
    chosen: () => choice,
    choose: (chosen) => {
      choice = chosen;
      keep(chosen);
      tell();
    },
  };
  system.addEventListener("change", tell);
  addEventListener("storage", ({ key }) => key === THEME && ([choice] = [kept()], tell()));
  tell();
}

// A browser may forbid storage: then the choice holds until the page is left.
function kept() {
  try {
    localStorage.removeItem(`stActiveTheme-${location.pathname}-v2`);
    return localStorage.getItem(THEME) ?? "system";
  } catch {
    return "system";
  }
}

function keep(choice) {
  try {
    if (choice === "system") localStorage.removeItem(THEME);
    else localStorage.setItem(THEME, choice);
  } catch {
    // It holds until the page is left.
  }
}

// The first page's parts come one by one, and some are loaded only then: they are seen as soon as nothing moves.
function arrive() {
  const root = document.documentElement;
  root.dataset.arriving = "";
  if (new URLSearchParams(location.search).has("present")) document.getElementById("shell").classList.add("present");
  let first = Infinity; // when the first part was there
  let changed = 0;
  let quiet = 0; // frames since then: a busy page looks late
  let before = "";
  const look = () => {
    const main = document.querySelector(".stMain");
    const state = document.querySelector("[data-test-script-state]")?.getAttribute("data-test-script-state");
    const count = main?.querySelectorAll(".stElementContainer").length ?? 0;
    const now = performance.now();
    // Before its first run Streamlit shows a part of its own; what comes first has no words.
    const there = count > 0 && state !== "initial" && main.textContent.trim() !== "";
    const parts = `${count} ${main?.querySelector(".stVerticalBlock")?.getBoundingClientRect().height}`;
    quiet += 1;
    if (!there || parts !== before || waits(main)) [changed, quiet] = [now, 0];
    if (there) first = Math.min(first, now);
    before = parts;
    const rests = quiet >= QUIET && now - changed >= (state === "notRunning" ? AT_REST : AT_REST_AT_WORK);
    if (!there || !rests && now - first < PATIENCE) return requestAnimationFrame(look);
    delete root.dataset.arriving;
    document.getElementById("shell").remove();
  };
  requestAnimationFrame(look);
}

// Whether something in the window is still being loaded, or is a component of ours that has drawn nothing. Those that
// work unseen take no room (shell.css), and what this window has no place for is not drawn at all.
export function waits(main) {
  const parts = [...main.querySelectorAll('[data-testid="stSkeleton"], [data-testid^="stBidiComponent"]')];
  return parts.some((part) => {
    const { top, height } = part.getBoundingClientRect();
    if (top >= innerHeight || !part.checkVisibility()) return false;
    if (part.dataset.testid === "stSkeleton") return true;
    return height === 0 && getComputedStyle(part.closest(".stElementContainer")).position !== "absolute";
  });
}

// On a phone Streamlit's menu lies over the page, stays there after a choice, and is open again on the next visit.
function menu() {
  try {
    Object.keys(localStorage).filter((key) => key.startsWith("stSidebarCollapsed")).forEach((key) => {
      localStorage.removeItem(key);
    });
  } catch {
    // Nothing is kept then.
  }
  addEventListener("click", ({ target }) => {
    if (!(target instanceof Element) || !target.closest('[data-testid="stSidebarNavLink"]')) return;
    setTimeout(() => {
      /** @type {HTMLElement} */ (document.querySelector('[data-testid="stSidebarCollapseButton"] button'))?.click();
    });
  });
}

// A connection that was there and is lost is said at once, until it is back. Streamlit closes its controls meanwhile and
// keeps what was typed; the focus comes back to where it was.
function connection() {
  const banner = document.getElementById("lost");
  let was = false;
  /** @type {Element | null} */
  let focused = null;
  const look = () => {
    const state = document.querySelector("[data-test-connection-state]")?.getAttribute("data-test-connection-state");
    const connected = state === "CONNECTED" && navigator.onLine;
    was ||= connected;
    const words = was && !connected ? LOST : "";
    if (banner.textContent === words) return;
    banner.textContent = words;
    if (words) focused = document.activeElement;
    else giveBack(focused);
  };
  new MutationObserver(look).observe(document, {
    subtree: true,
    childList: true,
    attributeFilter: ["data-test-connection-state"],
  });
  addEventListener("offline", look);
  addEventListener("online", look);
}

// The focus, as soon as the control can have it, unless something else has it. What is selected in it stays so.
function giveBack(control, tries = 60) {
  if (!control?.isConnected || tries === 0 || ![document.body, control].includes(document.activeElement)) return;
  if (control.matches(":disabled")) requestAnimationFrame(() => giveBack(control, tries - 1));
  else control.focus({ preventScroll: true });
}
