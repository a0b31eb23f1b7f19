# SPDX-License-Identifier: Apache-2.0
"""Programs that tests of the package `fumehood` run in processes of their own."""

import subprocess
import sys
import textwrap

TASK = "battleOfSexes"


def run_program(text, *, check=True, **options):
    """Runs a Python program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        capture_output=True,
        text=True,
        timeout=60,
        check=check,
        **options,
    )


CTRL_C = """
    import fumehood, os, signal, sys, threading, time
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    pool = fumehood.EnvPool({task!r}, 2)
    pool.reset_many()
    threading.Timer(0.5, lambda: (sent.append(time.monotonic()), os.kill(os.getpid(), 2))).start()
    sent = []
    try:
        {call}
    except KeyboardInterrupt:
        print((time.monotonic() - sent[0]) * 1000)
    pool.close()
"""

SLOW_TASK = """
name: Slow
description: Write a word to out.txt.
metric: {name: known, direction: maximize}
baseline: echo begun >> out.txt; sleep 1000
training_timeout: 1000s
grader: {kind: script, submission: out.txt, program: judge.py}
"""
