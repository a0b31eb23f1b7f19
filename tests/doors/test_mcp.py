# SPDX-License-Identifier: Apache-2.0
"""The package mcp, unmodified, plays on `fumehood serve` over HTTP and over standard input."""

import asyncio
import os

import httpx2
import pages
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from served import TOKEN, WORDS, served


async def play(session: ClientSession) -> None:
    names = [tool.name for tool in (await session.list_tools()).tools]
    assert names == ["bash", "validate", "submit", "new_episode"]
    hello = await session.call_tool("bash", {"command": "cp zeros.csv submission.csv; echo hi"})
    assert hello.content[0].text == "hi\n" and not hello.is_error
    scored = await session.call_tool("validate", {})
    assert scored.structured_content["info"]["score"] == {"accuracy": 0.5}
    over = await session.call_tool("submit", {})
    assert over.structured_content["done"]
    assert (await session.call_tool("bash", {"command": "ls"})).is_error
    again = await session.call_tool("new_episode", {"seed": 5})
    assert "submission.csv" in again.content[0].text


def test_standard_input(tmp_path):
    async def main() -> None:
        server = StdioServerParameters(
            command=os.environ["FUMEHOOD"],
            args=[*WORDS, "--stdio"],
            env={"FUMEHOOD_STATE": str(tmp_path)},
        )
        async with stdio_client(server) as (r, w), ClientSession(r, w) as session:
            begun = await session.initialize()
            assert begun.server_info.name == "fumehood"
            await play(session)

    asyncio.run(main())


@pytest.mark.parametrize("kind", ["session", "client"])
def test_streamable_http(tmp_path, kind):
    async def main(port: int) -> None:
        url = f"http://127.0.0.1:{port}/mcp"
        # The client gives up after 5 s without data: a longer call must send some.
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=5)
        if kind == "client":
            async with Client(streamable_http_client(url, http_client=http)) as client:
                assert not (await client.call_tool("bash", {"command": "ls"})).is_error
            return
        async with (
            streamable_http_client(url, http_client=http) as streams,
            ClientSession(streams[0], streams[1]) as session,
        ):
            await session.initialize()
            await play(session)
            slow = await session.call_tool("bash", {"command": "sleep 6; echo done"})
            assert slow.content[0].text == "done\n"

    with served(tmp_path, token=True) as port:
        asyncio.run(main(port))


def test_the_program_of_the_page(tmp_path, monkeypatch, capfd):
    (program,) = pages.programs("serve.md", "mcp")
    (tmp_path / "fumehood").symlink_to(os.environ["FUMEHOOD"])
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    pages.run(program)
    assert "'accuracy': 0." in capfd.readouterr().out
