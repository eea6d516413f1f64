// What the app needs of the browser itself: steps of history that Back can take, texts that Enter applies, and figures
// drawn anew where it becomes light or dark.

const HEAD_START = 200; // milliseconds
const PATIENCE = 10_000; // milliseconds in which a page that was asked for comes, or does not come any more
// Characters of one text: as many texts as a page has are less than the longest message that the server takes
// (.streamlit/config.toml). A longer one ends the connection, and so would every message after it.
const MOST_TYPED = 300_000;
const MARK = Symbol.for("look inside BERT: the browser is prepared");

export default function render({ data, setTriggerValue }) {
  const prepared = globalThis[MARK];
  globalThis[MARK] = { draw: (scheme) => setTriggerValue("scheme", scheme) };
  if (prepared) return;
  lightOrDark();
  stepsOfHistory(data.steps);
  enterApplies(data.oneLine);
  textsBeforePages();
  textsThatCanBeSent();
}

// Whether two addresses differ in their page or in one of these parameters.
export function isStep(before, after, parameters) {
  const values = ({ pathname, searchParams }) => [pathname, ...parameters.map((name) => searchParams.get(name) ?? "")];
  return JSON.stringify(values(before)) !== JSON.stringify(values(after));
}

// Whether an address is written for a page that is asked for and not there yet. Streamlit writes the parameters of a new
// page beside the path of the old one where both come in one moment, which would spoil the step that Back leads to.
export function isAhead(before, after, going) {
  return going !== null && before.pathname === after.pathname && going !== before.pathname;
}

// Streamlit adds a step to the history for every address that a script writes, one for each number that slides, and one
// more when a page writes its own after it was opened. Only another page, or another value of these parameters, is one.
function stepsOfHistory(parameters) {
  const push = history.pushState;
  // The page has not been touched since it was opened: what it writes is its own address.
  let arriving = !navigator.userActivation?.hasBeenActive;
  const touched = () => (arriving = false);
  addEventListener("pointerdown", touched, true);
  addEventListener("keydown", touched, true);
  /** @type {string | null} */
  let going = null; // the path of the page that was asked for
  let early = ""; // its parameters, where they came before it
  addEventListener("popstate", () => ([arriving, going] = [true, null]), true);
  addEventListener("click", (event) => {
    // Also one inside of a component, where the event's target is the component as a whole.
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement && node.href);
    if (
      !(link instanceof HTMLAnchorElement) || link.download || link.target || event.ctrlKey || event.metaKey ||
      event.shiftKey
    ) return;
    const to = new URL(link.href);
    if (to.protocol !== location.protocol || to.origin !== location.origin) return;
    [going, early] = [to.pathname, ""];
    setTimeout(() => (going = going === to.pathname ? null : going), PATIENCE);
  }, true);

  history.pushState = function (state, title, url) {
    const before = new URL(location.href);
    const after = new URL(url ?? location.href, location.href);
    const samePage = before.pathname === after.pathname;
    if (isAhead(before, after, going)) {
      early = after.search;
      return;
    }
    if (!samePage) {
      if (going === after.pathname && !after.search) url = after.pathname + early;
      going = null;
    }
    if (samePage && (arriving || !isStep(before, after, parameters))) return history.replaceState(state, title, url);
    arriving = !samePage;
    return push.call(history, state, title, url);
  };
}

// Figures are made on the server in the colours that Streamlit has when it asks for them: it does not ask by itself
// where they change.
function lightOrDark() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const draw = (tries = 120) => {
    const scheme = system.matches ? "dark" : "light";
    const app = document.querySelector(".stApp");
    const follows = app && getComputedStyle(app).colorScheme === scheme;
    if (follows) globalThis[MARK].draw(scheme);
    else if (tries > 0) requestAnimationFrame(() => draw(tries - 1));
  };
  system.addEventListener("change", () => draw());
}

// In a text of one line Enter applies it, as Control and Enter do in every text; with Shift it breaks the line.
function enterApplies(keys) {
  const where = keys.map((key) => `.st-key-${key} textarea`).join(", ");
  addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey || event.isComposing) return;
      if (!(event.target instanceof Element) || !event.target.matches(where)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      const apply = { key: "Enter", code: "Enter", ctrlKey: true, metaKey: true, bubbles: true, cancelable: true };
      event.target.dispatchEvent(new KeyboardEvent("keydown", apply));
    },
    true,
  );
}

// A text is applied when it loses the focus, which starts a run of the script. A link clicked in the same moment starts
// another, and the two would lose the text between them: the first gets a head start.
function textsBeforePages() {
  let left = -Infinity;
  addEventListener(
    "focusout",
    ({ target }) => {
      if (target instanceof Element && target.matches("textarea, input")) left = performance.now();
    },
    true,
  );
  addEventListener(
    "click",
    (event) => {
      const link = event.target instanceof Element && /** @type {HTMLElement} */ (event.target.closest("a[href]"));
      const wait = left + HEAD_START - performance.now();
      if (!link || wait <= 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      setTimeout(() => link.click(), wait);
    },
    true,
  );
}

// Whether a text is short enough after an edit that puts ``added`` in place of what is selected.
export function canBeSent(text, selected, added) {
  return added === "" || text.length - selected + added.length <= MOST_TYPED;
}

// A text that cannot be sent is refused where it is pasted, dropped or typed, and the browser says so beside it.
function textsThatCanBeSent() {
  addEventListener(
    "beforeinput",
    (event) => {
      const { target } = event;
      if (!(target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement)) return;
      const added = event.data ?? event.dataTransfer?.getData("text/plain") ?? "";
      const selected = (target.selectionEnd ?? 0) - (target.selectionStart ?? 0);
      const fits = canBeSent(target.value, selected, added);
      const most = MOST_TYPED.toLocaleString("en");
      target.setCustomValidity(
        fits
          ? ""
          : `This is too long: up to ${most} characters can be put here. Use a part, or upload a file where that is offered.`,
      );
      if (fits) return;
      event.preventDefault();
      target.reportValidity();
    },
    true,
  );
}
