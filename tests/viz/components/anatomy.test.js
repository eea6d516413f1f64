// The walk by itself: where its parts are, what numbers become and say, their table, where keys lead.

import { deepEqual, equal, ok } from "node:assert/strict";
import { flowsFrom, placed, placeOf, scaleOf } from "../../../viz/components/anatomy/places.js";
import { beatAt, beatsOf, rowAt } from "../../../viz/components/anatomy/run.js";
import { moved, next, reported } from "../../../viz/components/anatomy/steps.js";
import { tableOf } from "../../../viz/components/anatomy/table.js";
import { dequantized, shadeOf, shadesOfStrips, Values } from "../../../viz/components/anatomy/values.js";
import * as words from "../../../viz/components/anatomy/words.js";

const { describeNumber, describeOmissions, describePart, describeToken, number } = words;

const STAGE = { group: "layer", per: 1, scale: 2, how: "other", part: null };
const stage = (name, size, made_of = [], more = {}) => ({ name, size, cells: size, made_of, ...STAGE, ...more });

// BERT of four numbers and inside eight, in the first of so many layers; three tokens of which the second is followed.
function bert({ n_layers = 6, n = 3, width = 4 } = {}) {
  const embedding = { group: "embeddings", how: "looked up" };
  const stages = [
    stage("token", width, [], embedding),
    stage("position", width, [], embedding),
    stage("segment", width, [], embedding),
    stage("sum", width, ["token", "position", "segment"], { group: "embeddings", how: "sum" }),
    stage("normed", width, ["sum"], { group: "embeddings" }),
    stage("input", width),
    ...["query", "key", "value"].map((name) => stage(name, width, ["input"], { part: [2, 4] })),
    stage("context", width, ["query", "key", "value"], { part: [2, 4] }),
    stage("attention", width, ["context"]),
    stage("after attention", width, ["input", "attention"], { how: "sum" }),
    stage("normed after attention", width, ["after attention"]),
    stage("inner", 4 * width, ["normed after attention"]),
    stage("active", 4 * width, ["inner"]),
    stage("feed-forward", width, ["active"]),
    stage("after feed-forward", width, ["normed after attention", "feed-forward"], { how: "sum" }),
    stage("output", width, ["after feed-forward"]),
  ];
  const tokens = ["[CLS]", "cat", "[SEP]", ...Array(Math.max(0, n - 3)).fill("t")].slice(0, n);
  const characters = tokens.map((token) => (token.startsWith("[") ? "" : token));
  const text = { tokens, ids: tokens.map((_, at) => 1000 + at), characters, first: 0, n_tokens: n, position: 1 };
  const place = { stages, states: Array(n_layers + 1).fill(1), state_cells: width, layer: 0, head: 1, n_layers };
  const numbers = { counts: 1, n_heads: 2, scores: true, biases: ["query"], scaling: 0.5, flows: false, opens: {} };
  const data = {
    ...text,
    ...place,
    ...numbers,
    words: [["dog", 0.25]],
    predicted: 1,
    why_not: "",
    at: "",
    hidden: true,
  };
  const floats = stages.flatMap(({ size }, at) => Array.from({ length: size }, (_, column) => at + column / 8));
  const exact = new Float32Array([...floats, ...Array(n).fill(1 / 4), ...Array(n).fill(-1.5)]);
  const rounded = new Int8Array(stages.reduce((sum, { cells }) => sum + n * cells, 0) + (n_layers + 1) * n * width);
  rounded[0] = -127;
  const attention = new Uint8Array(n * n).fill(51);
  const all = [exact, rounded, attention].flatMap((array) => [...new Uint8Array(array.buffer)]);
  return { ...data, weights: Uint8Array.from(all) };
}

const measured = { tokens: 50, characters: 70 };
const overlap = (a, b) =>
  Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x) > 0.01 &&
  Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y) > 0.01;

for (const width of [360, 400, 599, 600, 800, 1000, 1280, 1800]) {
  for (const shape of [{}, { n: 24 }, { n_layers: 24, n: 16, width: 1024 }, { n_layers: 1, n: 1 }]) {
    Deno.test(`at ${width} px parts of ${JSON.stringify(shape)} stand apart, within the picture`, () => {
      const { parts, height } = placed(bert(shape), width, { measured, scale: scaleOf(width, 1) });
      for (const part of parts) {
        ok(part.x >= 0 && part.x + part.w <= width + 0.01, part.id);
        ok(part.y >= 0 && part.y + part.h <= height, part.id);
        ok(part.w > 0.5 && part.h > 0, part.id);
      }
      parts.forEach((a, at) => parts.slice(at + 1).forEach((b) => ok(!overlap(a, b), a.id + b.id)));
    });
  }
}

