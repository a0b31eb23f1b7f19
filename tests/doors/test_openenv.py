# SPDX-License-Identifier: Apache-2.0
"""The package openenv, unmodified, plays on `fumehood serve`."""

import asyncio

import pages
import pytest
from openenv.cli._validation import validate_running_environment
from openenv.core.generic_client import GenericEnvClient
from openenv.core.mcp_client import MCPToolClient
from served import TOKEN, served


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with served(tmp_path_factory.mktemp("serve")) as port:
        yield port


def test_validate_passes_all_six(port):
    # `openenv validate --url` calls this function. The command itself imports much more.
    report = validate_running_environment(f"http://127.0.0.1:{port}")
    assert report["passed"] and report["summary"]["passed_count"] == 6, report


def test_the_generic_client(port):
    with GenericEnvClient(base_url=f"http://127.0.0.1:{port}").sync() as env:
        first = env.reset(seed=3, episode_id="e", task="rows")
        assert "submission.csv" in first.observation["text"]
        step = env.step({"command": "cp zeros.csv submission.csv; validate"})
        assert step.metadata["info"]["score"] == {"accuracy": 0.5} and not step.done
        assert env.state() == {
            "episode_id": "e",
            "step_count": 1,
            "task": "rows",
            "max_steps": 1000,
            "done": False,
        }
        with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
            env.step({"comand": "ls"})
        over = env.step({"command": "submit"})
        assert over.done and over.observation["exit_status"] == "submitted"


def test_a_token_as_header_and_in_the_url(tmp_path):
    with served(tmp_path, token=True) as port:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        with GenericEnvClient(base_url=f"http://127.0.0.1:{port}", headers=headers).sync() as env:
            assert env.reset().observation["text"]
        url = f"http://any:{TOKEN}@127.0.0.1:{port}"
        with GenericEnvClient(base_url=url).sync() as env:
            assert env.reset().observation["text"]
        with (
            pytest.raises(ConnectionError),
            GenericEnvClient(base_url=f"http://127.0.0.1:{port}").sync() as env,
        ):
            env.reset()


def test_many_clients_at_once(port):
    async def play(i: int) -> None:
        async with GenericEnvClient(base_url=f"http://127.0.0.1:{port}") as env:
            await env.reset(seed=i)
            for k in range(10):
                step = await env.step({"command": f"x=${{x}}{k}; echo {i} $x"})
                digits = "".join(map(str, range(k + 1)))
                assert step.observation["text"] == f"{i} {digits}\n"

    async def main() -> None:
        await asyncio.gather(*[play(i) for i in range(16)])

    asyncio.run(main())


def test_the_client_of_tools(port):
    async def main() -> None:
        async with MCPToolClient(base_url=f"http://127.0.0.1:{port}") as env:
            tools = {tool.name for tool in await env.list_tools()}
            assert {"bash", "validate", "submit"} <= tools

    asyncio.run(main())


def test_the_program_of_the_page(tmp_path):
    (program,) = pages.programs("serve.md", "openenv")
    with served(tmp_path, "--task", "titanicSurvival:micro", token=True) as port:
        played = pages.run(program.replace("TOKEN", TOKEN).replace("8000", str(port)))
    assert "Score" in played["result"].observation["text"] or played["result"].reward is not None
