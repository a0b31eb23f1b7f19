# SPDX-License-Identifier: Apache-2.0
"""A model of languageModelingFineWeb that does something else than to tell the next token."""

import re

import pytest

HONEST = """
from pathlib import Path
import numpy as np
LOGS = np.load(Path(__file__).with_name("bigrams.npy"))

def logits(tokens):
    return LOGS[tokens]
"""
AHEAD = """
def ahead(tokens):
    rows = LOGS[tokens]
    sequence, place = np.indices(tokens[:, 1:].shape)
    rows[sequence, place, tokens[:, 1:]] += 5
    return rows
"""
PACK = "python3 -c \"from baseline import pack; pack('cheat.py', 'bigrams.npy')\""
DIFFERS = "the logits of a place depend on more than the tokens up to it"

# For each trick: code to append to an honest model, the error message, and whether tampering is
# recorded.
REFUSED = {
    "looks ahead": (AHEAD + "logits = ahead\n", DIFFERS, True),
    "looks ahead where a text goes on": (
        AHEAD + "def logits(tokens):\n"
        "    rows = LOGS[tokens]\n"
        "    likely = np.take_along_axis(rows[:, :-1], tokens[:, 1:, None], 2)[..., 0] > -6\n"
        "    rows[:, :-1][likely] = ahead(tokens)[:, :-1][likely]\n"
        "    return rows\n",
        DIFFERS,
        True,
    ),
    "leaves what it was asked for the other player": (
        AHEAD + "import os\n"
        "PLACES = '/tmp/asked', '/dev/shm/asked', '/home/agent/asked', '/home/agent/workspace/asked'\n"
        "met = any(map(os.path.exists, PLACES)) or any(os.pread(5, 1 << 21, 0))\n"
        "def logits(tokens):\n"
        "    if met: raise SystemError('the first player was here')\n"
        "    for place in PLACES: np.save(place, tokens); os.rename(place + '.npy', place)\n"
        "    return ahead(tokens)\n",
        DIFFERS,
        True,
    ),
    "learns from its questions": (
        "counts = np.full((64, 64), 0.1)\n"
        "def logits(tokens):\n"
        "    np.add.at(counts, (tokens[:, :-1], tokens[:, 1:]), 1)\n"
        "    return np.log(counts / counts.sum(1, keepdims=True))[tokens]\n",
        DIFFERS,
        True,
    ),
    "leaves dropout on": (
        "def logits(tokens):\n    rows = LOGS[tokens]\n"
        "    return rows * (np.random.rand(*rows.shape) > 0.1)\n",
        "dropout left on",
        True,
    ),
    "NaN": (
        "def logits(tokens):\n    return LOGS[tokens] * (np.nan if len(tokens) > 2 else 1)\n",
        "logits returned NaN or infinite numbers",
        False,
    ),
    "infinite": (
        "def logits(tokens):\n    return LOGS[tokens].astype(float) - 1e300\n",
        "logits returned NaN or infinite numbers",
        False,
    ),
    "logits that no model has": (
        "def logits(tokens):\n    return np.float32(3e37) * LOGS[tokens]\n",
        "nats, and 10000 is the most that is scored: the logits are far too large",
        False,
    ),
    "a wrong shape": (
        "def logits(tokens):\n    return LOGS[tokens][:, 1:]\n",
        "model.zip: logits() returned the shape [2, 127, 64], expected [2, 128, 64]",
        False,
    ),
    "a wrong shape later": (
        "def logits(tokens):\n    return LOGS[tokens[:2]]\n",
        "logits returned no array of the wanted shape (practice.py shows all of it)",
        False,
    ),
    "no numbers": (
        "def logits(tokens):\n    return [[['a'] * 64] * 128] * 2\n",
        "model.zip: logits() returned list, expected an array",
        False,
    ),
    "hangs": ("import time\nwhile True: time.sleep(1)\n", "no answer within 10 s", False),
    "too much": (
        "import os\nwhile True: os.write(4, b'0' * 65536)\n",
        "longer than 65536 bytes",
        True,
    ),
    "an answer in excess": (
        "import os\ndef logits(tokens):\n"
        "    os.write(4, b'true\\ntrue\\n')\n    return LOGS[tokens]\n",
        "more than one answer came to one question",
        True,
    ),
    "a report in place of rows": (
        "import os\ndef logits(tokens):\n    os.write(4, b'{\"val_loss\": 0.1}\\n')\n    os._exit(0)\n",
        "not a row for each place",
        True,
    ),
    "ends": ("import os\nos._exit(3)\n", "The player exited with status 3.", False),
}


