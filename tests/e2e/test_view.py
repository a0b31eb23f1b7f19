# SPDX-License-Identifier: Apache-2.0
"""`fumehood view`: what its server answers, and what it refuses."""

import http.client
import json
import re
import socket
import subprocess
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from viewer import OPEN, STEP, write_events, write_traj


def test_run_of_ours(fumehood, view):
    fumehood.run("--task", "rows", "--model", fumehood.actions("echo hi", "false", "validate"))
    viewer = view(fumehood.out)
    run = viewer.run()
    assert run["task"] == "rows"
    assert run["whole"] and run["exit_status"]
    heads = [row[0] for row in run["steps"]]
    assert heads[:3] == ["echo hi", "false", "validate"]
    assert run["steps"][1][4] == 1  # exit code
    assert run["steps"][1][1] & 4  # marked as an error
    assert run["steps"][2][1] & 1  # marked as a validate
    step = viewer.get("api/steps", run=run["id"], **{"from": 1, "n": 1})["steps"][0]
    assert step["observation"] == {"text": "hi\n", "bytes": 3}
    raw = viewer.get("api/text", run=run["id"], step=1, part="action")
    assert raw == {"text": "echo hi", "bytes": 7}


def test_table_of_runs(view, tmp_path):
    events = tmp_path / "runs" / "a" / "events.jsonl"
    write_events(events, OPEN, {**STEP, "info": {**STEP["info"], "score": {"rmse": 2.5}}})
    write_traj(tmp_path / "runs" / "m__rows__default__t-0.00_run_0" / "rows.traj")
    viewer = view(tmp_path / "runs", events)
    runs = {run["name"]: run for run in viewer.runs()}
    one = runs["a"]
    assert (one["task"], one["model"], one["steps"], one["best"]) == ("rows", "m", 1, 2.5)
    assert (one["baseline"], one["maximize"], one["complete"]) == (3.0, 0, 0)
    other = runs["m__rows__default__t-0.00_run_0/rows.traj"]
    assert (other["model"], other["exit_status"], other["best"]) == ("m", "submitted", 1.5)


def test_results_without_steps(view, tmp_path):
    """A results.json is a run if nothing else is left. It has scores, but no steps."""
    left = tmp_path / "m__rows__default__t-0.00_run_0"
    results = json.dumps({"agent": [{"rmse": 1.5}, {"rmse": 2.5}], "baseline": {"rmse": 3}})
    write_traj(tmp_path / "m__rows__default__t-0.00_run_1" / "rows.traj")
    write_events(tmp_path / "ours" / "events.jsonl", OPEN, STEP)
    for folder in (left, tmp_path / "m__rows__default__t-0.00_run_1", tmp_path / "ours"):
        folder.mkdir(exist_ok=True)
        (folder / "results.json").write_text(results)
    viewer = view(tmp_path)
    row = {run["name"]: run for run in viewer.listed(3)}[f"{left.name}/results.json"]
    assert (row["task"], row["model"], row["agent"]) == ("rows", "m", "default")
    assert (row["best"], row["last"], row["baseline"]) == (1.5, 2.5, 3)
    assert (row["exit_status"], row["steps"]) == (None, None)
    run = viewer.get("api/run", run=row["id"])
    assert (run["task"], run["minimize"], run["steps"]) == ("rows", True, [])
    assert run["results"] == {"best": 1.5, "last": 2.5}
    single = view(left / "results.json")
    assert single.run()["results"] == run["results"]


def test_names_of_runs_that_are_named_one_by_one(view, tmp_path):
    for name in ("one", "two"):
        write_traj(tmp_path / name / "rows.traj")
    write_events(tmp_path / "three" / "events.jsonl", OPEN, STEP)
    viewer = view(tmp_path / "one", tmp_path / "two/rows.traj", tmp_path / "three/events.jsonl")
    assert set(viewer.ids()) == {"one/rows.traj", "two/rows.traj", "three"}


def test_other_addresses_of_the_machine_are_closed(view, tmp_path):
    write_events(tmp_path / "events.jsonl", OPEN, STEP)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", view(tmp_path).port))


