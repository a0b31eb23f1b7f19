// Takes over a running episode: a person plays it, or pauses its model, gives hints and takes steps
// by hand. The server shows how an episode stands as the run's `control`.

import { getJson, give, Refusal } from "./api.js";
import { el, say } from "./dom.js";

const LOOK_MS = 1000;

// Opens the episode that is played now, once there is one.
export class LiveView {
	static keys = [["u", "all runs"]];

	constructor(main) {
		this.main = main;
	}

	async open() {
		await this.look();
		return null;
	}

	async look() {
		const { run } = await getJson("live");
		if (this.closed) return;
		if (run) {
			location.replace(`#/run/${run}`);
			return;
		}
		this.main.replaceChildren(
			el("h1", {}, "No episode is played now"),
			el("p", {}, "The next one opens here. ", el("a", { href: "#/" }, "All runs")),
		);
		this.timer = setTimeout(() => this.look().catch((error) => say(`The server does not answer: ${error.message}`)), LOOK_MS);
	}

	key(key) {
		if (key === "u") location.hash = "#/";
		return key === "u";
	}

	close() {
		this.closed = true;
		clearTimeout(this.timer);
	}
}

function sentence({ state, step, is_human, is_paused }) {
	if (state === "ended") return "The episode has ended.";
	if (state === "person" && (is_human || is_paused)) return `Step ${step} waits for you.`;
	if (state === "busy") {
		const runs = step > 1 ? `Step ${step - 1} runs.` : "The episode begins.";
		return is_paused ? `${runs} Then it waits for you.` : runs;
	}
	return is_paused ? `The model decides on step ${step}. Then it waits for you.` : `The model decides on step ${step}.`;
}

function canInterrupt({ state, step, is_paused, takes_hints }) {
	return (state === "busy" && step > 1) || (state === "model" && is_paused && takes_hints);
}

function box(label, rows) {
	return el("textarea", { rows, "aria-label": label, placeholder: label, spellcheck: "false", autocapitalize: "off" });
}

// The controls of an episode. `acted` is called after an order, and `left` to leave a text box.
export class Controls {
	static keys = [
		["i", "type an action; Ctrl and Enter send it"],
		["h", "type a hint for the model"],
		["P", "pause the model, or let it go on"],
		["X", "interrupt the command that runs, or the paused model's reply"],
	];

	constructor(run, { acted, left }) {
		Object.assign(this, { run, acted, left });
		this.status = el("p", { class: "takeover-status", role: "status" });
		this.action = box("Action: a shell command, also of several lines (i)", 3);
		this.thought = box("Thought before the action", 2);
		this.hint = box("Hint for the model (h)", 2);
		const button = (text, title, click) => el("button", { type: "button", title, click }, text);
		this.send = button("Take the step", "Ctrl and Enter", () => this.act());
		this.words = [
			button("Validate", "score what is there", () => this.act("validate")),
			button("Submit", "score what is there, and end the episode", () => this.ask("submit", "Submit", "The episode is scored and ends.")),
			button("Leave", "end the episode without a score", () => this.ask("exit_forfeit", "Leave", "The episode ends without a score.")),
		];
		this.question = el("p", { id: "takeover-question" });
		this.yes = button("", "", () => this.answer(true));
		this.dialog = el(
			"dialog",
			{ "aria-labelledby": "takeover-question" },
			this.question,
			el("div", { class: "jumps" }, button("Go on playing", "Escape", () => this.answer(false)), this.yes),
		);
		this.interrupt = button("Interrupt", "end the command that runs, or drop the reply that the model is at (X)", () => this.give({ order: "interrupt" }));
		this.pause = button("Pause", "P", () => this.turn());
		this.addHint = button("Add the hint", "Ctrl and Enter", () => this.tell());
		this.next = el("a", { hidden: true }, "The episode that is played now");
		for (const [text, act] of [[this.action, () => this.act()], [this.thought, () => this.act()], [this.hint, () => this.tell()]])
			text.addEventListener("keydown", (event) => {
				if (event.key === "Escape") left();
				if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
				event.preventDefault();
				act();
			});
		this.byHand = el("div", { class: "takeover-part" }, this.thought, this.action, el("p", {}, this.send, this.words));
		this.hints = el("div", { class: "takeover-part" }, this.hint, el("p", {}, this.addHint));
		this.box = el(
			"section",
			{ class: "takeover", "aria-label": "Take over", hidden: true },
			el("div", { class: "takeover-head" }, this.status, this.pause, this.interrupt, this.next),
			el("div", { class: "takeover-parts" }, this.byHand, this.hints),
			this.dialog,
		);
	}

	show(control) {
		this.control = control;
		this.box.hidden = !control;
		if (!control) return;
		const ended = control.state === "ended";
		const waits = control.state === "person" && (control.is_human || control.is_paused);
		const text = sentence(control);
		if (this.status.textContent !== text) this.status.textContent = text;
		this.pause.hidden = control.is_human || ended;
		this.pause.textContent = control.is_paused ? "Let go" : "Pause";
		this.interrupt.hidden = !canInterrupt(control);
		if (ended) this.findNext();
		this.byHand.hidden = ended || !(control.is_human || control.is_paused);
		this.hints.hidden = ended || !control.takes_hints;
		this.thought.hidden = !control.thinks;
		for (const one of [this.send, ...this.words]) one.disabled = !waits;
		if (!waits) this.dialog.close();
	}

	// Looks for the next episode, until the server ends.
	async findNext() {
		if (this.looks) return;
		this.looks = true;
		while (!this.closed) {
			const { run } = await getJson("live").catch(() => ({}));
			if (run === undefined) return;
			if (run) {
				this.next.href = `#/run/${run}`;
				this.next.hidden = false;
				return;
			}
			await new Promise((done) => setTimeout(done, LOOK_MS));
		}
	}

	close() {
		this.closed = true;
	}

	// Asks before a step that ends the episode.
	ask(action, word, what) {
		this.asked = { action, step: this.control.step };
		this.question.textContent = `${word} now? ${what}`;
		this.yes.textContent = `Yes, ${word.toLowerCase()}`;
		this.dialog.showModal();
	}

	answer(yes) {
		this.dialog.close();
		if (yes) this.act(this.asked.action, this.asked.step);
	}

	async give(order) {
		try {
			await give({ run: this.run, ...order });
			say("");
			return true;
		} catch (error) {
			say(error instanceof Refusal ? error.message : `The server does not answer: ${error.message}`);
			return false;
		} finally {
			this.acted(order.order);
		}
	}

	async act(word, step = this.control.step) {
		const order = { order: "act", step, text: word ?? this.action.value };
		if (this.control.thinks) order.thought = this.thought.value;
		if (!(await this.give(order)) || word) return;
		this.action.value = this.thought.value = "";
	}

	async tell() {
		if (document.activeElement === this.hint) this.left(); // the next keys are commands
		if (!(await this.give({ order: "hint", text: this.hint.value }))) return;
		this.hint.value = "";
		say("The model sees the hint before its next reply.");
	}

	turn() {
		return this.give({ order: this.control.is_paused ? "let_go" : "pause" });
	}

	// What keys do, if there is an episode to take over.
	acts() {
		if (this.box.hidden) return {};
		const acts = {};
		if (!this.byHand.hidden) acts.i = () => this.action.focus();
		if (!this.hints.hidden) acts.h = () => this.hint.focus();
		if (!this.pause.hidden) acts.P = () => this.turn();
		if (!this.interrupt.hidden) acts.X = () => this.give({ order: "interrupt" });
		return acts;
	}
}
