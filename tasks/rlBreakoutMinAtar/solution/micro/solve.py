# SPDX-License-Identifier: Apache-2.0
"""A known good answer: a teacher that sees the simulator's state, and a student that sees pictures.

The teacher learns a table by Q-learning: what each action is worth for a place of the ball, its
last place and a place of the paddle. The student is a small network. It learns to act as the
teacher does, where its own actions lead. Writes policy.npz.
"""

import sys

import numpy as np
from baseline import save
from board import N_ACTIONS, Board

import simulators
from simulators import policies

TABLE_ROUNDS, TABLE_BOARDS, TABLE_RATE, CARELESS = 1500, 512, 0.3, 0.05
DISCOUNT, LOSS = 0.97, 5.0  # of later rewards; the cost of a lost ball
ROUNDS, BOARDS, STEPS, UNITS, RATE = 1000, 128, 2, 16, 0.02
SHARPNESS, CARE = 10.0, 3.0  # actions whose worths differ by CARE or more count most


def read_states(states):
    """A number for ball, last place of the ball relative to it, and paddle."""
    planes = states.reshape(-1, 100, 4)
    ball, trail = planes[..., 1].argmax(1), planes[..., 2].argmax(1)
    across, down = np.sign(ball % 10 - trail % 10), np.sign(ball // 10 - trail // 10)
    return (ball * 10 + planes[:, 90:, 0].argmax(1)) * 9 + 3 * across + down + 4


def learn_table(seed, rounds):
    """Q-learning: the worth of each action, [state, action]."""
    random = np.random.default_rng(seed)
    table = np.zeros((9000, N_ACTIONS))
    worths = table.reshape(-1)  # a view of the same numbers
    boards = simulators.make_vec("Breakout", TABLE_BOARDS, max_episode_steps=200)
    places = read_states(boards.reset(seed=seed)[0])
    for _ in range(rounds):
        actions = table[places].argmax(1)
        tries = random.random(TABLE_BOARDS) < CARELESS
        actions[tries] = random.integers(N_ACTIONS, size=tries.sum())
        played = places * N_ACTIONS + actions
        states, rewards, lost, _, _ = boards.step(actions)
        places = read_states(states)
        found = rewards - LOSS * lost + DISCOUNT * table[places].max(1) * ~lost
        played, which, counts = np.unique(played, return_inverse=True, return_counts=True)
        worths[played] += TABLE_RATE * (np.bincount(which, found) / counts - worths[played])
    return table


def softmax(outputs):
    odds = np.exp(outputs - outputs.max(1, keepdims=True))
    return odds / odds.sum(1, keepdims=True)


class Student:
    """A network whose pictures are less the mean picture: the rest is 0 almost everywhere."""

    def __init__(self, random, mean):
        self.mean = mean
        self.weights = [
            random.normal(size=(400, UNITS)).astype("f") * 0.05,
            np.zeros(UNITS, "f"),
            random.normal(size=(UNITS, N_ACTIONS)).astype("f") * 0.1,
            np.zeros(N_ACTIONS, "f"),
        ]
        self.means, self.squares = ([np.zeros_like(w) for w in self.weights] for _ in range(2))

    def outputs(self, pictures):
        first, bias, second, last = self.weights
        inputs = pictures.reshape(-1, 400) - self.mean
        units = np.maximum(inputs @ first + bias, 0)
        return inputs, units, units @ second + last

    def improve(self, inputs, units, pull, number, rate):
        """Adam, in the direction of `pull` for the outputs."""
        below = pull @ self.weights[2].T * (units > 0)
        found = inputs.T @ below, below.sum(0), units.T @ pull, pull.sum(0)
        for i, gradient in enumerate(found):
            self.means[i] += 0.1 * (gradient - self.means[i])
            self.squares[i] += 0.01 * (gradient**2 - self.squares[i])
            unbiased = np.sqrt(self.squares[i] / (1 - 0.99**number)) + 1e-8
            self.weights[i] += rate * self.means[i] / (1 - 0.9**number) / unbiased

    def save(self):
        first, bias, second, last = self.weights
        save([first, bias - self.mean @ first, second, last])


def mean_picture(board, random):
    board.reset(0)
    seen = [board.step(random.integers(N_ACTIONS, size=BOARDS))[0] for _ in range(20)]
    return np.concatenate(seen).reshape(-1, 400).mean(0)


def teach(table, seed, rounds):
    """The student plays, and is told at each step how the teacher would choose."""
    random = np.random.default_rng(seed)
    board = Board(BOARDS)
    student = Student(random, mean_picture(board, random))
    chances = softmax(SHARPNESS * table)[:, board.actions].astype("f")
    care = np.minimum(np.ptp(table, axis=1) / CARE, 1).astype("f")
    states = board.boards.reset(seed=seed)[0]
    for number in range(1, rounds + 1):
        rows = []
        for _ in range(STEPS):
            inputs, units, outputs = student.outputs(board.observe(states))
            places = read_states(states)
            pull = (chances[places] - softmax(outputs)) * care[places, None]
            rows.append((inputs, units, pull / (STEPS * BOARDS)))
            actions = policies.draw_choices(outputs, random)
            states = board.boards.step(board.actions[actions])[0]
        arrays = map(np.concatenate, zip(*rows, strict=True))
        student.improve(*arrays, number, RATE * (1 - 0.9 * number / rounds))
    return student


def solve(seed, table_rounds=TABLE_ROUNDS, rounds=ROUNDS):
    teach(learn_table(seed, table_rounds), seed, rounds).save()


if __name__ == "__main__":
    solve(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
