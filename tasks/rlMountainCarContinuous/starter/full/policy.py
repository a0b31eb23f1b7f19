# SPDX-License-Identifier: Apache-2.0
"""The policies of the baseline: networks that baseline.py trains (needs PyTorch).

The judge makes Policy(checkpoint, episodes) for the checkpoints 0 to 4. Then it calls each with the
observations of all its episodes, step after step. A policy may remember things between steps.
"""

import sys
from pathlib import Path

try:
    import torch
    from torch import nn
except ImportError:
    sys.exit("PyTorch is missing: policies are trained and run with it (pip install torch)")

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
WEIGHTS = Path(__file__).with_name("weights.pt")


def layers(inputs, outputs):
    units, function = (128, nn.ReLU) if inputs > 100 else (64, nn.Tanh)  # a picture, or few numbers
    hidden = nn.Linear(inputs, units), function(), nn.Linear(units, units), function()
    return nn.Sequential(*hidden, nn.Linear(units, outputs))


class Network(nn.Module):
    """An actor, and a critic for its training. n_actions is 0 if an action is a force."""

    def __init__(self, inputs, n_actions):
        super().__init__()
        self.actor, self.critic = layers(inputs, n_actions or 1), layers(inputs, 1)
        self.log_std = None if n_actions else nn.Parameter(torch.zeros(1))
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("deviation", torch.ones(inputs))

    def forward(self, observations):
        """Outputs [episode, logit], or the mean and log_std of a force, and values [episode]."""
        inputs = (observations.flatten(1).float() - self.mean) / self.deviation
        outputs = self.actor(inputs)
        if self.log_std is not None:
            outputs = torch.cat([outputs, self.log_std.expand_as(outputs)], 1)
        return outputs, self.critic(inputs)[:, 0]


class Policy:
    def __init__(self, checkpoint, episodes):
        saved = torch.load(WEIGHTS, map_location=DEVICE, weights_only=True)
        self.network = Network(*saved["sizes"]).to(DEVICE)
        self.network.load_state_dict(saved["checkpoints"][checkpoint])

    def __call__(self, observations):
        """Takes observations [episode, ...]. Returns an array, or a tensor, [episode, output]."""
        with torch.no_grad():
            return self.network(torch.from_numpy(observations).to(DEVICE))[0]
