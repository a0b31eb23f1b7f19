// Shows recorded texts: with their ANSI colours, and with control characters made visible.

import { el } from "./dom.js";
import { getJson } from "./api.js";

const FOLD_LINES = 24;
const FOLD_CHARS = 6000;

// An escape sequence, or a character that could hide text or change its direction.
const SPECIAL =
	/\x1b\[([0-9;:?]*)([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

// Applies the numbers of an escape sequence "ESC [ 1 ; 31 m" to the set of classes.
function applyStyle(classes, numbers) {
	const codes = numbers.split(/[;:]/).map(Number);
	const drop = (prefix) => {
		for (const name of classes) if (name.startsWith(prefix)) classes.delete(name);
	};
	for (let i = 0; i < codes.length; i++) {
		const code = codes[i];
		if (code === 0) classes.clear();
		else if (code === 1) classes.add("bold");
		else if (code === 2) classes.add("dim");
		else if (code === 3) classes.add("italic");
		else if (code === 4) classes.add("underline");
		else if (code === 22) ["bold", "dim"].forEach((name) => classes.delete(name));
		else if (code === 23) classes.delete("italic");
		else if (code === 24) classes.delete("underline");
		else if (code === 38 || code === 48) {
			const kind = code === 38 ? "fg-" : "bg-";
			drop(kind);
			if (codes[i + 1] === 5 && codes[i + 2] < 16) classes.add(kind + COLOURS[codes[i + 2] % 8]);
			i += codes[i + 1] === 2 ? 4 : 2;
		} else if (code === 39) drop("fg-");
		else if (code === 49) drop("bg-");
		else if ((code >= 30 && code < 38) || (code >= 90 && code < 98)) {
			drop("fg-");
			classes.add(`fg-${COLOURS[code % 10]}`);
		} else if ((code >= 40 && code < 48) || (code >= 100 && code < 108)) {
			drop("bg-");
			classes.add(`bg-${COLOURS[code % 10]}`);
		}
	}
}

// Makes nodes of a text.
export function textNodes(text) {
	const out = document.createDocumentFragment();
	const classes = new Set();
	let from = 0;
	const add = (piece) => {
		if (!piece) return;
		out.append(classes.size ? el("span", { class: [...classes].join(" ") }, piece) : piece);
	};
	for (const found of text.matchAll(SPECIAL)) {
		add(text.slice(from, found.index));
		from = found.index + found[0].length;
		if (found[2] === "m") applyStyle(classes, found[1]);
		else if (found[0].length === 1 && found[0] !== "\r") {
			const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
			out.append(el("span", { class: "control" }, `U+${code}`));
		}
	}
	add(text.slice(from));
	return out;
}

// Length of the beginning that a folded text shows.
function foldAt(text) {
	let at = -1;
	for (let line = 0; line < FOLD_LINES; line++) {
		at = text.indexOf("\n", at + 1);
		if (at < 0) return Math.min(text.length, FOLD_CHARS);
	}
	return Math.min(at, FOLD_CHARS);
}

export function size(bytes) {
	if (bytes < 1000) return `${bytes} B`;
	if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
	return `${(bytes / 1e6).toFixed(1)} MB`;
}

// Shows a text of a step. `t` is {text, bytes, next}: `next` is where the rest begins, which is
// fetched in pieces by `more(at)`. A long text is folded.
export function textBlock(t, { more = null, open = false, kind = "" } = {}) {
	const box = el("pre", { class: `text ${kind}`, dir: "ltr" });
	const whole = el("div", { class: "block" }, box);
	let next = more ? t.next : undefined;
	const button = el("button", { type: "button", class: "more" });
	const cut = open ? t.text.length : foldAt(t.text);
	let rest = t.text.slice(cut);
	box.append(textNodes(t.text.slice(0, cut)));
	const update = () => {
		if (!rest && !next) button.remove();
		else button.textContent = rest ? `Show all of ${size(t.bytes)}` : "Show more";
	};
	const showMore = async () => {
		if (rest) {
			box.append(textNodes(rest));
			rest = "";
		} else if (next && more) {
			button.disabled = true;
			const piece = await more(next);
			box.append(textNodes(piece.text));
			next = piece.next;
			button.disabled = false;
		}
		update();
	};
	// Shows as much as has the text, and marks it. null: the text is not there.
	whole.mark = async (wanted) => {
		if (rest.length && t.text.toLowerCase().includes(wanted)) await showMore();
		let mark = markIn(box, wanted);
		while (!mark && (next || (rest && t.next)) && box.isConnected) {
			await showMore();
			mark = markIn(box, wanted);
		}
		return mark;
	};
	button.addEventListener("click", showMore);
	if (rest || next) whole.append(button);
	update();
	return whole;
}

// Marks the first place that has a text, which is in lower case. null: there is none.
function markIn(box, wanted) {
	box.normalize(); // a text that was shown in pieces becomes one
	const nodes = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
	while (nodes.nextNode()) {
		const text = nodes.currentNode.data;
		const at = text.toLowerCase().indexOf(wanted);
		if (at < 0 || at + wanted.length > text.length) continue;
		const range = document.createRange();
		range.setStart(nodes.currentNode, at);
		range.setEnd(nodes.currentNode, at + wanted.length);
		const mark = el("mark");
		range.surroundContents(mark);
		return mark;
	}
	return null;
}

// Unfolds the first of the texts in a pane that has the wanted one, and scrolls there.
export async function findText(pane, wanted) {
	for (const block of pane.querySelectorAll(".block")) {
		const mark = await block.mark?.(wanted.toLowerCase());
		if (!mark) continue;
		mark.scrollIntoView({ block: "center" });
		return;
	}
}

export function textPieces(run, step, part) {
	return (at) => getJson("text", { run, step, part, at });
}
