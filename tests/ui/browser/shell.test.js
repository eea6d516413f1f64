// What the page does before Streamlit is there: light or dark as it was chosen, and what is waited for until it is seen.

import { equal } from "node:assert/strict";
import { isDark, waits } from "../../../ui/browser/shell.js";

Deno.test("what is chosen holds, and else the system", () => {
  for (const system of [true, false]) {
    equal(isDark("dark", system), true);
    equal(isDark("light", system), false);
    equal(isDark("system", system), system);
    equal(isDark("anything that lies in the storage", system), system);
  }
});

Deno.test("what is being loaded or has drawn nothing is waited for, unless it is not drawn here at all", () => {
  const was = [globalThis.innerHeight, globalThis.getComputedStyle];
  Object.assign(globalThis, { innerHeight: 844, getComputedStyle: (element) => element.style });
  const part = (testid, height, { top = 100, position = "static", drawn = true } = {}) => ({
    dataset: { testid },
    checkVisibility: () => drawn,
    getBoundingClientRect: () => ({ top, height }),
    closest: () => ({ style: { position } }),
  });
  const wait = (...parts) => waits({ querySelectorAll: () => parts });
  const component = "stBidiComponentRegular";
  try {
    equal(wait(), false);
    equal(wait(part("stSkeleton", 40)), true);
    equal(wait(part("stSkeleton", 40, { top: 900 })), false, "below the window");
    equal(wait(part(component, 40)), false);
    equal(wait(part(component, 0)), true);
    equal(wait(part(component, 0, { position: "absolute" })), false, "works unseen");
    equal(wait(part(component, 0, { drawn: false })), false, "the button of slides on a phone");
  } finally {
    [globalThis.innerHeight, globalThis.getComputedStyle] = was;
  }
});
