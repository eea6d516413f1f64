// What a browser tells a session of rooms: who led one leads on, who follows one is the same as before.

import { deepEqual, equal } from "node:assert/strict";
import render, { makeReport } from "../../classroom/room.js";

const nothing = { visitor: "", led: "", over: [] };

Deno.test("a tab that has led a room leads on; another tab of the browser is only offered it", () => {
  deepEqual(makeReport(nothing, "", "AAAAA.k", "AAAAA.k", ""), { lead: "AAAAA.k" });
  deepEqual(makeReport(nothing, "", "", "AAAAA.k", ""), { offer: "AAAAA.k" });
  deepEqual(makeReport({ ...nothing, led: "AAAAA.k" }, "", "AAAAA.k", "AAAAA.k", ""), {});
  deepEqual(makeReport({ ...nothing, over: ["AAAAA.k"] }, "", "AAAAA.k", "AAAAA.k", ""), {});
  deepEqual(makeReport(nothing, "", "", "", "0123"), {});
});

Deno.test("a link of a teacher comes before all else", () => {
  deepEqual(makeReport({ ...nothing, led: "AAAAA.k" }, "CCCCC.q", "AAAAA.k", "AAAAA.k", ""), { lead: "CCCCC.q" });
});

Deno.test("who follows a room leads none, and is the visitor of before", () => {
  const follows = { ...nothing, visitor: "4567" };
  deepEqual(makeReport(follows, "", "AAAAA.k", "AAAAA.k", "0123"), { visitor: "0123" });
  deepEqual(makeReport(follows, "", "", "", "4567"), {});
});

// A tab with these things kept: `run` is a run of the script, `reports` what the session heard.
function tab(kept, hash = "") {
  delete globalThis[Symbol.for("look inside BERT: the last report to the session of its room")];
  const reports = [];
  const storage = () => {
    const map = new Map();
    return {
      map,
      getItem: (key) => map.get(key) ?? null,
      setItem: (key, text) => map.set(key, text),
      removeItem: (key) => map.delete(key),
    };
  };
  const [ofTab, ofBrowser] = [storage(), storage()];
  for (const [key, text] of Object.entries(kept)) ofTab.map.set(`inside-bert:${key}`, text);
  const address = { hash, pathname: "/learn", search: "?lesson=pieces" };
  const replaceState = (_state, _title, url) => [address.hash, address.url] = ["", url];
  for (
    const [name, value] of Object.entries({
      sessionStorage: ofTab,
      localStorage: ofBrowser,
      location: address,
      history: { state: null, replaceState },
    })
  ) Object.defineProperty(globalThis, name, { value, configurable: true });
  const run = (data) =>
    render({
      data: { session: "one", heard: 0, ...nothing, ...data },
      setTriggerValue: (_name, value) => reports.push(value),
    });
  return { run, reports, address, ofTab: ofTab.map, ofBrowser: ofBrowser.map };
}

Deno.test("the key of a room is kept while it is led, reported to every new session until it hears, and forgotten at its end", () => {
  const { run, reports, ofTab, ofBrowser } = tab({});
  run({ led: "AAAAA.k" });
  deepEqual([ofTab.get("inside-bert:room"), ofBrowser.get("inside-bert:room")], ["AAAAA.k", "AAAAA.k"]);
  run({ session: "two" }); // of a process that was started anew, or a page that was loaded again
  run({ session: "two" }); // that report was lost
  run({ session: "two", heard: 1 });
  run({ session: "three" });
  const said = { lead: "AAAAA.k" };
  deepEqual(reports, [{ ...said, serial: 1 }, { ...said, serial: 1 }, { ...said, serial: 2 }]);
  run({ session: "three", heard: 2, over: ["AAAAA.k"] });
  deepEqual([ofTab.size, ofBrowser.size], [0, 0]);
});

Deno.test("a key is taken out of the address before anybody sees it", () => {
  const { run, reports, address } = tab({}, "#teach=AAAAA.k");
  run({});
  run({});
  run({ heard: 1 });
  deepEqual(reports, [{ lead: "AAAAA.k", serial: 1 }, { lead: "AAAAA.k", serial: 1 }]);
  equal(address.url, "/learn?lesson=pieces");
});

Deno.test("a student's name is kept in the tab", () => {
  const { run, reports, ofTab, ofBrowser } = tab({});
  run({ visitor: "0123" });
  run({ visitor: "4567", session: "two" });
  deepEqual(reports, [{ visitor: "0123", serial: 1 }]);
  equal(ofTab.get("inside-bert:visitor"), "0123");
  equal(ofBrowser.size, 0);
});

Deno.test("a student who joins after the page was loaded again is the one of before; a link is heard after that, too", () => {
  const { run, reports, address, ofTab } = tab({ visitor: "0123", room: "AAAAA.k" });
  run({});
  run({ heard: 1 });
  run({ heard: 1, visitor: "4567" });
  run({ heard: 2, visitor: "0123" });
  run({ heard: 2 });
  run({ heard: 2, visitor: "0123" });
  deepEqual(reports, [{ lead: "AAAAA.k", serial: 1 }, { visitor: "0123", serial: 2 }]);
  equal(ofTab.get("inside-bert:visitor"), "0123");
  address.hash = "#teach=CCCCC.q";
  run({ heard: 2, visitor: "0123" });
  deepEqual(reports[2], { lead: "CCCCC.q", serial: 3 });
});

Deno.test("a browser that forbids storage is one that knows nothing", () => {
  const { run, reports } = tab({});
  const forbidden = () => {
    throw new Error("forbidden");
  };
  const storage = { getItem: forbidden, setItem: forbidden, removeItem: forbidden };
  for (const name of ["sessionStorage", "localStorage"]) {
    Object.defineProperty(globalThis, name, { value: storage, configurable: true });
  }
  run({ led: "AAAAA.k", over: ["CCCCC.k"] });
  run({ session: "two", visitor: "0123" });
  deepEqual(reports, []);
});
