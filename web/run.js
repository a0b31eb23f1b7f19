// The view of a run: its facts, the curve of its scores, the timeline, and the chosen step.

import { getJson, hasSteps, isExport, Refusal, Steps } from "./api.js";
import { scoreChart } from "./chart.js";
import { conversation } from "./conversation.js";
import { breakable, el, say, VirtualList } from "./dom.js";
import { finalOf, runFacts, taskName } from "./facts.js";
import { FilesPane } from "./files.js";
import { StepSearch } from "./find.js";
import { elapsed, MARK, RunningStep, stepView } from "./step.js";
import { Controls } from "./takeover.js";
import { findText, textBlock } from "./text.js";
import { rowOf, runningRow, stepRow } from "./timeline.js";

const ROW_HEIGHT = 30;
const LIVE_MS = 1000;
const CONTROLLED_MS = 250;
const FAULTY = MARK.error | MARK.format | MARK.blocked;
const PLAY_MS = 1200;
const ONLY_RESULTS = "Only results.json is left of this run. It has the scores, but no steps.";

export class RunView {
	// `place` is the rest of the address, for visit().
	constructor(main, id, _step, ...place) {
		this.main = main;
		this.id = id;
		this.rows = [];
		this.showsFiles = false;
		this.reading = null; // "conversation" or "task", when it is shown in place of the step
		this.place = place;
		this.step = 0;
		this.asked = 0; // counts what was to be shown; an answer that comes too late is left out
		this.steps = new Steps(id);
		this.searched = new StepSearch(id);
	}

	static keys = [
		["j  k", "next and previous step"],
		["g  G", "first and last step"],
		["b", "best score"],
		["e  E", "next and previous error or rejected reply"],
		["w  W", "next and previous file edit"],
		["v  V", "next and previous score"],
		["n  N", "next and previous step by a person, or after a hint"],
		["f", "the files after the step, or the step again"],
		["[  ]", "previous and next file"],
		["d", "text of the file, change in the step, change since the start"],
		["p", "play the run step by step"],
		["m", "the conversation with the model, or the step again"],
		["t", "the text of the task, or the step again"],
		["/", "search the steps"],
		["Enter", "read the chosen step"],
		["u", "all runs"],
	];

	// Only those keys of the controls that do something now.
	get keys() {
		if (this.run?.results) return RunView.keys.filter(([key]) => key === "u");
		const acts = this.controls?.acts() ?? {};
		return [...RunView.keys, ...Controls.keys.filter(([key]) => key in acts)];
	}

	async open(step) {
		this.run = await getJson("run", { run: this.id });
		if (this.closed) return null;
		this.take(this.run.steps, 0);
		this.build();
		this.visit(step || (this.run.control || this.run.is_written ? this.last : 1), this.place);
		if (!this.run.whole && this.run.events && !isExport) this.wait();
		return [taskName(this.run) ?? this.run.name, `#/run/${this.id}`];
	}

	// The step that is being taken, or in which the run was cut. It has a row after the others, from
	// the first reply that is rejected on.
	get running() {
		const { live, faults = [] } = this.run;
		const acts = ["step", "grading"].includes(live?.phase);
		return acts || faults.length ? { ...(acts ? live : { seconds: live?.seconds }), faults } : null;
	}

	get last() {
		return this.rows.length + (this.running ? 1 : 0);
	}

	take(list, from) {
		this.rows.length = from;
		for (const item of list) this.rows.push(rowOf(item, this.rows.at(-1)));
	}

	// --- the page's parts

