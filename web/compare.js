// Two runs beside each other, aligned by step or by the scores that they reached.

import { getJson, Steps } from "./api.js";
import { breakable, el, plainTable, say, VirtualList } from "./dom.js";
import { costOf, finalOf, taskName, timeOf } from "./facts.js";
import { Plot, sample } from "./plot.js";
import { MARK, markSigns, number, stepView } from "./step.js";
import { bestSoFar } from "./task.js";
import { rowOf } from "./timeline.js";

const ROW_HEIGHT = 30;

// A run, with what is shown of each of its steps.
async function readRun(id) {
	const run = await getJson("run", { run: id });
	const rows = [];
	for (const item of run.steps) rows.push(rowOf(item, rows.at(-1)));
	const best = bestSoFar(rows.map((row) => (row.marks & MARK.final ? null : row.score)), run.minimize);
	return { ...run, rows, best, steps: new Steps(id) };
}

// Pairs of steps, counted from 1. A pair may lack a step: 0.
function pairsByStep([a, b]) {
	const n = Math.max(a.rows.length, b.rows.length);
	return Array.from({ length: n }, (_, i) => ({
		steps: [i < a.rows.length ? i + 1 : 0, i < b.rows.length ? i + 1 : 0],
		label: String(i + 1),
	}));
}

// Each score that a run was the first to reach, and the step where each run got at least as far.
function pairsByScore(runs) {
	const { minimize } = runs[0];
	const better = (x, y) => (minimize ? x <= y : x >= y);
	const levels = [...new Set(runs.flatMap((run) => run.best.filter((score) => score !== null)))];
	levels.sort((x, y) => (minimize ? y - x : x - y));
	return levels.map((level) => ({
		steps: runs.map((run) => run.best.findIndex((score) => score !== null && better(score, level)) + 1),
		label: number(level),
	}));
}

export class CompareView {
	constructor(main, a, b, at) {
		this.main = main;
		this.ids = [a, b];
		this.at = Number(at) || 1;
	}

	static keys = [
		["j  k", "next and previous row"],
		["g  G", "first and last row"],
		["a", "align by step or by score"],
		["x", "swap the runs"],
		["1  2", "open the first or second run at this step"],
		["Enter", "read the chosen steps"],
		["u", "all runs"],
	];

	async open(query) {
		this.byScore = new URLSearchParams(query).get("by") === "score";
		this.runs = await Promise.all(this.ids.map(readRun));
		if (this.closed) return null;
		this.list = new VirtualList({
			label: "Pairs of steps",
			height: ROW_HEIGHT,
			make: (index) => this.makeRow(this.pairs[index]),
			choose: (index) => this.go(index + 1),
		});
		this.detail = el("div", { class: "detail pair", tabindex: "-1" });
		const button = (text, key, act) => el("button", { type: "button", title: `${text} (${key})`, click: act }, text);
		this.toggle = button("", "a", () => this.align(!this.byScore));
		this.main.replaceChildren(
			el("h1", {}, "Two runs"),
			this.names(),
			el("div", { class: "pictures pair-facts" }, this.facts(), this.picture()),
			el("div", { class: "jumps" }, this.toggle, button("Swap", "x", () => this.swap())),
			el("div", { class: "run run-pair" }, this.list.box, this.detail),
		);
		this.align(this.byScore, this.at);
		return ["Two runs", location.hash];
	}

	// --- the page's parts

	// Names are long, so that they have the page's width.
	names() {
		return el(
			"ul",
			{ class: "pair-names" },
			this.runs.map((run, style) => el("li", {}, sample(style), `${"AB"[style]} `, el("a", { href: `#/run/${run.id}` }, breakable(run.name)))),
		);
	}

	facts() {
		const lines = [
			["Task", taskName],
			["Model", (run) => run.model],
			["Ended", (run) => run.exit_status ?? run.error],
			["Steps", (run) => (run.results ? "unknown" : String(run.rows.length))],
			["Final score", (run) => number(finalOf(run.rows))],
			[this.runs.some((run) => finalOf(run.rows) !== undefined) ? "Best validate" : "Best score", (run) => number(run.best.at(-1) ?? run.results?.best)],
			["Baseline", (run) => number(run.baseline)],
			["Time in steps", (run) => run.results ? "" : timeOf(run.rows)],
			["Tokens", (run) => (run.sent ? `${run.sent} sent, ${run.received} received` : "")],
			["Cost", costOf],
		];
		const rows = lines.map(([name, of]) => [name, ...this.runs.map((run) => of(run) ?? "")]);
		const cell = (value) => (typeof value === "string" ? breakable(value) : value);
		const differ = this.runs[0].task !== this.runs[1].task || this.runs[0].metric !== this.runs[1].metric;
		return el(
			"div",
			{},
			plainTable("The two runs", ["", ...["A", "B"].map((name, style) => el("span", {}, sample(style), name))], rows.filter(([, a, b]) => a || b).map((row) => row.map(cell))),
			differ ? el("p", {}, "These runs have different tasks or metrics, so their scores can't be compared.") : null,
		);
	}

