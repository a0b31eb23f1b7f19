// The columns of the table of runs, and its filter.

import { number, seconds } from "./step.js";
import { size } from "./text.js";

const date = (text) => (text ? text.slice(0, 16).replace("T", " ") : "");

// Columns: the name in the index, the title, the most characters, and how a number is shown. The
// name takes the width that others leave.
export const COLUMNS = [
	["name", "Run", 16],
	["task", "Task", 32],
	["model", "Model", 40],
	["agent", "Agent", 24],
	["exit_status", "Ended", 36],
	["steps", "Steps", 5, String],
	["best", "Best", 8, number],
	["last", "Last", 8, number],
	["baseline", "Baseline", 8, number],
	["metric", "Metric", 16],
	["cost", "Cost", 7, (v, decimals) => `$${v.toFixed(decimals)}`],
	["tokens_sent", "Sent", 8, String],
	["tokens_received", "Received", 9, String],
	["seconds", "Time", 11, seconds],
	["failed", "Errors", 6, String],
	["timeouts", "Timeouts", 9, String],
	["format_errors", "Formats", 8, String],
	["integrity", "Tampering", 10, String],
	["policy_step", "Policy step", 11, String],
	["reward", "Reward", 9, number],
	["bytes", "Size", 9, size],
	["started", "Started", 16, date],
	["damage", "Damage", 30],
];

export function wordsOf(text) {
	return (text.toLowerCase().match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []).map((quoted) => quoted.replaceAll('"', ""));
}

// The texts of a run that a plain word is looked for in.
function plainText(run) {
	run.text = run.text ?? [run.name, run.task, run.model, run.agent, run.exit_status].join(" ").toLowerCase();
	return run.text;
}

export const textOf = (word) => word.match(/^text:(.+)$/)?.[1];

// The name of a column in a filter, beside that in the index.
const wordOf = (title) => title.toLowerCase().replace(" ", "_");

const columnOf = (name) => COLUMNS.find(([column, title]) => column === name || wordOf(title) === name)?.[0];

// Splits a word such as "best>0.5". `column` is undefined if there is none of this name.
function conditionOf(word) {
	const [, name, sign, value] = word.match(/^([a-z_]+)(<=|>=|<|>|=|:)(.+)$/) ?? [];
	return { name, column: columnOf(name), sign, value };
}

// Tells what a half typed word lacks to be a condition: a value, or a sign after the name of a
// column. Such words leave the table as it is. "": the word is whole.
export function lackOf(word, runs) {
	const [, name, sign, value] = word.match(/^([a-z_]+)(<=|>=|<|>|=|:)?(.*)$/) ?? [];
	const isNumberBegun = sign && "<>".includes(sign[0]) && isNaN(value) && !isNaN(`${value}0`);
	if (sign && (name === "text" || columnOf(name)) && (!value || isNumberBegun)) return `Type a value after "${word}".`;
	if (!name || sign || value || runs.some((run) => plainText(run).includes(word))) return "";
	const column = COLUMNS.map(([, title]) => wordOf(title)).find((title) => title.startsWith(name));
	return column ? `No run has this text. For the column type ${column}=VALUE, < or >.` : "";
}

// Makes a test of the filter's whole words. "best>0.5" compares a column; another word is looked for
// in all texts of a run. "text:word" is looked for in the texts of steps: `found` has, for each
// such text, its search.
export function filterOf(words, found) {
	const tests = words
		.map((word) => {
			if (textOf(word)) return (run) => found.get(textOf(word))?.ids.has(run.id);
			const { column: name, sign, value } = conditionOf(word);
			if (!name) return (run) => plainText(run).includes(word);
			if (sign === ":") return (run) => String(run[name] ?? "").toLowerCase().includes(value);
			const compare = {
				"<": (v) => v < value,
				">": (v) => v > value,
				"<=": (v) => v <= value,
				">=": (v) => v >= value,
				"=": (v) => String(v).toLowerCase() === value,
			};
			return (run) => run[name] !== null && compare[sign](run[name]);
		});
	return (run) => tests.every((test) => test(run));
}

// Tells why a filter can fit no run: it names an unknown column, or compares numbers with a text. A
// word such as "openai:m" is no mistake, as long as runs have it.
export function mistakeOf(text, runs) {
	for (const word of wordsOf(text)) {
		const { name, column, sign, value } = conditionOf(word);
		if (!name || textOf(word)) continue;
		if (!column && !runs.some((run) => plainText(run).includes(word)))
			return `There is no column "${name}", only ${COLUMNS.map(([, title]) => wordOf(title)).join(", ")}, and text for steps.`;
		if ("<>".includes(sign[0]) && isNaN(value) && runs.some((run) => typeof run[column] === "number")) return `"${value}" is not a number.`;
	}
	return "";
}
