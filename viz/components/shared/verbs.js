// What a word does to the others, as a query or a key, by what its numbers are: attention, what it takes through a layer,
// or how much it changes without them; and what the sides of a matrix are.

export const VERBS = {
  attends: { query: "attends most to", key: "gets most attention from" },
  takes: { query: "takes most from", key: "gives most to" },
  changes: { query: "changes most without", key: "is missed most by" },
};

export const SIDES = {
  attends: { query: "query: the token that attends", key: "key: the token attended to" },
  takes: { query: "query: the token that takes", key: "key: the token that gives" },
  changes: { query: "query: the token that changes", key: "key: the token whose value is zero" },
};
