# SPDX-License-Identifier: Apache-2.0
"""The car to train with, wired as data/world.json says: the same as the judge's.

    car = Car(64)                  64 copies
    observations = car.reset(1)    [64, 2]; the seed decides where the cars start
    observations, rewards, ended = car.step(forces)

A copy whose episode ends begins the next one in the same step.
"""

import json

import numpy as np

import simulators

STEPS = 200  # steps after which an episode ends
CENTRE, HALF = (-0.3, 0.0), (0.5, 0.04)  # position and speed are about -1 to 1 in these units


class Car:
    def __init__(self, copies):
        with open("data/world.json") as file:
            world = json.load(file)
        self.sensors, self.offsets = np.array(world["sensors"]), np.array(world["offsets"])
        self.engine = world["engine"]
        self.cars = simulators.make_vec("MountainCarContinuous", copies, max_episode_steps=STEPS)

    def reset(self, seed):
        return self.observe(self.cars.reset(seed=seed)[0])

    def observe(self, states):
        return (states - CENTRE) / HALF @ self.sensors + self.offsets

    def step(self, forces):
        """100 at the goal, less a tenth of the squared force, before it is clipped to -1 and 1."""
        forces = np.asarray(forces, float)
        wired = (self.engine * np.clip(forces, -1, 1)).astype(np.float32)
        states, rewards, terminations, truncations, _ = self.cars.step(wired)
        rewards += 0.1 * (wired * wired - forces * forces)
        return self.observe(states), rewards, terminations | truncations
