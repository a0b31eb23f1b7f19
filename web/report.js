// The report of all runs, with its plots. A point, a bar or a cell leads to its runs.

import { follow } from "./api.js";
import { el, plainTable, say, tableCell } from "./dom.js";
import { loadRuns, runsAddress } from "./list.js";
import { legend, Plot } from "./plot.js";

export class ReportView {
	constructor(main) {
		this.main = main;
		this.plots = [];
	}

	static keys = [
		["Tab", "next plot or table"],
		["\u2190  \u2192", "previous and next point of a line"],
		["\u2191  \u2193", "previous and next line"],
		["Enter", "the runs of a point, a bar or a cell"],
		["u", "all runs"],
	];

	async open() {
		const runs = await loadRuns();
		this.tasks = new Set(runs.map((run) => run.task));
		this.models = new Map();
		for (const run of runs) {
			const model = run.model ?? "unknown";
			this.models.set(model, { model });
			// Reports name the agent too if runs have several.
			if (run.agent) this.models.set(`${model} (${run.agent})`, { model, agent: run.agent });
		}
		const doc = await new Promise((done) => {
			this.stop = follow("report", {}, { report: done, end: () => done(null) });
		});
		if (!this.closed) await this.show(doc);
		return ["Report", "#/report"];
	}

	// Adds a section with each frame, because the layout of all at once would make the page stutter.
	async show(doc) {
		// A note tells why a table has no rows.
		const tables = doc?.tables.filter((table) => table.rows.length || table.note) ?? [];
		const pictures = tables.filter((table) => table.figure);
		this.main.replaceChildren(
			el("h1", {}, "Report"),
			...(doc?.notes ?? []).map((note) => el("p", { class: "note" }, note)),
			...(tables.length ? [] : [el("p", {}, "There are no runs with an index to report.")]),
		);
		// The models are the first table.
		for (const table of new Set([...tables.slice(0, 1), ...pictures, ...tables])) {
			this.main.append(this.section(table));
			await new Promise(requestAnimationFrame);
			if (this.closed) return;
		}
		say(`${tables.length} tables, ${pictures.length} with a picture`);
	}

	// The address of the runs that names of a table mean. null: they mean no runs.
	address(...names) {
		const columns = {};
		for (const name of names) {
			if (this.tasks.has(name)) columns.task = name;
			else Object.assign(columns, this.models.get(name));
		}
		return Object.keys(columns).length ? runsAddress(columns) : null;
	}

	openRuns(...names) {
		const address = this.address(...names);
		if (address) location.hash = address;
		else say(`${names.at(-1)} has no runs of its own.`);
	}

	section(table) {
		const heading = `report-${table.id}`;
		return el(
			"section",
			{ class: "picture", "aria-labelledby": heading },
			el("h2", { id: heading }, table.title),
			table.note ? el("p", {}, table.note) : null,
			table.figure ? this.figure(table) : null,
			table.figure?.kind === "heat" || !table.rows.length ? null : el("details", { open: !table.figure }, el("summary", {}, "Table"), this.table(table)),
		);
	}

	table({ title, columns, rows, links }) {
		const runs = new Map(links.map(([row, column, id]) => [`${row}/${column}`, id]));
		const link = (text, ...names) => {
			const address = text && this.address(...names);
			return address ? el("a", { href: address }, text) : text;
		};
		// A cell belongs to the model of its column, or names a model itself.
		const cell = (cells, text, i) => {
			if (i === 0) return link(text, text);
			if (this.models.has(columns[i])) return link(text, cells[0], columns[i]);
			return this.models.has(text) ? link(text, cells[0], text) : text;
		};
		const linked = (cells, text, row, i) => {
			const id = runs.get(`${row}/${i}`);
			return id ? el("a", { href: `#/run/${id}` }, text) : cell(cells, text, i);
		};
		return plainTable(title, columns, rows.map((cells, row) => cells.map((text, i) => linked(cells, text, row, i))));
	}

	// --- pictures

	figure(table) {
		const draw = { lines: this.lines, points: this.lines, heat: this.heat, bars: this.bars };
		return draw[table.figure.kind].call(this, table, table.figure);
	}

	lines(table, figure) {
		const lines = figure.lines.map((line, style) => ({ ...line, style, sparse: line.x.length > 40 }));
		const plot = new Plot({
			label: table.title,
			x: figure.x,
			y: figure.y,
			lines,
			from: 0,
			right: figure.right,
			bottom: figure.bottom,
			points: figure.kind === "points",
			choose: (line) => this.openRuns(line.name),
		});
		this.plots.push(plot);
		const names = lines.map((line) => ({
			name: line.name,
			style: line.style,
			href: this.address(line.name),
			point: (on) => plot.showLine(on ? line : null),
		}));
		const hint = plot.hidesBands ? el("p", {}, "Point at a line or a name to see its band, or move to it by keys.") : null;
		return el("div", {}, plot.box, hint, legend(names, figure.kind === "lines"));
	}

	// A table whose cells are shaded from the row's worst to its best. Each shows its number.
	heat(table, figure) {
		const columns = table.columns.length - 1;
		const shade = (row, i) => {
			const value = figure.shades[row * columns + i];
			return value === null ? "heat" : `heat heat-${Math.round(Math.min(1, Math.max(0, value)) * 5)}`;
		};
		const cell = (row, cells, i) => {
			const text = cells[i + 1] || "\u2013";
			const address = cells[i + 1] ? this.address(cells[0], table.columns[i + 1]) : null;
			return el("td", { class: shade(row, i) }, address ? el("a", { href: address }, text) : text);
		};
		return el(
			"div",
			{ class: "wide", tabindex: "0", role: "region", "aria-label": `${table.title}, shaded` },
			el(
				"table",
				{ class: "heat-map" },
				el("thead", {}, el("tr", {}, table.columns.map((title) => tableCell("th", { scope: "col" }, title)))),
				el(
					"tbody",
					{},
					table.rows.map((cells, row) =>
						el("tr", {}, tableCell("th", { scope: "row" }, cells[0]), cells.slice(1).map((_, i) => cell(row, cells, i))),
					),
				),
			),
		);
	}

	bars(table, figure) {
		const value = (cells) => Number(cells[figure.column]) || 0;
		const most = Math.max(...table.rows.map(value), 0);
		const bar = (cells) =>
			el(
				"li",
				{},
				el("a", { href: this.address(cells[0]), title: cells[0] }, cells[0]),
				el("meter", { min: 0, max: most || 1, value: value(cells), "aria-label": cells[0] }),
				el("span", {}, cells[figure.column]),
			);
		return el("ul", { class: "bars" }, table.rows.map(bar));
	}

	key(key) {
		if (key !== "u") return false;
		location.hash = "#/";
		return true;
	}

	close() {
		this.closed = true;
		this.stop?.();
		for (const plot of this.plots) plot.close();
	}
}
