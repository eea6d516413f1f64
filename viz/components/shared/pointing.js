// What is pointed at: pictures of one page that show the same tokens show it together, without asking the server.
//
// A place is {query, key}: places from 0 among the tokens shown, null for the side that is not pointed at. Pictures that
// belong together have the same group, a name in their data; one without a group ("") points for itself alone.

const POINTED = "inside-bert:pointed";
const OPENED = "inside-bert:opened";

// Tells the other pictures of a group where `source` points; a place of null where it points nowhere any more.
export function point(source, group, place) {
  if (group) dispatchEvent(new CustomEvent(POINTED, { detail: { source, group, place } }));
}

// Calls act(place) whenever another picture of a view's group points.
export function onPoint(view, act) {
  view.listenTo(globalThis, POINTED, ({ detail }) => isOfAnother(view, detail) && act(detail.place));
}

const isOfAnother = (view, { source, group }) => source !== view.root && group && group === view.data?.group;

// Calls act(place) whenever a picture within a shadow root points, until the signal ends it.
export function onPointed(shadow, act, signal) {
  addEventListener(POINTED, (/** @type {any} */ { detail: { source, place } }) => {
    if (shadow.contains(source)) act(place);
  }, { signal });
}

// Tells a group that a head was opened in `source`, and whoever shows it may come into view.
export function opened(source, group) {
  if (group) dispatchEvent(new CustomEvent(OPENED, { detail: { source, group } }));
}

export function onOpened(view, act) {
  view.listenTo(globalThis, OPENED, ({ detail }) => isOfAnother(view, detail) && act());
}
