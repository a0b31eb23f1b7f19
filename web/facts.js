// The facts of a run, above its steps.

import { el } from "./dom.js";
import { taskAddress } from "./list.js";
import { number, seconds } from "./step.js";
import { size } from "./text.js";

// Cost of a run. Tokens without a cost mean that no price of the model was known.
export const costOf = (run) => (run.cost ? `$${number(run.cost)}` : run.sent || run.received ? "unknown" : null);

// `best` is the step with the best score, or 0. `now` is an element that tells what a run is at.
export function runFacts(run, rows, best, now) {
	const list = [
		["model", run.model],
		["task", run.task && el("a", { href: taskAddress(run.task) }, run.variant ? `${run.task}:${run.variant}` : run.task)],
		["ended", run.results ? "unknown" : (run.exit_status ?? (run.whole || run.going ? null : "cut off"))],
		[run.is_written ? "now" : "ended", run.going ? now : null],
		["error", run.error],
		["damage", run.damage],
		["steps", run.results ? "unknown" : `${rows.length}${run.max_steps ? ` of ${run.max_steps}` : ""}`],
		["best", best ? `${number(rows[best - 1].score)} (step ${best})` : number(run.results?.best) || "none"],
		["last", number(run.results?.last)],
		["baseline", run.baseline === null ? null : number(run.baseline)],
		["metric", run.metric ? `${run.metric}, ${run.minimize ? "less" : "more"} is better` : null],
		["time in steps", run.results ? null : seconds(rows.reduce((sum, row) => sum + (row.duration ?? 0), 0))],
		["tokens", run.sent ? `${run.sent} sent, ${run.received} received` : null],
		["cost", costOf(run)],
		["size", size(run.bytes)],
	].filter(([, value]) => value);
	return el(
		"dl",
		{ class: "facts" },
		list.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
	);
}
