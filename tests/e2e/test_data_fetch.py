# SPDX-License-Identifier: Apache-2.0
# long-file: covers each way in which a server fails, with the fixtures of its data sets
"""`fumehood data`: files from a server of these tests, which also misbehaves."""

import hashlib
import json
import os
import pty
import random
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import PATIENCE_S, Fumehood, default_signals, until
from hub import COMMIT, Hub

REPOSITORY = "datasets/owner/set"
FILE = "data/rows.bin"
DATA = random.Random(1).randbytes(300_000)
OTHER = random.Random(2).randbytes(300_000)
HASH = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def hub():
    hub = Hub()
    yield hub
    hub.close()


class Data(Fumehood):
    """A machine with data sets of the test."""

    def __init__(self, program: str, folder: Path, hub: Hub):
        super().__init__(program, folder, folder / "state")
        self.state = folder / "state"
        self.env = {k: v for k, v in self.env.items() if not k.startswith(("HF_", "HUGGING"))}
        self.env.update(
            HF_ENDPOINT=hub.url, HF_HOME=str(folder / "hf"), no_proxy="127.0.0.1,localhost"
        )
        (folder / "mine" / "tasks").mkdir(parents=True)
        (folder / "mine" / "datasets").mkdir()

    def declare(self, name: str, *sources: str, files=("rows.bin",), more: str = "") -> None:
        (self.folder / "mine" / "datasets" / f"{name}.yaml").write_text(
            f"name: Rows\ndescription: Rows.\nfetch: [{', '.join(sources)}]\n{more}"
            f"files: [{', '.join(f'{{path: {f}}}' for f in files)}]\n"
        )

    def words(self, command: str, name: str, *args) -> list:
        return ["data", command, name, "--tasks-dir", self.folder / "mine/tasks", *args]

    def fetch(self, name: str = "set", *args, status=0):
        return self(*self.words("fetch", name, *args), status=status)

    def fetch_json(self, name: str = "set", *args, status=0) -> dict:
        (line,) = self.fetch(name, "--json", *args, status=status).stdout.splitlines()
        return json.loads(line)

    def where(self, name: str = "set") -> Path:
        return Path(self(*self.words("where", name)).stdout.strip())

    def bytes(self) -> bytes:
        return (self.where() / "rows.bin").read_bytes()

    def names(self) -> list[str]:
        """Names of the data set's files, also of parts."""
        return sorted(p.name for p in self.where().glob("*")) if self.where().is_dir() else []

    def lock(self) -> dict:
        return json.loads((self.state / "data.lock").read_text())


@pytest.fixture
def data(program, tmp_path, hub) -> Data:
    data = Data(program, tmp_path, hub)
    data.declare("set", f"{{huggingface: {REPOSITORY}, path: {FILE}}}")
    return data


def plain(data: Data, hub: Hub, more: str = "") -> None:
    data.declare("set", f'{{url: "{hub.url}/files/rows.bin"{more}}}')


def assert_names_file(message: str, hub: Hub) -> None:
    address = f"{hub.url}/{REPOSITORY}/resolve/main/{FILE}"
    assert f"data set 'set': fetch rows.bin from {address}: " in message


# --- successful fetches ---------------------------------------------------------------------------


@pytest.mark.parametrize("large", [True, False])
def test_a_file_comes_with_its_hash_and_revision(data, hub, large):
    hub.add(REPOSITORY, FILE, DATA, large=large)
    line = data.fetch_json()
    file = {"file": "rows.bin", "from": "server", "size_bytes": len(DATA), "sha256": HASH}
    assert line == {
        "data": "set",
        "folder": str(data.where()),
        "files": [{**file, "revision": COMMIT}],
    }
    assert data.bytes() == DATA and data.names() == ["rows.bin"]
    (entry,) = data.lock()["sources"].items()
    assert entry == (
        f"{REPOSITORY}@main/{FILE}",
        {"sha256": HASH, "size_bytes": len(DATA), "revision": COMMIT},
    )
    # Expect a URL with the commit: a branch could move while parts of the file are fetched.
    assert [path for method, path, _ in hub.asked if method == "GET"][0] == (
        f"/{REPOSITORY}/resolve/{COMMIT}/{FILE}"
    )
    before = len(hub.asked)
    assert data.fetch_json()["files"] == [] and len(hub.asked) == before


