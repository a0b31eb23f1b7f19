# SPDX-License-Identifier: Apache-2.0
"""The names of MLGym that TorchRL's make_mlgym() uses, over Fumehood's tasks.

Install this distribution only where MLGym is not installed: both have the module `mlgym`.
docs/torchrl.md has the whole.
"""

from pathlib import Path

CONFIG_DIR = Path(__file__).parent / "configs"
