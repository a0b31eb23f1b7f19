# SPDX-License-Identifier: Apache-2.0
"""Errors."""


class FormatError(Exception):
    """A reply has no action."""
