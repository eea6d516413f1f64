// What the parts are called, and what a place of the picture says in plain words.

// Titles, each shorter than the one before, and what the part is, in a sentence.
const PARTS = {
  token: [["Token"], "a vector for the piece itself, looked up in a table"],
  position: [["Position", "Pos."], "a vector for the place in the text"],
  segment: [["Segment", "Seg."], "a vector for which of two texts the token belongs to"],
  sum: [["Sum"], "the embeddings added up, number by number"],
  projected: [["Projected", "Proj."], "the embedding, brought to the width of the layers"],
  input: [["Input", "In"], "what this layer is given"],
  "normed before": [["Norm"], "the input, normalized before attention"],
  query: [["Query", "Q"], "what each token compares with the keys of all tokens"],
  key: [["Key", "K"], "what each token is compared by"],
  value: [["Value", "V"], "what each token hands over to those that attend to it"],
  "turned query": [["Turned query", "Q turned", "Q′"], "the query, turned by the token's place"],
  "turned key": [["Turned key", "K turned", "K′"], "the key, turned by the token's place"],
  context: [["Context", "Ctx"], "the values, mixed by the attention weights"],
  attention: [["Attention output", "Attn. out", "Out"], "the contexts of all heads, mixed by one matrix"],
  "after attention": [["Add", "+"], "the layer's input and what attention found, added up"],
  "normed after attention": [["Norm"], "normalized after attention"],
  "normed between": [["Norm"], "normalized between attention and feed-forward"],
  inner: [["Inner"], "the inside of the feed-forward network"],
  gate: [["Gate"], "what the inner numbers are multiplied by"],
  active: [["Activation", "Active", "Act."], "the inner numbers after the activation function"],
  "feed-forward": [["Feed-forward output", "FFN out", "FFN"], "back to the width of the layers"],
  "after feed-forward": [["Add", "+"], "what went into the feed-forward network and what came out, added up"],
  output: [["Output", "Out"], "what this layer gives on"],
};

// Matrices that a stage's source is multiplied by, where it is one.
const MATRICES = {
  query: "W_Q",
  key: "W_K",
  value: "W_V",
  attention: "W_O",
  inner: "W₁",
  gate: "W_gate",
  "feed-forward": "W₂",
  projected: "W",
};

export function titleOf(data, part) {
  if (part.kind === "matrix") return ["Attention weights", "Attention"];
  if (part.kind === "words") return ["Probabilities", "Output"];
  if (part.kind === "characters") return ["Characters", "Text"];
  if (part.kind === "pieces") return ["Pieces"];
  if (part.kind === "card") return [`Layer ${part.layer + data.counts}`, String(part.layer + data.counts)];
  if (part.id === "normed") return ["Norm"];
  return PARTS[part.id]?.[0] ?? [part.id[0].toUpperCase() + part.id.slice(1)];
}

// Places of the walk that hold several parts.
const PLACES = {
  pieces: () => "The text, and the pieces that the tokenizer makes of it.",
  embeddings: () => "Embeddings: every piece becomes a vector, a list of numbers.",
  layers: ({ n_layers }) => `Layers: ${n_layers} of them, one after the other, each given what the one before gave on.`,
  layer: (data) => {
    const source = (name) => data.stages.find((stage) => stage.name === name)?.made_of[0];
    const [query, inner] = [source("query"), source("inner")];
    const order = query && inner && query !== inner ? ": attention, then a feed-forward network" : "";
    return `Inside layer ${data.layer + data.counts} of ${data.n_layers}${order}.`;
  },
  heads: (data) => {
    const framed = data.stages.some((stage) => stage.part) ? "; framed are the numbers of" : "; drawn is";
    return `Heads: ${data.n_heads} beside each other${framed} ${headOf(data)}.`;
  },
};