def test_a_revision_stays_after_the_branch_has_moved(data, hub):
    file = hub.add(REPOSITORY, FILE, DATA)
    data.fetch()
    (data.where() / "rows.bin").unlink()
    file.commit, file.data = "d" * 40, OTHER
    assert "no such file" in data.fetch(status=1).stderr
    assert f"/resolve/{COMMIT}/" in hub.asked[-1][1] and data.names() == []


def test_a_plain_address_and_redirects(data, hub):
    plain(data, hub)
    hub.plain("there/rows.bin", DATA)
    hub.moved["/files/rows.bin"] = "/once"
    hub.moved["/once"] = f"{hub.url}/there/rows.bin"
    data.fetch()
    assert data.bytes() == DATA
    hub.moved["/once"] = "/once"
    (data.where() / "rows.bin").unlink()
    assert "redirects more than 10 times" in data.fetch(status=1).stderr


def test_a_server_without_head_ranges_and_etag(data, hub):
    plain(data, hub)
    hub.plain("files/rows.bin", DATA, heads=False, ranges=False, etag=False, cuts=[1000])
    data.fetch()
    assert data.bytes() == DATA
    assert not any("range" in headers for headers in hub.gets())


def test_a_token_goes_to_one_server_alone(data, hub):
    elsewhere = Hub()
    elsewhere.files[f"{REPOSITORY}/{FILE}"] = hub.add(REPOSITORY, FILE, DATA)
    hub.moved[f"/store/{REPOSITORY}/{FILE}"] = f"{elsewhere.url}/store/{REPOSITORY}/{FILE}"
    data.env["HF_TOKEN"] = "hf_secret"
    data.fetch()
    elsewhere.close()
    assert data.bytes() == DATA
    asked = [h.get("authorization") for _, path, h in hub.asked if "/resolve/" in path]
    assert asked == ["Bearer hf_secret"] * 2
    assert elsewhere.asked and not any("authorization" in h for _, _, h in elsewhere.asked)


# --- connections that break -----------------------------------------------------------------------


@pytest.mark.parametrize("hosted", [True, False])
def test_a_cut_connection_is_continued(data, hub, hosted):
    cuts = [100_000, 50_000, 1]
    if hosted:
        hub.add(REPOSITORY, FILE, DATA, cuts=cuts)
    else:
        plain(data, hub)
        hub.plain("files/rows.bin", DATA, cuts=cuts)
    data.fetch()
    assert data.bytes() == DATA and data.names() == ["rows.bin"]
    ranges = [headers["range"] for headers in hub.gets() if "range" in headers]
    assert list(dict.fromkeys(ranges)) == ["bytes=100000-", "bytes=150000-", "bytes=150001-"]


@pytest.mark.parametrize("hosted", [True, False])
def test_a_file_that_changes_between_two_parts(data, hub, hosted):
    """A changed file is noticed by its ETag, or by the hash that Hugging Face gives."""
    if hosted:
        told = hashlib.sha256(OTHER).hexdigest()
        hub.add(REPOSITORY, FILE, DATA, cuts=[100_000], after_cut=OTHER, sha256=told)
    else:
        plain(data, hub)
        hub.plain("files/rows.bin", DATA, cuts=[100_000], after_cut=OTHER)
    data.fetch()
    assert data.bytes() == OTHER and data.names() == ["rows.bin"]


@pytest.mark.parametrize("claims", [-1000, 1000])
def test_a_server_that_lies_about_a_length(data, hub, claims):
    hub.add(REPOSITORY, FILE, DATA, claims=claims)
    message = data.fetch(status=1).stderr
    longer = f"the server announces more than the file's {len(DATA)} bytes"
    assert ("it has the sha256" if claims < 0 else longer) in message
    assert_names_file(message, hub)
    assert "rows.bin" not in data.names()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"rows\n", "it does not begin with an HTTP status"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "its headers are malformed"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nrows",
            "its content can't be decompressed",
        ),
    ],
)
def test_an_answer_that_makes_no_sense(data, hub, answer, words):
    plain(data, hub)
    hub.raw["/files/rows.bin"] = answer
    message = data.fetch(status=1).stderr
    assert f"the server's answer makes no sense: {words}" in message
    assert f"{hub.url}/files/rows.bin" in message


def test_a_server_that_sends_too_much_may_send_another_file(data, hub):
    """The bytes after the first file's length are no answer to the second request."""
    names = ("rows.bin", "more.bin")
    data.declare("set", *(f'{{url: "{hub.url}/files/{n}"}}' for n in names), files=names)
    hub.plain("files/rows.bin", DATA, claims=-1000, heads=False)
    hub.plain("files/more.bin", OTHER, heads=False)
    data.fetch()
    assert (data.where() / "more.bin").read_bytes() == OTHER


