# SPDX-License-Identifier: Apache-2.0
"""A known good answer: the paddle follows the ball."""

import numpy as np


class Policy:
    def __init__(self, checkpoint, episodes):
        pass

    def __call__(self, observations):
        paddle, ball = (observations[..., plane].any(1).argmax(1) for plane in (0, 1))
        return 50.0 * np.stack([paddle == ball, ball < paddle, ball > paddle], 1)