	build() {
		const hidden = Boolean(this.run.results); // there are no steps to show or to jump to
		this.list = new VirtualList({
			label: "Steps",
			height: ROW_HEIGHT,
			make: (index) => (index < this.rows.length ? stepRow(this.rows[index], index) : runningRow(this.running, index, this.run.is_written)),
			choose: (index) => this.go(index + 1),
		});
		this.search = el("input", {
			type: "search",
			placeholder: "Search steps ( / )",
			"aria-label": "Search steps",
			keydown: (event) => {
				if (event.key === "Enter") this.find(this.search.value, event.shiftKey ? -1 : 1);
				if (event.key === "Escape") this.list.box.focus();
			},
		});
		this.facts = el("div", { class: "run-facts" });
		this.now = el("span");
		this.chart = el("div", { class: "chart-box" });
		this.detail = el("div", { class: "detail", tabindex: "-1" });
		this.files = new FilesPane(this.id, this.detail, (step) => this.go(step));
		this.controls = new Controls(this.id, {
			// The page shows the next step when it is there.
			acted: (order) => {
				if (order === "act") this.go(this.last, false);
				this.follow();
			},
			left: () => this.list.box.focus(),
		});
		this.main.replaceChildren(
			el("h1", { class: "run-name" }, breakable(this.run.name)),
			this.facts,
			this.chart,
			el("div", { class: "jumps", hidden }, this.search, this.buttons()),
			el("div", { class: "run", hidden }, this.list.box, this.detail),
			hidden ? el("p", {}, ONLY_RESULTS) : "",
			this.controls.box,
		);
		this.update(true);
	}

	buttons() {
		const jump = (text, key, act) =>
			el("button", { type: "button", click: act, title: `${text} (${key})` }, text);
		return [
			jump("Best", "b", () => this.best()),
			jump("Next error", "e", () => this.jump(FAULTY, 1)),
			jump("Next file edit", "w", () => this.jump(MARK.edit, 1)),
			jump("Next score", "v", () => this.nextScore(1)),
			(this.filesButton = jump("Files", "f", () => this.toggleFiles())),
			(this.messagesButton = jump("Conversation", "m", () => this.toggleMessages())),
			(this.taskButton = jump("Task", "t", () => this.toggleTask())),
			(this.player = jump("Play", "p", () => this.play())),
		];
	}

	update(fresh) {
		const run = this.run;
		this.facts.replaceChildren(runFacts(run, this.rows, this.bestStep(), this.bestValidate(), this.now));
		this.draw();
		this.list.setCount(this.last, fresh);
		this.assignment = run.assignment ?? this.assignment;
		this.taskButton.hidden = !this.assignment;
		this.controls.show(run.control);
		this.showNow();
	}

	// Shows what the run is at.
	showNow() {
		const { going, live } = this.run;
		const sentence = live?.seconds === undefined ? going : `${going}, ${elapsed(live.seconds)}`;
		this.now.textContent = sentence ?? "";
		this.list.renew(this.rows.length);
		if (this.running) this.runningStep?.show(sentence, this.running);
	}

	draw() {
		const points = this.rows
			.map((row, index) => ({ step: index + 1, score: row.score, apart: Boolean(row.marks & MARK.final) }))
			.filter((point) => point.score !== null);
		this.chart.hidden = !points.length;
		if (!points.length) return;
		this.curve = scoreChart({
			points,
			steps: this.rows.length,
			baseline: this.run.baseline,
			minimize: this.run.minimize,
			metric: this.run.metric ?? "score",
			choose: (step) => this.go(step),
		});
		this.curve.move(this.step);
		this.chart.replaceChildren(this.curve.box);
	}

	// --- moving

	// Shows what an address names: a step, "files/FILE/MODE" after it, "conversation/MESSAGE" before
	// it, or the "task".
	visit(step, [show, ...place]) {
		this.showsFiles = show === "files";
		if (this.showsFiles) this.files.setPlace(place);
		this.go(step, step > this.last); // the last step gets its own address
		if (show === "conversation") this.showMessages(place[0] > 0 ? Number(place[0]) - 1 : undefined);
		if (show === "task") this.showTask();
		if (show && !["files", "conversation", "task"].includes(show)) say(`There is no view "${show}" of a step.`);
	}

	// Writes what is shown into the address.
	remember(place = "") {
		history.replaceState(null, "", `#/run/${this.id}/${this.step}${place}`);
	}

