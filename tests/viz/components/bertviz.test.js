// What stands in for d3 under BertViz's scripts, and the parameters they get.

import { deepEqual, equal } from "node:assert/strict";
import { faded, scaleOrdinal } from "../../../viz/components/bertviz/d3.js";
import { parameters } from "../../../viz/components/bertviz/parameters.js";

Deno.test("a colour fades into the ground, light or dark", () => {
  equal(faded("#ff0000", "rgb(255, 255, 255)"), "rgb(255, 153, 153)");
  equal(faded("#ff0000", "rgb(0, 0, 0)"), "rgb(102, 0, 0)");
  // Each new value gets the next colour, and the first again after the last.
  const scale = scaleOrdinal(["red", "blue"]);
  deepEqual(["a", "b", "a", "c"].map(scale), ["red", "blue", "red", "red"]);
});

Deno.test("weights are unpacked by layer, head, query and key, and cut to each pair of sentences", () => {
  const flat = Uint16Array.from({ length: 2 * 1 * 2 * 2 }, (_, at) => at * 9362); // a seventh of 65535 and a bit
  const packed = btoa(String.fromCharCode(...new Uint8Array(flat.buffer)));
  const made = parameters({
    attention: { packed, shape: [2, 1, 2] },
    tokens: ["a", "b"],
    filters: [{ name: "All", left: [0, 2], right: [0, 2] }, { name: "B to A", left: [1, 2], right: [0, 1] }],
    layer: 1,
  });
  equal(made.layer, 1);
  const [all, across] = made.attention;
  const rounded = all.attn.flat(3).map((weight) => Math.round(weight * 7));
  deepEqual(rounded, [0, 1, 2, 3, 4, 5, 6, 7]);
  deepEqual([across.left_text, across.right_text], [["b"], ["a"]]);
  deepEqual(across.attn.map((layer) => layer.map((head) => head[0].length)), [[1], [1]]);
  equal(Math.round(across.attn[1][0][0][0] * 7), 6);
});