Deno.test("a part is as wide as its vectors are long, and a wide picture keeps its height up to sixteen tokens, and all can be read", () => {
  const { at } = placed(bert({ width: 256, n: 16 }), 1280, { measured });
  equal(Math.round(at.get("inner").w / at.get("input").w), 4);
  equal(Math.round(at.get("token").w), Math.round(at.get("output").w));
  for (const n of [1, 4, 16, 24]) {
    const { height, at } = placed(bert({ n }), 1280, { measured });
    ok(height < (n <= 16 ? 426 : 526));
    ok(at.get("pieces").h / n > 10);
  }
});

Deno.test("a picture beside a question is wide, in slides and on a small projector, and no higher than its type", () => {
  for (const [width, type] of [[640, 1], [660, 1.375], [703, 1.375], [800, 1.375], [1214, 1.375]]) {
    const scale = scaleOf(width, type);
    const { height, wide } = placed(bert({ n: 13, width: 384 }), width, { measured, scale });
    ok(wide && scale >= 0.85 && scale <= type, `${width}`);
    ok(height <= 426 * scale + 8 && height < 0.68 * width, `${width}: ${height}`);
  }
  equal(scaleOf(360, 1.375), 1.375);
});

Deno.test("layers fold beside the one that is opened, and places have parts or frames", () => {
  const { parts } = placed(bert({ n_layers: 24 }), 1000, { measured });
  const cards = parts.filter(({ kind }) => kind === "card");
  equal(cards.length, 24);
  ok(cards[0].w > 2 * cards[1].w);
  const data = bert();
  const places = placed(data, 1280, { measured });
  for (const name of ["pieces", "embeddings", "layers", "layer", "heads", "head", "query"]) {
    ok(placeOf(places, name), name);
  }
  equal(placeOf(places, "output").kind, "words");
  equal(placeOf(places, "layer output").id, "output");
  equal(placeOf(placed({ ...data, words: [] }, 1280, { measured }), "output").id, "output");
  equal(placeOf(places, "gate"), null);
});

Deno.test("lines: sums in a row, one into the group of queries, keys and values, residual ones past the others", () => {
  const { links } = placed(bert(), 1280, { measured });
  const lines = links.map(({ from, to, past, sign }) => `${from.id} ${past}${sign} ${to.id}`);
  for (
    const link of [
      "token 0+ position",
      "segment 0= sum",
      "input 0 query",
      "value 0 matrix",
      "matrix 0 context",
      "value 1 context",
      "input 2 after attention",
      "normed after attention 1 after feed-forward",
    ]
  ) ok(lines.includes(link), link);
  ok(!lines.some((link) => /input \d (key|value)/.test(link)));
});

Deno.test("numbers are exact for the followed token and rounded for others", () => {
  const data = bert();
  const values = new Values(data);
  const token = { kind: "strip", index: 0 };
  deepEqual(values.at(token, 1, 3), { value: 0.375, exact: true, per: 1 });
  deepEqual(values.at(token, 0, 0), { value: -2, exact: false, per: 1 });
  const matrix = { kind: "matrix" };
  deepEqual(values.at(matrix, 1, 2), { value: 0.25, exact: true, per: 1 });
  ok(Math.abs(values.at(matrix, 0, 2).value - 0.04) < 1e-9);
  equal(dequantized(64, 127 ** 2), 4096);
  deepEqual([-2, 0, 0.5, 2].map((value) => shadeOf(value, 2)), [0, 127, 191, 254]);
});

Deno.test("a number says what it is and what it is made of", () => {
  deepEqual([-0.4823, 12.345, 123.45, 0, 0.00012].map(number), ["−0.482", "12.35", "123.5", "0.000", "0.000120"]);
  const data = bert();
  const values = new Values(data);
  const describe = (name, row, column) => {
    const index = data.stages.findIndex((stage) => stage.name === name);
    return describeNumber(data, values, { id: name, kind: "strip", index }, { row, column });
  };
  equal(describe("query", 1, 2), "Query, token “cat”, dimension 3: 6.250 = input · W_Q[:, 3] + b.");
  equal(describe("key", 1, 2), "Key, token “cat”, dimension 3: 7.250 = input · W_K[:, 3].");
  ok(describe("sum", 1, 0).endsWith(": 3.000 = 0.000 (token) + 1.000 (position) + 2.000 (segment)."));
  ok(describe("after attention", 1, 0).endsWith(": 11.00 = 5.000 (input) + 10.00 (attention output)."));
  ok(describe("token", 1, 0).includes(": 0.000, number 1 of row 1,001 of the token table."));
  ok(describe("token", 0, 0).includes(": ≈ −2.000, rounded"));
  const weight = describeNumber(data, values, { kind: "matrix" }, { row: 1, column: 0 });
  for (const part of ["“cat” gives “[CLS]” 0.250", "head 2 of 2", "−1.500 = q · k × 0.500"]) ok(weight.includes(part));
});

