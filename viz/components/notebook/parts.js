// What each component has to do with the traits of its widget: `traits` are shown beside its data, as the fields of the
// payload that `shows` makes of them (and of the theme, if the component is `themed`); `reports` are the traits that a
// report of the component sets; `stopped` is what a reader cannot do any more without a kernel. Of those that are `kept`
// the browser sends the picture to Python, since what is on the screen is more than Python can draw.

const OTHER_HEADS = " to choose other heads";

export const PARTS = {
  grid: {
    traits: ["layer", "head"],
    shows: (get, { names }) => ({ selected: names.length === 1 ? [0, get("layer")] : [get("layer"), get("head")] }),
    reports: {
      head: ([row, column], { names }) => names.length === 1 ? { layer: column } : { layer: row, head: column },
    },
    stopped: OTHER_HEADS,
  },
  words: {
    kept: true,
    reports: { head: (place, { maps }) => ({ layer: maps[place][0], head: maps[place][1] }) },
    stopped: OTHER_HEADS,
  },
  lines: {
    kept: true,
    traits: ["off"],
    shows: (get) => ({ off: get("off") }),
    reports: { off: (off) => ({ off }) },
  },
  cells: {
    traits: ["picked", "_clicks"],
    shows: (get) => ({ picked: get("picked"), known: get("_clicks") }),
    reports: { picks: ({ cells, serial }) => ({ picked: cells, _clicks: serial }) },
  },
  anatomy: {
    kept: true,
    reports: { token: (token) => ({ token }), layer: (layer) => ({ layer }), stage: (stage) => ({ stage }) },
    stopped: " to follow another token",
  },
  sketch: { reports: { drawn: (drawn) => ({ drawn }) } },
  token_line: {
    themed: true,
    shows: (_get, { lines, others }, dark) => dark ? { lines: others, others: lines, dark } : {},
  },
};
