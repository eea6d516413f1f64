"""Trees to test with: one drawn by hand, random ones, and points whose squared distances are those of a tree."""

import numpy as np

from analysis.probing.trees import Tree, tree_depths

#        saw
#       /   \
#     cat   dog
#     /     / \
#   the    a  near -- no: "near" hangs on "house", which hangs on "dog"
# The cat saw a dog near houses .
HEADS = np.array([1, 2, -1, 4, 2, 6, 4, 2])
DISTANCES = [
    [0, 1, 2, 4, 3, 5, 4, 3],
    [1, 0, 1, 3, 2, 4, 3, 2],
    [2, 1, 0, 2, 1, 3, 2, 1],
    [4, 3, 2, 0, 1, 3, 2, 3],
    [3, 2, 1, 1, 0, 2, 1, 2],
    [5, 4, 3, 3, 2, 0, 1, 4],
    [4, 3, 2, 2, 1, 1, 0, 3],
    [3, 2, 1, 3, 2, 4, 3, 0],
]
TREE = Tree(HEADS, np.arange(8), np.array([False] * 7 + [True]))


def random_heads(rng: np.random.Generator, n: int) -> np.ndarray:
    """A random tree: each word hangs on one drawn before it, in random order."""
    order = rng.permutation(n)
    heads = np.full(n, -1)
    for i in range(1, n):
        heads[order[i]] = order[rng.integers(i)]
    return heads


def embedded(heads: np.ndarray) -> np.ndarray:
    """Points whose squared distances are those in the tree, (n, n - 1), with the root at 0: one axis an edge."""
    n = len(heads)
    depths = tree_depths(heads)
    points = np.zeros((n, n))
    for word in np.argsort(depths):
        if heads[word] >= 0:
            points[word] = points[heads[word]]
            points[word, word] = 1
    return np.delete(points, int(np.flatnonzero(heads < 0)[0]), axis=1)
