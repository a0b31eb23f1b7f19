# SPDX-License-Identifier: Apache-2.0
"""The package `fumehood`: many environments in one thread, by EnvPool and by asyncio."""

import asyncio
import concurrent.futures
import contextlib
import random
import time

import pytest

pytest.importorskip("fumehood._core", reason="the build has no Python extension")

import fumehood  # noqa: E402
from package_programs import TASK, run_program  # noqa: E402


@pytest.fixture(scope="module")
def gym():
    with fumehood.Gym() as gym:
        yield gym


def test_step_many(gym):
    with fumehood.EnvPool(TASK, 4, gym=gym) as pool:
        assert [step.step for step in pool.reset_many(10)] == [0] * 4
        steps = pool.step_many([f"echo {i}; exit" for i in range(4)])
        assert [step.observation.split()[0] for step in steps] == ["0", "1", "2", "3"]
        steps = pool.step_many(["echo a", "echo b"], ids=[3, 1])
        assert [step.observation for step in steps] == ["a\n", "b\n"]
        assert [step.step for step in steps] == [2, 2]


def test_a_pool_limits_output(gym):
    with fumehood.EnvPool(TASK, 2, gym=gym, output_bytes=3) as pool:
        pool.reset_many()
        pool.send(["printf abc", "printf abcd"])
        steps = {}
        while len(steps) < 2:
            steps.update(pool.recv())
        assert (steps[0].observation, steps[0].outcome) == ("abc", "ok")
        assert steps[1].observation.startswith("abc\n(There was more output; only the first 3 by")
        assert steps[1].outcome == "output_limit"
    with pytest.raises(fumehood.InputError, match="num_envs should be 0 or more, not -3"):
        fumehood.EnvPool(TASK, -3, gym=gym)
    with pytest.raises(fumehood.InputError, match="output_bytes should be 0 to"):
        fumehood.EnvPool(TASK, 2, gym=gym, output_bytes=-1)


def test_step_many_refuses(gym):
    with fumehood.EnvPool(TASK, 2, gym=gym) as pool:
        pool.reset_many()
        with pytest.raises(fumehood.InputError, match="twice"):
            pool.step_many(["true", "true"], ids=[0, 0])
        with pytest.raises(ValueError, match="2 environments, but 1"):
            pool.step_many(["true"])
        for call in (pool.step_many, pool.send):
            with pytest.raises(TypeError, match="not a str"):
                call("ls")
        with pytest.raises(ValueError):
            pool.step_many(["true", "\0"])
        pool.envs[0].submit()
        with pytest.raises(fumehood.StateError):
            pool.step_many(["true", "true"])
        assert pool.envs[1].step("echo on").observation == "on\n"


def test_send_and_recv(gym):
    with fumehood.EnvPool(TASK, 3, gym=gym) as pool:
        pool.send_resets([1, 2, 3])
        ended = []
        while len(ended) < 3:
            ended += pool.recv()
        assert sorted((i, step.step) for i, step in ended) == [(0, 0), (1, 0), (2, 0)]
        with pytest.raises(fumehood.StateError, match="nothing was started"):
            pool.recv()
        pool.send(["sleep 0.6; echo 0", "echo 1", "sleep 0.3; echo 2"])
        with pytest.raises(fumehood.StateError, match="under way"):
            pool.send(["true"], ids=[1])
        with pytest.raises(fumehood.StateError):
            pool.step_many(["true"], ids=[1])
        order = []
        while len(order) < 3:
            order += [(i, step.observation) for i, step in pool.recv(timeout_s=20)]
        assert order == [(1, "1\n"), (2, "2\n"), (0, "0\n")]
        assert pool.recv(timeout_s=0) == []


@pytest.mark.parametrize("timeout_s", [-1.0, 600.0])
def test_close_ends_recv_of_another_thread(timeout_s):
    with fumehood.Gym() as gym:
        pool = fumehood.EnvPool(TASK, 2, gym=gym)
        pool.reset_many()
        pool.send(["sleep 600"], ids=[1])
        with concurrent.futures.ThreadPoolExecutor() as threads:
            receiving = threads.submit(pool.recv, timeout_s)
            with pytest.raises(fumehood.StateError, match="another thread waits"):
                while not receiving.done():
                    with contextlib.suppress(fumehood.BusyError):
                        pool.envs[1].end()
            pool.close()
            pool.close()
            with pytest.raises(fumehood.ClosedError, match="the pool is closed"):
                receiving.result(timeout=60)
        assert all(env.closed for env in pool.envs)
        with pytest.raises(fumehood.ClosedError, match="the pool is closed"):
            pool.recv()