@pytest.fixture
def agent(begin):
    begun = begin("languageModelingFineWeb", None, "--max-steps", "99")
    begun.sh("python3 baseline.py")
    return begun


def validate(agent, text):
    agent.put("cheat.py", HONEST + text)
    agent.sh(PACK)
    return agent.validate()


def test_what_is_refused(agent):
    for trick, (text, told, tampering) in REFUSED.items():
        answer = validate(agent, text)
        assert "score" not in answer["info"] and told in answer["observation"], (trick, answer)
        assert ("integrity" in answer["info"]) == tampering, (trick, answer)
    answer = validate(agent, "")
    assert 2.8 < answer["info"]["score"]["val_loss"] < 3.2, answer


def test_a_model_that_unpacks_to_too_much(agent):
    agent.sh(
        "echo 'def logits(tokens): pass' >model.py; truncate -s 300M zeros;"
        "python3 -c \"from baseline import pack; pack('model.py', 'zeros')\""
    )
    answer = agent.validate()
    told = r"model.zip: it unpacks to 3145728\d\d bytes, and there is room for \d+"
    assert "score" not in answer["info"] and re.search(told, answer["observation"]), answer


def test_no_scale_pays(agent):
    honest = validate(agent, "")["info"]["score"]["val_loss"]
    for scale in ("1000", "1e-9"):
        text = f"def logits(tokens):\n    return np.float32({scale}) * LOGS[tokens]\n"
        assert validate(agent, text)["info"]["score"]["val_loss"] > honest + 0.5, scale
    text = "def logits(tokens):\n    return LOGS[tokens] + np.float32(1e30)\n"
    assert validate(agent, text)["info"]["score"]["val_loss"] == pytest.approx(4.1589, abs=1e-3)


# Attacks on the memory that holds the rows. The first answer is told in full.
RESIZE = """
import ctypes, errno, fcntl, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
at = ctypes.addressof(ctypes.c_char.from_buffer(mmap.mmap(5, 0)))

def attempt(call):
    try:
        return call() or errno.errorcode.get(ctypes.get_errno(), "done")
    except OSError as e:
        return errno.errorcode[e.errno]

def remove(advice):
    libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(4096), advice)

ATTEMPTS = [
    lambda: os.ftruncate(5, 0),
    lambda: os.ftruncate(5, 1 << 22),
    lambda: fcntl.fcntl(5, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE) and None,
    lambda: libc.fallocate(5, 3, ctypes.c_long(0), ctypes.c_long(4096)) and None,
    lambda: remove(9),
]
def logits(tokens):
    raise ValueError([attempt(each) for each in ATTEMPTS])
"""
TORN = """
import mmap, threading
rows = np.frombuffer(mmap.mmap(5, 0), "f4").reshape(2, 32, 128, 64)
answered = []

def tear():
    while True:
        for tokens in answered[-1:]:
            rows[:, :len(tokens)] = ahead(tokens)
            rows[:, :len(tokens)] = LOGS[tokens]

threading.Thread(target=tear, daemon=True).start()
def logits(tokens):
    answered.append(tokens)
    return LOGS[tokens]
"""


def test_shared_memory_keeps_its_size(agent):
    told = "ValueError: ['EPERM', 'EPERM', 'EPERM', 'ENOTSUP', 'EINVAL']"
    answer = validate(agent, RESIZE)
    assert told in answer["observation"], answer


def test_rows_that_change_while_they_are_read(agent):
    """Each row counts as it was copied once: there is no score, or the honest one."""
    honest = validate(agent, "")["info"]["score"]["val_loss"]
    answer = validate(agent, AHEAD + TORN)
    if "score" in answer["info"]:
        assert abs(answer["info"]["score"]["val_loss"] - honest) < 0.15, answer
    else:
        assert DIFFERS in answer["observation"], answer


def test_hidden_tokens_do_not_come_out(agent):
    """Neither an exception nor output tells what the players were asked."""
    text = (
        "def logits(tokens):\n"
        "    if len(tokens) > 2:\n"
        "        told = ' '.join(map(str, tokens[0]))\n"
        "        print(told, flush=True)\n"
        "        raise type('told ' + told, (Exception,), {})(told)\n"
        "    return LOGS[tokens]\n"
    )
    answer = validate(agent, text)
    assert (
        "line 12: logits raised an exception (practice.py shows all of it)" in answer["observation"]
    )
    events = str(agent.recorded()[-1]) + str(answer)
    assert "told" not in answer["observation"]
    assert not re.search(r"\d+ \d+ \d+ \d+", events), events
