// What a visitor did in the lessons, kept in this browser from visit to visit: the server forgets it with the session.
//
// The first run of a page gives back what was kept, once. Until Python says that it has taken it, nothing is written
// over it.

const KEY = "inside-bert:lessons";
const STATE = Symbol.for("look inside BERT: the lessons are kept"); // of this document: "given" back, or "kept"

export default function render({ data, setTriggerValue }) {
  const { taken, ...now } = data;
  if (globalThis[STATE] === undefined) {
    const kept = taken ? null : read();
    globalThis[STATE] = kept ? "given" : "kept";
    if (kept) setTriggerValue("kept", kept);
  }
  if (globalThis[STATE] === "given" && !taken) return;
  globalThis[STATE] = "kept";
  write(now);
}

// A browser may forbid storage, and what lies there may be anything: then nothing was kept.
function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY));
    return kept instanceof Object ? kept : null;
  } catch {
    return null;
  }
}

function write(now) {
  try {
    if (now.answers || now.lesson) localStorage.setItem(KEY, JSON.stringify(now));
    else localStorage.removeItem(KEY);
  } catch {
    // The address holds the answers, too.
  }
}
