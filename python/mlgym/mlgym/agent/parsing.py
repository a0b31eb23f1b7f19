# SPDX-License-Identifier: Apache-2.0
"""Output parsers."""

import fumehood

from mlgym.exceptions import FormatError


class ThoughtActionParser:
    """Splits a reply into its thought and the action in its fenced block."""

    def __call__(self, model_response: str, commands: object = None) -> tuple[str, str]:
        """Returns (thought, action). FormatError: there is no fenced block."""
        try:
            thought, action = fumehood.parse_reply("ThoughtActionParser", model_response)
        except fumehood.InputError as error:
            raise FormatError(str(error)) from None
        return thought, action
