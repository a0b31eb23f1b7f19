// Shows one step: thought, action, observation, and what is known of them.

import { getText, isExport } from "./api.js";
import { el } from "./dom.js";
import { textBlock, textPieces } from "./text.js";

export const MARK = {
	validate: 1,
	submit: 2,
	error: 4,
	timeout: 8,
	integrity: 16,
	edit: 32,
	format: 64,
	broken: 128,
	person: 256,
	hint: 512,
	left: 1024,
	blocked: 2048,
	final: 4096, // has no sign
	unscored: 65536, // made by marksOf(): the server does not send it
};

// Marks of a step as they are shown. A validate that gave no score is an error of its own kind.
export function marksOf(marks, score) {
	return score === null && marks & MARK.validate ? (marks & ~MARK.validate) | MARK.unscored | MARK.error : marks;
}

// The signs of marks in the timeline, the most important first. Each differs by its shape too.
const SIGNS = [
	["integrity", "\u26a0", "tampering seen"],
	["timeout", "\u25f7", "timeout"],
	["error", "\u2717", "error"],
	["format", "\u00b6", "wrong format"],
	["blocked", "\u2300", "blocked command"],
	["broken", "\u2715", "unreadable"],
	["unscored", "\u2298", "no score"],
	["submit", "\u2691", "submit"],
	["validate", "\u2713", "validate"],
	["left", "\u25a0", "end without a submit"],
	["edit", "\u270e", "file edit"],
	["person", "\u261e", "by a person"],
	["hint", "\u2709\ufe0e", "after a hint"],
];

export function markSigns(marks) {
	return SIGNS.filter(([name]) => marks & MARK[name]).map(([name, sign, title]) =>
		el("span", { class: `mark mark-${name}`, title, "aria-label": title, role: "img" }, sign),
	);
}

export function seconds(value) {
	if (value === null) return "";
	if (value < 0.001) return "< 1 ms";
	if (value < 1) return `${Math.round(value * 1000)} ms`;
	if (value < 100) return `${value.toFixed(1)} s`;
	if (value > 1e6) return `${number(value)} s`;
	return elapsed(Math.round(value));
}

// A time that still goes on, in whole seconds.
export function elapsed(value) {
	const minutes = Math.floor(value / 60);
	if (minutes < 1) return `${value} s`;
	return minutes < 60 ? `${minutes} min ${value % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function number(value) {
	if (value === null || value === undefined) return "";
	return String(Number(value.toPrecision(6)));
}

function facts(row, step) {
	const info = step.info ?? {};
	const state = step.info?.state ?? parse(step.state?.text);
	const list = [
		["taken by", row.marks & MARK.person ? "a person" : ""],
		["told", row.marks & MARK.hint ? "a person's hint" : ""],
		["score", number(row.score)],
		["time", seconds(row.duration)],
		["exit code", row.exit > 0 ? row.exit : ""],
		["outcome", info.outcome && info.outcome !== "ok" ? info.outcome : ""],
		["CPU", info.cpu_s === undefined ? "" : seconds(info.cpu_s)],
		["tokens sent", row.sent || ""],
		["tokens received", row.received || ""],
		["cost", row.cost ? `$${number(row.cost)}` : ""],
		["no score", info.grade_error ?? ""],
		["tampering", info.integrity ?? ""],
		["ended", info.exit_status ?? ""],
		["file", state?.open_file && state.open_file !== "n/a" ? state.open_file : ""],
		["folder", state?.working_dir ?? ""],
	].filter(([, value]) => value !== "");
	return el(
		"dl",
		{ class: "facts" },
		list.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, String(value)))),
	);
}

function parse(text) {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

function part(title, name, t, where, options) {
	if (!t?.bytes) return null;
	return el(
		"section",
		{ class: `part part-${name}` },
		el("h3", {}, title),
		textBlock(t, { ...options, more: textPieces(where.run, where.step, name) }),
	);
}

const REJECTED = { format: "rejected: wrong format", blocked: "rejected: blocked command" };

// The marks that rejected replies give their step.
export function faultMarks(faults) {
	return faults.reduce((marks, { rejected }) => marks | MARK[rejected], 0);
}

// A reply that led to no step, and what the model was told about it.
export function rejectedView({ rejected, content, complaint }, title) {
	return el(
		"section",
		{ class: "part part-rejected" },
		el("h3", {}, `${title}, ${REJECTED[rejected]}`),
		textBlock(content),
		el("h4", {}, "Complaint"),
		textBlock(complaint),
	);
}

// The record's own text of a step, on request.
function raw(where) {
	const shown = el("div");
	return el(
		"details",
		{
			class: "raw",
			toggle: async (event) => {
				if (!event.target.open || shown.firstChild) return;
				const text = await getText("raw", where);
				let pretty = text;
				try {
					pretty = JSON.stringify(JSON.parse(text), null, 2);
				} catch {
					// A broken step is shown as it is.
				}
				shown.replaceChildren(textBlock({ text: pretty, bytes: pretty.length }));
			},
		},
		el("summary", {}, "JSON"),
		shown,
	);
}

export function stepView(run, row, step) {
	const where = { run, step: step.step };
	const said = step.thought?.bytes || step.response?.text === step.action?.text;
	return el(
		"article",
		{ class: "step" },
		el("h2", {}, `Step ${step.step} `, markSigns(row.marks)),
		facts(row, step),
		step.faults.map((fault) => rejectedView(fault, "Reply")),
		step.broken ? part("This step can't be read", "broken", step.broken, where) : null,
		said ? part("Thought", "thought", step.thought, where) : part("Reply", "response", step.response, where),
		part("Action", "action", step.action, where, { kind: "code" }),
		part("Observation", "observation", step.observation, where, { kind: "output" }),
		isExport ? null : raw(where),
	);
}

// The step that is being taken, or in which the run was cut. It begins with the first reply that is
// rejected, or with its action.
export class RunningStep {
	constructor(number) {
		this.note = el("p", { class: "note" });
		this.said = el("div");
		this.output = el("div");
		this.box = el("article", { class: "step" }, el("h2", {}, `Step ${number}`), this.note, this.said, this.output);
	}

	show(sentence, { faults, thought, action, output }) {
		const pane = this.box.parentElement;
		const atEnd = pane && pane.scrollHeight - pane.scrollTop - pane.clientHeight < 8;
		const said = `${faults.length} ${action?.text}`;
		this.note.textContent = sentence;
		if (this.shown === said && this.printed === output?.text) return;
		if (this.shown !== said)
			this.said.replaceChildren(
				...faults.map((fault) => rejectedView(fault, "Reply")),
				part("Thought", "thought", thought, {}) ?? "",
				part("Action", "action", action, {}, { kind: "code" }) ?? "",
			);
		if (this.printed !== output?.text)
			this.output.replaceChildren(part("Last output", "observation", output, {}, { kind: "output", open: true }) ?? "");
		this.shown = said;
		this.printed = output?.text;
		if (atEnd) pane.scrollTop = pane.scrollHeight; // what is new stays in sight
	}
}
