// Makes records of runs for the tests of the page.

import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const HOSTILE = [
	"<script>window.ran = 1</script><img src=x onerror='window.ran = 2'>",
	'<svg onload="window.ran = 3"><a href="javascript:window.ran = 4">link</a>',
	"\u202egnp.exe\u202c \u0007\u0000 \u001b]0;title\u0007 \u001b[31mred\u001b[0m \u001b[1;44mbold\u001b[m",
].join("\n");

export function step(number, more = {}) {
	const { info = {}, ...rest } = more;
	return {
		event: "step",
		action: `python3 train.py ${number}`,
		thought: `I think ${number}`,
		observation: `output of ${number}`,
		reward: 0,
		info: { step: number, exit_code: 0, outcome: "ok", duration_s: 0.5, ...info },
		...rest,
	};
}

export function lines(events) {
	return events.map((event) => `${JSON.stringify(event)}\n`).join("");
}

export function opening(more = {}) {
	return {
		event: "open",
		task: "rows",
		variant: "",
		metric: "Score",
		maximize: true,
		max_steps: 50,
		baseline: { Score: 1 },
		model: "openai:m",
		...more,
	};
}

export function writeRun(top, name, events) {
	const folder = join(top, name);
	mkdirSync(folder, { recursive: true });
	const path = join(folder, "events.jsonl");
	writeFileSync(path, lines(events));
	return path;
}

// The step that a run is taking, beside its events.
export function writeLive(events, now) {
	const text = JSON.stringify(now);
	const sum = createHash("sha256").update(text).digest("hex");
	writeFileSync(join(dirname(events), "live.json"), `${text}\n"${sum}"\n`);
}

// A run with a step of each kind.
export function writeKinds(top) {
	const steps = [
		step(1),
		step(2, { action: "edit 1:2\nnew line\nend_of_edit", info: { exit_code: 1 } }),
		step(3, { action: "validate", info: { score: { Score: 1.5 } } }),
		step(4, { info: { outcome: "timeout", exit_code: 124 } }),
		step(5, { action: "validate", info: { score: { Score: 2.5 }, integrity: "a file was changed" } }),
		step(6, {
			action: `\u202els; ${HOSTILE}`,
			thought: HOSTILE,
			observation: HOSTILE,
			info: { state: { open_file: "n/a", working_dir: "/w/\u202egnp.exe" } },
		}),
		step(7, {
			action: "validate",
			info: { exit_code: 1, grade_error: "submission.csv is missing" },
			observation: Array.from({ length: 3000 }, (_, i) => `line ${i}`).join("\n"),
		}),
		step(8, { observation: `${"x".repeat(1_999_993)}the end` }),
		step(9, { action: "submit", info: { score: { Score: 2 }, exit_status: "submitted" } }),
	];
	return writeRun(top, `${HOSTILE.slice(0, 8)}kinds`.replace(/[<>/]/g, "-"), [
		opening(),
		...Array.from({ length: 25 }, (_, i) => ({ event: "message", role: "user", content: `message ${i}` })),
		...steps,
		{ event: "end", exit_status: "submitted", steps: steps.length, over: true },
	]);
}

// A run as MLGym records it.
export function writeTraj(top, name, task) {
	const turn = (more) => ({ state: "{}", response: "r", thought: "t", action: "ls", execution_time: 3.25, observation: "out", ...more });
	const record = {
		environment: task,
		trajectory: [turn(), turn({ action: "validate", observation: "Evaluation Score: {'rmse': 1.5}" })],
		history: [],
		info: { exit_status: "submitted", score: [{ rmse: 1.5 }], model_stats: { tokens_sent: 7 } },
	};
	mkdirSync(join(top, name), { recursive: true });
	writeFileSync(join(top, name, `${task}.traj`), JSON.stringify(record));
}

// An episode of a policy, as fumehood-verifiers writes it.
export function writeEpisode(top, policyStep, number, score, reward, task = "rows") {
	const turn = (more) => ({ completion: "I try", action: "ls", observation: "out", reward: 0, exit_code: 0, outcome: "ok", score: null, duration_s: 0.1, ...more });
	const record = {
		task,
		example_id: number,
		policy_step: policyStep,
		trajectory: [turn(), turn({ action: "validate", reward, score: { Score: score } })],
		metrics: { baseline_score: 1, final_score: score, improvement: score - 1, validation_history: [[2, score]] },
		info: { exit_status: "submitted", errors: 0 },
		timestamp: "20260131_120000",
	};
	mkdirSync(top, { recursive: true });
	writeFileSync(join(top, `${task.replace(/\W/g, "-")}_pi${policyStep}_20260131_120000_${number}.json`), JSON.stringify(record, null, 1));
}
