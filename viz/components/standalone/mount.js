// Mounts the component above (its default export is called `render`) with the data of this page.
// There is no Python to report to: what the component tells is dropped.
function decode(value) {
  if (typeof value?.base64 !== "string") return value;
  const text = atob(value.base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at); // many times faster than with a callback
  return bytes;
}
const fields = Object.entries(JSON.parse(document.getElementById("data").textContent));
render({
  data: Object.fromEntries(fields.map(([name, value]) => [name, decode(value)])),
  parentElement: document.getElementById("view"),
  setStateValue: () => {},
  setTriggerValue: () => {},
  key: "view",
});
