# SPDX-License-Identifier: Apache-2.0
"""Reads policies from .npz files and lets them play. Judges score with it what an agent wrote.

A file has numpy arrays alone, so it can hold no code. It has CHECKPOINTS policies of the same
layers: the first axis of each array is the checkpoint. numpy.savez() writes it:

    0.tanh.weight     [5, inputs, units]     layer 0: tanh(inputs @ weight + bias)
    0.tanh.bias       [5, units]
    1.linear.weight   [5, units, outputs]    layer 1: inputs @ weight + bias
    1.linear.bias     [5, outputs]
    log_std           [5]                    logarithm of the force's standard deviation

Layers are counted from 0. Their kinds:

- linear, tanh, relu: dense layers. A picture is flattened, as numpy.ravel() does it.
- conv: filters slide over a picture [row, column, channel], by one cell and without a border. Then
  relu follows.
- gru: units remember. The state h is 0 before the first step. The arrays hold the gates r and z and
  then the candidate n.

    0.conv.weight     [5, size, size, channels, filters]
    0.conv.bias       [5, filters]
    1.gru.weight      [5, inputs, 3 units]   r, z = sigmoid(x @ weight + h @ recurrent + bias)
    1.gru.recurrent   [5, units, 3 units]    n = tanh(x @ weight + r * (h @ recurrent) + bias)
    1.gru.bias        [5, 3 units]           h = (1 - z) * n + z * h

The last layer is dense. The action of a car is drawn from a normal distribution, whose mean is the
last layer's output. In other games an action is one of a few, and the last layer has an output for
each. Their softmax are the probabilities, and there is no log_std.
"""

from __future__ import annotations

import math
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Shape = tuple[int, ...]  # an array's shape without the axes of checkpoints and games

CHECKPOINTS = 5
LAYERS_MAX = 8
HEADER_BYTES_MAX = 1024
MEMBERS_MAX = 4 * LAYERS_MAX
NAMES_SHOWN, NAME_CHARS = 4, 40  # limits for names of arrays that are shown to the agent
WEIGHT_MAX = 1e6  # largest weight, so that no sum of products overflows
FORCE_MAX = 1e6
LOG_STD_MAX = 5.0
OUTPUT_MAX = 1e9  # largest number that code of a policy may answer

_NAME = re.compile(r"([0-9])\.([a-z]+)\.(weight|recurrent|bias)")
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    r"\{'descr': '([^']*)', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \} *\n"
)
_UNREADABLE = (zipfile.BadZipFile, zlib.error, struct.error)
_UNREADABLE += (ArithmeticError, EOFError, OSError, RuntimeError, ValueError)


class Unfit(ValueError):
    """A fault of a policy. The message is a sentence for the agent."""


class Game(Protocol):
    """Copies of an environment, as a task's starter has them."""

    def reset(self, seed: int) -> Array: ...

    def step(self, actions: Array) -> tuple[Array, Array, Array]: ...


# --- reading a policy's .npz file -----------------------------------------------------------------


def _parse_array(name: str, data: bytes) -> Array:
    """Parses a .npy file. numpy's own reader would evaluate the header as Python."""
    end = len(_MAGIC) + 2 + int.from_bytes(data[8:10], "little")
    header = None
    if data.startswith(_MAGIC) and end <= HEADER_BYTES_MAX:
        header = _HEADER.fullmatch(data[len(_MAGIC) + 2 : end].decode("latin-1"))
    if not header:
        raise Unfit(f"{name} is not an array of numbers as numpy.savez writes it")
    if header[1] not in ("<f4", "<f8"):
        if header[1].startswith("|O"):
            raise Unfit(f"{name} holds objects; write numbers: an array whose rows have one length")
        raise Unfit(f"{name} has the type {header[1]}; convert it with .astype('float32')")
    shape = [int(size) for size in header[3].replace(",", " ").split()]
    if math.prod(shape) * int(header[1][2]) != len(data) - end:
        raise Unfit(f"{name} has another length than its header tells")
    numbers = np.frombuffer(data, header[1], offset=end).astype(float)
    if not np.all(np.isfinite(numbers)):
        raise Unfit(f"{name} has NaN or infinity; write finite numbers")
    if not np.all(np.abs(numbers) <= WEIGHT_MAX):
        raise Unfit(f"{name} has a number that is not from -{WEIGHT_MAX:g} to {WEIGHT_MAX:g}")
    return numbers.reshape(shape, order="F" if header[2] == "True" else "C")


