// The list of all runs, for the views that show many of them.

import { getJson, isExport } from "./api.js";

// Makes the class of runs, with a property for each column. A run keeps the array that the server
// sent, because to copy thousands of runs would make the page stutter.
function runClass(columns) {
	class Run {
		constructor(values) {
			this.values = values;
		}
	}
	// What a run without an end is at, and why nothing of a record can be read.
	const others = { exit_status: columns.indexOf("going"), damage: columns.indexOf("problem") };
	columns.forEach((name, i) =>
		Object.defineProperty(Run.prototype, name, {
			get() {
				return this.values[i] ?? this.values[others[name]] ?? null;
			},
			set(value) {
				this.values[i] = value;
			},
		}),
	);
	return Run;
}

let Run = null; // a server always has the same columns
let known = { version: 0, runs: [] };

// Gives all runs, in the order of their paths. The server tells only those that have changed since
// the last call. The array is the same one if none has.
export async function loadRuns() {
	const before = known;
	const { version, columns, places, runs } = await getJson("runs", before.version ? { since: before.version } : {});
	await new Promise((done) => setTimeout(done)); // a task of its own to parse thousands of runs
	if (known !== before) return loadRuns(); // another call was faster
	Run ||= runClass(columns);
	let all = before.runs;
	if (!places) {
		all = runs.map((values) => new Run(values));
	} else if (places.length) {
		all = [...all];
		const ids = new Set(all.map((run) => run.id));
		places.forEach((place, i) => {
			const run = new Run(runs[i]);
			all.splice(place, ids.has(run.id) ? 1 : 0, run);
		});
	}
	known = { version: isExport ? 0 : version, runs: all };
	return all;
}

// The address of the table with the runs that fit all of these columns.
export function runsAddress(columns) {
	const words = Object.entries(columns).map(([name, value]) => `${name}=${/[\s"]/.test(value) ? `"${value}"` : value}`);
	return `#/?${new URLSearchParams({ filter: words.join(" ") })}`;
}

export const taskAddress = (task) => `#/task/${encodeURIComponent(task)}`;

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// Value below which a share of the values lies. They are sorted.
export function quantile(values, share) {
	const at = (values.length - 1) * share;
	const low = Math.floor(at);
	return values[low] + (values[Math.min(low + 1, values.length - 1)] - values[low]) * (at - low);
}

export function groupBy(items, key) {
	const groups = new Map();
	for (const item of items) {
		const name = key(item);
		if (!groups.has(name)) groups.set(name, []);
		groups.get(name).push(item);
	}
	return groups;
}