// What happens when parts come, while the text runs through the picture.
export function describeBeat(data, values, parts) {
  const [part, ...others] = parts;
  const { tokens, n_layers: layers, position } = data;
  const size = data.stages[part.index]?.size.toLocaleString("en");
  if (part.kind === "characters") return "The sentence, character by character.";
  if (part.kind === "pieces") {
    return `The tokenizer cuts it into pieces of its vocabulary: ${counted(tokens.length, "token")}.`;
  }
  if (part.kind === "card") {
    const place = `${part.layer + data.counts} of ${layers}`;
    if (part.layer === data.layer) return `That was layer ${place}. What it gives goes into the next.`;
    return `Layer ${place}: every token takes from the others. Lines: attention, mean of its heads.`;
  }
  if (part.kind === "matrix") {
    const row = [...values.attended];
    const most = row.indexOf(Math.max(...row));
    const share = `${quoted(tokens[most])} ${percent(row[most])}, the most, of its attention`;
    return `Attention, ${headOf(data)}: ${quoted(tokens[position])} gives ${share}.`;
  }
  if (part.kind === "words") {
    const best = data.words.slice(0, 2).map(([word, probability]) => `${quoted(word)} ${percent(probability)}`);
    const hidden = data.hidden && data.predicted !== null;
    const start = hidden ? `With ${quoted(tokens[data.predicted])} hidden, the` : "The";
    return `${start} model predicts ${best.join(", ")}.`;
  }
  if (others.some(({ id }) => id === "value")) {
    return "Each token gets a query, a key by which it is compared, and a value to hand over.";
  }
  const caption = {
    token: `Every token becomes a vector, ${size} numbers looked up in a table.`,
    position: "Vectors for its place in the text and for which text it belongs to.",
    sum: "They are added up, number by number.",
    input: `Inside layer ${data.layer + data.counts} of ${layers}: this is what comes in.`,
    context: "The values are mixed: as much of each as the attention weights say.",
    attention: `The ${data.n_heads} heads together, through one matrix.`,
    "after attention": "What attention found is added to what came in.",
    inner: `The feed-forward network makes each vector wider: ${size} numbers.`,
    active: "An activation function lets the large ones pass.",
    "feed-forward": `Back to ${size} numbers.`,
    "after feed-forward": "Added, once more, to what came in.",
    output: `What layer ${data.layer + data.counts} gives on.`,
  }[part.id];
  return caption ?? describePart(data, part);
}

export const describePlace = (data, { id, kind }) => (kind ? "" : PLACES[id]?.(data) ?? "");

const quoted = (token) => `“${token}”`;
const counted = (count, of) => `${count.toLocaleString("en")} ${of}${count === 1 ? "" : "s"}`;
const headOf = ({ head, n_heads, counts }) => `head ${head + counts} of ${n_heads}`;

// What a whole part is.
export function describePart(data, part) {
  const n = data.tokens.length;
  const tokens = counted(n, "token");
  if (part.kind === "characters") return `Characters: the text as it was typed, cut where the pieces are.`;
  if (part.kind === "pieces") {
    return `Pieces: ${counted(n, "token")} of the model's vocabulary, each with its number there.`;
  }
  if (part.kind === "matrix") {
    return `Attention weights, ${headOf(data)}: ${n} × ${n}. A row says how a token divides its attention.`;
  }
  if (part.kind === "words") {
    const [best] = data.words;
    return `Probabilities: the likeliest token${atPredicted(data)} is ${quoted(best[0])}, ${percent(best[1])}.`;
  }
  if (part.kind === "card") {
    const here = part.layer === data.layer;
    const opened = here ? "It is opened below." : `Opened below is layer ${data.layer + data.counts}.`;
    return `Layer ${part.layer + data.counts} of ${data.n_layers}: what it gives on. ${opened}`;
  }
  if (part.kind !== "strip") return "";
  const { size, group, part: ofHead, made_of: sources } = data.stages[part.index];
  const is = part.id === "normed"
    ? `${sources.includes("sum") ? "the sum" : "the vectors"}, normalized token by token`
    : part.id === "active" && sources.length > 1
    ? "the inner numbers and the gate, one through the activation function, multiplied"
    : PARTS[part.id]?.[1];
  const framed = ofHead && ofHead[1] - ofHead[0] < size ? ` Framed: ${headOf(data)}.` : "";
  const [title] = titleOf(data, part);
  const of = group === "layer" ? "" : ["token", "position", "segment"].includes(part.id) ? " embedding" : "";
  return `${title}${of}: ${is ? `${is}; ` : ""}${tokens} × ${counted(size, "number")}.${framed}`;
}

const atPredicted = ({ predicted, tokens }) => (predicted === null ? "" : ` at ${quoted(tokens[predicted])}`);

// What a token's row of a part is: the token, by its place in the whole text.
export function describeToken(data, row) {
  const { tokens, ids, characters, first } = data;
  const typed = characters[row] ? ` for the characters ${quoted(characters[row])}` : ", added by the tokenizer";
  const number = ids[row].toLocaleString("en");
  return `Token ${first + row + data.counts}, ${quoted(tokens[row])}: piece number ${number}${typed}.`;
}

