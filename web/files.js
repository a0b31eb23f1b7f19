// Shows the files of a run as they were after a step, and what changed in them.

import { getJson } from "./api.js";
import { diff, hunks } from "./diff.js";
import { el, say } from "./dom.js";
import { textNodes } from "./text.js";

const LINES_SHOWN = 1000;
const LINE_CHARS = 2000;
const UNKNOWN = "\0"; // a line that no step showed; recorded lines are never this one alone

const MODES = [
	["text", "Text"],
	["step", "Change in this step"],
	["start", "Change since the start"],
];

const countLines = (n) => `${n} line${n === 1 ? "" : "s"}`;

function versionOf([step, how, lines, unknown, shown, doubt]) {
	return { step, how, lines, unknown, shown, doubt };
}

const hasText = (v) => v.how !== "removed" && v.how !== "data";

// True if an output shows that the file had this whole text after the step, or a replay had it.
function isExact(v, step) {
	const isCertain = !v.doubt || v.doubt > step;
	if (v.how === "replayed") return isCertain;
	return !v.unknown && v.shown > 0 && (v.shown >= step || isCertain);
}

// True if the run made the file. Otherwise its first text is that of the start.
const isMade = ({ how, step }) => ["created", "written", "copied"].includes(how) || (how === "replayed" && step > 0);

// Sentences that tell how the text is known.
function sources(file, index, step) {
	const v = file.versions[index];
	const made = {
		shown: index ? `It had changed before step ${v.step} showed it.` : `Step ${v.step} showed it first.`,
		created: `Step ${v.step} created it.`,
		edited: `Step ${v.step} edited it.`,
		written: `The command of step ${v.step} wrote it.`,
		copied: `The command of step ${v.step} copied or moved it here.`,
		removed: v.doubt ? `It was gone after step ${v.step} of a replay.` : `The command of step ${v.step} removed it.`,
		replayed: v.step ? `Step ${v.step} of a replay made this text.` : "A replay began with this text.",
		data: `After step ${v.step} of a replay it was no text, or had over 1 MiB.`,
	};
	const out = [made[v.how]];
	if (v.doubt && v.doubt <= step && v.how === "replayed") out.push(`The replay differs from the run since step ${v.doubt}, or ended there.`);
	if (!hasText(v) || v.how === "replayed") return out;
	if (v.shown > step) out.push(`Step ${v.shown} showed the same text later.`);
	else if (v.shown && (v.how !== "shown" || v.shown !== v.step)) out.push(`Step ${v.shown} showed all of it.`);
	if (!v.shown && !v.unknown) out.push("No step showed all of it.");
	if (v.unknown) out.push(`No step showed ${v.unknown} of its ${v.lines} lines.`);
	if (v.doubt && v.doubt <= step && v.shown < step)
		out.push(`The command of step ${v.doubt} may have changed it since. So may later ones: from step ${v.doubt} on the text is rebuilt.`);
	return out;
}

function nodesOf(text) {
	if (text === UNKNOWN) return [el("span", { class: "unknown" }, "not known")];
	if (text.length <= LINE_CHARS) return [textNodes(text)];
	return [
		textNodes(text.slice(0, LINE_CHARS)),
		el("span", { class: "unknown" }, `\u2026 ${text.length - LINE_CHARS} more characters`),
	];
}

function rowOf(row) {
	if (row.gap) return el("div", { class: "gap" }, `${countLines(row.gap)} without changes`);
	const kind = { "+": "added", "-": "removed", " ": "same" }[row.sign];
	return el(
		"div",
		{ class: `line line-${kind}` },
		el("span", { class: "line-number" }, String(row.b ?? row.a)),
		el("span", { class: "line-sign" }, row.sign),
		el("span", { class: "line-text" }, nodesOf(row.text)),
	);
}

