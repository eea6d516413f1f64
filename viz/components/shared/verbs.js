// What a word does to the others, as a query or a key, by what its numbers are: attention, what it takes through a layer,
// or how much it changes without them.

export const VERBS = {
  attends: { query: "attends most to", key: "gets most attention from" },
  takes: { query: "takes most from", key: "gives most to" },
  changes: { query: "changes most without", key: "is missed most by" },
};
