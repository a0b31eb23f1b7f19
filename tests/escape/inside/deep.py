# SPDX-License-Identifier: Apache-2.0
"""Makes 4000 nested folders."""

import os

for _ in range(4000):
    os.mkdir("d")
    os.chdir("d")
