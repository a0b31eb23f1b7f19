# SPDX-License-Identifier: Apache-2.0
"""Frames of pandas from records, and numbers of today's numpy in them."""

import fumehood
import numpy as np


def test_a_frame_has_a_row_for_each_step(tmp_path):
    with (
        fumehood.Env("battleOfSexes:micro") as env,
        fumehood.Recorder(env, out=tmp_path, policy_step=3) as recorder,
    ):
        recorder.reset(env.reset())
        for action, value in [("echo hi", np.float32(0.5)), ("submit", np.array([1, 2]))]:
            recorder.step(action, env.step(action), numbers={"value": value})
        folder, traj = recorder.folder, recorder.traj
        recorder.end()
    frame = fumehood.Trajectory.read(folder).frame()
    assert list(frame.index) == [1, 2] and frame.index.name == "step"
    assert frame.loc[1, "observation"] == "hi\n" and frame.loc[1, "info.outcome"] == "ok"
    assert frame.loc[1, "numbers.value"] == 0.5 and frame.loc[2, "numbers.value"] == [1, 2]
    assert frame["terminated"].tolist() == [False, True]
    assert frame["execution_time_s"].sum() > 0 and "info.score.Score" in frame
    alone = fumehood.Trajectory.read(traj).frame()
    assert alone["action"].tolist() == frame["action"].tolist() and alone["reward"].isna().all()
