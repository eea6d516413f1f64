// Mounts the component above (its default export is called `render`) with the data of this page.
// There is no Python to report to: what the component tells is dropped.
const decode = (value) =>
  typeof value?.base64 === "string" ? Uint8Array.from(atob(value.base64), (byte) => byte.charCodeAt(0)) : value;
const fields = Object.entries(JSON.parse(document.getElementById("data").textContent));
render({
  data: Object.fromEntries(fields.map(([name, value]) => [name, decode(value)])),
  parentElement: document.getElementById("view"),
  setStateValue: () => {},
  setTriggerValue: () => {},
  key: "view",
});