def _read_arrays(path: Path, most_bytes: int) -> dict[str, Array]:
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > MEMBERS_MAX or sum(member.file_size for member in members) > most_bytes:
            raise Unfit(f"it unpacks to more than {MEMBERS_MAX} arrays or {most_bytes} bytes")
        for member in members:
            name = member.filename.removesuffix(".npy")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Unfit(f"{name!r} is packed in another way than numpy.savez does it")
            if name in arrays:
                raise Unfit(f"{name!r} is there twice")
            with archive.open(member) as file:
                arrays[name] = _parse_array(repr(name), file.read(member.file_size))
    return arrays


# --- kinds of layers in a policy's network --------------------------------------------------------

# Takes a layer's array by the last part of its name, and by its shape without the 5 checkpoints.
Take = Callable[..., Array]


class Dense:
    """Each unit has a weighted sum of all inputs, and a function of it."""

    FUNCTIONS: ClassVar[dict[str, Callable[[Array], Array]]] = {
        "linear": lambda sums: sums,
        "tanh": np.tanh,
        "relu": lambda sums: np.maximum(sums, 0),
    }

    def __init__(self, kind: str, inputs: Shape, outputs: int | None, take: Take) -> None:
        self.function = self.FUNCTIONS[kind]
        self.weight = take("weight", math.prod(inputs), outputs)
        self.outputs: Shape = self.weight.shape[2:]
        self.bias = take("bias", *self.outputs)[:, None]
        self.products = self.weight[0].size

    def __call__(self, inputs: Array) -> Array:
        flat = inputs.reshape(*inputs.shape[:2], -1)
        return self.function(flat @ self.weight + self.bias)


class Conv:
    """Filters slide over a picture."""

    def __init__(self, kind: str, inputs: Shape, outputs: int | None, take: Take) -> None:
        if len(inputs) != 3:
            raise Unfit(f"a conv layer gets {list(inputs)}; expected [rows, columns, channels]")
        weight = take("weight", None, None, inputs[2], None)
        _, self.size, size, _, filters = weight.shape
        if size != self.size or size > min(inputs[:2]):
            raise Unfit(f"filters of {self.size} x {size} cells don't fit into {list(inputs)}")
        self.weight = weight.reshape(CHECKPOINTS, -1, filters).swapaxes(1, 2)
        self.bias = take("bias", filters)[..., None]
        self.outputs: Shape = (inputs[0] - size + 1, inputs[1] - size + 1, filters)
        self.products = weight[0].size * math.prod(self.outputs[:2])

    def __call__(self, inputs: Array) -> Array:
        checkpoints, games = inputs.shape[:2]
        rows, columns, filters = self.outputs
        # The axis of parallel games comes last, because numpy copies long runs of numbers fast.
        pictures = np.ascontiguousarray(inputs.transpose(0, 4, 2, 3, 1), float)
        places = [(y, x) for y in range(self.size) for x in range(self.size)]
        seen = [pictures[:, :, y : y + rows, x : x + columns] for y, x in places]
        stacked = np.stack(seen, 1).reshape(checkpoints, -1, rows * columns * games)
        sums = self.weight @ stacked + self.bias
        results = np.maximum(sums, 0, out=sums).reshape(checkpoints, filters, rows, columns, games)
        return results.transpose(0, 4, 2, 3, 1)


