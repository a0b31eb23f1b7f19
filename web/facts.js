// The facts of a run, above its steps.

import { el } from "./dom.js";
import { taskAddress } from "./list.js";
import { MARK, number, seconds } from "./step.js";
import { size } from "./text.js";

// Cost of a run. `cost` is null if the run has tokens, but no price of the model was known.
export function costOf({ cost, sent, received }) {
	if (cost) return `$${number(cost)}`;
	if (!sent && !received) return null;
	return cost === 0 ? "$0.00" : "unknown";
}

// The score of the end if other answers than those of the validates gave it, or null if there was
// none. undefined: the end was not scored so.
export function finalOf(rows) {
	const end = rows.at(-1);
	return end && end.marks & MARK.final ? end.score : undefined;
}

// Time in all steps. Huge recorded numbers have no sum.
export function timeOf(rows) {
	const sum = rows.reduce((all, row) => all + (row.duration ?? 0), 0);
	return isFinite(sum) ? seconds(sum) : "unknown";
}

// The name of a task with its variant.
export const taskName = ({ task, variant }) => (task && variant ? `${task}:${variant}` : task);

// `best` is the step whose score is that of the run, and `validate` the one of the best validate. They
// are 0 if there is none. `now` is an element that tells what a run is at.
export function runFacts(run, rows, best, validate, now) {
	const scoreOf = (step) => `${number(rows[step - 1].score)} (step ${step})`;
	const isFinal = finalOf(rows) !== undefined;
	const list = [
		["model", run.model],
		["task", run.task && el("a", { href: taskAddress(run.task) }, taskName(run))],
		["ended", run.results ? "unknown" : (run.exit_status ?? (run.whole || run.going ? null : "cut off"))],
		[run.is_written ? "now" : "ended", run.going ? now : null],
		["error", run.error],
		["damage", run.damage],
		["steps", run.results ? "unknown" : `${rows.length}${run.max_steps ? ` of ${run.max_steps}` : ""}`],
		[isFinal ? "final" : "best", best ? scoreOf(best) : number(run.results?.best) || "none"],
		["best validate", isFinal && validate ? scoreOf(validate) : null],
		["last", number(run.results?.last)],
		["baseline", run.baseline === null ? null : number(run.baseline)],
		["metric", run.metric ? `${run.metric}, ${run.minimize ? "less" : "more"} is better` : null],
		["time in steps", run.results ? null : timeOf(rows)],
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
