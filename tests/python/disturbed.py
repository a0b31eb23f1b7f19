#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays episodes while forks, spawns, exceptions and Ctrl-C come at random moments.

Usage: disturbed.py ROUNDS SEED

A round plays until it is disturbed. A new process plays an episode of its own, and may not use its
parent's. After an exception the pool is closed. In the end nothing may be left: processes,
descriptors, threads.
"""

import gc
import multiprocessing
import os
import random
import signal
import sys
import threading
import time

import fumehood

TASK = "battleOfSexes"
PATIENCE_S = 60


class DisturbanceError(Exception):
    pass


def raise_disturbance(*_):
    raise DisturbanceError


def play_in_child():
    signal.alarm(PATIENCE_S)
    with fumehood.Env(TASK) as env:
        env.reset()
        assert env.step("echo child").observation == "child\n"


def fork(envs):
    pid = os.fork()
    if pid == 0:
        try:
            for env in envs:
                try:
                    env.step("true")
                except fumehood.StateError:
                    continue
                os._exit(2)
            play_in_child()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, "a fork failed"


def spawn(envs):
    child = multiprocessing.get_context("spawn").Process(target=play_in_child)
    child.start()
    child.join(PATIENCE_S)
    assert child.exitcode == 0, "a spawned process failed"


def ctrl_c(envs):
    os.kill(os.getpid(), signal.SIGINT)


def exception(envs):
    os.kill(os.getpid(), signal.SIGUSR1)


def act(pool):
    pool.reset_many()
    pool.step_many(["true", "sleep 0.01"])
    pool.envs[0].step("(trap '' INT; sleep 0.02)")
    pool.send(["echo sent", "true"])
    got = []
    while len(got) < 2:
        got += pool.recv()
    pool.envs[1].validate()
    with fumehood.Env(TASK) as env:
        env.reset()


def disturb_later(kind, pool, over):
    """Disturbs from a thread, at a random moment. Appends what went wrong to `over`."""

    def disturb():
        time.sleep(random.uniform(0, 0.15))
        try:
            kind(pool.envs)
        except AssertionError as error:
            over.append(error)
        else:
            over.append(None)

    thread = threading.Thread(target=disturb)
    thread.start()
    return thread


def play_round(kind):
    over = []
    with fumehood.EnvPool(TASK, 2) as pool:
        try:
            thread = disturb_later(kind, pool, over)
            while not over:
                act(pool)
            thread.join()
            time.sleep(0.01)  # the signal may come now
        except (DisturbanceError, KeyboardInterrupt):
            thread.join()
    assert over == [None], over


def usage():
    gc.collect()
    tasks = [int(name) for name in os.listdir("/proc/self/task")]
    children = []
    for task in tasks:
        with open(f"/proc/self/task/{task}/children") as file:
            children += file.read().split()
    return len(os.listdir("/proc/self/fd")), len(tasks), len(children)


def main():
    rounds, seed = int(sys.argv[1]), int(sys.argv[2])
    random.seed(seed)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGUSR1, raise_disturbance)
    kinds = [fork, ctrl_c, exception, spawn]
    for i in range(rounds):
        play_round(kinds[i % len(kinds)])
        if i == len(kinds) - 1:
            before = usage()
    after = usage()
    with fumehood.Env(TASK) as env:
        env.reset()
        assert env.step("echo on").observation == "on\n"
    fds, threads, children = (b - a for a, b in zip(before, after, strict=True))
    print(f"{rounds} rounds, seed {seed}: {fds:+} descriptors, {threads:+} threads, {children:+}")
    assert fds <= 32 and threads <= 0 and children <= 0, (before, after)
    fumehood.default_gym().close()


if __name__ == "__main__":
    main()
