# SPDX-License-Identifier: Apache-2.0
"""Forks a daemon that kills all processes that it can, again and again, and asks for `validate`."""

import contextlib
import os
import signal
import time

if os.fork() == 0:
    os.setsid()
    asks = os.open("/run/fumehood/validate", os.O_WRONLY | os.O_NONBLOCK)
    while True:
        for pid in (-1, 1):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(BlockingIOError):
            os.write(asks, b"x")
        time.sleep(0.01)
