// Rows of a run's timeline.

import { el } from "./dom.js";
import { elapsed, faultMarks, markSigns, marksOf, number, seconds } from "./step.js";

// Reads a step as the server tells it. Amounts of a run count from its beginning: `before` is the
// row before.
export function rowOf([head, marks, duration, score, exit, sent, received, cost], before) {
	return {
		head,
		marks: marksOf(marks, score),
		duration,
		score,
		exit,
		sent: sent - (before?.sentAll ?? 0),
		received: received - (before?.receivedAll ?? 0),
		cost: cost - (before?.costAll ?? 0),
		sentAll: sent,
		receivedAll: received,
		costAll: cost,
	};
}

function timelineRow(kind, index, marks, head, score, time) {
	return el(
		"div",
		{ class: kind },
		el("span", { class: "row-number" }, String(index + 1)),
		el("span", { class: "row-marks" }, marks),
		el("span", { class: "row-head", dir: "ltr" }, head || "\u2026"),
		el("span", { class: "row-score" }, score),
		el("span", { class: "row-time" }, time),
	);
}

export function stepRow(row, index) {
	return timelineRow("row", index, markSigns(row.marks), row.head, number(row.score), seconds(row.duration));
}

// The row of the step that is being taken, or in which the run was cut. Before the action it has the
// last reply that was rejected.
export function runningRow({ faults, action, seconds: took }, index, isWritten) {
	const [sign, title] = !isWritten ? ["\u2702", "cut off"] : action ? ["\u25b8", "running"] : ["\u21bb", "asked again"];
	const marks = [el("span", { class: "mark", title, "aria-label": title, role: "img" }, sign), ...markSigns(faultMarks(faults))];
	const { text } = action ?? faults.at(-1).content;
	return timelineRow("row row-running", index, marks, text.trim().split("\n")[0], "", took === undefined ? "" : elapsed(took));
}
