// A button that copies the address that restores a page: this one, or another.

const AWAY = 2000; // milliseconds that the button says what it did

// The address, or another one seen from it, with these parameters and no others; what stands behind "#" stays, unless
// there is something else to put there.
export function linkTo(address, query, to = "", hash = "") {
  const link = new URL(to || address, address);
  link.search = new URLSearchParams(query).toString();
  if (hash) link.hash = hash;
  return link.href;
}

export default function render({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  const label = parentElement.querySelector("span");
  const link = linkTo(location.href, data.query, data.to, data.hash);
  label.textContent = data.label;
  let timer;
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(link);
      label.textContent = "Copied";
    } catch {
      // Without a secure connection a browser has no clipboard: what is selected can be copied by hand.
      prompt("Copy this link:", link);
    }
    clearTimeout(timer);
    timer = setTimeout(() => (label.textContent = data.label), AWAY);
  };
  return () => clearTimeout(timer);
}
