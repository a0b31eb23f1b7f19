# SPDX-License-Identifier: Apache-2.0
"""Arguments of a model."""

from dataclasses import dataclass


@dataclass
class ModelArguments:
    """Names a model. Programs that import this module call the model themselves."""

    model_name: str
