# SPDX-License-Identifier: Apache-2.0
"""Reports: records that are found twice, and scores that are outliers."""

import re

from test_report import mlgym_run, tables
from test_report import runs as runs  # a fixture


def test_folders_that_overlap(fumehood, runs):
    """A record counts once."""
    once = tables(fumehood("report", runs, "--json"))
    (inner,) = runs.glob("two__blotto__*")
    assert tables(fumehood("report", runs, inner, runs.parent, "--json")) == once


def test_an_outlier_does_not_decide_the_shades(fumehood, tmp_path):
    scores = [-1e9, 1.0, 2.0, 3.0, 4.0]
    for i, score in enumerate(scores):
        mlgym_run(tmp_path / "runs", f"m{i}", "blotto", 0, [score], base=2.5)
    page = fumehood("report", tmp_path / "runs", "--format", "html").stdout
    heat = re.search('<svg[^>]*aria-label="Scores, best@attempt".*?</svg>', page, re.S)[0]
    greys = [int(grey) for grey in re.findall(r'fill="rgb\((\d+),', heat)]
    # The baseline of 2.5 is first. The outlier is as light as the worst of the others.
    assert greys == [145, 245, 245, 179, 112, 45]
