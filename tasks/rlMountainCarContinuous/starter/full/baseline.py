# SPDX-License-Identifier: Apache-2.0
"""The baseline: five policies, each trained by proximal policy optimisation. Writes policy.zip.

`python3 baseline.py GAME [STEPS]` with a game of simulators/games.py; STEPS are those of a policy.
`python3 baseline.py GAME STEPS reinforce` trains by the plain policy gradient, REINFORCE.
"""

import sys
import time
import zipfile

import numpy as np
from policy import DEVICE, WEIGHTS, Network, torch
from simulators.games import Game

COPIES, CHECKPOINTS, VARIETY = 64, 5, 0.01


class Method:
    """How policies of a game are trained, by either method."""

    # Steps of a policy, those of each copy between two improvements, rate, and worth of a later reward.
    SETTINGS = {
        "Breakout": (2_000_000, 64, 1e-3, 0.97),
        "MetaMaze": (200_000, 128, 1e-3, 0.99),
        "MountainCarContinuous": (400_000, 128, 1e-3, 0.99),
    }
    # Random forces that are drawn anew in each step seldom get the car up: hold each for some.
    HOLD = {"MountainCarContinuous": 20}

    def __init__(self, game, steps, reinforce):
        usual, self.piece, self.rate, self.discount = self.SETTINGS[game]
        self.steps = int(steps or usual)
        self.rounds, self.parts = 4, 8 if game == "Breakout" else 4
        self.hold = self.HOLD.get(game, 1)
        self.trust = 0.95  # in rewards that came, not in the critic
        self.critic = 0.5  # weight of the critic's errors; 0: there is no critic
        if reinforce:
            self.piece, self.rounds, self.parts, self.hold = 200, 1, 1, 1
            self.trust, self.critic = 1.0, 0.0


def distribution(outputs, n_actions):
    if n_actions:
        return torch.distributions.Categorical(logits=outputs)
    return torch.distributions.Normal(outputs[:, 0], outputs[:, 1].exp())


def scale(network, game, random):
    """Observations count as deviations from their mean, while actions are random."""
    seen = []
    game.reset(0)
    for _ in range(100):
        n = game.n_actions
        actions = random.integers(n, size=COPIES) if n else random.normal(size=COPIES)
        seen.append(game.step(actions)[0].reshape(COPIES, -1).astype("f"))
    seen = np.concatenate(seen)
    network.mean += torch.from_numpy(seen.mean(0))
    network.deviation *= torch.from_numpy(seen.std(0) + 0.05)


def collect(network, game, observations, method):
    """Plays. Returns columns [step, copy], and the observations and values after them."""
    rows, kept = [], None
    for step in range(method.piece):
        with torch.no_grad():
            inputs = torch.from_numpy(observations).to(DEVICE)
            outputs, values = network(inputs)
            chances = distribution(outputs, game.n_actions)
            actions = chances.sample()
            if not game.n_actions:
                if step % method.hold == 0:
                    kept = (actions - chances.mean) / chances.stddev
                actions = chances.mean + kept * chances.stddev
            logs = chances.log_prob(actions)
        observations, rewards, ended = game.step(actions.cpu().numpy())
        found = (torch.from_numpy(each).to(DEVICE) for each in (rewards.astype("f"), ended))
        rows.append((inputs, actions, logs, values, *found))
    with torch.no_grad():
        last = network(torch.from_numpy(observations).to(DEVICE))[1]
    return [torch.stack(column) for column in zip(*rows, strict=True)], observations, last


def advantages(rewards, ended, values, last, method):
    """How much better than the critic's guess an action turned out to be."""
    guesses = torch.cat([values, last[None]]) * (method.critic > 0)
    better, later = torch.zeros_like(rewards), torch.zeros_like(last)
    for step in reversed(range(len(rewards))):
        going = ~ended[step]
        surprise = rewards[step] + method.discount * guesses[step + 1] * going - guesses[step]
        later = better[step] = surprise + method.discount * method.trust * going * later
    return better, better + guesses[:-1]


def improve(network, optimizer, batch, n_actions, method):
    seen, actions, logs, better, returns = batch
    better = (better - better.mean()) / (better.std() + 1e-6)
    for _ in range(method.rounds):
        for part in torch.randperm(len(seen), device=DEVICE).chunk(method.parts):
            outputs, values = network(seen[part])
            chances = distribution(outputs, n_actions)
            ratio = (chances.log_prob(actions[part]) - logs[part]).exp()
            gain = torch.minimum(ratio * better[part], ratio.clamp(0.8, 1.2) * better[part])
            loss = method.critic * (values - returns[part]).square().mean()
            loss = loss - gain.mean() - VARIETY * chances.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()


def train(name, seed, method):
    torch.manual_seed(seed)
    game = Game(name, COPIES)
    network = Network(int(np.prod(game.shape)), game.n_actions)
    scale(network, game, np.random.default_rng(seed))
    network.to(DEVICE)
    optimizer = torch.optim.Adam(network.parameters(), lr=method.rate, eps=1e-5)
    observations = game.reset(seed)
    n = max(1, method.steps // (COPIES * method.piece))
    for number in range(n):
        optimizer.param_groups[0]["lr"] = method.rate * (1 - number / n)
        columns, observations, last = collect(network, game, observations, method)
        seen, actions, logs, values, rewards, ended = columns
        better = advantages(rewards, ended, values, last, method)
        batch = [column.flatten(0, 1) for column in (seen, actions, logs, *better)]
        improve(network, optimizer, batch, game.n_actions, method)
        if number % (n // 10 + 1) == 0:
            mean = rewards.sum() / max(1, ended.sum())
            played = number * COPIES * method.piece
            print(f"policy {seed}, step {played}: {mean:.2f} an episode", flush=True)
    return network


def main(name, steps=None, reinforce=False):
    method, began = Method(name, steps, reinforce), time.monotonic()
    networks = [train(name, seed, method) for seed in range(CHECKPOINTS)]
    game = Game(name, 1)
    saved = {"sizes": [int(np.prod(game.shape)), game.n_actions]}
    saved["checkpoints"] = [network.state_dict() for network in networks]
    torch.save(saved, WEIGHTS)
    with zipfile.ZipFile("policy.zip", "w") as packed:
        for file in ("policy.py", WEIGHTS.name):
            packed.write(file)
    print(f"trained for {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main(*sys.argv[1:4])
