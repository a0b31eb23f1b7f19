# SPDX-License-Identifier: Apache-2.0
"""A known good answer: push with six tenths of the force, the way that the car moves."""

import numpy as np


class Policy:
    def __init__(self, checkpoint, episodes):
        self.log_std = np.full(episodes, -10.0)

    def __call__(self, observations):
        return np.stack([np.where(observations[:, 1] < 0, -0.6, 0.6), self.log_std], 1)