// What one number is, and what it is made of; `values` are the payload's.
export function describeNumber(data, values, part, { row, column }) {
  const { value, exact, per } = values.at(part, row, column);
  const sign = exact ? "" : "≈ ";
  const { tokens } = data;
  if (part.kind === "matrix") {
    const score = exact && values.scores ? values.scores[column] : null;
    const hidden = score !== null && score < -1e30;
    const by = data.scaling === null ? "" : ` = q · k × ${number(data.scaling)}`;
    const share = `${quoted(tokens[row])} gives ${quoted(tokens[column])} ${sign}${number(value)} of its attention`;
    const sentence = `${share} in ${headOf(data)}.`;
    if (score === null) return sentence;
    if (hidden) return `${sentence} It is not allowed to look there.`;
    return `${sentence} It is the softmax, along the row, of scores: here ${number(score)}${by}.`;
  }
  const [title] = titleOf(data, part);
  const { size } = data.stages[part.index];
  const start = column - (column % per);
  const to = Math.min(start + per, size);
  const where = to === start + 1
    ? `dimension ${column + data.counts}`
    : `dimensions ${start + data.counts} to ${to - 1 + data.counts}, the one farthest from zero`;
  const made = exact
    ? madeOf(data, values, part, { row, column })
    : `, rounded; exact are those of ${quoted(tokens[data.position])}.`;
  return `${title}, token ${quoted(tokens[row])}, ${where}: ${sign}${number(value)}${made}`;
}

// How a number of the followed token comes about: the end of its sentence.
function madeOf(data, values, part, { row, column }) {
  const stage = data.stages[part.index];
  const numberOf = (name) => number(values.exact[data.stages.findIndex((other) => other.name === name)][column]);
  const sources = stage.made_of;
  const [source] = sources;
  if (stage.how === "sum") {
    const terms = sources.map((name) => `${numberOf(name)} (${nameOf(name)})`);
    return ` = ${terms.join(" + ").replaceAll("+ −", "− ")}.`;
  }
  if (stage.how === "same") return `, as in ${nameOf(source)}.`;
  if (stage.how === "looked up") return `, number ${column + data.counts} of ${lookedUp(data, part, row)}.`;
  if (part.id === "input") return `, from ${data.layer ? `layer ${data.layer - 1 + data.counts}` : "the embeddings"}.`;
  if (part.id === "context") return `, the sum over all tokens of attention weight × value[${column + data.counts}].`;
  if (part.id in MATRICES && sources.length === 1) {
    const bias = data.biases.includes(part.id) ? " + b" : "";
    const more = ["query", "key", "value"].includes(part.id) ? "" : ", plus a bias where the model has one";
    return ` = ${nameOf(source)} · ${MATRICES[part.id]}[:, ${column + data.counts}]${bias}${more}.`;
  }
  if (part.id.startsWith("turned")) {
    return `, the ${source} turned by the angle of place ${data.first + row + data.counts}.`;
  }
  if (part.id === "active" && sources.length === 1) return ` = activation(${numberOf(source)}).`;
  if (part.id === "active") {
    return `, of ${numberOf(sources[0])} and ${numberOf(sources[1])} (${sources.join(" and ")}).`;
  }
  if (isNorm(data, part)) return `, normalized from ${numberOf(source)} (${nameOf(source)}).`;
  return sources.length ? `, made of ${sources.map(nameOf).join(" and ")}.` : ".";
}

// The stages whose number of the same dimension goes into one of a part.
export function termsOf(data, part) {
  const { how, made_of: sources } = data.stages[part.index];
  const same = how === "sum" || how === "same" || part.id === "active" || isNorm(data, part);
  return same ? sources : [];
}

const isNorm = (data, part) =>
  data.stages[part.index].made_of.length === 1 && (part.id.startsWith("normed") || part.id === "output");

const NAMES = { "after attention": "sum", "after feed-forward": "sum", attention: "attention output", sum: "sum" };
export const nameOf = (name) => (name.startsWith("normed") ? "the normed vector" : NAMES[name] ?? name);

function lookedUp(data, part, row) {
  if (part.id === "token") return `row ${data.ids[row].toLocaleString("en")} of the token table`;
  if (part.id === "position") return "the vector of this place";
  return "a table";
}

// With a typographic minus, as many places as are of use.
export function number(value) {
  const size = Math.abs(value);
  const places = size >= 100 ? 1 : size >= 10 ? 2 : size >= 0.001 || size < 5e-7 ? 3 : 6;
  return `${value < 0 ? "−" : ""}${size.toFixed(places)}`;
}

export const percent = (probability) =>
  probability >= 0.0995 ? `${(100 * probability).toFixed(0)}%` : `${(100 * probability).toPrecision(2)}%`;

// What the picture leaves out, in sentences.
export function describeOmissions(data) {
  const notes = [];
  const n = data.tokens.length;
  if (n < data.n_tokens) {
    const [from, to] = [data.first + 1, data.first + n];
    notes.push(`Shown: tokens ${from} to ${to} of ${data.n_tokens.toLocaleString("en")}.`);
  }
  const per = Math.max(...data.stages.map((stage) => stage.per));
  if (per > 1) notes.push(`Up to ${per} numbers share a cell, which shows the one farthest from zero.`);
  if (data.why_not) notes.push(data.why_not);
  return notes.join(" ");
}
