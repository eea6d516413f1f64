// Elements that scripts make and place. Texts go in as text, never as HTML.

// An element with properties, with `data` for its dataset, and with children.
/** @type {(tag: string, properties?: Record<string, any>, ...children: (string | Node)[]) => any} */
export const element = (tag, { data = {}, ...properties } = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  Object.assign(made.dataset, data);
  made.append(...children);
  return made;
};

// Puts an element that lies over a picture to a place of it, in CSS px.
export function placeAt({ style }, x, y, width, height) {
  Object.assign(style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
}
