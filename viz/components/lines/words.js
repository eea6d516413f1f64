// What is said of tokens and lines: partners by strength, in a sentence or as numbers.

import { FAINTEST } from "./levels.js";
import { decimal, largest } from "../shared/numbers.js";
import { VERBS } from "../shared/verbs.js";
import { labelsOf, other } from "./tokens.js";

const NAMED = 3; // strongest partners named

export const nameOf = (label) => label.trim() || "space";

// Mean weight over the heads that are on, a row a query.
export function meanWeights({ weights, scale, queries, keys }, on) {
  const perHead = queries.length * keys.length;
  const active = on.flatMap((isOn, head) => (isOn ? [head] : []));
  const mean = new Float32Array(perHead);
  for (const head of active) for (let pair = 0; pair < perHead; pair++) mean[pair] += weights[head * perHead + pair];
  const unit = scale / 255 / Math.max(active.length, 1);
  return mean.map((sum) => sum * unit);
}

// The partners of a token that have the largest mean weights, none of them zero.
export function strongest(data, mean, { side, index }) {
  const n = data.keys.length;
  return labelsOf(data, other(side))
    .map((label, partner) => ({ label, weight: mean[side === "query" ? index * n + partner : partner * n + index] }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, NAMED)
    .filter(({ weight }) => weight > 0);
}

// The strongest lines of a head, as texts of both tokens and the weight, none of them zero.
export function strongestOf({ weights, scale, queries, keys }, head) {
  const perHead = queries.length * keys.length;
  return largest(weights, NAMED, { from: head * perHead, to: (head + 1) * perHead }).map((at) => {
    const pair = at - head * perHead;
    const query = Math.floor(pair / keys.length);
    return { query: queries[query], key: keys[pair - query * keys.length], weight: (weights[at] / 255) * scale };
  });
}

// What the boxes beside the tokens are, on the ground of a theme.
export function describeBoxes(heads, isDark) {
  const shade = isDark ? "brighter" : "darker";
  return heads === 1
    ? `Boxes beside the tokens: the ${shade}, the larger the weight.`
    : `Boxes beside the tokens: one for each head, in its colour; the ${shade}, the larger its weight.`;
}

export function described(data, mean, token) {
  const partners = strongest(data, mean, token).map(({ label, weight }) =>
    `${nameOf(label)} ${decimal(weight, data.scale)}`
  );
  const name = nameOf(labelsOf(data, token.side)[token.index]);
  return `${name}, ${token.side}, ${VERBS[data.says][token.side]}: ${partners.join(", ") || "none"}`;
}

// How many lines are drawn of those that there are, and from which number on.
export function countLines({ queries, keys, scale }, on, lines) {
  const all = on.filter(Boolean).length * queries.length * keys.length;
  const weakest = decimal((FAINTEST / 255) * scale, scale / 4);
  const [drawn, possible] = [lines.length, all].map((count) => count.toLocaleString("en"));
  return `${drawn} of ${possible} lines, ${weakest} and more.`;
}
