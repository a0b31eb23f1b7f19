// The runs of a task as a picture: their scores over steps. Each line is a run that can be opened.

import { getJson } from "./api.js";
import { el, plainTable, say } from "./dom.js";
import { groupBy, loadRuns, quantile } from "./list.js";
import { legend, Plot } from "./plot.js";
import { number } from "./step.js";

const LINES_MOST = 1000;
const TABLE_MOST = 500;
const OUTLIER_RANGES = 3; // as in reports

// Makes the best scores so far of scores.
export function bestSoFar(scores, minimize) {
	let best = null;
	return scores.map((score) => {
		if (score !== null && (best === null || (minimize ? score < best : score > best))) best = score;
		return best;
	});
}

// The range of scores that are no outliers, and of the baseline. An outlier is further from the
// middle half than three times its range.
function rangeOf(scores, baseline) {
	const sorted = scores.filter((score) => score !== null).sort((a, b) => a - b);
	const [low, high] = sorted.length ? [quantile(sorted, 0.25), quantile(sorted, 0.75)] : [0, 0];
	const reach = OUTLIER_RANGES * (high - low);
	if (!reach) return [-Infinity, Infinity];
	const inside = sorted.filter((score) => score >= low - reach && score <= high + reach);
	return [Math.min(inside[0], baseline ?? Infinity), Math.max(inside.at(-1), baseline ?? -Infinity)];
}

export class TaskView {
	constructor(main, task) {
		this.main = main;
		this.task = task;
		this.hidden = new Set(); // models
	}

	static keys = [
		["\u2190  \u2192", "previous and next score of a run"],
		["\u2191  \u2193", "previous and next run"],
		["Enter", "open the run at this score"],
		["a", "best scores so far, or each score"],
		["u", "all runs"],
	];

	async open(query) {
		this.query = new URLSearchParams(query);
		this.each = this.query.get("scores") === "each";
		this.runs = (await loadRuns()).filter((run) => run.task === this.task);
		const points = this.runs.length ? await getJson("points", { run: this.runs[0].id }) : null;
		if (this.closed) return null;
		for (const run of this.runs) run.points = points.runs[run.id] ?? [];
		this.models = [...groupBy(this.runs, (run) => run.model ?? "unknown").keys()].sort();
		this.build();
		return [this.task, location.hash];
	}

	build() {
		const first = this.runs[0];
		if (!first) {
			this.main.replaceChildren(el("h1", {}, this.task), el("p", {}, "There are no runs of this task."));
			return;
		}
		this.minimize = first.maximize === 0;
		this.plot = new Plot({
			label: `Scores of ${this.task} over steps`,
			x: "step",
			y: `${first.metric ?? "score"}, ${this.minimize ? "less" : "more"} is better`,
			lines: [],
			from: 1,
			choose: (line, i) => (location.hash = `#/run/${line.run.id}/${line.x[i]}`),
		});
		this.names = el("div");
		this.toggle = el("button", { type: "button", click: () => this.setEach(!this.each) });
		this.main.replaceChildren(
			el("h1", {}, this.task),
			el("div", { class: "jumps" }, this.toggle),
			el("div", { class: "picture" }, this.plot.box, this.names),
			this.table(),
		);
		this.update();
		this.plot.box.focus();
	}

	lineOf(run) {
		const steps = run.points.filter((_, i) => i % 2 === 0);
		const scores = run.points.filter((_, i) => i % 2 === 1);
		const model = run.model ?? "unknown";
		return {
			run,
			name: run.name,
			style: this.models.indexOf(model),
			x: steps,
			y: this.each ? scores : bestSoFar(scores, this.minimize),
			steps: !this.each,
			until: this.each ? null : run.steps,
			text: (i) => `${model}, ${run.name}: step ${steps[i]}, score ${number(scores[i])}`,
		};
	}

	update() {
		const shown = this.runs.filter((run) => !this.hidden.has(run.model ?? "unknown"));
		const lines = shown.map((run) => this.lineOf(run)).filter((line) => line.x.length);
		const baseline = this.runs.find((run) => run.baseline !== null)?.baseline ?? null;
		const [low, high] = rangeOf(lines.flatMap((line) => line.y), baseline);
		const outside = lines.filter((line) => line.y.some((score) => score !== null && (score < low || score > high)));
		this.plot.setLines(lines.slice(0, LINES_MOST), baseline, [low, high]);
		this.toggle.textContent = this.each ? "Show best scores so far" : "Show each score";
		this.names.replaceChildren(
			legend(
				this.models.map((model, style) => ({
					name: model,
					style,
					on: !this.hidden.has(model),
					press: () => this.toggleModel(model),
				})),
			),
		);
		say(
			`${lines.length} of ${this.runs.length} runs have scores` +
				(lines.length > LINES_MOST ? `. The first ${LINES_MOST} are drawn` : "") +
				(outside.length ? `. ${outside.length} have scores outside of the picture` : ""),
		);
	}

	toggleModel(model) {
		if (!this.hidden.delete(model)) this.hidden.add(model);
		const at = this.models.indexOf(model);
		this.update();
		this.names.querySelectorAll("button")[at].focus();
	}

	setEach(each) {
		this.each = each;
		history.replaceState(null, "", `#/task/${encodeURIComponent(this.task)}${each ? "?scores=each" : ""}`);
		this.update();
	}

	table() {
		const rows = () =>
			this.runs
				.slice(0, TABLE_MOST)
				.map((run) => [
					el("a", { href: `#/run/${run.id}` }, run.name),
					run.model ?? "unknown",
					String(run.steps ?? ""),
					number(run.best),
					number(run.last),
				]);
		return el(
			"details",
			{
				toggle: (event) => {
					if (!event.target.open || event.target.querySelector("table")) return;
					event.target.append(plainTable(`Runs of ${this.task}`, ["Run", "Model", "Steps", "Best", "Last"], rows()));
				},
			},
			el("summary", {}, "Table"),
		);
	}

	key(key) {
		const acts = { a: () => this.setEach(!this.each), u: () => (location.hash = "#/") };
		if (!this.plot && key === "a") return false;
		acts[key]?.();
		return key in acts;
	}

	close() {
		this.closed = true;
		this.plot?.close();
	}
}
