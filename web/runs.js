// The list of all runs.

import { getJson } from "./api.js";
import { el, say, VirtualList } from "./dom.js";
import { size } from "./text.js";

const ROW_HEIGHT = 34;

export class RunsView {
	constructor(main) {
		this.main = main;
		this.current = 0;
	}

	static keys = [
		["j  k", "next and previous run"],
		["g  G", "first and last run"],
		["Enter", "open the run"],
		["/", "filter by name"],
		["r", "look for new runs"],
	];

	async open(filter) {
		this.filter = el("input", {
			type: "search",
			placeholder: "Filter by words of the name ( / )",
			"aria-label": "Filter by words of the name",
			value: filter ?? "",
			input: () => this.apply(),
			keydown: (event) => {
				if (event.key === "Enter" || event.key === "Escape") this.list.box.focus();
			},
		});
		this.list = new VirtualList({
			label: "Runs",
			height: ROW_HEIGHT,
			make: (index) => this.makeRow(this.shown[index]),
			choose: (index) => this.choose(index),
		});
		this.main.replaceChildren(
			el("h1", {}, "Runs"),
			el("div", { class: "jumps" }, this.filter),
			el("div", { class: "runs" }, this.list.box),
		);
		await this.load();
		return null;
	}

	async load() {
		this.runs = (await getJson("runs")).runs;
		this.apply(false);
	}

	apply(remember = true) {
		const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
		this.shown = this.runs.filter((run) => words.every((word) => run.name.toLowerCase().includes(word)));
		this.list.setCount(this.shown.length);
		this.list.setCurrent(Math.min(this.current, this.shown.length - 1), false);
		say(`${this.shown.length} of ${this.runs.length} runs`);
		if (!remember) return;
		const text = this.filter.value;
		history.replaceState(null, "", text ? `#/?filter=${encodeURIComponent(text)}` : "#/");
	}

	makeRow(run) {
		return el(
			"div",
			{ class: "row" },
			el("span", { class: "row-head", dir: "ltr" }, run.name),
			el("span", { class: "row-size" }, size(run.bytes)),
			el("span", { class: "row-time" }, new Date(run.changed).toISOString().slice(0, 16).replace("T", " ")),
		);
	}

	choose(index) {
		if (this.shown[index]) location.hash = `#/run/${this.shown[index].id}`;
	}

	move(to) {
		this.current = Math.max(0, Math.min(this.shown.length - 1, to));
		this.list.setCurrent(this.current);
	}

	key(key) {
		const acts = {
			j: () => this.move(this.current + 1),
			ArrowDown: () => this.move(this.current + 1),
			k: () => this.move(this.current - 1),
			ArrowUp: () => this.move(this.current - 1),
			g: () => this.move(0),
			G: () => this.move(this.shown.length - 1),
			Enter: () => this.choose(this.current),
			"/": () => this.filter.focus(),
			r: () => this.load(),
		};
		acts[key]?.();
		return key in acts;
	}

	close() {
		this.list?.close();
	}
}
