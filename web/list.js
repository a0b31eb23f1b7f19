// The list of all runs, for the views that show many of them.

import { getJson } from "./api.js";

export function runOf(columns, values) {
	return Object.fromEntries(columns.map((name, i) => [name, values[i] ?? null]));
}

export async function loadRuns() {
	const { columns, runs } = await getJson("runs");
	return runs.map((values) => runOf(columns, values));
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
