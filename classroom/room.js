// What this browser knows of rooms, so that a teacher leads on after a reload and a student who comes back is the same
// one: the ticket of the room that this tab leads, the last one that any tab has led, and the name that tells a visitor
// from others in a room.
//
// A teacher's own link holds the ticket behind "#", which a browser sends to nobody; it is taken out of the address.

const TICKET = "inside-bert:room"; // of this tab, and of the last one that led a room
const VISITOR = "inside-bert:visitor";
const LINKED = "#teach=";
const REPORT = Symbol.for("look inside BERT: the last report to the session of its room");

export default function render({ data, setTriggerValue }) {
  const linked = ticketOfLink();
  for (const ticket of data.over) {
    for (const kept of [sessionStorage, localStorage]) forget(kept, ticket);
  }
  const follows = Boolean(data.visitor); // a student may join long after the page was loaded
  const before = globalThis[REPORT];
  if (before?.session !== data.session || linked || (follows && !before.follows)) {
    const report = makeReport(
      data,
      linked,
      read(sessionStorage, TICKET),
      read(localStorage, TICKET),
      read(sessionStorage, VISITOR),
    );
    const serial = Object.keys(report).length ? Math.max(before?.serial ?? 0, data.heard) + 1 : 0;
    globalThis[REPORT] = { session: data.session, serial, report, follows };
  }
  // Repeated until the session has it: a run that is ended early may lose it.
  const { serial, report } = globalThis[REPORT];
  if (serial > data.heard) return setTriggerValue("kept", { ...report, serial });
  if (data.led) { for (const kept of [sessionStorage, localStorage]) write(kept, TICKET, data.led); }
  if (data.visitor) write(sessionStorage, VISITOR, data.visitor);
}

// What the browser knows and its session does not. A visitor who follows a room has chosen that.
export function makeReport({ visitor, led, over }, linked, ofTab, ofBrowser, name) {
  const report = {};
  const fresh = (ticket) => ticket && !over.includes(ticket);
  if (linked) report.lead = linked;
  else if (!led && !visitor && fresh(ofTab)) report.lead = ofTab;
  else if (!led && !visitor && fresh(ofBrowser)) report.offer = ofBrowser;
  if (visitor && name && name !== visitor) report.visitor = name;
  return report;
}

function ticketOfLink() {
  if (!location.hash.startsWith(LINKED)) return "";
  const ticket = location.hash.slice(LINKED.length);
  history.replaceState(history.state, "", location.pathname + location.search);
  return ticket;
}

// A browser may forbid storage: then nothing is known.
function read(kept, name) {
  try {
    return kept.getItem(name) ?? "";
  } catch {
    return "";
  }
}

function write(kept, name, text) {
  try {
    kept.setItem(name, text);
  } catch {
    // A reload then ends the lead; the key link opens it again.
  }
}

function forget(kept, ticket) {
  if (read(kept, TICKET) === ticket) kept.removeItem(TICKET);
}
