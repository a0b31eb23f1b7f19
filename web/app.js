// Finds the view that the address names, and gives it the keys.
//
//   #/                  all runs          #/?filter=WORDS&sort=COLUMN&columns=NAMES
//   #/run/ID            a run             #/run/ID/STEP
//   #/run/ID/STEP/files the files after a step, or #/run/ID/STEP/files/FILE/MODE
//   #/run/ID/STEP/conversation  the messages before it, or #/run/ID/STEP/conversation/MESSAGE
//   #/run/ID/STEP/task  the text of the task
//   #/compare/A/B/ROW   two runs          #/compare/A/B/ROW?by=score
//   #/task/NAME         runs of a task    #/task/NAME?scores=each
//   #/report            plots and tables of all runs
//   #/training          policies over their steps
//   #/live              the episode that a run with --web plays

import { Refusal, start } from "./api.js";
import { CompareView } from "./compare.js";
import { el, plain, say } from "./dom.js";
import { ReportView } from "./report.js";
import { RunView } from "./run.js";
import { RunsView } from "./runs.js";
import { LiveView } from "./takeover.js";
import { TaskView } from "./task.js";
import { TrainingView } from "./training.js";

const VIEWS = { compare: CompareView, live: LiveView, report: ReportView, run: RunView, task: TaskView, training: TrainingView };

const main = document.getElementById("main");
const trail = document.getElementById("trail");
const help = document.getElementById("help");
let view = null;

// What an address shows that leads nowhere.
class LostView {
	static keys = [["u", "all runs"]];

	constructor(why) {
		const sentence = `${why[0].toUpperCase()}${why.slice(1)}`.replace(/[^.]$/, "$&.");
		main.replaceChildren(el("h1", {}, "Not found"), el("p", {}, `${sentence} `, el("a", { href: "#/" }, "All runs")));
	}

	key(key) {
		if (key === "u") location.hash = "#/";
		return key === "u";
	}

	close() {}
}

async function show() {
	const [, path, query] = (location.hash || start).match(/^#?([^?]*)[?]?(.*)$/);
	const words = path.split("/").filter(Boolean);
	const step = Math.floor(Number(words[2])) || 0;
	const View = words.length ? VIEWS[words[0]] : RunsView;

	if (words[0] === "run" && view instanceof RunView && view.id === words[1] && view.run) {
		view.visit(step || 1, words.slice(3));
		return;
	}
	view?.close();
	view = null;
	main.replaceChildren(el("p", {}, "Loading\u2026"));
	trail.replaceChildren("");
	document.title = "Fumehood";
	say("");
	let shown = null;
	try {
		if (!View) throw new Refusal(`There is no view "${words[0]}" of the runs.`);
		shown = view = new View(main, ...words.slice(1).map(decodeURIComponent));
		const place = await shown.open(View === RunView ? step : query);
		if (view !== shown) return; // another view was opened meanwhile
		if (!place) return;
		trail.replaceChildren(el("a", { href: place[1] }, place[0]));
		document.title = `${plain(place[0])} - Fumehood`;
	} catch (error) {
		if (!(error instanceof Refusal || error instanceof URIError)) throw error;
		if (view !== shown) return;
		view?.close();
		view = new LostView(error.message);
	}
}

function showHelp() {
	const rows = [...(view?.keys ?? view?.constructor.keys ?? []), ["?", "this list"]];
	document
		.getElementById("help-keys")
		.replaceChildren(
			...rows.map(([keys, text]) =>
				el("div", {}, el("dt", {}, keys.split("  ").map((key) => el("kbd", {}, key))), el("dd", {}, text)),
			),
		);
	help.showModal();
}

document.addEventListener("keydown", (event) => {
	if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
	if (event.target.closest("input, select, textarea, dialog")) return;
	// A focused button or link takes Enter itself. A focused step scrolls by arrows.
	if (event.key === "Enter" && event.target.closest("button, a, summary")) return;
	if (event.key.startsWith("Arrow") && event.target.closest(".detail")) return;
	say("");
	if (event.key === "?") showHelp();
	else if (!view?.key(event.key)) return;
	event.preventDefault();
});

document.getElementById("help-button").addEventListener("click", showHelp);
addEventListener("hashchange", show);
show();