def test_refusals(view, tmp_path):
    write_events(tmp_path / "runs" / "a" / "events.jsonl", OPEN, STEP)
    (tmp_path / "secret").write_text("secret")
    viewer = view(tmp_path / "runs")
    (one,) = viewer.ids().values()
    top = f"/{viewer.token}"
    assert viewer.status(f"{top}/") == 200
    for path in ("/", "/wrong/", f"/{viewer.token[:-1]}/", f"{top}x/", f"/x{top}/", "//"):
        assert viewer.status(path) == 403, path
    for path in (
        f"{top}/nothing",
        f"{top}/api/run?run=../secret",
        f"{top}/api/run?run={'a' * 500}",
        f"{top}/api/run",
        f"{top}/api/steps?run={one}&from=2",
        f"{top}/api/steps?run={one}&from=-1",
        f"{top}/api/steps?run={one}&from=99999999999999999999",
        f"{top}/api/raw?run={one}",
    ):
        assert viewer.status(path) in (200 if path.endswith(("-1", "9999")) else 404, 404), path
    for path in (f"{top}/../secret", f"{top}/%2e%2e/%2e%2e/secret", f"{top}/..%2f..%2fsecret"):
        assert viewer.status(path) in (403, 404), path
    for host in (
        "evil.example",
        f"evil.example:{viewer.port}",
        "a" * 4000,
        "127.0.0.1.evil.example",
    ):
        assert viewer.status(f"{top}/", Host=host) == 403, host
    for origin in ("http://evil.example", "null", "https://127.0.0.1"):
        assert viewer.status(f"{top}/", Origin=origin) == 403, origin
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        assert viewer.status(f"{top}/", method) == 405, method
    assert viewer.status(f"{top}/", body=b"x" * 10, **{"Content-Length": "10"}) == 413
    assert viewer.get("")  # it goes on


def test_garbage_on_the_socket(view, tmp_path):
    write_events(tmp_path / "runs" / "a" / "events.jsonl", OPEN, STEP)
    viewer = view(tmp_path / "runs")
    for garbage in (
        b"\0\xff" * 5000,
        b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"X" * 20,
    ):
        with socket.create_connection(("127.0.0.1", viewer.port), timeout=60) as s:
            try:
                s.sendall(garbage)
                s.shutdown(socket.SHUT_WR)
                while s.recv(65536):
                    pass
            except OSError:  # the server has closed it
                pass
    assert viewer.run()["n"] == 1


def raw(viewer, request: bytes, size: int = 1 << 20) -> tuple[str, str]:
    """Sends a request in pieces of this size. Returns head and text of the answer."""
    with socket.create_connection(("127.0.0.1", viewer.port), timeout=60) as s:
        for at in range(0, len(request), size):
            s.sendall(request[at : at + size])
        answer = b""
        while piece := s.recv(65536):
            answer += piece
    head, _, text = answer.decode().partition("\r\n\r\n")
    return head, text