Deno.test("a table has a line per number of a token, with what it is made of", () => {
  const data = bert();
  const values = new Values(data);
  const table = (name, row) => {
    const index = data.stages.findIndex((stage) => stage.name === name);
    return tableOf(data, values, { id: name, kind: "strip", index }, row);
  };
  const sum = table("sum", 1);
  deepEqual([sum.caption, sum.head], ["Sum, token “cat”", ["dimension", "token", "position", "segment", "sum"]]);
  deepEqual(sum.lines[1], { column: 1, cells: ["2", "0.125", "1.125", "2.125", "3.125"], shade: 254 });
  deepEqual(table("normed", 1).head, ["dimension", "sum", "norm"]);
  deepEqual(table("query", 1).head, ["dimension", "query"]);
  deepEqual(table("token", 0).lines[0].cells, ["1", "≈ −2.000"]);
  Object.assign(data.stages[0], { per: 3, cells: 2 });
  deepEqual(table("token", 0).lines.map(({ column, cells: [name] }) => [column, name]), [[0, "1–3"], [3, "4"]]);
  const attention = tableOf(data, values, { id: "matrix", kind: "matrix" }, 1);
  deepEqual([attention.head, attention.lines[2].cells], [["token", "score", "weight"], ["[SEP]", "−1.500", "0.250"]]);
  deepEqual(tableOf(data, values, { id: "matrix", kind: "matrix" }, 0).lines[2].cells, ["[SEP]", "≈ 0.040"]);
  deepEqual(tableOf(data, values, { id: "words", kind: "words" }, 0).lines[0].cells, ["dog", "25%"]);
  deepEqual(tableOf(data, values, { id: "pieces", kind: "pieces" }, 0).lines[1].cells, ["cat", "cat", "1,001"]);
});

Deno.test("in a notebook all is counted from 0", () => {
  const data = { ...bert(), counts: 0 };
  const values = new Values(data);
  const index = data.stages.findIndex((stage) => stage.name === "query");
  const query = { id: "query", kind: "strip", index };
  equal(
    describeNumber(data, values, query, { row: 1, column: 2 }),
    "Query, token “cat”, dimension 2: 6.250 = input · W_Q[:, 2] + b.",
  );
  ok(describeToken(data, 1).startsWith("Token 1, “cat”"));
  ok(describePart(data, query).endsWith("Framed: head 1 of 2."));
  ok(describePart(data, { kind: "card", layer: 3 }).startsWith("Layer 3 of 6"));
});

Deno.test("tokens and parts say what they are", () => {
  const data = bert();
  equal(describeToken(data, 1), "Token 2, “cat”: piece number 1,001 for the characters “cat”.");
  equal(describeToken(data, 0), "Token 1, “[CLS]”: piece number 1,000, added by the tokenizer.");
  equal(
    describePart(data, { id: "inner", kind: "strip", index: 13 }),
    "Inner: the inside of the feed-forward network; 3 tokens × 16 numbers.",
  );
  equal(describePart(data, { kind: "words" }), "Probabilities: the likeliest token at “cat” is “dog”, 25%.");
  // Half as many cells have the mean size of two and the sign of the larger.
  const q = [20, -10, 0, 0, -127, 127, 5, 5, 40];
  const [, half] = shadesOfStrips(Uint8Array.from(q, (level) => level + 127), 9);
  deepEqual([...half.levels].map((level) => level - 127), [16, 0, -127, 5, 40]);
});

Deno.test("what is left out and cells that dimensions share are told", () => {
  const data = bert();
  Object.assign(data.stages[0], { per: 3, cells: 2 });
  const values = { at: () => ({ value: -0.5, exact: false, per: 3 }) };
  const shared = describeNumber(data, values, { id: "token", kind: "strip", index: 0 }, { row: 0, column: 1 });
  ok(shared.includes("dimensions 1 to 3") && shared.includes("≈ −0.500"));
  equal(describeOmissions(bert()), "");
  const long = { ...bert(), first: 10, n_tokens: 1200, why_not: "Not known." };
  long.stages[0].per = 3;
  for (const part of ["11 to 13 of 1,200", "Up to 3 numbers", "Not known."]) ok(describeOmissions(long).includes(part));
});

