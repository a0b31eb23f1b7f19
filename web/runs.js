// The table of all runs.

import { follow, hasSteps, isExport, takeHeldSteps } from "./api.js";
import { el, say, VirtualList } from "./dom.js";
import { COLUMNS, filterOf, lackOf, mistakeOf, textOf, wordsOf } from "./filter.js";
import { hasText } from "./find.js";
import { loadRuns, taskAddress } from "./list.js";

const ROW_HEIGHT = 30;
const STACKED_HEIGHT = 46; // the name has a line of its own
const LIVE_MS = 2000;
const SEARCH_MS = 300; // typing rests this long before the steps are searched

const LETTER_CH = 0.9; // width of a letter of a name, in widths of a digit

const FITTED = ["task", "model", "agent", "exit_status", "metric"];
const PRESET = ["name", "task", "model", "exit_status", "steps", "best", "baseline", "cost", "seconds", "failed"];
const NARROW = ["name", "task", "model", "best"];
const POLICY = ["policy_step", "reward"]; // also shown if a run is an episode of a policy

// Reasons why a column has no value in a row.
const MISSING = {
	exit_status: "The run goes on, or was cut off.",
	best: "No step has a score.",
	last: "No step has a score.",
	cost: "The record has no cost, or no price of the model was known.",
	seconds: "The record has no times.",
	failed: "The record has no exit codes.",
	policy_step: "The run is no episode of a policy.",
	damage: "All of the record can be read.",
};

// Reason why a run of which only results.json is left has no value in most columns.
const MISSING_RESULTS = "Only results.json is left of the run.";

// Shows a name. If it is too long, its end stays, because it tells runs apart.
function nameParts(name) {
	const run = name.lastIndexOf("_run_");
	const at = run > 0 ? run : name.length - 12;
	if (name.length <= 20) return el("span", { class: "name-tail" }, name);
	return [el("span", { class: "name-head" }, name.slice(0, at)), el("span", { class: "name-tail" }, name.slice(at))];
}

const cellClass = (name, format) => `cell${format ? " cell-number" : name === "name" ? " cell-name" : ""}`;

// Searches the steps that an exported page holds, as the server does.
async function searchHeld(text, { found, end }) {
	await takeHeldSteps((id, steps) => found(steps.some((step) => hasText(step, text)) ? [id] : []));
	end();
}

const natural = new Intl.Collator(undefined, { numeric: true });

function compareBy(name, sign) {
	return (a, b) => {
		const x = a[name] ?? null;
		const y = b[name] ?? null;
		if (x === null || y === null) return (x === null) - (y === null);
		return sign * (typeof x === "string" ? natural.compare(x, y) : x - y);
	};
}

let opened = null; // the run that was opened last: the table shows it again

export class RunsView {
	constructor(main) {
		this.main = main;
		this.runs = [];
		this.shown = [];
		this.chosen = opened;
		this.found = new Map(); // searches of texts in steps, by their texts
		this.searches = [];
	}

	static keys = [
		["j  k", "next and previous run"],
		["g  G", "first and last run"],
		["Enter", "open the run"],
		["/", "filter"],
		["s", "sort by the next column"],
		["c", "mark the run; c on a second run compares the two"],
		["t", "the picture of the run's task"],
		["o", "the report of all runs"],
		["p", "the training of a policy"],
		["r", "look for new runs"],
	];

