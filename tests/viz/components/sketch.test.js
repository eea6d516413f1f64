// Sketches by themselves: where a stroke and the keys lead, and how heights are written.

import { deepEqual, equal } from "node:assert/strict";
import { drawnNumber, exactNumber, levelOf, moved, stroked } from "../../../viz/components/sketch/levels.js";

Deno.test("a height is the nearest level of the scale, and never outside of it", () => {
  deepEqual([-1, 0, 0.49, 0.51, 1, 2].map((share) => levelOf(share, 10)), [0, 0, 5, 5, 10, 10]);
  // A drawing has as many digits as its scale needs, the model's number its own.
  equal(drawnNumber(0.5, 1, ""), "0.50");
  equal(drawnNumber(12, 12.5, "bits"), "12.0\u00A0bits");
  equal(drawnNumber(0.432, 1, "%"), "43%");
  equal(drawnNumber(0.025, 0.1, "%"), "2.5%");
  equal(drawnNumber(0.1, 0.25, ""), "0.100");
  equal(exactNumber(0.000012345, ""), "0.00001235");
  equal(exactNumber(0.432109, "%"), "43.21%");
  equal(exactNumber(0, "bits"), "0\u00A0bits");
  // A stroke fills what it passes, in either direction, and nothing else.
  const flat = [1, 1, 1, 1, 1];
  deepEqual(stroked(flat, { column: 0, level: 0 }, { column: 4, level: 8 }), [0, 2, 4, 6, 8]);
  deepEqual(stroked(flat, { column: 3, level: 9 }, { column: 1, level: 5 }), [1, 5, 7, 9, 1]);
  deepEqual(stroked(flat, { column: 2, level: 9 }, { column: 2, level: 4 }), [1, 1, 4, 1, 1]);
  deepEqual(flat, [1, 1, 1, 1, 1]);
  // Keys move a level within the scale.
  const keys = ["ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft", "PageUp", "PageDown", "Home", "End"];
  deepEqual(keys.map((key) => moved(key, 7, 35)), [8, 8, 6, 6, 12, 2, 0, 35]);
  deepEqual(["ArrowDown", "PageDown"].map((key) => moved(key, 0, 35)), [0, 0]);
  deepEqual(["ArrowUp", "PageUp"].map((key) => moved(key, 34, 35)), [35, 35]);
  equal(moved("Tab", 7, 35), undefined);
});
