# SPDX-License-Identifier: Apache-2.0
"""A known good answer: it keeps in mind in which cells it and the goal may be.

It walks to the nearest cell that may be the goal. When it has met the goal, it is somewhere else.
Then the walls that it sees, and those that it runs into, tell more and more where.
"""

import numpy as np

CELLS = [(y, x) for y in range(1, 10) for x in range(1, 10) if y % 2 or x % 2]
MOVES = [(-1, 0), (0, 1), (1, 0), (0, -1)]
KEENNESS = 4.0  # logits for a step of the way


def index(y, x):
    return CELLS.index((y, x))


NEXT = np.array(
    [
        [index(y + dy, x + dx) if (y + dy, x + dx) in CELLS else i for dy, dx in MOVES]
        for i, (y, x) in enumerate(CELLS)
    ]
)
VIEWS = np.array(
    [[(y + dy, x + dx) not in CELLS for dy in (-1, 0, 1) for dx in (-1, 0, 1)] for y, x in CELLS]
)


def distances():
    """Steps from each cell to each other one."""
    steps = np.where(np.eye(len(CELLS), dtype=bool), 0, 99).astype(np.uint8)
    for _ in CELLS:
        steps = np.minimum(steps, steps[NEXT].min(1) + 1)
    return steps


STEPS = distances()


class Policy:
    def __init__(self, checkpoint, episodes):
        self.here = np.zeros((episodes, len(CELLS)), bool)  # where it may be
        self.goal = np.ones((episodes, len(CELLS)), bool)

    def __call__(self, observations):
        begun = observations[:, 14] == 0
        self.here[begun], self.goal[begun] = False, True
        self.here[begun, index(5, 5)] = True
        self.goal[begun, index(5, 5)] = False
        self.move(~begun, observations[:, 9:13].argmax(1), observations[:, 13] > 0)
        self.here &= (observations[:, None, :9] == VIEWS).all(2)
        return -KEENNESS * self.costs()

    def move(self, going, actions, reached):
        moved = np.zeros_like(self.here)
        rows, cells = np.nonzero(self.here & going[:, None])
        moved[rows, NEXT[cells, actions[rows]]] = True
        self.here[going] = moved[going]
        sure = going & (self.here.sum(1) == 1)
        found = reached & (self.here & self.goal).any(1)
        self.goal[found] &= self.here[found]
        self.goal[sure & ~reached] &= ~self.here[sure & ~reached]
        self.here[reached] = True  # the random cell is not the goal, or the episode would end

    def costs(self):
        """Mean steps from where an action leads to the nearest cell that may be the goal."""
        nearest = np.where(self.goal[:, None, :], STEPS, 99).min(2)
        weights = self.here / np.maximum(1, self.here.sum(1, keepdims=True))
        return np.einsum("ni,nia->na", weights, nearest[:, NEXT].astype(float))