def test_a_busy_server_is_asked_again(data, hub):
    hub.add(REPOSITORY, FILE, DATA, statuses=[503, 429, 500])
    data.fetch()
    assert data.bytes() == DATA


def test_a_silent_server_is_given_up(data, hub):
    file = hub.add(REPOSITORY, FILE, DATA, pieces=threading.Event())
    started = time.monotonic()
    child = data.start(*data.words("fetch", "set", "--timeout", "1s"), stderr=subprocess.PIPE)
    until(lambda: len([g for g in hub.gets() if "range" in g]) > 0, "the second try")
    file.pieces.set()
    assert child.wait(PATIENCE_S) == 0 and data.bytes() == DATA
    assert time.monotonic() - started >= 1
    child.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_fetch_is_continued(data, hub, number):
    file = hub.add(REPOSITORY, FILE, DATA, pieces=threading.Event())
    child = data.start(*data.words("fetch", "set"), stderr=subprocess.PIPE, text=True)

    def half() -> bool:
        (size,) = [p.stat().st_size for p in data.where().glob("*.part")] or [0]
        return size == len(DATA) // 2

    until(half, "half of the file")
    busy = data.fetch(status=1).stderr
    assert "another process is fetching it" in busy
    child.send_signal(number)
    _, message = child.communicate(timeout=PATIENCE_S)
    file.pieces.set()
    file.pieces = None
    if number == signal.SIGINT:
        assert child.returncode == 130
        assert message.endswith("interrupted; the same command goes on from here\n")
    assert all(name.endswith(".part") for name in data.names())
    data.fetch()
    assert data.bytes() == DATA and data.names() == ["rows.bin"]
    assert hub.gets()[-1]["range"] == f"bytes={len(DATA) // 2}-"


# --- hashes that differ from the expected ones ----------------------------------------------------


def test_a_wrong_hash_of_the_server(data, hub):
    hub.add(REPOSITORY, FILE, DATA, sha256="1" * 64)
    message = data.fetch(status=1).stderr
    assert f"it has the sha256 {HASH}, not {'1' * 64}" in message
    assert_names_file(message, hub)
    assert data.names() == [] and not (data.state / "data.lock").exists()


def test_a_wrong_hash_of_the_data_set(data, hub):
    hub.add(REPOSITORY, FILE, DATA)
    source = f"{{huggingface: {REPOSITORY}, path: {FILE}, sha256: '{'2' * 64}'}}"
    data.declare("set", source)
    assert f"datasets/set.yaml expects {'2' * 64}" in data.fetch(status=1).stderr
    assert not hub.gets(), "no byte is fetched in vain"


def test_a_later_file_has_to_be_the_first_one(data, hub):
    plain(data, hub)
    file = hub.plain("files/rows.bin", DATA)
    data.fetch()
    (data.where() / "rows.bin").unlink()
    file.data = OTHER
    assert f"not {HASH}" in data.fetch(status=1).stderr
    assert data.names() == []
    lock = data.lock()
    lock["sources"].clear()
    (data.state / "data.lock").write_text(json.dumps(lock))
    data.fetch()
    assert data.bytes() == OTHER


def test_nothing_is_fetched_that_can_not_be_recorded(data, hub):
    hub.add(REPOSITORY, FILE, DATA)
    data.state.mkdir()
    (data.state / "data.lock").write_text("[]")
    assert "data.lock is not a JSON object" in data.fetch(status=2).stderr
    assert not hub.gets() and data.names() == []


def test_verify_finds_damage(data, hub):
    hub.add(REPOSITORY, FILE, DATA)
    data.fetch()
    words = data.words("verify", "set", "--json")
    assert json.loads(data(*words).stdout)["ok"] is True
    (data.where() / "rows.bin").write_bytes(OTHER)
    line = json.loads(data(*words, status=1).stdout)
    assert line["ok"] is False and line["files"][0]["state"] == "differs"
    assert "differs: " in data(*data.words("verify", "set"), status=1).stdout
    (data.where() / "rows.bin").unlink()
    assert "missing: " in data(*data.words("verify", "set"), status=1).stdout


# --- fetches that fail, and the list of data sets -------------------------------------------------


