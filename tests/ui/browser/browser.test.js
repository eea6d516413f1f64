// What the app asks of the browser: which addresses are steps of its history, and which link is copied.

import { equal } from "node:assert/strict";
import { canBeSent, isAhead, isStep } from "../../../ui/browser/browser.js";
import { linkTo } from "../../../ui/browser/copy_link.js";

const url = (address) => new URL(address, "http://127.0.0.1/");

Deno.test("another page or view is a step, a number that slides is none", () => {
  const parameters = ["view", "text"];
  equal(isStep(url("/attention?view=lines"), url("/layers?view=lines"), parameters), true);
  equal(isStep(url("/attention?view=lines"), url("/attention?view=rollout"), parameters), true);
  equal(isStep(url("/attention"), url("/attention?view=rollout"), parameters), true);
  equal(isStep(url("/attention?view=lines&layer=1"), url("/attention?layer=2&view=lines"), parameters), false);
});

Deno.test("values are not taken for each other, wherever they stand", () => {
  equal(isStep(url("/a?view=x%0Ay"), url("/a?view=x&text=y"), ["view", "text"]), true);
  equal(isStep(url("/a?view="), url("/a"), ["view"]), false);
});

Deno.test("parameters of a page that is not there yet are no address of the one that is left", () => {
  equal(isAhead(url("/compare?view=lines"), url("/compare?masks=6"), "/masked_words"), true);
  equal(isAhead(url("/compare"), url("/masked_words?masks=6"), "/masked_words"), false);
  equal(isAhead(url("/compare"), url("/compare?view=lines"), "/compare"), false);
  equal(isAhead(url("/compare"), url("/compare?view=lines"), null), false);
});

Deno.test("a link has these parameters and no others, whatever is in them", () => {
  const link = linkTo("http://127.0.0.1:8501/attention?old=1#top", { text: "a & b = ç?", layer: "3" });
  equal(link, "http://127.0.0.1:8501/attention?text=a+%26+b+%3D+%C3%A7%3F&layer=3#top");
  equal(new URL(link).searchParams.get("text"), "a & b = ç?");
  const other = (to, hash) => linkTo("http://127.0.0.1:8501/bert/learn?old=1", { room: "AAAAA" }, to, hash);
  equal(other("/bert/attention"), "http://127.0.0.1:8501/bert/attention?room=AAAAA");
  equal(
    other("http://192.0.2.2:8501/bert/learn", "teach=A.k"),
    "http://192.0.2.2:8501/bert/learn?room=AAAAA#teach=A.k",
  );
});

Deno.test("a text is taken as long as it can be sent, and can always be made shorter", () => {
  equal(canBeSent("x".repeat(299_999), 0, "y"), true);
  equal(canBeSent("x".repeat(300_000), 0, "y"), false);
  equal(canBeSent("x".repeat(300_000), 1, "y"), true);
  equal(canBeSent("", 0, "y".repeat(300_001)), false);
  equal(canBeSent("x".repeat(400_000), 0, ""), true);
});