class Gru:
    """Units remember."""

    def __init__(self, kind: str, inputs: Shape, outputs: int | None, take: Take) -> None:
        self.bias = take("bias", None)[:, None]
        units, rest = divmod(self.bias.shape[2], 3)
        if rest:
            raise Unfit(
                f"the bias of a gru layer has {3 * units + rest} numbers; expected 3 a unit"
            )
        self.weight = take("weight", math.prod(inputs), 3 * units)
        self.recurrent = take("recurrent", units, 3 * units)
        self.outputs: Shape = (units,)
        self.products = self.weight[0].size + self.recurrent[0].size
        self.state: Array | None = None

    def __call__(self, inputs: Array) -> Array:
        if self.state is None:
            self.state = np.zeros((*inputs.shape[:2], *self.outputs))
        gates = 2 * self.outputs[0]
        sums = inputs.reshape(*inputs.shape[:2], -1) @ self.weight + self.bias
        again = self.state @ self.recurrent
        # Compute sigmoid(x) as (1 + tanh(x / 2)) / 2: exp(-x) would overflow, tanh does not.
        opened = 0.5 + 0.5 * np.tanh(0.5 * (sums + again)[..., :gates])
        reset, keep = np.split(opened, 2, -1)
        new = np.tanh(sums[..., gates:] + reset * again[..., gates:])
        self.state = (1 - keep) * new + keep * self.state
        return self.state


KINDS: dict[str, type[Dense | Conv | Gru]] = {
    **dict.fromkeys(Dense.FUNCTIONS, Dense),
    "conv": Conv,
    "gru": Gru,
}


# --- playing a policy -----------------------------------------------------------------------------


