// Watches the training of a policy: reward and score of its episodes over its steps, for each task.

import { isExport } from "./api.js";
import { el, plainTable } from "./dom.js";
import { groupBy, loadRuns, mean, quantile, runsAddress, taskAddress } from "./list.js";
import { Plot } from "./plot.js";
import { number } from "./step.js";

const LIVE_MS = 5000;
const CURVES = [
	["reward", "Reward"],
	["best", "Score"],
];

// Groups the runs of a task by policy step. Each group has, for a column, the number of runs, the
// mean and the middle half.
function stepsOf(runs) {
	const groups = [...groupBy(runs, (run) => run.policy_step)].sort((a, b) => a[0] - b[0]);
	return groups.map(([step, episodes]) => {
		const group = { step, n: episodes.length };
		for (const [column] of CURVES) {
			const values = episodes.map((run) => run[column]).filter((value) => value !== null);
			values.sort((a, b) => a - b);
			group[column] = values.length
				? { n: values.length, mean: mean(values), low: quantile(values, 0.25), high: quantile(values, 0.75) }
				: { n: 0, mean: null, low: null, high: null };
		}
		return group;
	});
}

const episodesOf = (runs) => runs.filter((run) => run.policy_step !== null && run.task);
const stateOf = (runs) => JSON.stringify(runs.map((run) => [run.id, run.bytes, run.reward, run.best]));

export class TrainingView {
	constructor(main) {
		this.main = main;
		this.plots = [];
	}

	static keys = [
		["Tab", "next plot"],
		["\u2190  \u2192", "previous and next policy step, in a plot"],
		["Enter", "the episodes of this policy step"],
		["u", "all runs"],
	];

	async open() {
		const runs = await loadRuns();
		if (this.closed) return null;
		this.show(runs);
		if (!isExport) this.follow();
		return ["Training", "#/training"];
	}

	show(runs) {
		const episodes = episodesOf(runs);
		this.known = stateOf(episodes);
		this.closePlots();
		const tasks = [...groupBy(episodes, (run) => run.task)].sort((a, b) => a[0].localeCompare(b[0]));
		this.main.replaceChildren(
			el("h1", {}, "Training"),
			tasks.length
				? el("p", {}, "A line is the mean of the episodes of a policy step, a band their middle half. A click on a point lists its episodes.")
				: el("p", {}, "No run here is an episode of a training. A training writes them as files <task>_pi<N>_*.json, where N is the step of its policy."),
			...tasks.map(([task, of]) => this.section(task, of)),
		);
	}

	section(task, runs) {
		const steps = stepsOf(runs);
		const first = runs[0];
		return el(
			"section",
			{ class: "picture" },
			el("h2", {}, el("a", { href: taskAddress(task) }, task), ` \u2013 ${runs.length} episodes, ${steps.length} policy steps`),
			el("div", { class: "pictures" }, CURVES.map(([column, title]) => this.plot(task, steps, column, title, first))),
			this.table(task, steps),
		);
	}

	plot(task, steps, column, title, first) {
		if (!steps.some((step) => step[column].n)) return el("p", {}, `No episode of ${task} has a ${title.toLowerCase()}.`);
		const name = column === "best" ? `Best ${first.metric ?? "score"}, ${first.maximize === 0 ? "less" : "more"} is better` : title;
		const of = (key) => steps.map((step) => step[column][key]);
		const line = {
			name: title,
			style: column === "best" ? 1 : 0,
			x: steps.map((step) => step.step),
			y: of("mean"),
			low: of("low"),
			high: of("high"),
			text: (i) => `Policy step ${steps[i].step}: ${title.toLowerCase()} ${number(steps[i][column].mean)} in the mean of ${steps[i][column].n} episodes`,
		};
		const plot = new Plot({
			label: `${name} of ${task} over policy steps`,
			x: "policy step",
			y: name,
			lines: [line],
			level: column === "best" ? first.baseline : null,
			choose: (_, i) => (location.hash = runsAddress({ task, policy_step: steps[i].step })),
		});
		this.plots.push(plot);
		return plot.box;
	}

	table(task, steps) {
		const head = ["Policy step", "Episodes", ...CURVES.flatMap(([, title]) => [`Mean ${title.toLowerCase()}`, "Middle half"])];
		const cells = (step) => [
			el("a", { href: runsAddress({ task, policy_step: step.step }) }, String(step.step)),
			String(step.n),
			...CURVES.flatMap(([column]) => [
				number(step[column].mean),
				step[column].n ? `${number(step[column].low)} to ${number(step[column].high)}` : "",
			]),
		];
		return el(
			"details",
			{
				toggle: (event) => {
					if (!event.target.open || event.target.querySelector("table")) return;
					event.target.append(plainTable(`Policy steps of ${task}`, head, steps.map(cells)));
				},
			},
			el("summary", {}, "Table"),
		);
	}

	follow() {
		this.timer = setTimeout(async () => {
			if (!document.hidden) await this.refresh().catch(() => {});
			if (!this.closed) this.follow();
		}, LIVE_MS);
	}

	async refresh() {
		const runs = await loadRuns();
		if (this.closed || runs === this.runs) return;
		this.runs = runs;
		if (stateOf(episodesOf(runs)) !== this.known) this.show(runs);
	}

	key(key) {
		if (key !== "u") return false;
		location.hash = "#/";
		return true;
	}

	closePlots() {
		for (const plot of this.plots.splice(0)) plot.close();
	}

	close() {
		this.closed = true;
		clearTimeout(this.timer);
		this.closePlots();
	}
}
