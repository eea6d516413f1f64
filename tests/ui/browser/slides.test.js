// Keys of the slides: what each asks for, and where it is left to what has the focus.

import { deepEqual, equal } from "node:assert/strict";
import { meant, wayOn } from "../../../ui/browser/slides.js";

// A key pressed where these selectors match.
const press = (key, where = [], changes = {}) => ({
  key,
  composedPath: () => [{ matches: (selector) => selector.split(", ").some((name) => where.includes(name)) }, {}],
  ...changes,
});

Deno.test("arrows go on and back everywhere, the other keys in slides alone", () => {
  const keys = [..."ArrowRight ArrowLeft PageDown PageUp r R f F5 b . Escape x Enter".split(" "), " "];
  const none = undefined;
  deepEqual(
    keys.map((key) => meant(press(key), true)),
    ["on", "back", "on", "back", "reveal", "reveal", "full", "fill", "cover", "cover", "leave", none, none, "on"],
  );
  deepEqual(keys.map((key) => meant(press(key), false)).filter(Boolean), ["on", "back"]);
});

Deno.test("keys that mean something where they are pressed stay there", () => {
  for (const where of ["input", "textarea", "select", "canvas", "[role=slider]", "[role=radio]", "[role=grid]"]) {
    equal(meant(press("ArrowRight", [where]), true), undefined);
    equal(meant(press("r", [where]), true), undefined);
  }
  equal(meant(press(" ", ["button"]), true), undefined);
  equal(meant(press("ArrowRight", ["button"]), true), "on");
  for (const how of ["defaultPrevented", "repeat", "isComposing", "altKey", "ctrlKey", "metaKey", "shiftKey"]) {
    equal(meant(press("ArrowLeft", [], { [how]: true }), true), undefined);
  }
});

Deno.test("in slides one goes on to the answer first, elsewhere to the next step", () => {
  const ready = (which) => (key) => which.includes(key);
  equal(wayOn("on", true, ready(["show-me"])), "show-me");
  equal(wayOn("on", true, ready([])), "step-on"); // it is shown, or not to be shown
  equal(wayOn("on", false, ready(["show-me"])), "step-on");
  equal(wayOn("back", true, ready(["show-me"])), "step-back");
  equal(wayOn("reveal", true, ready(["show-me"])), "show-me");
});
