// Light, dark, or as the system is set: what shell.js keeps and tells the page.

export default function render({ parentElement }) {
  const theme = globalThis[Symbol.for("look inside BERT: light or dark")];
  const fields = parentElement.querySelector("fieldset");
  fields.querySelector(`[value="${theme.chosen()}"]`).checked = true;
  fields.onchange = ({ target }) => theme.choose(target.value);
}