	picture() {
		if (!this.runs.some((run) => run.best.at(-1) !== null && run.best.length)) return null;
		const lines = this.runs.map((run, style) => {
			const scored = run.rows.map((row, i) => [i + 1, row.marks & MARK.final ? null : row.score]).filter(([, score]) => score !== null);
			return {
				which: style,
				name: "AB"[style],
				style,
				x: scored.map(([step]) => step),
				y: scored.map(([step]) => run.best[step - 1]),
				steps: true,
				until: run.rows.length,
				text: (i) => `${"AB"[style]}, step ${scored[i][0]}: ${number(scored[i][1])}`,
			};
		});
		this.plot = new Plot({
			label: "Best scores of both runs over steps",
			x: "step",
			y: this.runs[0].metric ?? "score",
			lines,
			level: this.runs[0].baseline,
			from: 1,
			choose: (line, i) => this.goTo(line.which, line.x[i]),
		});
		return this.plot.box;
	}

	makeRow({ steps, label }) {
		const half = (which) => {
			const row = this.runs[which].rows[steps[which] - 1];
			return el(
				"span",
				{ class: "half" },
				el("span", { class: "row-number" }, row ? String(steps[which]) : ""),
				el("span", { class: "row-marks" }, row ? markSigns(row.marks) : null),
				el("span", { class: "row-head", dir: "ltr" }, row ? row.head || "\u2026" : "\u2013"),
				el("span", { class: "row-score" }, row ? number(row.score) : ""),
			);
		};
		return el("div", { class: "row" }, this.byScore ? el("span", { class: "row-score" }, label) : null, half(0), half(1));
	}

	// --- moving

	align(byScore, at = null) {
		const before = this.pairs?.[this.at - 1]?.steps ?? null;
		this.byScore = byScore;
		this.pairs = byScore ? pairsByScore(this.runs) : pairsByStep(this.runs);
		this.toggle.textContent = byScore ? "Align by step" : "Align by score";
		this.list.setCount(this.pairs.length);
		const same = before ? this.pairs.findIndex(({ steps }) => steps[0] >= before[0] && steps[1] >= before[1]) : -1;
		if (this.pairs.length) this.go(at ?? Math.max(0, same) + 1);
		else this.detail.replaceChildren(el("p", {}, byScore ? "Neither run has a score." : "No step was recorded yet."));
		if (!this.pairs.length) this.remember();
	}

	// Goes to the row with this step of a run.
	goTo(which, step) {
		const found = this.pairs.findIndex(({ steps }) => steps[which] >= step);
		if (found >= 0) this.go(found + 1);
	}

	remember() {
		const row = this.at > 1 ? `/${this.at}` : "";
		history.replaceState(null, "", `#/compare/${this.ids.join("/")}${row}${this.byScore ? "?by=score" : ""}`);
	}

	async go(at) {
		this.at = Math.max(1, Math.min(this.pairs.length, at));
		const wanted = this.at;
		const { steps, label } = this.pairs[wanted - 1];
		this.list.setCurrent(wanted - 1);
		this.remember();
		say(this.byScore ? `Score ${label}: ${steps.map((s, i) => (s ? `${"AB"[i]} at step ${s}` : `${"AB"[i]} never`)).join(", ")}` : "");
		const found = await Promise.all(steps.map((step, i) => (step ? this.runs[i].steps.get(step) : null)));
		if (this.at !== wanted || this.closed) return;
		this.detail.replaceChildren(
			...found.map((step, i) =>
				el(
					"section",
					{ class: "pair-half", "aria-label": `Step of ${"AB"[i]}` },
					step
						? stepView(this.ids[i], this.runs[i].rows[steps[i] - 1], step)
						: el("p", {}, this.byScore ? `${"AB"[i]} never got this far.` : `${"AB"[i]} has no such step.`),
				),
			),
		);
		this.detail.scrollTop = 0;
	}

	swap() {
		const [a, b] = this.ids;
		location.hash = `#/compare/${b}/${a}/${this.at}${this.byScore ? "?by=score" : ""}`;
	}

	openRun(which) {
		const step = this.pairs[this.at - 1]?.steps[which] || 1;
		location.hash = `#/run/${this.ids[which]}/${step}`;
	}

	key(key) {
		const acts = {
			j: () => this.go(this.at + 1),
			ArrowDown: () => this.go(this.at + 1),
			k: () => this.go(this.at - 1),
			ArrowUp: () => this.go(this.at - 1),
			g: () => this.go(1),
			G: () => this.go(this.pairs.length),
			Enter: () => this.detail.focus(),
		};
		const always = {
			a: () => this.align(!this.byScore),
			x: () => this.swap(),
			1: () => this.openRun(0),
			2: () => this.openRun(1),
			u: () => (location.hash = "#/"),
		};
		if (this.pairs?.length) acts[key]?.();
		always[key]?.();
		return key in acts || key in always;
	}

	close() {
		this.closed = true;
		this.plot?.close();
		this.list?.close();
	}
}
