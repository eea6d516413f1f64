// What is kept of the lessons from visit to visit: given back once, never written over before it was taken.

import { deepEqual, equal } from "node:assert/strict";
import render from "../../../ui/browser/keeper.js";

const KEY = "inside-bert:lessons";
const GIVEN = Symbol.for("look inside BERT: the lessons as they were kept");
const now = (answers, lesson = "pieces") => ({ answers, lesson, step: 1, text: "A cat.", pair: "" });

// A page that was just loaded, with a storage that holds this text: `run` is a run of the script, `stored` what is kept.
function page(text, broken = false) {
  delete globalThis[GIVEN];
  const reported = [];
  const storage = new Map(text === undefined ? [] : [[KEY, text]]);
  const refuse = () => {
    throw new Error("forbidden");
  };
  const localStorage = {
    getItem: (key) => broken ? refuse() : storage.get(key) ?? null,
    setItem: (key, value) => broken ? refuse() : storage.set(key, value),
    removeItem: (key) => broken ? refuse() : storage.delete(key),
  };
  Object.defineProperty(globalThis, "localStorage", { value: localStorage, configurable: true });
  const setTriggerValue = (name, value) => reported.push([name, value]);
  const run = (data, taken = false) => render({ data: { ...data, taken }, setTriggerValue });
  return { reported, run, stored: () => storage.has(KEY) ? JSON.parse(storage.get(KEY)) : null };
}

Deno.test("where nothing was kept, what there is now is", () => {
  const { reported, run, stored } = page();
  run(now("pieces.1.1"));
  deepEqual(stored(), now("pieces.1.1"));
  run(now("pieces.1.2"));
  deepEqual(stored(), now("pieces.1.2"));
  deepEqual(reported, []);
});

Deno.test("what was kept is given back until it was taken, and stays until then", () => {
  const { reported, run, stored } = page(JSON.stringify(now("heads.1.1")));
  run(now("", ""));
  run(now("", ""));
  deepEqual(reported, [["kept", now("heads.1.1")], ["kept", now("heads.1.1")]]);
  deepEqual(stored(), now("heads.1.1"));
  run(now("heads.1.1", "heads"), true);
  run(now("heads.1.1,heads.2.x", "heads"), true);
  deepEqual(stored(), now("heads.1.1,heads.2.x", "heads"));
  run(now("", ""), true); // forgotten
  equal(stored(), null);
  run(now("", ""), true);
  run(now("", ""), false); // a server that was started again
  equal(reported.length, 2);
});

Deno.test("what cannot be read was never kept", () => {
  for (const text of ["", "{", "null", "3", '"pieces.1.1"']) {
    const { reported, run, stored } = page(text);
    run(now("pieces.1.1"));
    deepEqual(reported, []);
    deepEqual(stored(), now("pieces.1.1"));
  }
});

Deno.test("a browser that forbids storage keeps nothing, and nothing fails", () => {
  const { reported, run } = page(undefined, true);
  run(now("pieces.1.1"));
  run(now("", ""));
  deepEqual(reported, []);
});
