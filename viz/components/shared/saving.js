// Pictures for files: whoever saves asks for one by its name, and the component that shows it gives it.
//
// A look is what a picture is drawn for: a theme as of themeOf, its `font`, its `scale` of type, and a `width` in CSS px.

import { SvgPen } from "./pens.js";

const ASKED = "inside-bert:picture";

// Gives picture(look) = {width, height, draw(pen)} when the picture of the `file` that a view's data names is asked for.
export function onAsked(view, picture) {
  view.listenTo(globalThis, ASKED, ({ detail }) => {
    if (detail.name === view.data?.file) detail.picture = picture(detail.look);
  });
}

// The picture of a name as an SVG document, null where nothing on the page has it. The namespace is that of SVG.
export async function drawn(name, look, namespace) {
  const detail = { name, look, picture: null };
  dispatchEvent(new CustomEvent(ASKED, { detail }));
  if (!detail.picture) return await framed(name, look);
  const pen = new SvgPen(namespace, detail.picture.width, detail.picture.height, look.font);
  detail.picture.draw(pen);
  return pen.finish();
}

// A page in a frame gives its picture as text, to whoever asks it by a message with a port to answer to.
async function framed(name, look) {
  const { port1: here, port2: there } = new MessageChannel();
  const frames = [...document.querySelectorAll("iframe")];
  if (frames.length === 0) return null;
  const answer = new Promise((answered) => {
    here.onmessage = ({ data }) => answered(data);
    setTimeout(answered, 2000, null);
  });
  for (const frame of frames.slice(0, 1)) frame.contentWindow.postMessage({ [ASKED]: name, look }, "*", [there]);
  const text = await answer;
  return text && new DOMParser().parseFromString(text, "image/svg+xml");
}
