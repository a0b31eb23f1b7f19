# SPDX-License-Identifier: Apache-2.0
"""literature_search and parse_pdf_url: sandboxes without a network ask the web by their owner."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, TASKS, Door
from test_agent import Server as Model
from test_agent import act

sys.path.insert(0, str(ROOT / "tests" / "servers"))
from web import TEXT  # noqa: E402

SERVER = ROOT / "tests" / "servers" / "web.py"
KEY = "a-secret-of-the-owner"
SLOW_S = 100  # seconds that the server is silent


class Web:
    def __init__(self, folder):
        self.log = folder / "asked.jsonl"
        self.child = subprocess.Popen(
            [sys.executable, SERVER, "--log", self.log],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = f"http://127.0.0.1:{int(self.child.stdout.readline())}"

    def asked(self) -> list[dict]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture
def web(tmp_path, fumehood):
    server = Web(tmp_path)
    fumehood.env.update(SEMANTIC_SCHOLAR_API_URL=server.url + "/", SEMANTIC_SCHOLAR_API_KEY=KEY)
    yield server
    server.child.stdin.close()
    server.child.wait(30)


@pytest.fixture
def enter(fumehood):
    doors = []

    def begin(*args) -> Door:
        doors.append(Door(fumehood, "--task", "rows", "--max-steps", "1000", *args))
        doors[-1].ask(op="reset", seed=0)
        return doors[-1]

    yield begin
    for door in doors:
        door.child.kill()
        door.child.wait()


@pytest.fixture
def door(enter, web):
    return enter("--web-hosts", f"example.org,{web.url}")


def said(door, action: str, **more) -> tuple[str, int]:
    step = door.step(action, **more)
    return step["observation"], step["info"]["exit_code"]


def test_a_search(door, web):
    text, status = said(door, "literature_search 'deep sets & more' 3; env; cat /proc/*/environ")
    found = [json.loads(line) for line in text.splitlines()[:3]]
    assert list(found[0]) == ["paperId", "title", "abstract", "pdf_url"]
    assert [paper["title"] for paper in found] == [f"deep sets & more {i}" for i in range(3)]
    assert found[0]["abstract"] == "Of \u00e9verything.\nAnd more." and found[1]["abstract"] is None
    assert found[2]["pdf_url"] == "https://arxiv.org/pdf/2"
    assert len(said(door, "literature_search attention")[0].splitlines()) == 20
    assert said(door, "literature_search nothing") == ("No paper was found.\n", 0)
    first = web.asked()[0]
    assert first["key"] == KEY and KEY not in text
    assert "query=deep%20sets%20%26%20more&" in first["path"]


def test_a_key_that_is_repeated(door):
    text, _ = said(door, "literature_search 'is it {KEY}, {KEY}' 1")
    assert json.loads(text)["title"] == "is it [key], [key] 0" and KEY not in text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/paper.pdf", f"{TEXT}\n"),
        ("/busy", f"{TEXT}\n"),
        ("/there", f"{TEXT}\n"),
        ("/tired", "the server answered with status 429: too many requests\n"),
        ("/later", "the server answered with status 503, and asks for a pause of 86400 s\n"),
        ("/away", "http://localhost:1 is not an allowed site\n"),
        ("/round", "too many redirects\n"),
        ("/none", "the server answered with status 404\n"),
        ("/page", "what is there is no PDF\n"),
        ("/huge.pdf", "the document is larger than 16 MiB\n"),
        ("/broken.pdf", "the PDF could not be read\n"),
    ],
)
def test_a_document(door, web, path, text):
    shown, status = said(door, f"parse_pdf_url {web.url}{path}")
    assert shown.startswith(text) and status == (0 if TEXT in text else 1)
    assert all(asked["key"] is None for asked in web.asked())
    assert said(door, "ls -A ~/.fumehood") == ("lock\n", 0)


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("literature_search", "Usage: literature_search"),
        ("literature_search deep learning", "Usage: literature_search"),
        ("literature_search a b c", "Usage: literature_search"),
        ("literature_search a 0", "a search needs a term, and asks for 1 to 100 papers"),
        ("literature_search a 101", "a search needs a term, and asks for 1 to 100 papers"),
        ("literature_search ''", "a search needs a term, and asks for 1 to 100 papers"),
        ("parse_pdf_url http://127.0.0.1:1/x", "http://127.0.0.1:1 is not an allowed site"),
        ("parse_pdf_url https://127.0.0.1/x", "https://127.0.0.1:443 is not an allowed site"),
        (
            "parse_pdf_url http://example.org.evil.net/",
            "example.org.evil.net:80 is not an allowed site",
        ),
        (
            "parse_pdf_url http://example.org:8080/",
            "http://example.org:8080 is not an allowed site",
        ),
        (
            "parse_pdf_url http://user:word@example.org/",
            "password in it is refused: leave them out",
        ),
        ("parse_pdf_url file:///etc/passwd", "is not an http:// or https:// URL"),
        ("parse_pdf_url gopher://example.org/", "is not an http:// or https:// URL"),
        ("parse_pdf_url example.org", "is not an http:// or https:// URL"),
        ("parse_pdf_url ''", "is not an http:// or https:// URL"),
        ("literature_search $(printf %09000d 1)", "too long to ask for: 8000 bytes at most"),
        ("parse_pdf_url http://$(printf %08000d 1)", "too long to ask for: 8000 bytes at most"),
    ],
)
def test_what_may_not_be_asked(door, action, why):
    text, status = said(door, action)
    assert why in text and status == 1


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        ("ln -s workspace ~/.fumehood", "Not a directory"),
        ("ln -s nowhere ~/.fumehood", "No such file or directory"),
        ("touch ~/.fumehood", "Not a directory"),
        ("mkdir -p ~/.fumehood/answer", "Is a directory"),
        ("mkdir -p ~/.fumehood/call", "Is a directory"),
        ("mkdir -p ~/.fumehood/lock", "Is a directory"),
    ],
)
def test_a_folder_that_no_answer_can_come_through(door, spoil, why):
    text, status = said(door, f"rm -rf ~/.fumehood; {spoil}; timeout 5 literature_search x 1")
    assert (text, status) == (f"no answer came through /home/agent/.fumehood: {why}\n", 1)
    assert said(door, "rm -rf ~/.fumehood; literature_search nothing")[1] == 0


def test_an_answer_s_place_is_cleared(door):
    for place in ("ln -s nowhere", "mkfifo", "touch"):
        said(door, f"mkdir -p ~/.fumehood; cd ~/.fumehood; {place} answer")
        assert said(door, "literature_search nothing") == ("No paper was found.\n", 0)


def test_without_a_web(enter, web):
    for door in (enter(), enter("--web-hosts", "none")):
        for action in ("literature_search x", f"parse_pdf_url {web.url}/paper.pdf"):
            assert said(door, action) == ("this episode has no access to the web\n", 1)
    assert not web.log.exists()


@pytest.mark.parametrize(
    "hosts", ["exa mple.org", "example.org,", "ftp://example.org", "*.", "a:1"]
)
def test_a_list_that_is_wrong(fumehood, hosts):
    done = fumehood(
        *("env", "--task", "rows", "--tasks-dir", TASKS, "--web-hosts", hosts), status=2, input=""
    )
    assert done.stderr.startswith("fumehood: --web-hosts: '")
    assert "is not a web site: give example.org" in done.stderr


def test_a_step_that_does_not_wait(door, web):
    """A command's timeout ends its request. Requests of background processes are served too."""
    began = time.monotonic()
    slow = door.step(f"parse_pdf_url {web.url}/slow", timeout_s=1)
    assert slow["info"]["outcome"] == "timeout" and time.monotonic() - began < SLOW_S / 2
    late = f"sleep 0.3; parse_pdf_url {web.url}/paper.pdf >~/text; touch ~/there"
    door.step(f"({late}) >/dev/null 2>&1 &")
    time.sleep(1)  # between two steps, the background process asks
    there = "until [ -e ~/there ]; do sleep 0.01; done; cat ~/text"
    assert said(door, there, timeout_s=100)[0].startswith(TEXT)
    began = time.monotonic()
    gone = f"timeout 1 parse_pdf_url {web.url}/slow; parse_pdf_url {web.url}/paper.pdf"
    assert said(door, gone, timeout_s=100)[0].startswith(TEXT)
    assert time.monotonic() - began < SLOW_S / 2
    both = f"parse_pdf_url {web.url}/paper.pdf & literature_search x 1; wait"
    assert TEXT in (text := said(door, both)[0]) and '"x 0"' in text