def _take(arrays: dict[str, Array], name: str, *shape: int | None) -> Array:
    """Takes an array out. None stands for a size that the file chooses."""
    if name not in arrays:
        raise Unfit(f"the array {name!r} is missing")
    array = arrays.pop(name)
    fits = len(array.shape) == len(shape) and all(
        found > 0 and wanted in (None, found)
        for found, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        expected = ", ".join("any" if size is None else str(size) for size in shape)
        raise Unfit(f"{name!r} has the shape {list(array.shape)}; expected [{expected}]")
    return array


def _layer_kinds(arrays: dict[str, Array]) -> list[str]:
    kinds = {int(m[1]): m[2] for m in map(_NAME.fullmatch, arrays) if m}
    if arrays and not kinds:
        names = ", ".join(ascii(name[:NAME_CHARS]) for name in list(arrays)[:NAMES_SHOWN])
        more = ", ..." if len(arrays) > NAMES_SHOWN else ""
        raise Unfit(f"its arrays are {names}{more}; name them like '0.linear.weight'")
    if sorted(kinds) != list(range(len(kinds))) or not 1 <= len(kinds) <= LAYERS_MAX:
        raise Unfit(f"its layers are {sorted(kinds)}; count 1 to {LAYERS_MAX} layers from 0")
    for number, kind in kinds.items():
        if kind not in KINDS:
            raise Unfit(f"layer {number} is {kind!r}; the kinds are {', '.join(KINDS)}")
    last = kinds[len(kinds) - 1]
    if last not in Dense.FUNCTIONS:
        raise Unfit(f"the last layer is {last!r}; expected {', '.join(Dense.FUNCTIONS)}")
    return [kinds[number] for number in range(len(kinds))]


class Policy:
    """CHECKPOINTS policies, which draw actions."""

    def __init__(
        self, arrays: dict[str, Array], inputs: Shape, n_actions: int, most_products: int | None
    ) -> None:
        arrays = dict(arrays)
        kinds = _layer_kinds(arrays)
        self.layers: list[Dense | Conv | Gru] = []
        for number, kind in enumerate(kinds):

            def take(name: str, *shape: int | None, layer: str = f"{number}.{kind}") -> Array:
                return _take(arrays, f"{layer}.{name}", CHECKPOINTS, *shape)

            outputs = (n_actions or 1) if number == len(kinds) - 1 else None
            self.layers.append(KINDS[kind](kind, inputs, outputs, take))
            inputs = self.layers[-1].outputs
        self.std = None
        if not n_actions:
            self.std = np.exp(np.minimum(_take(arrays, "log_std", CHECKPOINTS), LOG_STD_MAX))
        if arrays:
            raise Unfit(f"the array {min(arrays)!r} belongs to no layer")
        products = sum(layer.products for layer in self.layers)
        if most_products and products > most_products:
            raise Unfit(
                f"its layers multiply {products} times for an action; the limit is {most_products}"
            )

    def begin(self) -> None:
        """Forgets the episodes so far."""
        for layer in self.layers:
            if isinstance(layer, Gru):
                layer.state = None

    def act(self, observations: Array, random: np.random.Generator) -> Array:
        """Draws an action for each observation [checkpoint, game, ...]."""
        for layer in self.layers:
            observations = layer(observations)
        if self.std is None:
            return draw_choices(observations, random)
        means = observations[..., 0]
        return means + self.std[:, None] * random.standard_normal(means.shape)


def draw_actions(outputs: Array, n_actions: int, random: np.random.Generator) -> Array:
    """Draws actions for the outputs of policies that are code (simulators/games.py)."""
    if n_actions:
        return draw_choices(outputs, random)
    means, log_stds = np.moveaxis(outputs, -1, 0)
    return means + np.exp(np.minimum(log_stds, LOG_STD_MAX)) * random.standard_normal(means.shape)


def draw_choices(outputs: Array, random: np.random.Generator) -> Array:
    """Draws whole numbers by the softmax of the last axis."""
    odds = np.exp(outputs - outputs.max(-1, keepdims=True)).cumsum(-1)
    drawn = random.random((*outputs.shape[:-1], 1)) * odds[..., -1:]
    return (drawn >= odds[..., :-1]).sum(-1)


def load(
    path: str | Path,
    inputs: Shape,
    most_weights: int,
    most_products: int | None = None,
    n_actions: int = 0,
) -> Policy:
    """Reads a file of policies. Raises Unfit, whose text begins with the file's name.

    inputs: shape of an observation. most_weights: limit for all checkpoints together.
    most_products: limit for the multiplications of a checkpoint for an action.
    n_actions: an action is a whole number below it; 0: an action is a force.
    """
    path = Path(path)
    try:
        if path.stat().st_size == 0:
            raise Unfit("it is empty; write it with numpy.savez")
        # The limit of bytes has room for all weights and for a header of each array.
        arrays = _read_arrays(path, 8 * most_weights + MEMBERS_MAX * HEADER_BYTES_MAX)
        return Policy(arrays, inputs, n_actions, most_products)
    except Unfit as fault:
        raise Unfit(f"{path.name}: {fault}") from None
    except _UNREADABLE:
        raise Unfit(f"{path.name}: it is not a .npz file; write it with numpy.savez") from None


def play(policy: Policy, game: Game, seed: int, steps: int) -> Array:
    """Lets policies play one episode in each copy. Returns the sums of rewards, [checkpoint, copy].

    game: copies for the first checkpoint, for the second, and so on; equally many for each.
    """
    policy.begin()
    random = np.random.default_rng([seed, 1])
    observations = game.reset(seed)
    returns = np.zeros(len(observations))
    going = np.ones(len(observations), bool)
    for _ in range(steps):
        inputs = observations.reshape(CHECKPOINTS, -1, *observations.shape[1:])
        actions = policy.act(inputs, random).reshape(-1)
        if not np.all(np.abs(actions[going]) <= FORCE_MAX):
            raise Unfit(f"the policy gave a force that is not from -{FORCE_MAX:g} to {FORCE_MAX:g}")
        observations, rewards, ended = game.step(np.where(going, actions, 0))
        returns += np.where(going, rewards, 0)
        going &= ~ended
        if not going.any():
            break
    return returns.reshape(CHECKPOINTS, -1)
