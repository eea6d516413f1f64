// The numbers of a part as a table: of a vector those of one token, a line per dimension, beside the numbers that they
// are made of; of attention what one token gives to each; of the text its pieces; of the output the likeliest tokens.

import { element } from "../shared/elements.js";
import { shadeOf } from "./values.js";
import { nameOf, number, percent, termsOf, titleOf } from "./words.js";

// {caption, head, lines}: names of the columns, and lines {column, cells, shade} of texts, whose last one has the colour
// of a shade; `column` is that of the part, null if the part has none. The numbers are those of the token of a row.
export function tableOf(data, values, part, row) {
  const { tokens, counts } = data;
  const line = (cells, column = null, shade = null) => ({ column, cells, shade });
  const [title] = titleOf(data, part);
  if (part.kind === "words") {
    const lines = data.words.map(([word, probability]) => line([word, percent(probability)]));
    return { caption: title, head: ["token", "probability"], lines };
  }
  if (part.kind === "characters" || part.kind === "pieces") {
    const lines = tokens.map((token, at) => line([data.characters[at], token, data.ids[at].toLocaleString("en")]));
    return { caption: "Pieces", head: ["characters", "piece", "number"], lines };
  }
  const exact = row === data.position;
  const caption = `${title}, token “${tokens[row]}”${exact ? "" : ", rounded"}`;
  if (part.kind === "matrix") {
    const scores = exact && values.scores
      ? [...values.scores].map((score) => score < -1e30 ? "−∞" : number(score))
      : null;
    const lines = tokens.map((token, column) => {
      const { value } = values.at(part, row, column);
      return line([token, ...(scores ? [scores[column]] : []), written(value, exact)], column, shadeOfWeight(value));
    });
    return { caption, head: ["token", ...(scores ? ["score"] : []), "weight"], lines };
  }
  const { size, per: share, scale } = data.stages[part.index];
  const per = exact ? 1 : share;
  const terms = exact ? termsOf(data, part) : [];
  const numbers = terms.map((name) => values.exact[data.stages.findIndex((stage) => stage.name === name)]);
  const lines = Array.from({ length: Math.ceil(size / per) }, (_, at) => {
    const column = at * per;
    const last = Math.min(column + per, size) - 1;
    const name = `${column + counts}${last > column ? `–${last + counts}` : ""}`;
    const { value } = values.at(part, row, column);
    const cells = [name, ...numbers.map((of) => number(of[column])), written(value, exact)];
    return line(cells, column, shadeOf(value, scale));
  });
  return { caption, head: ["dimension", ...terms.map(nameOf), title.toLowerCase()], lines };
}

const written = (value, exact) => `${exact ? "" : "≈ "}${number(value)}`;
const shadeOfWeight = (weight) => Math.round(255 * Math.sqrt(weight));

// Puts a table into an element; `coloursOf(shade)` are styles of a cell.
export function fill(table, { caption, head, lines }, coloursOf) {
  table.caption.textContent = caption;
  table.tHead.replaceChildren(element("tr", {}, ...head.map((name) => element("th", { scope: "col" }, name))));
  table.tBodies[0].replaceChildren(...lines.map(({ column, cells: [name, ...numbers], shade }) => {
    const cells = numbers.map((text) => element("td", {}, text));
    if (shade !== null) Object.assign(cells.at(-1).style, coloursOf(shade));
    return element("tr", { data: column === null ? {} : { column } }, element("th", { scope: "row" }, name), ...cells);
  }));
}
