# SPDX-License-Identifier: Apache-2.0
"""`fumehood` on the command line, as a wheel installs it."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Replaces this process by the program that the package carries."""
    program = Path(__file__).parent / "bin/fumehood"
    os.execv(program, ["fumehood", *sys.argv[1:]])


if __name__ == "__main__":
    main()
