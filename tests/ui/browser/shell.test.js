// Light or dark before Streamlit is there: what was chosen, told to it as the system's.

import { equal } from "node:assert/strict";
import { isDark } from "../../../ui/browser/shell.js";

Deno.test("what is chosen holds, and else the system", () => {
  for (const system of [true, false]) {
    equal(isDark("dark", system), true);
    equal(isDark("light", system), false);
    equal(isDark("system", system), system);
    equal(isDark("anything that lies in the storage", system), system);
  }
});