@pytest.mark.parametrize(
    ("status", "words"),
    [(404, "no such file"), (401, "set HF_TOKEN"), (403, "accept its terms"), (500, "status 500")],
)
def test_a_server_that_refuses(data, hub, status, words):
    hub.add(REPOSITORY, FILE, DATA, status=status)
    line = data.fetch_json(status=1)
    assert words in line["error"] and "rows.bin" not in data.names()
    assert_names_file(line["error"], hub)


def test_without_network_a_file_can_be_put_there(data, hub):
    hub.close()
    source = f"{{huggingface: {REPOSITORY}, path: {FILE}}}"
    data.declare("two", source, "{to: more.bin}", files=("rows.bin", "more.bin"))
    missing = f"Number of files that are missing in {data.where('two')}: 2"
    assert missing in data.fetch("two", status=1).stderr
    message = data.fetch(status=1).stderr
    put = data.where() / "rows.bin"
    assert f"{hub.url}/{REPOSITORY}/resolve/main/{FILE}" in message
    assert f"Without network, fetch that file elsewhere, put it into {put}" in message
    data.env["HF_HUB_OFFLINE"] = "1"
    assert "HF_HUB_OFFLINE" in data.fetch(status=1).stderr
    put.write_bytes(DATA)
    assert data.fetch_json()["folder"] == str(put.parent)


def test_kaggles_files_are_for_the_user_to_bring(data):
    first = data("data", "fetch", "titanic", status=1).stderr
    folder = data.state / "fetched" / "titanic"
    assert "Kaggle's competition" in first and f"put it into {folder}" in first
    header = "PassengerId,Survived,Pclass,Name,Sex,Age,SibSp,Parch,Ticket,Fare,Cabin,Embarked\n"
    row = '{},{},3,"A, Mr. B",male,22,1,0,A 5,7.25,,S\n'
    rows = "".join(row.format(i, i % 2) for i in range(1, 892))
    (folder / "train.csv").write_text(header + rows)
    data("data", "fetch", "titanicSurvival:full")
    shown = json.loads(data("task", "show", "titanicSurvival:full", "--json").stdout)
    assert shown["problem"] is None
    assert "right: " in data("data", "verify", "titanic").stdout


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{huggingface: a/b}", "'huggingface' goes with 'path'"),
        ("{path: a}", "'path' needs 'huggingface'"),
        ("{huggingface: a/b, path: ../a}", "leads out of its repository"),
        ("{url: 'http://x/.hidden'}", "give a simple one by 'to'"),
        ("{url: 'http://x/a b'}", "give a simple one by 'to'"),
        ("{sha256: abc, to: rows.bin}", "64 lower-case hexadecimal digits"),
        ("{}", "needs 'to'"),
        ("{url: 'http://x/other'}", "is not in 'files'"),
        ("{to: rows.bin}, {to: rows.bin}", "two fetched files are named 'rows.bin'"),
        ("{url: 'ftp://x/rows.bin'}", "not an http:// or https:// URL"),
        ("{url: 'http://me:pw@x/rows.bin'}", "a user or password"),
    ],
)
def test_bad_sources_are_told(data, source, words):
    data.declare("set", source)
    assert words in data.fetch(status=2).stderr


def test_an_unknown_name(data):
    done = data("data", "where", "nothing", "--json", status=2)
    assert "no data set and no task 'nothing'" in json.loads(done.stdout)["error"]


def test_list_tells_what_is_here(data, hub):
    hub.add(REPOSITORY, FILE, DATA)
    words = ["data", "list", "--json", "--tasks-dir", data.folder / "mine/tasks"]
    for ready in (False, True):
        lines = [json.loads(line) for line in data(*words).stdout.splitlines()]
        sets = {line["data"]: line for line in lines}
        assert sets["set"]["ready"] is ready and sets["set"]["kind"] == "fetched"
        assert sets["titanic"]["kind"] == "by hand" and sets["titanic-micro"]["kind"] == "made"
        assert "image-programs" not in sets
        data.fetch()


# --- programs that change the layout of fetched files ---------------------------------------------

LAYOUT = "layout: {{program: lay.py, args: [/fetched/rows.bin, .]{}}}\n"
PROGRAM = """
import pathlib, sys
data = pathlib.Path(sys.argv[1]).read_bytes()
for name in ("a.bin", "b.bin"):
    pathlib.Path(sys.argv[2], name).write_bytes(data[::-1])
assert not pathlib.Path("/etc/shadow").exists()
"""


