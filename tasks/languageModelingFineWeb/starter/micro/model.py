"""The model of the baseline: how often each token follows each other one. baseline.py packs it."""

from pathlib import Path

import numpy as np

LOGS = np.load(Path(__file__).with_name("bigrams.npy"))


def logits(tokens):
    """Takes integers [sequence, place]. Returns numbers [sequence, place, token]: the logits of the
    token after each place, which may depend on the tokens up to that place alone."""
    return LOGS[tokens]