@pytest.fixture
def names(fumehood, tmp_path):
    """A function that makes the program read another /etc/NAME."""
    if os.geteuid() != 0:
        pytest.skip("only root can give it another file")

    def replace(name: str, text: str) -> None:
        (tmp_path / name).write_text(text)
        inside = tmp_path / "inside"
        inside.write_text(
            f'#!/bin/sh\nmount --bind {tmp_path / name} /etc/{name}\nexec {fumehood.program} "$@"\n'
        )
        outside = tmp_path / "outside"
        outside.write_text(f'#!/bin/sh\nexec unshare -m sh {inside} "$@"\n')
        outside.chmod(0o755)
        fumehood.program = outside

    return replace


INWARD = ["127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"]
INWARD += ["0.0.0.0", "::1", "::", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1"]


def test_a_name_that_leads_inward(names, enter, web):
    """A site that is listed without a scheme may not lead to a private address."""
    port = web.url.rpartition(":")[2]
    hosts = [f"{address} n{i}.example.org" for i, address in enumerate(INWARD)]
    names("hosts", "\n".join(hosts) + "\n")
    door = enter("--web-hosts", f"*.example.org,http://n0.example.org:{port}")
    for i in range(len(INWARD)):
        text, status = said(door, f"parse_pdf_url http://n{i}.example.org/paper.pdf")
        assert status == 1 and "its name leads to a private address" in text, INWARD[i]
    assert not web.log.exists() or not web.asked()
    text, status = said(door, f"parse_pdf_url http://n0.example.org:{port}/paper.pdf")
    assert status == 0 and web.asked()


def test_a_name_server_that_is_silent(names, enter):
    """A step's timeout ends the wait for a DNS lookup. Lookups that go on count against a limit."""
    tries, pause_s = 5, 30  # the largest values that a resolver allows
    names("resolv.conf", f"nameserver 127.0.0.99\noptions timeout:{pause_s} attempts:{tries}\n")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.99", 53))
        door = enter("--web-hosts", "papers")
        began = time.monotonic()
        slow = door.step("parse_pdf_url http://x.arxiv.org/y", timeout_s=0.5)
        assert slow["info"]["outcome"] == "timeout"
        assert server.recv(512) and time.monotonic() - began < tries * pause_s / 2
        many = "for i in 1 2 3 4 5 6; do timeout 1 parse_pdf_url http://x$i.arxiv.org/y; done"
        refused = said(door, many, timeout_s=100)[0].splitlines()
        assert len(refused) == 3 and refused[0].startswith("4 earlier requests of this episode")
        assert len(os.listdir(f"/proc/{door.child.pid}/task")) <= 5
        began = time.monotonic()
        door.ask(op="reset", seed=1)
        text, _ = said(door, "timeout 1 parse_pdf_url http://x.arxiv.org/y; echo $?", timeout_s=100)
        door.ask(op="close")
        assert text == "124\n" and time.monotonic() - began < tries * pause_s / 2


def test_what_an_episode_may_read(door, web):
    whole = f"parse_pdf_url {web.url}/large >/dev/null"
    said(door, "; ".join([whole] * 8), timeout_s=600)
    assert said(door, f"parse_pdf_url {web.url}/paper.pdf") == (
        "this episode has reached its limit of bytes from the web\n",
        1,
    )
    assert door.ask(op="reset", seed=0) and said(door, f"parse_pdf_url {web.url}/paper.pdf")[1] == 0


def scripted(folder) -> list:
    """A configuration with a script that needs a network, as MLGym has for literature searches."""
    script, agent = folder / "literature_search.py", folder / "scripted.yaml"
    script.write_text(
        "#!/usr/bin/env python3\n# @yaml\n# signature: literature_search <term>\n"
        "# docstring: finds papers\nimport requests\n\nprint(requests.get('http://localhost'))\n"
    )
    agent.write_text(
        "system_template: s\ntask_template: t\nnext_step_template: '{observation}'\n"
        f"output_parser: ThoughtActionParser\ntools: {{command_files: [{script}]}}\n"
    )
    return [agent]


def original(folder) -> list:
    if not os.environ.get("FUMEHOOD_MLGYM"):
        pytest.skip("FUMEHOOD_MLGYM names no checkout of MLGym")
    root = Path(os.environ["FUMEHOOD_MLGYM"])
    return [root / "configs/agents/default_lit_search.yaml", "--mlgym-root", root]


@pytest.mark.parametrize("agent", [lambda _: ["lit_search"], scripted, original])
def test_a_language_model_that_reads(fumehood, web, tmp_path, agent):
    """An agent with these commands may ask sites of papers, unless --web-hosts names others."""
    (tmp_path / "m").mkdir()
    model = Model(
        tmp_path / "m", {"m": {"turns": [act("literature_search x 1"), act("exit_forfeit")]}}
    )
    fumehood.env.update(OPENAI_API_KEY="sk-none-secret")
    for words, answer in (
        ([], f"{web.url} is not an allowed site"),
        (["--web-hosts", f"papers,{web.url}"], "x 0"),
        (["--web-hosts", "none"], "this episode has no access to the web"),
    ):
        fumehood(
            *("run", "--task", "rows", "--tasks-dir", TASKS, "--model", "openai:m", "-q"),
            *("--agent", *agent(tmp_path), "--url", f"{model.url}/v1", "--out", fumehood.out),
            *("--per-instance-cost-limit", "0", *words),
            status=None,
        )
        assert answer in json.dumps(model.asked()[-1])
        assert KEY not in json.dumps(model.asked())
    model.close()