	// Goes to a step. A text that was searched for is shown in it.
	async go(step, remember = true, text = "") {
		const wanted = Math.max(1, Math.min(this.last, step));
		if (!this.last) {
			this.showTask();
			return;
		}
		const asked = ++this.asked;
		this.step = wanted;
		this.setReading(null);
		this.list.setCurrent(wanted - 1);
		this.curve?.move(wanted);
		if (remember) this.remember(this.showsFiles ? `/files${this.files.place}` : "");
		this.runningStep = wanted > this.rows.length ? new RunningStep(wanted) : null;
		if (this.runningStep) {
			this.showNow();
			this.detail.replaceChildren(this.runningStep.box);
			this.detail.scrollTop = this.detail.scrollHeight;
			return;
		}
		try {
			if (this.showsFiles) {
				await this.files.show(wanted, () => this.asked === asked);
				return;
			}
			const found = await this.steps.get(wanted);
			if (this.asked !== asked || this.closed) return;
			this.detail.replaceChildren(stepView(this.id, this.rows[wanted - 1], found));
			this.detail.scrollTop = 0;
			if (text) await findText(this.detail, text);
		} catch (error) {
			if (!(error instanceof Refusal)) throw error;
			this.detail.replaceChildren(el("p", {}, `This step can't be shown: ${error.message}`));
		}
	}

	// The step whose score is that of the run, or 0: the end if it was scored by other answers.
	bestStep() {
		const final = finalOf(this.rows);
		if (final === undefined) return this.bestValidate();
		return final === null ? 0 : this.rows.length;
	}

	// The step with the best score that no other answers gave, or 0.
	bestValidate() {
		let best = 0;
		this.rows.forEach((row, index) => {
			const before = best ? this.rows[best - 1].score : null;
			if (row.score === null || row.marks & MARK.final) return;
			if (before === null || (this.run.minimize ? row.score < before : row.score > before)) best = index + 1;
		});
		return best;
	}

	best() {
		const best = this.bestStep();
		if (best) this.go(best);
		else say(finalOf(this.rows) === null ? "The end has no score." : "No step has a score.");
	}

	// Goes to the next step in this direction for which the test holds.
	seek(direction, test, missing) {
		for (let i = this.step - 1 + direction; i >= 0 && i < this.rows.length; i += direction) {
			if (!test(this.rows[i])) continue;
			this.go(i + 1);
			return;
		}
		say(missing);
	}

	jump(marks, direction) {
		this.seek(direction, (row) => row.marks & marks, "There is none in this direction.");
	}

	nextScore(direction) {
		this.seek(direction, (row) => row.score !== null, "There is none in this direction.");
	}

	// Goes to the next step that has the text. Goes on at the other end.
	async find(text, direction) {
		if (!text) return;
		say("Searching the steps.");
		const found = await this.searched.find(text, `${this.run.epoch} ${this.rows.length}`);
		if (this.closed) return;
		const next = direction > 0 ? found?.find((step) => step > this.step) : found?.findLast((step) => step < this.step);
		const step = next ?? found?.at(direction > 0 ? 0 : -1);
		if (step) {
			this.showsFiles = false;
			this.go(step, true, text);
		}
		if (!found) say(hasSteps ? "The server can't search for this text." : "This page was exported without steps.");
		else say(step ? `${found.indexOf(step) + 1} of ${found.length} steps with this text` : "No step has this text.");
	}

	// Notes what is shown in place of the step. A step that comes does not replace it.
	setReading(what) {
		this.reading = what;
		for (const [button, on] of [
			[this.filesButton, this.showsFiles && !what],
			[this.messagesButton, what === "conversation"],
			[this.taskButton, what === "task"],
		])
			button.setAttribute("aria-pressed", String(on));
	}

	toggleFiles() {
		this.showsFiles = !this.showsFiles || this.reading !== null;
		this.reveal(this.go(this.step));
	}

	toggleMessages() {
		this.reveal(this.reading === "conversation" ? this.go(this.step) : this.showMessages());
	}

	toggleTask() {
		if (this.reading === "task") this.reveal(this.go(this.step));
		else if (this.assignment || !this.last) this.reveal(this.showTask());
		else say("This record has no text of the task. The conversation (m) may begin with it.");
	}

	// Scrolls to what was asked for once it is shown. On a narrow page it lies below the steps.
	async reveal(shown) {
		await shown;
		this.detail.scrollIntoView();
	}

	// Calls the function, which needs the pane of files.
	inFiles(act) {
		if (this.showsFiles && !this.reading) act();
		else say("Press f to see the files first.");
	}