	async open(query) {
		this.address = location.hash;
		this.query = new URLSearchParams(query);
		this.sort = this.query.get("sort") ?? "";
		this.narrow = matchMedia("(max-width: 700px)");
		this.narrow.onchange = () => this.apply();
		this.pick(this.query.get("columns")?.split(",") ?? []);
		this.filter = el("input", {
			type: "search",
			placeholder: "Filter: words, task:titanic, best>0.8 ( / )",
			"aria-label": "Filter",
			value: this.query.get("filter") ?? "",
			input: () => this.look(),
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
		this.list.box.addEventListener("click", (event) => this.clickMarks(event), { capture: true });
		this.head = el("div", { class: "table-head" });
		this.training = el("a", { class: "button", href: "#/training", hidden: true }, "Training");
		this.main.replaceChildren(
			el("h1", {}, "Runs"),
			el("div", { class: "jumps" }, this.filter, this.columnsMenu(), this.buttons()),
			(this.empty = el("p", { hidden: true }, "There are no runs yet. They appear here when they begin.")),
			(this.table = el("div", { class: "runs", pointerdown: () => (this.menu.open = false) }, this.head, this.list.box)),
		);
		await this.load();
		this.list.setCurrent(this.list.current);
		if (!isExport) this.follow();
		return null;
	}

	// Takes the columns of an address. Names that are unknown are left out.
	pick(names) {
		const known = names.filter((name) => COLUMNS.some(([column]) => column === name));
		const unknown = names.filter((name) => !known.includes(name));
		this.picked = known.length ? known : null;
		this.ignored = unknown.length ? `There is no column "${unknown.join('", "')}" to show.` : "";
	}

	async load() {
		this.take(await loadRuns());
		this.found.clear();
		if (!this.closed) this.look();
	}

	// Applies the filter, and searches the steps for its texts once typing rests.
	look() {
		clearTimeout(this.typing);
		this.typing = setTimeout(() => this.searchSteps(), SEARCH_MS);
		this.apply();
	}

	// Texts of the filter that are looked for in steps.
	texts() {
		return wordsOf(this.filter.value).map(textOf).filter(Boolean);
	}

	searchSteps() {
		if (!hasSteps) return;
		for (const text of this.texts()) if (!this.found.has(text)) this.searchFor(text);
	}

	// Searches the steps of all runs. `searched` counts the runs that were searched so far.
	searchFor(text) {
		const search = { ids: new Set(), searched: 0, outcome: null };
		const tell = () => this.closed || this.tell();
		const finish = (outcome) => {
			search.outcome = outcome;
			tell();
		};
		const takes = {
			found: (more) => {
				for (const id of more) search.ids.add(id);
				if (more.length && !this.closed) this.apply();
			},
			searched: (n) => {
				search.searched = n;
				tell();
			},
			end: () => finish("over"),
			refused: () => finish("refused"),
		};
		this.found.set(text, search);
		if (isExport) searchHeld(text, takes);
		else this.searches.push(follow("search", { text }, takes));
	}

	// Tells how many runs are shown, and why these may not be all, or none.
	tell() {
		const searches = this.texts().map((text) => this.found.get(text) ?? { searched: 0, outcome: null });
		const open = searches.find((search) => !search.outcome);
		const count = `${this.shown.length} of ${this.runs.length} runs`;
		let more = "";
		if (searches.length && !hasSteps) more = "This page was exported without steps, so their texts can't be searched.";
		else if (searches.some((search) => search.outcome === "refused")) more = "The server can't search for this text.";
		else if (open) more = `Searching their steps: ${open.searched} of ${this.runs.length} runs so far.`;
		else if (!this.shown.length) more = mistakeOf(this.filter.value, this.runs);
		more ||= this.lack || this.ignored;
		say(more ? `${count}. ${more}` : count);
	}

	take(runs) {
		this.runs = runs;
		for (const run of runs) {
			const inSteps = run.tool_s + run.graded_s;
			if (run.seconds !== null || !inSteps) continue;
			run.seconds = inSteps;
			run.is_partly_timed = true;
		}
		this.decimals = runs.some((run) => run.cost > 0 && run.cost < 0.1) ? 4 : 2;
		this.longest = new Map(FITTED.map((name) => [name, runs.reduce((most, run) => Math.max(most, run[name]?.length ?? 0), 0)]));
		this.empty.hidden = runs.length > 0;
		this.table.hidden = !runs.length;
		this.training.hidden = !runs.some((run) => run.policy_step !== null);
	}

	buttons() {
		const button = (text, key, act) =>
			el("button", { type: "button", title: `${text} (${key})`, click: () => act(this.shown[this.list.current]) }, text);
		return [button("Compare", "c", (run) => this.mark(run)), button("Task", "t", (run) => this.picture(run)), el("a", { class: "button", href: "#/report", title: "Report (o)" }, "Report"), this.training];
	}

	// --- columns

	get preset() {
		return [...(this.narrow.matches ? NARROW : PRESET), ...(this.hasPolicy ? POLICY : [])];
	}

	get columns() {
		return this.picked ?? this.preset;
	}

	columnsMenu() {
		this.boxes = new Map(
			COLUMNS.map(([name]) => [name, el("input", { type: "checkbox", change: (event) => this.setColumn(name, event.target.checked) })]),
		);
		const labels = COLUMNS.map(([name, title]) => el("label", {}, this.boxes.get(name), title));
		this.menu = el(
			"details",
			{ class: "columns", keydown: (event) => event.key === "Escape" && this.closeMenu() },
			el("summary", {}, "Columns"),
			el("div", {}, labels),
		);
		return this.menu;
	}

	closeMenu() {
		this.menu.open = false;
		this.menu.querySelector("summary").focus();
	}

	setColumn(name, wanted) {
		const now = new Set(this.columns);
		if (wanted) now.add(name);
		else now.delete(name);
		this.picked = COLUMNS.map(([column]) => column).filter((column) => now.has(column));
		this.apply();
	}

	used() {
		return COLUMNS.filter(([name]) => this.columns.includes(name));
	}

	drawHead() {
		const stacked = this.narrow.matches && this.columns.includes("name") && this.columns.length > 1;
		const rest = stacked ? this.used().slice(1) : this.used(); // the name comes first
		const fitted = (name, title, most) => Math.min(most, Math.max((this.longest.get(name) ?? most) * LETTER_CH, title.length + 2));
		const width = ([name, title, most, format]) => {
			if (name === "name") return `minmax(${most}ch, 1fr)`; // room for "_run_0" and the record's name
			if (name === "exit_status") return `${fitted(name, title, most)}ch`; // its end is the reason
			return format ? `minmax(0, ${most}ch)` : `minmax(4ch, ${fitted(name, title, most)}ch)`;
		};
		const widths = rest.map(width);
		this.main.style.setProperty("--columns", widths.join(" "));
		this.table.classList.toggle("runs-stacked", stacked);
		this.list.height = stacked ? STACKED_HEIGHT : ROW_HEIGHT;
		for (const [name, box] of this.boxes) box.checked = this.columns.includes(name);
		const arrow = (name) => (this.sort === name ? " \u25b2" : this.sort === `-${name}` ? " \u25bc" : "");
		this.head.replaceChildren(
			...this.used().map(([name, title, , format]) =>
				el("button", { type: "button", class: cellClass(name, format), click: () => this.sortBy(name), "aria-label": `Sort by ${title}` }, title + arrow(name)),
			),
		);
	}

	sortBy(name) {
		this.sort = this.sort === name ? `-${name}` : name;
		this.apply();
	}

	titleOf(run, name, value, text) {
		if (value === null && run.name.endsWith("results.json")) return MISSING_RESULTS;
		if (value === null) return MISSING[name] ?? "The record does not tell it.";
		return name === "seconds" && run.is_partly_timed ? `${text} in steps. The record has no other times.` : text;
	}

	makeRow(run) {
		const warned = this.columns.includes("exit_status") ? "exit_status" : "name"; // the column with the sign of damage
		const cell = ([name, , , format]) => {
			const value = run[name] ?? null;
			const plain = value === null ? "\u2013" : format ? format(value, this.decimals) : value;
			const damaged = name === warned && run.damage;
			const sign = damaged ? "\u26a0 " : "";
			const ended = value === null ? "" : `${plain}. `;
			const title = damaged ? `${ended}Not all of the record can be read: ${run.damage}` : this.titleOf(run, name, value, plain);
			return el("span", { class: cellClass(name, format), dir: "ltr", title }, ...(name === "name" ? [sign, nameParts(plain)] : [sign + plain]));
		};
		return el("div", { class: run.id === this.marked ? "row row-run row-marked" : "row row-run" }, this.used().map(cell));
	}

	// --- what is shown

	apply() {
		const words = wordsOf(this.filter.value).map((word) => [word, lackOf(word, this.runs)]);
		this.lack = words.find(([, lack]) => lack)?.[1] ?? "";
		this.shown = this.runs.filter(filterOf(words.filter(([, lack]) => !lack).map(([word]) => word), this.found));
		if (this.sort) this.shown.sort(compareBy(this.sort.replace(/^-/, ""), this.sort[0] === "-" ? -1 : 1));
		this.hasPolicy = this.shown.some((run) => run.policy_step !== null);
		this.drawHead();
		this.list.setCount(this.shown.length);
		const at = this.shown.findIndex((run) => run.id === this.chosen);
		this.list.setCurrent(at < 0 ? 0 : at, false);
		this.tell();
		for (const [name, value] of [
			["filter", this.filter.value],
			["sort", this.sort],
			["columns", `${this.preset}` === `${this.columns}` ? "" : this.columns.join(",")],
		]) {
			if (value) this.query.set(name, value);
			else this.query.delete(name);
		}
		if (location.hash !== this.address) return; // it leads elsewhere already, where the next view is about to open
		history.replaceState(null, "", `#/${this.query.size ? `?${this.query}` : ""}`);
		this.address = location.hash;
	}

	// Runs that go on move.
	follow() {
		this.timer = setTimeout(async () => {
			try {
				if (!document.hidden) await this.loadChanged();
			} catch (error) {
				say(`The server does not answer: ${error.message}`);
			}
			if (!this.closed) this.follow();
		}, LIVE_MS);
	}

	async loadChanged() {
		const runs = await loadRuns();
		if (this.closed || runs === this.runs) return;
		this.take(runs);
		this.apply();
	}

	choose(index) {
		if (!this.shown[index]) return;
		opened = this.shown[index].id;
		location.hash = `#/run/${opened}`;
	}

	// Marks a run for a comparison. The second one that is marked opens it.
	mark(run) {
		if (!run) return;
		if (this.marked && this.marked !== run.id) {
			location.hash = `#/compare/${this.marked}/${run.id}`;
			return;
		}
		this.marked = this.marked ? null : run.id;
		this.list.setCount(this.shown.length);
		this.list.setCurrent(this.list.current, false);
		say(this.marked ? `${run.name} is marked. Choose another run and press c to compare them.` : "No run is marked.");
	}

	clickMarks(event) {
		const row = event.target.closest("[data-index]");
		if (!event.shiftKey || !row) return;
		event.stopPropagation();
		this.mark(this.shown[Number(row.dataset.index)]);
	}

	picture(run) {
		if (run?.task) location.hash = taskAddress(run.task);
		else say("The run names no task.");
	}

	move(to) {
		const index = Math.max(0, Math.min(this.shown.length - 1, to));
		this.chosen = this.shown[index]?.id;
		this.list.setCurrent(index);
		this.tell();
	}

	key(key) {
		const at = this.list.current;
		const names = this.used().map(([name]) => name);
		const acts = {
			j: () => this.move(at + 1),
			ArrowDown: () => this.move(at + 1),
			k: () => this.move(at - 1),
			ArrowUp: () => this.move(at - 1),
			g: () => this.move(0),
			G: () => this.move(this.shown.length - 1),
			Enter: () => this.choose(at),
			"/": () => this.filter.focus(),
			s: () => this.sortBy(names[(names.indexOf(this.sort.replace(/^-/, "")) + 1) % names.length]),
			r: () => this.load(),
			c: () => this.mark(this.shown[at]),
			t: () => this.picture(this.shown[at]),
			o: () => (location.hash = "#/report"),
			p: () => (location.hash = "#/training"),
		};
		acts[key]?.();
		return key in acts;
	}

	close() {
		this.closed = true;
		clearTimeout(this.timer);
		clearTimeout(this.typing);
		if (this.narrow) this.narrow.onchange = null;
		for (const stop of this.searches) stop();
		this.list?.close();
	}
}
