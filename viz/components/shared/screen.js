// What a canvas must know of the screen: its pixels, and the theme's colours and font, which CSS cannot give it.

const LARGEST_CANVAS = 16e6; // device pixels; beyond that Safari draws nothing

// Device pixels a CSS pixel: as many as wanted, as few as a canvas can bear.
export const sharpest = (wanted, width, height) =>
  Math.min(wanted, Math.sqrt(LARGEST_CANVAS / Math.max(width * height, 1)), 16384 / height);

// Acts whenever a CSS pixel has another number of device pixels, as long as a view is on the page.
export function onRatio(view, act) {
  const changed = () => {
    act();
    onRatio(view, act);
  };
  view.listenTo(matchMedia(`(resolution: ${devicePixelRatio}dppx)`), "change", changed, { once: true });
}

// Acts whenever what a view draws would look different: another theme or size of type around its root of the class
// "picture", other fonts, another width of `sized`, other pixels of the screen.
export function onLook(view, sized, act) {
  view.listenTo(view.root, "transitionend", (event) => event.target === view.root && act());
  view.listenTo(document.fonts, "loadingdone", () => act());
  let width = sized.clientWidth;
  view.observe(ResizeObserver, sized, () => {
    if (sized.clientWidth === width) return;
    width = sized.clientWidth;
    act();
  });
  onRatio(view, act);
}

// Whether it is touched: what is said must not speak of keys, or of a mouse that points without a click.
export const isTouched = () => globalThis.matchMedia?.("(hover: none)").matches ?? false;

// Whether a colour, as browsers compute it, is a dark one.
export function isDark(colour) {
  const [red, green, blue] = colour.match(/[\d.]+/g).map(Number);
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
}

// How much larger than usual type is: the root's font size, which the presentation mode raises, over 16 pixels.
export const typeScale = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

// Colours and font around an element of the class "picture", under the names of theme.css, and the scale of type.
export function themeOf(element) {
  const style = getComputedStyle(element);
  const [muted, line, primary, surface] = ["--muted", "--line", "--primary", "--surface"]
    .map((name) => style.getPropertyValue(name).trim());
  const { fontFamily: font, color: text, backgroundColor: background } = style;
  return { font, text, muted, line, background, surface, primary, dark: isDark(background), scale: typeScale() };
}