// Shows rows, at first only some.
function linesBox(rows, label) {
	const box = el("div", { class: "text lines", dir: "ltr", role: "group", "aria-label": label, tabindex: "0" });
	const whole = el("div", { class: "block" }, box);
	let shown = 0;
	const button = el("button", { type: "button", class: "more", click: () => more() });
	const more = () => {
		box.append(...rows.slice(shown, shown + LINES_SHOWN).map(rowOf));
		shown += LINES_SHOWN;
		if (shown >= rows.length) button.remove();
		else button.textContent = `Show more of ${rows.length} lines`;
	};
	if (rows.length > LINES_SHOWN) whole.append(button);
	more();
	return whole;
}

export class FilesPane {
	constructor(run, box, changed) {
		Object.assign(this, { run, box, changed, mode: "step", chosen: null, texts: new Map(), list: null });
	}

	clear() {
		this.list = null;
		this.texts.clear();
	}

	// Takes and gives the end of an address: the file's number, and the mode.
	setPlace([file, mode]) {
		if (/^\d+$/.test(file)) this.chosen = Number(file);
		if (MODES.some(([name]) => name === mode)) this.mode = mode;
	}

	get place() {
		return this.chosen === null ? "" : `/${this.chosen}/${this.mode}`;
	}

	async text(file, version) {
		const key = `${file}/${version}`;
		if (!this.texts.has(key)) {
			const { text, lines, holes } = await getJson("file", { run: this.run, file, version });
			const list = text.split("\n").slice(0, lines);
			for (const [first, end] of holes) list.fill(UNKNOWN, first, end);
			this.texts.set(key, list);
		}
		return this.texts.get(key);
	}

	// Finds the file that the pane shows: the chosen one, or the one that changed last.
	find(step) {
		const at = (file) => file.versions.findLastIndex((v) => v.step <= step);
		const known = this.list.files.map((file, number) => ({ file, number, at: at(file) })).filter((f) => f.at >= 0);
		const newest = (a, b) => (b.file.versions[b.at].step > a.file.versions[a.at].step ? b : a);
		const shown = known.find((f) => f.number === this.chosen) ?? (known.length ? known.reduce(newest) : null);
		return { known, shown };
	}

	// `wanted` tells whether the files are still to be shown when they are there.
	async show(step, wanted = () => true) {
		this.step = step;
		// Until there is a replay, each step may find one.
		if (!this.list || this.list.steps < step || this.list.record) {
			const list = await getJson("files", { run: this.run });
			if (list.replayed !== this.list?.replayed) this.texts.clear();
			this.list = { ...list, files: list.files.map((f) => ({ path: f.path, versions: f.versions.map(versionOf) })) };
		}
		const { known, shown } = this.find(step);
		const body = shown ? await this.body(shown, step) : [el("p", {}, "No step so far showed or made a file.")];
		if (this.step !== step || !wanted()) return;
		this.box.replaceChildren(
			el("h2", {}, `Files after step ${step}`),
			known.length ? this.controls(known, shown, step) : "",
			this.hint(),
			...body,
			this.note(),
		);
	}

	// Tells the command after which all texts are known.
	hint() {
		const { record } = this.list;
		if (!record) return "";
		const path = /^[\w./+=:@-]+$/.test(record) ? record : `'${record.replaceAll("'", "'\\''")}'`;
		const command = `fumehood replay --files ${path}`;
		const copy = () =>
			navigator.clipboard.writeText(command).then(
				() => say("The command is copied."),
				() => say("The browser does not let this page copy. Select the command."),
			);
		return el(
			"details",
			{},
			el("summary", {}, "How to see what programs changed"),
			el("p", {}, "This command plays the run again in a sandbox, and notes all texts after each step. They appear here then."),
			record.endsWith("events.jsonl") ? "" : el("p", {}, "A task of MLGym's needs --mlgym-root DIR too, the checkout of MLGym."),
			el("pre", { class: "text", dir: "ltr", tabindex: "0" }, textNodes(command)),
			el("button", { type: "button", click: copy }, "Copy the command"),
		);
	}

