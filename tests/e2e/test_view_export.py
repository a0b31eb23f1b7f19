# SPDX-License-Identifier: Apache-2.0
"""`fumehood view --export`: the page that needs no server."""

import json
import os
import re
import subprocess

from viewer import OPEN, STEP, write_events


def exported(fumehood, tmp_path, *places, status=0) -> tuple[subprocess.CompletedProcess, str]:
    out = tmp_path / "page.html"
    done = fumehood("view", "--export", out, *places, status=status)
    return done, out.read_text() if out.exists() else ""


def test_an_exported_page_holds_what_it_may_ask_for(fumehood, tmp_path):
    for name, n in ("one", 41), ("two", 1):
        (tmp_path / "runs" / name).mkdir(parents=True)
        write_events(tmp_path / "runs" / name / "events.jsonl", OPEN, *[STEP] * n)
    done, page = exported(fumehood, tmp_path, tmp_path / "runs")
    assert "2 runs" in done.stdout
    asked = re.findall(r'data-answers="([^"]*)">', page)
    assert asked[0] == "start" and {"api/runs?", "api/report?"} <= set(asked)
    assert len([name for name in asked if name.startswith("api/steps?")]) == 3 + 1
    # The page's policy forbids all requests.
    assert "default-src 'none'" in page and "connect-src" not in page


def test_an_exported_page_of_large_records_has_no_steps(fumehood, tmp_path):
    write_events(tmp_path / "events.jsonl", OPEN, STEP)
    os.truncate(tmp_path / "events.jsonl", 101 << 20)
    done, page = exported(fumehood, tmp_path, tmp_path)
    assert "lacks their steps" in done.stderr
    assert 'data-answers="start">#/</script>' in page
    assert "api/runs?" in page and 'data-answers="api/steps?' not in page


def test_an_export_prints_json(fumehood, tmp_path):
    write_events(tmp_path / "runs" / "events.jsonl", OPEN, STEP)
    page = tmp_path / "page.html"
    done = fumehood("view", "--json", "--export", page, tmp_path / "runs")
    size = page.stat().st_size
    said = {"file": str(page), "runs": 1, "size_bytes": size, "has_steps": True}
    assert json.loads(done.stdout) == said


def test_a_page_is_not_exported_without_runs(fumehood, tmp_path):
    done, page = exported(fumehood, tmp_path, tmp_path, status=2)
    assert "there are no runs" in done.stderr and not page
