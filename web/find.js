// Finds the steps of a run that have a text in their action, thought, replies or observation.

import { follow, hasSteps, isExport, takeHeldSteps } from "./api.js";

// True if a step that an exported page holds has the text, which is in lower case.
export function hasText(step, text) {
	const rejected = step.faults.flatMap((fault) => [fault.content, fault.complaint]);
	return [step.action, step.thought?.bytes ? step.thought : step.response, step.observation, ...rejected].some((t) => t?.text.toLowerCase().includes(text));
}

export class StepSearch {
	constructor(run) {
		this.run = run;
	}

	// Gives the numbers of the steps, in order. null: the server refuses. A search is done again if
	// the `state` of the run is another one.
	find(text, state) {
		const key = `${state} ${text}`;
		if (this.key !== key) this.found = this.search(text);
		this.key = key;
		return this.found;
	}

	async search(text) {
		const steps = new Set();
		this.close();
		if (isExport) {
			const wanted = text.toLowerCase();
			await takeHeldSteps((run, held) => {
				for (const step of run === this.run ? held : []) if (hasText(step, wanted)) steps.add(step.step);
			});
			return hasSteps ? [...steps] : null;
		}
		const whole = await new Promise((done) => {
			this.stop = follow("search", { run: this.run, text }, {
				found: (more) => more.forEach((step) => steps.add(step)),
				refused: () => done(false),
				end: () => done(true),
			});
		});
		return whole ? [...steps] : null;
	}

	close() {
		this.stop?.();
	}
}