	// Tells where the texts come from.
	note() {
		const { full, replayed } = this.list;
		return el(
			"p",
			{ class: "note" },
			replayed === undefined
				? "Texts come from the edits in the record, and from what its steps showed. Programs that change files without showing them are not followed."
				: `Texts of the workspace come from a replay up to step ${replayed}. Others come from the edits in the record, and from what its steps showed.`,
			full ? " The run has too many files, or too large ones: some texts are left out." : "",
		);
	}

	controls(known, shown, step) {
		const nameOf = ({ file, at }) => {
			const v = file.versions[at];
			const how = { shown: "seen", replayed: "changed", data: "no text since" }[v.how] ?? v.how;
			return `${file.path} (${v.step ? `${how} in step ${v.step}` : "of the start"}${v.step === step ? ", this one" : ""})`;
		};
		return el(
			"div",
			{ class: "jumps" },
			el(
				"select",
				{ "aria-label": "File", change: (event) => this.choose(Number(event.target.value)) },
				known.map((f) => el("option", { value: f.number, selected: f === shown }, nameOf(f))),
			),
			MODES.map(([mode, name]) =>
				el(
					"button",
					{ type: "button", "aria-pressed": String(mode === this.mode), click: () => this.setMode(mode) },
					name,
				),
			),
		);
	}

	async body({ file, number, at }, step) {
		const v = file.versions[at];
		const exact = isExact(v, step);
		const known = el(
			"p",
			{ class: "known" },
			!hasText(v) ? "" : el("strong", { class: exact ? "exact" : "rebuilt" }, exact ? "Exact" : v.how === "replayed" ? "Replayed" : "Rebuilt"),
			` ${sources(file, at, step).join(" ")}`,
		);
		const now = hasText(v) ? await this.text(number, at) : [];
		if (this.mode === "text") {
			const rows = now.map((text, i) => ({ sign: " ", text, b: i + 1 }));
			return [known, linesBox(rows, file.path)];
		}
		const from = this.mode === "start" ? 0 : file.versions.findLastIndex((w) => w.step < step);
		if (this.mode === "step" && from === at) {
			const jump = v.step ? el("button", { type: "button", click: () => this.changed(v.step) }, `Go to step ${v.step}`) : "";
			const sentence = v.how === "replayed" && exact ? "This step did not change the file. " : "This step did not change the file, as far as is known. ";
			return [known, el("p", {}, sentence, jump)];
		}
		const made = isMade(file.versions[0]);
		if (from < 0 && !made) return [known, el("p", {}, "No step before showed the file.")];
		const old = from < 0 || (this.mode === "start" && made) ? null : file.versions[from];
		const before = old && hasText(old) ? await this.text(number, from) : [];
		const rows = hunks(diff(before, now));
		const count = (sign) => rows.filter((row) => row.sign === sign).length;
		if (!count("+") && !count("-")) return [known, el("p", {}, "The text is the same.")];
		const since = !old ? "in a new file" : old.step ? `since step ${old.step}` : "since the start";
		return [
			known,
			el("p", {}, `${countLines(count("+"))} added and ${count("-")} removed ${since}.`),
			linesBox(rows, `Changes of ${file.path}`),
		];
	}

	// Chooses the file that stands `by` places after the shown one. This and the modes do nothing
	// until the list is there.
	turn(by) {
		if (!this.list) return;
		const { known, shown } = this.find(this.step);
		const next = known[known.indexOf(shown) + by];
		if (next) this.choose(next.number);
		else say("There is no file in this direction.");
	}

	choose(number) {
		this.chosen = number;
		this.changed(this.step);
	}

	setMode(mode) {
		if (!this.list) return;
		const { shown } = this.find(this.step);
		this.mode = mode;
		if (shown) this.choose(shown.number);
	}

	nextMode() {
		this.setMode(MODES[(MODES.findIndex(([mode]) => mode === this.mode) + 1) % MODES.length][0]);
	}
}
