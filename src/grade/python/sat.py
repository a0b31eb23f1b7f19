# SPDX-License-Identifier: Apache-2.0
"""Solves 3-SAT instances for judges, decision by decision: fh-sat.so in Python.

    solver = sat.Solver(3, sat.literals([1, -2, 3, -1, 2, 3]))
    while solver.changes is not None:
        solver.decide(variable, value)  # False: the variable is not free

src/grade/sat/sat.h says which numbers `changes` holds. It is a text: base64 of integers of 32 bits,
in the machine's byte order. A list of numbers would cost judge and player more than the search.
"""

from __future__ import annotations

import binascii
import ctypes
import os
from collections.abc import Sequence

SATISFIABLE, UNSATISFIABLE, ILLEGAL = -1, -2, -3

_library = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "fh-sat.so"))
_Numbers = ctypes.POINTER(ctypes.c_int32)
_library.fh_sat_draw.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int, _Numbers]
_library.fh_sat_new.argtypes = [ctypes.c_int, ctypes.c_int, _Numbers]
_library.fh_sat_new.restype = ctypes.c_void_p
_library.fh_sat_free.argtypes = _library.fh_sat_room.argtypes = [ctypes.c_void_p]
_library.fh_sat_begin.argtypes = [ctypes.c_void_p, _Numbers]
_library.fh_sat_decide.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, _Numbers]


BYTES_A_CLAUSE = 16  # random bytes that draw() takes for each clause


def draw(random_bytes: bytes, variables: int, clauses: int) -> ctypes.Array[ctypes.c_int32]:
    """Draws the literals of an instance."""
    drawn = (ctypes.c_int32 * (3 * clauses))()
    _library.fh_sat_draw(random_bytes, variables, clauses, drawn)
    return drawn


def literals(numbers: Sequence[int]) -> ctypes.Array[ctypes.c_int32]:
    """Converts the literals of all clauses, one after the other, for a solver."""
    return (ctypes.c_int32 * len(numbers))(*numbers)


def packed(numbers: memoryview) -> str:
    return binascii.b2a_base64(numbers, newline=False).decode()


class Solver:
    """An instance, and its search up to the next decision."""

    _out = (ctypes.c_int32 * 0)()  # array for results, shared by all solvers

    def __init__(self, variables: int, literals: ctypes.Array[ctypes.c_int32]) -> None:
        self._solver = _library.fh_sat_new(variables, len(literals) // 3, literals)
        if not self._solver:
            raise ValueError("a clause must have 3 literals of different variables")
        room = _library.fh_sat_room(self._solver)
        if len(self._out) < room:
            Solver._out = (ctypes.c_int32 * room)()
        self.variables = variables
        self.decisions = 0
        self.satisfiable: bool | None = None  # unknown until the search ends
        self.changes: str | None = None  # None: there is nothing to decide
        self._take(_library.fh_sat_begin(self._solver, self._out))

    def __del__(self) -> None:
        _library.fh_sat_free(self._solver)

    def decide(self, variable: int, value: bool) -> bool:
        """Assigns a variable and searches on. False: it does not exist, or is assigned."""
        n = _library.fh_sat_decide(self._solver, variable, value, self._out)
        if n == ILLEGAL:
            return False
        self.decisions += 1
        self._take(n)
        return True

    def _take(self, n: int) -> None:
        if n >= 0:
            self.changes = packed(memoryview(self._out)[:n])
        else:
            self.changes, self.satisfiable = None, n == SATISFIABLE
