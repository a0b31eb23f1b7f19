// Requests to the server. The page's address has the token, and all paths are relative to it.
// A page that `fumehood view --export` wrote holds the answers, and asks no server.

export class Refusal extends Error {}

const held = new Map([...document.querySelectorAll("script[data-answers]")].map((answer) => [answer.dataset.answers, answer]));
export const isExport = held.size > 0;
export const start = held.get("start")?.textContent ?? "";

function heldText(address) {
	const answer = held.get(address);
	if (!answer) throw new Refusal("This page was exported without it.");
	return answer.textContent;
}

const heldPages = [...held].filter(([address]) => address.startsWith("api/steps?"));
export const hasSteps = !isExport || heldPages.length > 0;

// Passes the steps that the page holds to `take`, in pieces with the ID of their run. The page can
// be used meanwhile.
export async function takeHeldSteps(take) {
	for (const [address, answer] of heldPages) {
		take(new URLSearchParams(address.split("?")[1]).get("run"), JSON.parse(answer.textContent).steps);
		await new Promise((done) => setTimeout(done));
	}
}

async function get(path, query, signal) {
	const address = `api/${path}?${new URLSearchParams(query)}`;
	if (isExport) return heldText(address);
	const reply = await fetch(address, { signal });
	const text = await reply.text();
	if (reply.ok) return text;
	let why = reply.statusText;
	try {
		why = JSON.parse(text).error;
	} catch {
		// The refusal is not JSON: its status says enough.
	}
	throw new Refusal(why);
}

export async function getJson(path, query = {}, signal = undefined) {
	return JSON.parse(await get(path, query, signal));
}

export const getText = get;

// Gives an order to a running episode. Nothing else is ever sent.
export async function give(order) {
	const reply = await fetch("api/order", {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		referrerPolicy: "same-origin",
		body: JSON.stringify(order),
	});
	const text = await reply.text();
	if (reply.ok) return;
	throw new Refusal(reply.headers.get("Content-Type")?.includes("json") ? JSON.parse(text).error : text);
}

// Reads an answer that goes on. `takes` has a function for each name of an event: "refused" if the
// server gives no answer, "end" after the last event. Returns a function that stops it. While nobody sees the page, nothing is read: a browser has few connections.
export function follow(path, query, takes) {
	let source = null;
	const address = () => `api/${path}?${new URLSearchParams(typeof query === "function" ? query() : query)}`;
	if (isExport) {
		for (const [, name, data] of heldText(address()).matchAll(/^event: (.*)\ndata: (.*)$/gm)) takes[name]?.(JSON.parse(data));
		return () => {};
	}
	const stop = () => {
		source?.close();
		source = null;
	};
	const start = () => {
		stop();
		const opened = (source = new EventSource(address()));
		for (const [name, take] of Object.entries(takes))
			if (name !== "end") source.addEventListener(name, (event) => take(JSON.parse(event.data)));
		source.addEventListener("error", () => {
			if (opened.readyState === EventSource.CLOSED) takes.refused?.(); // otherwise it tries again
		});
		source.addEventListener("end", () => {
			close();
			takes.end?.();
		});
	};
	const see = () => (document.hidden ? stop() : start());
	const close = () => {
		document.removeEventListener("visibilitychange", see);
		stop();
	};
	document.addEventListener("visibilitychange", see);
	if (!document.hidden) start();
	return close;
}

// Fetches steps in pages and keeps the pages that were used last.
export class Steps {
	static SIZE = 20;
	static KEPT = 8;

	constructor(run) {
		this.run = run;
		this.pages = new Map();
	}

	async get(step) {
		const first = Math.floor((step - 1) / Steps.SIZE) * Steps.SIZE + 1;
		let page = this.pages.get(first);
		if (!page) {
			page = getJson("steps", { run: this.run, from: first, n: Steps.SIZE });
			page.catch(() => this.pages.delete(first));
		}
		this.pages.delete(first);
		this.pages.set(first, page);
		if (this.pages.size > Steps.KEPT) this.pages.delete(this.pages.keys().next().value);
		const found = (await page).steps[step - first];
		if (found) return found;
		// The run went on since the page was fetched.
		this.pages.delete(first);
		return (await getJson("steps", { run: this.run, from: step, n: 1 })).steps[0];
	}

	clear() {
		this.pages.clear();
	}
}