	// Shows what the agent was told at the start.
	showTask() {
		this.asked++;
		if (this.assignment) {
			if (this.last) {
				this.setReading("task");
				this.remember("/task");
			}
			this.detail.replaceChildren(el("h2", {}, "Task"), textBlock(this.assignment, { open: true }));
			this.detail.scrollTop = 0;
		} else if (!this.rows.length) {
			const why = this.run.damage ? `No step can be read: ${this.run.damage}` : "No step was recorded yet.";
			this.detail.replaceChildren(el("p", {}, why));
		}
	}

	play() {
		if (this.playing) {
			clearInterval(this.playing);
			this.playing = null;
		} else {
			this.playing = setInterval(() => {
				if (this.step >= this.rows.length) this.play();
				else this.go(this.step + 1);
			}, PLAY_MS);
		}
		this.player.textContent = this.playing ? "Pause" : "Play";
	}

	key(key) {
		if (this.run?.results && key !== "u") return false;
		const acts = {
			j: () => this.go(this.step + 1),
			ArrowDown: () => this.go(this.step + 1),
			k: () => this.go(this.step - 1),
			ArrowUp: () => this.go(this.step - 1),
			g: () => this.go(1),
			Home: () => this.go(1),
			G: () => this.go(this.last),
			End: () => this.go(this.last),
			b: () => this.best(),
			e: () => this.jump(FAULTY, 1),
			E: () => this.jump(FAULTY, -1),
			w: () => this.jump(MARK.edit, 1),
			W: () => this.jump(MARK.edit, -1),
			v: () => this.nextScore(1),
			V: () => this.nextScore(-1),
			n: () => this.jump(MARK.person | MARK.hint, 1),
			N: () => this.jump(MARK.person | MARK.hint, -1),
			f: () => this.toggleFiles(),
			"[": () => this.inFiles(() => this.files.turn(-1)),
			"]": () => this.inFiles(() => this.files.turn(1)),
			d: () => this.inFiles(() => this.files.nextMode()),
			p: () => this.play(),
			m: () => this.toggleMessages(),
			t: () => this.toggleTask(),
			...this.controls.acts(),
			"/": () => this.search.focus(),
			Enter: () => this.detail.focus(),
			u: () => (location.hash = "#/"),
		};
		acts[key]?.();
		return key in acts;
	}

	// Shows the messages that the model had before its reply of the step. `from` counts from 0; the
	// last page is shown without it.
	async showMessages(from) {
		const asked = ++this.asked;
		this.setReading("conversation");
		this.remember(`/conversation${from === undefined ? "" : `/${from + 1}`}`);
		const shown = await conversation(this.id, this.step, from, (to) => this.showMessages(to));
		if (this.closed || this.asked !== asked) return;
		if (!shown) {
			this.showMessages();
			return;
		}
		this.detail.replaceChildren(...shown);
		this.detail.scrollTop = 0;
	}

	// --- a run that goes on

	wait() {
		clearTimeout(this.timer);
		if (!this.closed && !this.run.whole)
			this.timer = setTimeout(() => this.follow(), this.run.control ? CONTROLLED_MS : LIVE_MS);
	}

	async follow() {
		try {
			if (!document.hidden) await this.fetchMore();
		} catch (error) {
			say(`The server does not answer: ${error.message}`);
			this.run.control = undefined;
			this.controls.show(undefined);
		}
		this.wait();
	}

	async fetchMore() {
		const from = this.rows.length;
		let run = await getJson("run", { run: this.id, from });
		const replaced = run.epoch !== this.run.epoch;
		if (replaced) run = await getJson("run", { run: this.id });
		const before = this.last;
		const atEnd = this.step === before;
		if (this.closed) return;
		const turned = run.is_written !== this.run.is_written || (run.assignment && !this.assignment);
		this.run = run;
		if (replaced) {
			this.steps.clear();
			this.files.clear();
		}
		this.take(run.steps, replaced ? 0 : from);
		const changed = replaced || run.steps.length || run.whole || turned || this.last !== before;
		if (changed) {
			this.update(replaced);
			this.list.renew(from);
		} else {
			this.controls.show(run.control);
			this.showNow();
		}
		if ((changed && atEnd && !this.reading) || replaced || (this.step > this.last && !this.reading)) this.go(this.last, false);
	}

	close() {
		this.closed = true;
		this.controls?.close();
		this.searched.close();
		clearTimeout(this.timer);
		clearInterval(this.playing);
		this.list?.close();
	}
}
