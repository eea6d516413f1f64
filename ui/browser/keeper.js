// What a visitor did in the lessons, kept in this browser from visit to visit: the server forgets it with the session.
//
// The first run of a page gives back what was kept. Until Python says that it has taken it, every run gives it again,
// since a run that is ended early may lose it, and nothing is written over it.

const KEY = "inside-bert:lessons";
const KEPT = Symbol.for("look inside BERT: the lessons as they were kept"); // null once they are taken, or none were

export default function render({ data, setTriggerValue }) {
  const { taken, ...now } = data;
  if (globalThis[KEPT] === undefined) globalThis[KEPT] = read();
  if (taken) globalThis[KEPT] = null;
  if (globalThis[KEPT]) setTriggerValue("kept", globalThis[KEPT]);
  else write(now);
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