def test_close_ends_step_many_of_another_thread():
    with fumehood.Gym() as gym:
        pool = fumehood.EnvPool(TASK, 2, gym=gym)
        pool.reset_many()
        with concurrent.futures.ThreadPoolExecutor() as threads:
            playing = threads.submit(pool.step_many, ["sleep 600"], [1])
            with pytest.raises(fumehood.StateError, match="under way"):
                while not playing.done():
                    pool.envs[1].check_step("true", 0.0)
            pool.close()
            (step,) = playing.result(timeout=60)
            assert step.outcome == "interrupted"


def test_close_ends_send_of_another_thread():
    """Closes pools at random moments of a thread that sends and receives."""
    dice = random.Random(1)
    with fumehood.Gym() as gym, concurrent.futures.ThreadPoolExecutor() as threads:
        for _ in range(40):
            pool = fumehood.EnvPool(TASK, 3, gym=gym)

            def play(pool=pool):
                pool.reset_many()
                while True:
                    pool.send(["true"] * 3)
                    n = 0
                    while n < 3:
                        n += len(pool.recv())

            playing = threads.submit(play)
            time.sleep(dice.random() / 50)
            pool.close()
            with pytest.raises(fumehood.StateError) as raised:
                playing.result(timeout=60)
            assert raised.type is fumehood.ClosedError, raised.value


def test_closing_other_environments_disturbs_no_pool():
    with (
        fumehood.Gym() as gym,
        fumehood.EnvPool(TASK, 30, gym=gym) as pool,
        concurrent.futures.ThreadPoolExecutor() as threads,
    ):
        pool.reset_many()
        closing = threads.submit(lambda: [env.close() for env in pool.envs[1:]])
        n = 0
        while not closing.done() or not n:
            n += 1
            assert pool.step_many(["echo $((++n))"], ids=[0])[0].observation == f"{n}\n"
        closing.result()
        assert [env.closed for env in pool.envs] == [False] + [True] * 29


@pytest.mark.parametrize("action", ["\0", "\ud800", "x" * (2 << 20)])
@pytest.mark.parametrize("call", ["send", "step_many"])
def test_nothing_is_started_with_an_action_that_can_not_run(gym, action, call):
    with fumehood.EnvPool(TASK, 2, gym=gym) as pool:
        pool.reset_many()
        with pytest.raises(ValueError):
            getattr(pool, call)(["echo $((++n))", action])
        steps = pool.step_many(["echo $((++n))"] * 2)
        assert [(step.observation, step.step) for step in steps] == [("1\n", 1)] * 2
        pool.envs[1].submit()
        with pytest.raises(fumehood.StateError, match="has ended"):
            getattr(pool, call)(["echo $((++n))"] * 2)
        assert pool.envs[0].step("echo $((++n))").observation == "2\n"


def test_ctrl_c_in_recv_interrupts_what_was_sent():
    printed = run_program(
        f"""
        import fumehood, os, signal, threading
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with fumehood.EnvPool({TASK!r}, 2) as pool:
            pool.reset_many()
            pool.send(["sleep 30", "echo ended"])
            while not pool._ended:
                pool.gym.dispatch(1)
            pool.recv()
            threading.Timer(0.3, lambda: os.kill(os.getpid(), 2)).start()
            try:
                pool.recv()
            except KeyboardInterrupt:
                print([step.observation for step in pool.step_many(["echo on"] * 2)])
        """
    ).stdout
    assert printed == "['on\\n', 'on\\n']\n"


def test_asyncio(gym):
    async def play(i):
        async with await fumehood.AsyncEnv.open(TASK, gym=gym) as env:
            await env.reset(seed=i)
            step = await env.step(f"echo {i}")
            scored = await env.validate()
            last = await env.submit()
            return step.observation, scored.score is not None, last.terminated

    async def main():
        return await asyncio.gather(*(play(i) for i in range(4)))

    assert asyncio.run(main()) == [(f"{i}\n", True, True) for i in range(4)]