def test_a_layout_makes_the_files(data, hub):
    hub.add(REPOSITORY, FILE, DATA)
    source = f"{{huggingface: {REPOSITORY}, path: {FILE}}}"
    data.declare("set", source, files=("a.bin", "b.bin"), more=LAYOUT.format(""))
    program = data.folder / "mine" / "lay.py"
    program.write_text("raise SystemExit('no luck')")
    assert "lay.py: ended with status 1: no luck" in data.fetch(status=1).stderr
    assert data.names() == []
    program.write_text(PROGRAM)
    assert data.fetch_json()["files"][0]["from"] == "kept"
    assert (data.where() / "b.bin").read_bytes() == DATA[::-1]
    assert data.names() == ["a.bin", "b.bin"]
    data(*data.words("verify", "set"))


def test_missing_packages_are_told_first(data, hub):
    more = LAYOUT.format(", packages: [pip-of-nobody]")
    source = f"{{huggingface: {REPOSITORY}, path: {FILE}}}"
    data.declare("set", source, files=("a.bin",), more=more)
    (data.folder / "mine" / "lay.py").write_text(PROGRAM)
    message = data.fetch(status=1).stderr
    assert "lacks packages that lay out the data: pip-of-nobody" in message
    assert "--python ENV" in message and not hub.asked


# --- progress on a terminal -----------------------------------------------------------------------


def test_a_terminal_shows_how_far_it_is(data, hub):
    file = hub.add(REPOSITORY, FILE, DATA, pieces=threading.Event())
    master, slave = pty.openpty()
    child = data.start(*data.words("fetch", "set"), stderr=slave, preexec_fn=default_signals)
    os.close(slave)
    shown = b""
    while b"50%" not in shown or b"left" not in shown:
        assert select.select([master], [], [], PATIENCE_S)[0]
        shown += os.read(master, 4096)
    file.pieces.set()
    assert child.wait(PATIENCE_S) == 0
    os.close(master)
    assert b"[##########          ]   50%  150.0 kB of 300.0 kB" in shown
    assert "\r" not in data.fetch().stderr


# --- the cache of Hugging Face's library huggingface_hub ------------------------------------------


@pytest.fixture(scope="module")
def hub_python() -> str:
    """A Python that has huggingface_hub. FUMEHOOD_HUB_PYTHON can name it."""
    python = os.environ.get("FUMEHOOD_HUB_PYTHON", sys.executable)
    script = "import huggingface_hub"
    if subprocess.run([python, "-c", script], capture_output=True, check=False).returncode:
        pytest.skip("huggingface_hub is missing: FUMEHOOD_HUB_PYTHON can name a Python with it")
    return python


def hub_download(data: Data, python: str, *args: str) -> str:
    script = (
        "import sys; from huggingface_hub import hf_hub_download as get\n"
        "print(get(sys.argv[1], sys.argv[2], repo_type='dataset'))"
    )
    done = subprocess.run(
        [python, "-c", script, *args],
        env=data.env | {"HF_HUB_DISABLE_XET": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("large", [True, False])
def test_a_cache_of_huggingface_hub_is_used(data, hub, hub_python, large):
    """The package fetches from our server. Fumehood then takes the file from its cache."""
    hub.add(REPOSITORY, FILE, DATA, large=large)
    hub_download(data, hub_python, "owner/set", FILE)
    hub.close()
    (file,) = data.fetch_json()["files"]
    assert file["from"] == "cache" and file["revision"] == COMMIT and file["sha256"] == HASH
    assert data.bytes() == DATA


def test_a_damaged_cache_is_not_used(data, hub):
    """Makes a cache by hand, so that it is also tested without the package."""
    hub.add(REPOSITORY, FILE, DATA)
    folder = data.folder / "hf" / "hub" / "datasets--owner--set"
    snapshot = folder / "snapshots" / COMMIT / "data"
    for path in (folder / "refs", folder / "blobs", snapshot):
        path.mkdir(parents=True)
    (folder / "refs" / "main").write_text(COMMIT)
    blob = folder / "blobs" / HASH
    (snapshot / "rows.bin").symlink_to(blob)
    blob.write_bytes(OTHER)
    assert data.fetch_json()["files"][0]["from"] == "server"
    (data.where() / "rows.bin").unlink()
    blob.write_bytes(DATA)
    data.env["HF_HUB_CACHE"] = str(folder.parent)
    del data.env["HF_HOME"]
    before = len(hub.asked)
    assert data.fetch_json()["files"][0]["from"] == "cache" and len(hub.asked) == before