def test_requests_that_are_no_requests_get_a_sentence(view, tmp_path):
    write_events(tmp_path / "runs" / "a" / "events.jsonl", OPEN, STEP)
    viewer = view(tmp_path / "runs")
    top, host = f"/{viewer.token}/", f"Host: 127.0.0.1:{viewer.port}\r\n"
    many, twice = "X: y\r\n" * 100, "Content-Type: a\r\n" * 2
    cases = [
        (f"GET {top}nothing HTTP/1.1\r\n{host}Connection: close\r\n", 404, "no such page."),
        (f"GET /wrong/ HTTP/1.1\r\n{host}", 403, "Open the address that the command printed."),
        (f"POST {top}api/order HTTP/1.1\r\n{host}", 405, "To act in a run, play it"),
        (f"GET {top}{'a' * 100_000} HTTP/1.1\r\n{host}", 414, "The address is too long."),
        (f"GET {top} HTTP/1.1\r\n{host}X: {'a' * 100_000}\r\n", 431, "headers are too long."),
        (f"GET {top} HTTP/1.1\r\n{host}{'X: y' * 5000}\r\n", 431, "headers are too long."),
        (f"GET {top} HTTP/1.1\r\n{host}{many}", 431, "more than 100 headers"),
        (f"TRACE {top} HTTP/1.1\r\n{host}", 405, "only read, by GET"),
        (f"BREW {top} HTTP/1.1\r\n{host}", 405, "only read, by GET"),
        (f"get {top} HTTP/1.1\r\n{host}", 400, "not one of HTTP"),
        (f"GET http://127.0.0.1{top} HTTP/1.1\r\n{host}", 400, "begin with '/'"),
        (f"CONNECT 127.0.0.1:1 HTTP/1.1\r\n{host}", 400, "begin with '/'"),
        (f"GET * HTTP/1.1\r\n{host}", 400, "begin with '/'"),
        (f"GET {top}\n{host}", 400, "not one of HTTP"),
        (f"GET {top} HTTP/1.1\r\n{host}{host}", 400, "not one of HTTP"),
        (f"GET {top} HTTP/1.1\r\n{host}{twice}", 400, "not one of HTTP"),
        (f"GET {top} HTTP/1.1\r\n{host}A : b\r\n", 400, "not one of HTTP"),
        (f"GET {top} HTTP/2.0\r\n{host}", 505, "HTTP/1.0 and 1.1"),
        (f"GET {top} HTTP/1.1\r\n", 400, "not one of HTTP"),
        (f"GET {top} HTTP/1.0\r\n", 403, "the token"),
        (f"GET {top[:-1]} HTTP/1.1\r\n{host}", 301, "ends with '/'"),
        ("\x16\x03\x01\x02", 400, "not one of HTTP"),
        (f"GET {top} HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n", 413, "a body"),
        (f"GET {top} HTTP/1.1\r\n{host}Transfer-Encoding: gzip\r\n", 501, "other than chunked"),
        (f"GET {top} HTTP/1.1\r\n{host}Content-Encoding: br\r\n", 415, "without a Content-Enc"),
        (f"GET {top} HTTP/1.1\r\n{host}Expect: more\r\n", 417, "no expectation but"),
    ]
    for request, status, sentence in cases:
        head, text = raw(viewer, request.encode() + b"\r\n")
        assert head.startswith(f"HTTP/1.1 {status} ") and sentence in text, (request[:80], head)
        assert "content-type: text/plain" in head and "<" not in text
        assert "content-security-policy: default-src 'none'" in head
    assert viewer.run()["n"] == 1


