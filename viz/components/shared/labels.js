// Labels: texts that any document can hold, cut where readers would cut them.

// One line of characters that XML can hold.
export const printable = (text) =>
  text.replace(/\s/g, " ").replace(/[^\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");

// A text in what readers take for characters: an accent stays with its letter where a label is cut.
const segmenter = new Intl.Segmenter();
export const graphemes = (text) => Array.from(segmenter.segment(text), ({ segment }) => segment);

const cut = (characters, count) => `${characters.slice(0, count).join("")}…`;

// A label of at most `longest` characters, and its width in the font of a canvas' context.
export function labelOf(name, longest, context) {
  const characters = graphemes(printable(name));
  const text = characters.length > longest ? cut(characters, longest - 1) : characters.join("");
  return { text, width: context.measureText(text).width };
}

// A text of a width, cut where there is less room.
export function fitted({ text, width }, room) {
  if (width <= room) return text;
  const characters = graphemes(text);
  return cut(characters, Math.max(1, Math.floor((characters.length * room) / width) - 1));
}