def test_asyncio_asides(gym):
    async def main():
        async with await fumehood.AsyncEnv.open(TASK, gym=gym) as env:
            assert (await env.reset(judge_salt=5)).judge_salt == 5
            await env.put_file("/tmp/in", b"\0\xff")
            done = await env.aside("cp /tmp/in out; echo copied")
            assert (done.observation, done.step) == ("copied\n", 0)
            with pytest.raises(fumehood.MissingError):
                await env.get_file("none")
            sleep = asyncio.create_task(env.step("sleep 60"))
            await asyncio.sleep(0.1)
            env.interrupt()
            assert (await sleep).outcome == "interrupted"
            return await env.get_file("out")

    assert asyncio.run(main()) == b"\0\xff"


def test_asyncio_in_another_loop(gym):
    async def play():
        env = await fumehood.AsyncEnv.open(TASK, gym=gym)
        await env.reset()
        return env

    async def main():
        async with await play() as env:
            with pytest.raises(RuntimeError, match="another event loop"):
                await asyncio.to_thread(asyncio.run, env.reset())
            return (await env.step("echo on")).observation

    assert asyncio.run(main()) == "on\n"
    assert asyncio.run(main()) == "on\n"  # in a new loop


def test_asyncio_cancelled(gym):
    async def main():
        env = await fumehood.AsyncEnv.open(TASK, gym=gym)
        await env.reset()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(env.step("sleep 30"), 0.3)
        step = await env.step("echo on")
        env.close()
        return step.observation

    assert asyncio.run(main()) == "on\n"


def test_asyncio_cancelled_opening(slow_gym):
    async def main():
        with eval(slow_gym) as gym:
            begin = time.monotonic()
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(fumehood.AsyncEnv.open("slow", gym=gym), 0.5)
            return time.monotonic() - begin

    assert asyncio.run(main()) < 20  # the baseline takes 1000 s


def test_asyncio_openings_that_fail(gym):
    async def main():
        with pytest.raises(fumehood.MissingError):
            await fumehood.AsyncEnv.open("nothingLikeThis", gym=gym)
        with pytest.raises(fumehood.InputError, match="the gym has 0"):
            await fumehood.AsyncEnv.open(TASK, gym=gym, gpus=1)

    asyncio.run(main())


def test_asyncio_closed(gym):
    async def main():
        env = await fumehood.AsyncEnv.open(TASK, gym=gym)
        await env.reset()
        step = asyncio.create_task(env.step("sleep 30"))
        await asyncio.sleep(0.2)
        env.close()
        with pytest.raises(fumehood.ClosedError):
            await asyncio.wait_for(step, 20)
        with pytest.raises(fumehood.ClosedError):
            await asyncio.wait_for(env.step("true"), 20)

    asyncio.run(main())


def test_asyncio_cancelled_and_closed(gym):
    async def main():
        env = await fumehood.AsyncEnv.open(TASK, gym=gym)
        await env.reset()
        step = asyncio.create_task(env.step("trap '' INT; sleep 30"))
        await asyncio.sleep(0.2)
        step.cancel()
        await asyncio.wait([step])
        waiting = asyncio.create_task(env.step("true"))
        await asyncio.sleep(0)
        env.close()
        for later in (waiting, env.step("true"), env.reset()):
            with pytest.raises(fumehood.ClosedError):
                await asyncio.wait_for(later, 20)

    asyncio.run(main())


def test_asyncio_goes_on_after_ctrl_c():
    printed = run_program(
        f"""
        import asyncio, fumehood, os, signal, threading
        signal.signal(signal.SIGINT, signal.default_int_handler)
        env = fumehood.AsyncEnv(fumehood.Env({TASK!r}))

        async def first():
            await env.reset()
            threading.Timer(0.3, lambda: os.kill(os.getpid(), 2)).start()
            await env.step("sleep 30")

        async def second():
            print((await env.step("echo on")).observation, (await env.reset()).step)

        try:
            asyncio.run(first())
        except KeyboardInterrupt:
            asyncio.run(second())
        """
    ).stdout
    assert printed == "on\n 0\n"


def test_asyncio_cancelled_as_it_ends(gym):
    async def main():
        async with await fumehood.AsyncEnv.open(TASK, gym=gym, max_steps=100) as env:
            await env.reset()
            for delay in range(40):
                step = asyncio.create_task(env.step("echo off"))
                await asyncio.sleep(delay * 1e-4)
                step.cancel()
                await asyncio.wait([step])
                after = await asyncio.wait_for(env.step("echo on"), 20)
                assert (after.observation, after.outcome) == ("on\n", "ok")

    asyncio.run(main())
