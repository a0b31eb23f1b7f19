# SPDX-License-Identifier: Apache-2.0
"""Simulators to train policies with: many copies of one environment, stepped together.

    import numpy as np
    import simulators

    envs = simulators.make_vec("MetaMaze", num_envs=64)
    observations, infos = envs.reset(seed=1)
    actions = np.random.randint(4, size=64)
    observations, rewards, terminations, truncations, infos = envs.step(actions)

The classes and methods are named as those of Gymnasium's vector environments, which this module
does not need. docs/simulators.md describes the environments.
"""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

RULES = {
    "MountainCarContinuous": ("gymnax", "gymnasium"),
    "Breakout": ("gymnax", "minatar"),
    "MetaMaze": ("gymnax",),
}


class Box(NamedTuple):
    """Arrays of this shape and type."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Discrete(NamedTuple):
    """Whole numbers, 0 to n - 1."""

    n: int
    dtype: np.dtype[Any] = np.dtype(np.int32)
    shape: tuple[int, ...] = ()


class _Shape(ctypes.Structure):
    """struct fh_sim_shape of shape.h."""

    _fields_ = (
        ("observation", ctypes.c_int32 * 3),
        ("observation_size", ctypes.c_int32),
        ("n_actions", ctypes.c_int32),
        ("max_steps", ctypes.c_int32),
        ("sticky", ctypes.c_double),
    )


class _Results(ctypes.Structure):
    """struct fh_sim_results of simulators.h."""

    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in ("observations", "rewards", "terminated", "truncated", "final_observations")
    )


def _load_library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(Path(__file__).with_name("libsimulators.so")))
    sim, array = ctypes.c_void_p, ctypes.c_void_p
    for name, result, arguments in (
        (
            "open",
            ctypes.c_int,
            (ctypes.POINTER(sim), ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t),
        ),
        ("close", None, (sim,)),
        ("shape", ctypes.POINTER(_Shape), (sim,)),
        ("configure", ctypes.c_int, (sim, ctypes.c_int32, ctypes.c_double)),
        ("wire", ctypes.c_int, (sim, ctypes.c_uint64)),
        ("plain", None, (sim, array)),
        ("seed", None, (sim, array)),
        ("reset", None, (sim, array)),
        ("step", ctypes.c_int, (sim, array, ctypes.POINTER(_Results))),
    ):
        function = getattr(library, f"fh_sim_{name}")
        function.restype, function.argtypes = result, arguments
    return library


_library = _load_library()


def _open(name: str, rules: str, num_envs: int) -> ctypes.c_void_p:
    if name not in RULES:
        raise ValueError(f"there is no environment {name!r}; there are: {', '.join(RULES)}")
    if rules not in RULES[name]:
        raise ValueError(f"{name} has no rules {rules!r}; it has: {', '.join(RULES[name])}")
    sim = ctypes.c_void_p()
    status = _library.fh_sim_open(ctypes.byref(sim), name.encode(), rules.encode(), num_envs)
    if status == -errno.ENOMEM:
        raise MemoryError(f"no memory for {num_envs} copies of {name}")
    if status < 0:
        raise ValueError(f"num_envs is {num_envs!r}; expected 1 to 1000000")
    return sim


class VectorEnv:
    """Copies of one environment. make_vec() opens it.

    num_envs: number of copies.
    single_observation_space, single_action_space: of one copy.
    max_episode_steps, sticky_action_prob: as given to make_vec().
    """

    def __init__(
        self,
        name: str,
        num_envs: int,
        rules: str,
        max_episode_steps: int | None,
        sticky_action_prob: float | None,
        wiring: int | None,
    ) -> None:
        self._sim = _open(name, rules, num_envs)
        shape = _library.fh_sim_shape(self._sim).contents
        self._plain_space = self._read_space(shape)
        if wiring is not None:
            if not 0 <= wiring < 2**64:
                raise ValueError(f"wiring is {wiring!r}; expected 0 to 2**64 - 1")
            if _library.fh_sim_wire(self._sim, wiring):
                raise MemoryError(f"no memory for {num_envs} wired copies of {name}")
        self.num_envs = num_envs
        self.single_observation_space = self._read_space(shape)
        self.single_action_space = (
            Discrete(shape.n_actions) if shape.n_actions else Box((1,), np.dtype(np.float32))
        )
        self.max_episode_steps = shape.max_steps if max_episode_steps is None else max_episode_steps
        self.sticky_action_prob = shape.sticky if sticky_action_prob is None else sticky_action_prob
        if not 0 <= self.max_episode_steps <= 10**9:
            raise ValueError(f"max_episode_steps is {max_episode_steps!r}; expected 0 to 10**9")
        if _library.fh_sim_configure(self._sim, self.max_episode_steps, self.sticky_action_prob):
            raise ValueError(f"sticky_action_prob is {sticky_action_prob!r}; expected 0 to 1")
        self._begun = False
        self._final = self._new_observations()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Frees the copies. The object can't be used afterwards."""
        if getattr(self, "_sim", None):
            _library.fh_sim_close(self._sim)
            self._sim = None

    @staticmethod
    def _read_space(shape: _Shape) -> Box:
        return Box(
            tuple(size for size in shape.observation if size),
            np.dtype(np.float32 if shape.observation_size == 4 else np.bool_),
        )

    def _new_observations(self) -> Array:
        space = self.single_observation_space
        return np.empty((self.num_envs, *space.shape), space.dtype)

    def plain(self) -> Array:
        """The present observations of all copies, as they are without a wiring."""
        self._check_open()
        observations = np.empty((self.num_envs, *self._plain_space.shape), self._plain_space.dtype)
        _library.fh_sim_plain(self._sim, observations.ctypes.data)
        return observations

    def _check_open(self) -> None:
        if not self._sim:
            raise RuntimeError("the environment is closed")

    def reset(
        self, seed: int | Sequence[int] | Array | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begins an episode in every copy. Returns the observations, and an empty dict.

        seed: a whole number, or a list with a number for each copy. From a single number each
        copy gets random numbers of its own. The same seed gives the same episodes. The episodes
        of copy i do not depend on num_envs. Without a seed the first reset is random. Later
        resets continue each copy's random numbers.
        """
        self._check_open()
        if seed is None and self._begun:
            seeds = None
        elif seed is None or np.ndim(seed) == 0:
            seeds = np.random.SeedSequence(seed).generate_state(self.num_envs, np.uint64)
        else:
            seeds = np.ascontiguousarray(seed, np.uint64)
            if seeds.shape != (self.num_envs,):
                raise ValueError(f"seed has {len(seeds)} numbers; expected {self.num_envs}")
        if seeds is not None:
            _library.fh_sim_seed(self._sim, seeds.ctypes.data)
        observations = self._new_observations()
        _library.fh_sim_reset(self._sim, observations.ctypes.data)
        self._begun = True
        return observations, {}

    def _convert_actions(self, actions: Any) -> Array:
        """The actions as the library takes them."""
        space = self.single_action_space
        given = np.asarray(actions)
        if given.shape not in ((self.num_envs,), (self.num_envs, *space.shape)):
            raise ValueError(f"actions have the shape {given.shape}; expected ({self.num_envs},)")
        if isinstance(space, Discrete):
            if given.dtype.kind not in "iu":
                raise TypeError(f"actions are {given.dtype}; expected whole numbers")
            # Check whole numbers of 32 bits or more before they are cut to the action's type. The
            # library checks smaller ones.
            wide = given.dtype.itemsize >= 4 and given.dtype != space.dtype
            if wide and (given.min() < 0 or given.max() >= space.n):
                self._refuse_actions()
        with np.errstate(over="ignore"):  # overflow gives infinity, which the library refuses
            return np.ascontiguousarray(given, space.dtype)

    def _refuse_actions(self) -> NoReturn:
        space = self.single_action_space
        expected = f"0 to {space.n - 1}" if isinstance(space, Discrete) else "finite numbers"
        raise ValueError(f"an action is out of range; expected {expected}")

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Does one step of every copy.

        Returns observations, rewards, terminations, truncations and infos. A copy whose episode
        ends begins the next one in the same step (SAME_STEP autoreset). The step then returns the
        first observation of the new episode. If any episode ended, infos["final_obs"] has the last
        observations of those copies, and None for others. infos["_final_obs"] tells which ended.
        """
        self._check_open()
        if not self._begun:
            raise RuntimeError("step() needs a reset() before it")
        given = self._convert_actions(actions)
        observations = self._new_observations()
        rewards = np.empty(self.num_envs)
        terminations, truncations = np.empty(self.num_envs, bool), np.empty(self.num_envs, bool)
        arrays = (observations, rewards, terminations, truncations, self._final)
        results = _Results(*(array.ctypes.data for array in arrays))
        n_ended = _library.fh_sim_step(self._sim, given.ctypes.data, results)
        if n_ended < 0:
            self._refuse_actions()
        infos = self._final_infos(terminations | truncations) if n_ended else {}
        return observations, rewards, terminations, truncations, infos

    def _final_infos(self, ended: Array) -> dict[str, Any]:
        final = np.full(self.num_envs, None, object)
        rows = np.flatnonzero(ended)
        for i, observation in zip(rows.tolist(), self._final[rows], strict=True):
            final[i] = observation
        return {"final_obs": final, "_final_obs": ended}


def make_vec(
    name: str,
    num_envs: int = 1,
    rules: str = "gymnax",
    max_episode_steps: int | None = None,
    sticky_action_prob: float | None = None,
    wiring: int | None = None,
) -> VectorEnv:
    """Opens copies of an environment.

    name, rules: RULES has them all.
    max_episode_steps: steps after which an episode is truncated; 0: never. None: as in the rules.
    sticky_action_prob: probability that a copy of Breakout repeats its last action. None: as in
    the rules.
    wiring: a number that draws sensors and switches. Observations are what these sensors show,
    float32, and actions pass through the switches. None: plain observations and actions.
    """
    return VectorEnv(name, num_envs, rules, max_episode_steps, sticky_action_prob, wiring)
