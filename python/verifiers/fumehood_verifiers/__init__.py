# SPDX-License-Identifier: Apache-2.0
"""Fumehood's tasks for verifiers and prime-rl. docs/verifiers.md has the whole.

`load_environment` is for `verifiers.legacy` (verifiers 0.3.1). `FumehoodTaskset` and
`FumehoodHarness` are for `verifiers.v1`. Each is imported when it is first used, because no
version of verifiers needs both.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .legacy import load_environment as load_environment
    from .v1 import FumehoodHarness, FumehoodTaskset

__all__ = ["FumehoodHarness", "FumehoodTaskset"]  # verifiers.v1 looks its plugins up here


def __getattr__(name: str) -> Any:
    if name == "load_environment":
        from .legacy import load_environment

        return load_environment
    if name in __all__:
        from . import v1

        return getattr(v1, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
