// The line of words above the picture: what a view shows, as elements and texts. A view says which heads are `on`, which
// token is chosen(), the `best` lines of the head in `front`, and the means() of all weights.

import { element } from "../shared/elements.js";
import { decimal } from "../shared/numbers.js";
import { isTouched } from "../shared/screen.js";
import { labelsOf } from "./tokens.js";
import { nameOf, strongest } from "./words.js";

const bold = (text) => element("b", {}, text);
const isolated = (label) => element("bdi", {}, nameOf(label));
const listed = (parts) => parts.flatMap((part, place) => [place ? ", " : "", ...part]);

export function status(view) {
  if (!view.on.some(Boolean)) return ["All heads are off. Switch one on above."];
  const chosen = view.chosen();
  return chosen ? describeToken(view, chosen) : describeAll(view);
}

function describeAll(view) {
  const { data, front } = view;
  const { head_names: names } = data;
  const best = view.best.map(({ query, key, weight }) => [
    isolated(query),
    " → ",
    isolated(key),
    ` ${decimal(weight, data.scale)}`,
  ]);
  if (best.length === 0) return [`${view.countLines()} Hover a token to see all its lines, click to keep them.`];
  return [
    bold(names.length === 1 ? "Strongest: " : `Strongest of head ${names[front]}: `),
    ...listed(best),
    ". ", // what to do next would not fit on the line, and the view says it
    view.countLines(),
  ];
}

function describeToken(view, chosen) {
  const { data, on } = view;
  const head = bold("");
  head.append(isolated(labelsOf(data, chosen.side)[chosen.index]), chosen.side === "query" ? " → " : " ← ");
  const partners = strongest(data, view.means(), chosen).map(({ label, weight }) => [
    isolated(label),
    ` ${decimal(weight, data.scale)}`,
  ]);
  const active = on.filter(Boolean).length;
  const heads = active === 1 ? "" : ` (mean of ${active} heads)`;
  const again = isTouched() ? "tap again" : "click again or Escape";
  const kept = view.locked ? ` · kept: ${again} to let go` : "";
  return [head, ...listed(partners), heads + kept];
}
