# SPDX-License-Identifier: Apache-2.0
"""A student that sees by the sensors learns to act as a teacher does, who sees what happens."""

import numpy as np
from network import Network, look_around, softmax
from simulators.games import open_world

from simulators import policies

COPIES, STEPS = 128, 2


def imitate(teacher, seed, units, rounds, rate):
    """The student plays. At each step the teacher tells how it would choose.

    teacher(plain): the chances of its actions, and how much each of these steps counts.
    """
    random = np.random.default_rng(seed)
    game = open_world(COPIES)
    student = Network(random, look_around(game, random, 100), units, game.n_actions)
    observations = game.reset(seed)
    for number in range(rounds):
        rows = []
        for _ in range(STEPS):
            inputs, hidden, outputs = student.run(observations)
            chances, counts = teacher(game.plain())
            rows.append((inputs, hidden, (chances - softmax(outputs)) * counts[:, None]))
            observations = game.step(policies.draw_choices(outputs, random))[0]
        student.improve(
            *map(np.array, zip(*rows, strict=True)), rate * (1 - 0.95 * number / rounds)
        )
    student.save()