def test_connections(view, tmp_path):
    """Requests follow each other in a connection, and may come in small pieces."""
    write_events(tmp_path / "runs" / "a" / "events.jsonl", OPEN, STEP)
    viewer = view(tmp_path / "runs")
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=60)
    sockets = set()
    for path in ("", "app.js", "api/runs", "api/nothing"):
        lengths = []
        for method in ("HEAD", "GET"):
            connection.request(method, f"/{viewer.token}/{path}")
            reply = connection.getresponse()
            assert reply.status == (404 if path == "api/nothing" else 200)
            assert bool(reply.read()) == (method == "GET")
            lengths.append(reply.headers["Content-Length"])
            sockets.add(connection.sock)
        assert lengths[0] == lengths[1]
    assert len(sockets) == 1
    connection.close()
    # An answer that goes on, a refusal and a redirect have no text either.
    for path, status in ((f"{viewer.token}/api/report", 200), ("", 403), (viewer.token, 301)):
        head, text = raw(viewer, f"HEAD /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert head.startswith(f"HTTP/1.1 {status} ") and not text
    assert f"\r\nlocation: /{viewer.token}/" in head
    get = f"GET /{viewer.token}/api/runs HTTP/1.1\r\nHost: localhost\r\n"
    whole = f"{get}Connection: close\r\n\r\n".encode()
    (text,) = {raw(viewer, whole, size)[1] for size in (1, 7, 1000)}
    assert json.loads(text)["runs"]
    # So many connections are served together.
    idle = [socket.create_connection(("127.0.0.1", viewer.port)) for _ in range(40)]
    with ThreadPoolExecutor(40) as pool:
        assert set(pool.map(lambda _: raw(viewer, whole)[1], idle)) == {text}
    # The second of two requests that come at once is dropped, and the connection ends.
    head, text = raw(viewer, 2 * f"{get}\r\n".encode())
    assert "connection: close" in head and json.loads(text)["runs"]
    head, text = raw(viewer, f"GET /{viewer.token}/ HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
    assert "connection: close" in head and text.startswith("<!doctype html>")


def test_queries_are_decoded(view, tmp_path):
    write_events(
        tmp_path / "a" / "events.jsonl", OPEN, {**STEP, "observation": "50% of x&y=\u00e9"}
    )
    viewer = view(tmp_path)
    for text, n in (
        ("50%25+of", 1),
        ("x%26y%3D%c3%a9", 1),
        ("of++x", 0),
        ("50%2", None),
        ("%zz", None),
    ):
        with socket.create_connection(("127.0.0.1", viewer.port), timeout=60) as s:
            path = f"/{viewer.token}/api/search?a=b&text={text}"
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            reply = http.client.HTTPResponse(s)
            reply.begin()
            assert reply.status == (400 if n is None else 200), text
            if n is not None:
                assert reply.read().count(b'"') == 2 * n, text


def test_headers_of_the_page(view, tmp_path):
    viewer = view(tmp_path)
    with urllib.request.urlopen(viewer.address, timeout=60) as reply:
        policy = reply.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in policy
        assert reply.headers.get_all("Content-Security-Policy") == [policy]
        assert reply.headers["Referrer-Policy"] == "no-referrer"
        assert b"<script>" not in reply.read()


def test_run_of_mlgym(view, tmp_path):
    write_traj(tmp_path / "m__rows__default__t-0.00_run_0" / "rows.traj")
    run = view(tmp_path).run()
    assert (run["model"], run["task"], run["exit_status"]) == ("m", "rows", "submitted")
    assert (run["metric"], run["sent"], run["messages"]) == ("rmse", 7, 1)
    assert [row[1] for row in run["steps"]] == [32, 1, 1]
    assert [row[3] for row in run["steps"]] == [None, 1.5, 2.5]


def test_baseline_of_another_metric(view, tmp_path):
    """A baseline counts only in the metric that decides."""
    path = tmp_path / "m__rlMountainCarContinuous__default__t-0.00_run_0"
    write_traj(path / "rlMountainCarContinuous.traj")
    results = {"agent": [], "baseline": {"Reward": -0.0026}}
    (path / "results.json").write_text(json.dumps(results))
    run = view(tmp_path).run()
    assert (run["metric"], run["baseline"]) == ("Reward Mean", None)
    (path / "results.json").write_text(json.dumps({"baseline": {"reward mean": 33}}))
    assert view(tmp_path).run()["baseline"] == 33


def test_record_cut_anywhere(view, tmp_path):
    path = tmp_path / "runs" / "x.traj"
    text = write_traj(path)
    viewer = view(tmp_path / "runs")
    assert viewer.run()["whole"]
    before = 3
    for n in range(len(text) - 1, 0, -29):
        path.write_text(text[:n])
        run = viewer.run()
        assert not run["whole"]
        assert run["n"] <= before
        before = run["n"]
    assert before == 0


def test_hostile_events(view, tmp_path):
    path = tmp_path / "runs" / "a" / "events.jsonl"
    long = {**STEP, "observation": "\u00e9" * 5_000_000, "action": "x" * 100_000}
    huge = json.dumps(STEP).replace("0.5", "1e999").replace('"exit_code": 0', '"exit_code": 1e400')
    write_events(path, OPEN, long, {"event": "nonsense"}, [1], "text")
    with path.open("ab") as f:
        f.write(huge.encode() + b"\n")
        f.write(b'{"event":"step","action":"\xff\xfe"}\n{"event": "step", \n\n')
        f.write(b"[" * 100_000 + b"\n")
        f.write(b'{"event":"step","action":"a\\u0000b","observation":"\\ud800"}\n')
    viewer = view(tmp_path / "runs")
    (listed,) = viewer.listed(1)
    assert listed["steps"] == 7 and listed["damage"].startswith(f"{path}:2:1: over")
    run = viewer.run()
    assert run["n"] == 7
    assert run["steps"][0][0] == "x" * 120
    steps = viewer.get("api/steps", run=run["id"], **{"from": 1, "n": 50})["steps"]
    assert steps[0]["observation"]["bytes"] == 10_000_000
    assert steps[2]["broken"]["text"] == '{"event":"step","action":"\\xff\\xfe"}'
    assert steps[6]["action"]["bytes"] == 3
    for at in (0, 5_000_000, 9_900_000):
        piece = viewer.get("api/text", run=run["id"], step=1, part="observation", at=at)
        n = len(piece["text"].encode())
        assert n == min(256 << 10, 10_000_000 - at) and set(piece["text"]) == {"\u00e9"}
        assert piece.get("next") == (at + n if at + n < 10_000_000 else None)


def test_damage_of_a_single_record(view, tmp_path):
    path = tmp_path / "events.jsonl"
    write_events(path, OPEN, STEP)
    viewer = view(path)
    (row,) = viewer.listed(1)
    assert (row["model"], row["steps"], row["damage"]) == ("m", 1, None)
    with path.open("ab") as f:
        f.write(b"{}}\n")
    while not (row := viewer.listed(1)[0])["damage"]:
        time.sleep(0.05)
    assert row["damage"].startswith(f"{path}:3:3: ")
    assert viewer.run()["damage"] == row["damage"]


def test_links_are_not_followed(view, tmp_path):
    write_events(tmp_path / "other" / "events.jsonl", OPEN, STEP)
    write_events(tmp_path / "runs" / "b" / "events.jsonl", OPEN)
    (tmp_path / "runs" / "a").mkdir()
    (tmp_path / "runs" / "a" / "events.jsonl").symlink_to(tmp_path / "other" / "events.jsonl")
    assert list(view(tmp_path / "runs").ids()) == ["b"]


@pytest.mark.parametrize("token", ["short", "with/slash-and-more", "with space here"])
def test_bad_tokens(fumehood, tmp_path, token):
    fumehood.env["FUMEHOOD_TOKEN"] = token
    assert "FUMEHOOD_TOKEN" in fumehood("view", tmp_path, status=2).stderr


def test_a_folder_before_its_first_run(fumehood, view, tmp_path):
    place = tmp_path / "none"
    page = tmp_path / "page.html"
    done = fumehood("view", "--export", page, place, status=2)
    assert "No such file" in done.stderr and not page.exists()
    viewer = view(place)
    assert viewer.runs() == []
    write_events(place / "a" / "events.jsonl", OPEN, STEP)
    while not viewer.runs():
        time.sleep(0.05)
    assert list(viewer.ids()) == ["a"] and len(viewer.run()["steps"]) == 1


def write_episode(folder, step: int, number: int, score: float, task="rows:micro") -> None:
    """Writes an episode of a policy, as fumehood-verifiers does."""
    turn = {"completion": "go", "action": "ls", "observation": "out", "reward": 0.0}
    turn |= {"exit_code": 1, "outcome": "ok", "score": None, "duration_s": 0.5}
    graded = turn | {"action": "validate", "exit_code": 0, "reward": 0.25, "score": {"m": score}}
    record = {
        "task": task,
        "example_id": number,
        "policy_step": step,
        "trajectory": [turn, graded],
        "metrics": {
            "baseline_score": 3.0,
            "final_score": score,
            "improvement": 3.0 - score,
            "validation_history": [[2, score]],
        },
        "info": {"exit_status": "submitted", "errors": 1},
        "timestamp": "20260131_120000",
    }
    folder.mkdir(exist_ok=True)
    name = f"{task.replace(':', '-')}_pi{step}_20260131_120000_{number}.json"
    (folder / name).write_text(json.dumps(record, indent=1))


def test_episodes_of_a_policy(fumehood, view, tmp_path):
    for step in (0, 10):
        write_episode(tmp_path, step, 1, 2.5 - step / 10)
    viewer = view(tmp_path)
    first, second = viewer.listed(2)
    assert [first["policy_step"], second["policy_step"]] == [0, 10]
    assert second["task"] == "rows:micro" and second["model"] == "policy"
    assert (second["reward"], second["best"], second["baseline"]) == (0.25, 1.5, 3.0)
    assert second["maximize"] == 0 and second["failed"] == 1 and second["problem"] is None
    run = viewer.get("api/run", run=second["id"])
    assert run["whole"] and run["exit_status"] == "submitted" and run["baseline"] == 3.0
    assert [row[3] for row in run["steps"]] == [None, 1.5]
    assert run["steps"][0][1] == 4, "a failed command is an error"
    step = viewer.get("api/steps", run=second["id"])["steps"][0]
    assert step["response"]["text"] == "go"
    assert "guessed" in fumehood("report", tmp_path).stdout


def test_the_address_is_printed_as_json(fumehood, tmp_path):
    child = fumehood.start("view", "--json", tmp_path, stdout=subprocess.PIPE, text=True)
    address = json.loads(child.stdout.readline())["address"]
    with urllib.request.urlopen(address, timeout=60) as reply:
        assert reply.status == 200
    child.terminate()
    assert child.wait(60) == 0


def test_folders_that_overlap(view, tmp_path):
    for name in "ab":
        write_events(tmp_path / name / "events.jsonl", OPEN, STEP)
    (tmp_path / "link").symlink_to("b")
    linked, alone = tmp_path / "link/events.jsonl", tmp_path.parent / f"{tmp_path.name}.jsonl"
    alone.symlink_to(tmp_path / "a/events.jsonl")
    traj = tmp_path / "a/task.traj"
    traj.write_text('{"trajectory": [], "history": [], "info": {}, "environment": "task"}')
    records = (tmp_path / "a/events.jsonl", linked, alone, traj)
    viewer = view(tmp_path / "b", *records, tmp_path, tmp_path / "link")
    assert len(viewer.listed(2)) == 2
    with urllib.request.urlopen(f"{viewer.address}api/report?", timeout=60) as reply:
        (report,) = re.findall("^event: report\ndata: (.*)$", reply.read().decode(), re.M)
    costs = next(table for table in json.loads(report)["tables"] if table["id"] == "costs")
    assert dict(zip(costs["columns"], costs["rows"][0], strict=True))["Runs"] == "2"
    assert [run["name"] for run in view(linked, tmp_path / "b").listed(1)] == ["b"]


def test_the_list_tells_what_has_changed(view, tmp_path):
    for name in "bde":
        write_events(tmp_path / name / "events.jsonl", OPEN, STEP)
    viewer = view(tmp_path)

    def changed(since: int, until) -> dict:
        """The answer once it has what is waited for. The folder is read about once a second."""
        while not until(answer := viewer.get("api/runs", since=since)):
            time.sleep(0.1)
        return answer

    first = viewer.get("api/runs")
    assert [run[1] for run in first["runs"]] == ["b", "d", "e"] and "places" not in first
    same = viewer.get("api/runs", since=first["version"])
    assert (same["places"], same["runs"]) == ([], [])
    write_events(tmp_path / "d" / "events.jsonl", OPEN, STEP, STEP)
    more = changed(first["version"], lambda answer: answer["runs"])
    assert more["places"] == [1] and more["runs"][0][1] == "d"
    for name in "ac":
        write_events(tmp_path / name / "events.jsonl", OPEN)
    more = changed(more["version"], lambda answer: len(answer["runs"]) == 2)
    assert (more["places"], [run[1] for run in more["runs"]]) == ([0, 2], ["a", "c"])
    (tmp_path / "c" / "events.jsonl").unlink()
    left = changed(more["version"], lambda answer: "places" not in answer)
    assert [run[1] for run in left["runs"]] == ["a", "b", "d", "e"]
    for since in (0, 5, left["version"] + 1000, "x"):
        assert "places" not in viewer.get("api/runs", since=since)


def test_the_page_is_small(view, tmp_path):
    """All files of the page have less than 300 kB."""
    viewer = view(tmp_path)
    page = viewer.get("")
    names = re.findall(r'(?:src|href)="([^"]+)"', page)
    size = len(page)
    for name in names:
        if name.startswith(("#", "data:")):
            continue
        text = viewer.get(name)
        size += len(text.encode())
        names += [n for n in re.findall(r'from "\./([^"]+)"', text) if n not in names]
    assert {"app.js", "style.css", "text.js"} <= set(names)
    assert 50_000 < size < 300_000