Deno.test("keys go along the walk and between its bands, and from number to number", () => {
  const { parts } = placed(bert(), 1280, { measured });
  const order = parts.filter(({ kind }) => kind !== "card");
  const at = (id) => order.find((part) => part.id === id);
  equal(next("ArrowRight", order, null).id, "characters");
  equal(next("ArrowRight", order, at("token")).id, "position");
  equal(next("ArrowLeft", order, at("characters")).id, "characters");
  equal(next("End", order, at("token")).id, "output");
  ok(next("ArrowDown", order, at("token")).y > at("token").y);
  equal(next("ArrowUp", order, at("token")).id, "token");
  equal(next("x", order, at("token")), null);
  const size = { rows: 3, columns: 20 };
  deepEqual(moved("ArrowRight", { row: 2, column: 5 }, size), { row: 2, column: 5 });
  deepEqual(moved("ArrowDown", { row: 0, column: 5 }, { ...size, step: 3 }), { row: 0, column: 8 });
  deepEqual(moved("PageDown", { row: 0, column: 5 }, size), { row: 0, column: 15 });
  deepEqual(moved("End", { row: 0, column: 5 }, size), { row: 0, column: 19 });
  equal(moved("x", { row: 0, column: 5 }, size), null);
});

Deno.test("parts are reported under the names that Python has", () => {
  deepEqual(
    [["matrix", "matrix"], ["words", "words"], ["strip", "output"], ["strip", "query"], ["characters", "characters"]]
      .map(([kind, id]) => reported({ kind, id })),
    ["head", "output", "layer output", "query", "pieces"],
  );
  // A time is in one beat, and the first row sets out before the last one.
  const beats = [{ start: 0, end: 100 }, { start: 100, end: 300 }];
  deepEqual(beatAt(beats, 0), { index: 0, passed: 0 });
  deepEqual(beatAt(beats, 100), { index: 0, passed: 1 });
  deepEqual(beatAt(beats, 200), { index: 1, passed: 0.5 });
  ok(rowAt(0.5, 0, 8) > rowAt(0.5, 7, 8));
  for (const row of [0, 7]) deepEqual([rowAt(0, row, 8), rowAt(1, row, 8)], [0, 1]);
  equal(rowAt(1, 0, 1), 1);
});

const running = (shape) => ({ ...bert(shape), opens: { layer: "the page" } });
const beatsAt = (width, data) => {
  const values = { attended: Float32Array.from([0.25, 0.125, 0.625]) };
  return beatsOf(data, values, placed(data, width, { measured }));
};

Deno.test("the text runs from its characters through the opened layer to the words, without a pause", () => {
  const beats = beatsAt(1280, { ...running(), layer: 1 });
  equal(
    beats.map(({ parts }) => parts.map(({ id }) => id).join("+")).join(" → "),
    "characters → pieces → token → position+segment → sum → normed → layer 0 → input → query+key+value → matrix → " +
      "context → attention → after attention → normed after attention → inner → active → feed-forward → " +
      "after feed-forward → output → layer 1 → layer 2 → layer 3 → layer 4 → layer 5 → words",
  );
  beats.slice(1).forEach(({ start }, at) => equal(start, beats[at].end));
  ok(beats.at(-1).end < 20_000);
  const from = new Map(beats.flatMap(({ parts, from }) => parts.map(({ id }, at) => [id, from[at]?.id ?? null])));
  const ways = { characters: null, pieces: "characters", token: "pieces", position: null, sum: "segment" };
  Object.assign(ways, { "layer 0": "normed", input: "layer 0", key: "input", matrix: "query", context: "value" });
  Object.assign(ways, { "layer 1": "output", "layer 2": "layer 1", words: "layer 5" });
  for (const [part, source] of Object.entries(ways)) equal(from.get(part), source, part);
});

Deno.test("each part has a caption when it comes, with the model's numbers", () => {
  const captions = new Map(beatsAt(1280, running()).map(({ parts, caption }) => [parts[0].id, caption]));
  equal(captions.get("pieces"), "The tokenizer cuts it into pieces of its vocabulary: 3 tokens.");
  equal(captions.get("matrix"), "Attention, head 2 of 2: “cat” gives “[SEP]” 63%, the most, of its attention.");
  equal(captions.get("words"), "With “cat” hidden, the model predicts “dog” 25%.");
  equal(beatsAt(1280, { ...running(), hidden: false }).at(-1).caption, "The model predicts “dog” 25%.");
  ok([...captions.values()].every(Boolean));
});

Deno.test("on a phone the text runs past layers that are closed", () => {
  const data = { ...running({ n: 13, width: 64 }), flows: true };
  const { parts, at, height, panel } = placed(data, 358, { measured });
  deepEqual([panel, at.has("layer"), at.has("query")], [null, false, false]);
  ok(height < 640);
  const cards = parts.filter(({ kind }) => kind === "card");
  equal(flowsFrom(parts, cards[1]), cards[0]);
  equal(flowsFrom(parts, cards[0]), null); // the embeddings stand above
  const beats = beatsAt(358, data);
  deepEqual(beats.slice(-2).map(({ parts: [part] }) => part.id), ["layer 5", "words"]);
});
