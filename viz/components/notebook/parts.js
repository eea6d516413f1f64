// What each component has to do with the traits of its widget: `traits` that it shows beside its data, as the fields of
// the payload that `shows` makes of them, and of the theme where it is `themed`; the traits that what it reports changes (`tells`); and what a reader cannot do
// any more when nobody hears it (`stopped`). Of those that are `kept` the browser gives Python the picture, since what is on
// the screen is more than Python can draw.

const OTHER_HEADS = " to choose other heads";

export const PARTS = {
  grid: {
    traits: ["layer", "head"],
    shows: (get, { names }) => ({ selected: names.length === 1 ? [0, get("layer")] : [get("layer"), get("head")] }),
    tells: {
      head: ([row, column], { names }) => names.length === 1 ? { layer: column } : { layer: row, head: column },
    },
    stopped: OTHER_HEADS,
  },
  words: {
    kept: true,
    tells: { head: (place, { maps }) => ({ layer: maps[place][0], head: maps[place][1] }) },
    stopped: OTHER_HEADS,
  },
  lines: {
    kept: true,
    traits: ["off"],
    shows: (get) => ({ off: get("off") }),
    tells: { off: (off) => ({ off }) },
  },
  cells: {
    traits: ["picked", "_clicks"],
    shows: (get) => ({ picked: get("picked"), known: get("_clicks") }),
    tells: { picks: ({ cells, serial }) => ({ picked: cells, _clicks: serial }) },
  },
  anatomy: {
    kept: true,
    tells: { token: (token) => ({ token }), layer: (layer) => ({ layer }), stage: (stage) => ({ stage }) },
    stopped: " to follow another token",
  },
  sketch: { tells: { drawn: (drawn) => ({ drawn }) } },
  token_line: {
    themed: true,
    shows: (_get, { lines, others }, dark) => dark ? { lines: others, others: lines, dark } : {},
  },
};
