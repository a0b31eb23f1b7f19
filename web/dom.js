// Makes elements. Texts only become text nodes, so that nothing recorded can become markup.

const SVG = "http://www.w3.org/2000/svg";

// Characters that are not shown, or that change the order of those beside them.
const HIDDEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

// Shows such characters by their numbers, so that no name looks like another.
export function plain(text) {
	return text.replace(HIDDEN, (c) => `[U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
}

function fill(made, attributes, children) {
	for (const [name, value] of Object.entries(attributes)) {
		if (value === null || value === undefined || value === false) continue;
		if (typeof value === "function") made.addEventListener(name, value);
		else if (name === "title" || name === "aria-label") made.setAttribute(name, plain(String(value)));
		else made.setAttribute(name, value === true ? "" : value);
	}
	for (const child of children.flat())
		if (child !== null && child !== undefined) made.append(typeof child === "string" ? plain(child) : child);
	return made;
}

export function el(tag, attributes = {}, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
	return fill(document.createElementNS(SVG, tag), attributes, children);
}

// Lets a long name break after "_", "/" and ":" instead of within a word.
export function breakable(text) {
	return text.split(/(?<=[_/:])(?=.)/).flatMap((piece, i) => (i ? [el("wbr"), piece] : [piece]));
}

export function say(text) {
	document.getElementById("status").textContent = text;
}

// A list of rows of equal height. Only the rows that can be seen are elements.
export class VirtualList {
	// `make(index)` makes a row's element; `choose(index)` is called for a click.
	constructor({ label, height, make, choose }) {
		Object.assign(this, { height, make, choose, n: 0, current: -1 });
		this.space = el("div", { class: "rows", role: "presentation" });
		this.box = el(
			"div",
			{ class: "list", role: "listbox", tabindex: "0", "aria-label": label },
			this.space,
		);
		this.shown = new Map();
		this.box.addEventListener("scroll", () => this.draw(), { passive: true });
		this.box.addEventListener("click", (event) => {
			const row = event.target.closest("[data-index]");
			if (row) this.choose(Number(row.dataset.index));
		});
		this.watch = new ResizeObserver(() => this.draw());
		this.watch.observe(this.box);
	}

	setCount(n, fresh = true) {
		this.n = n;
		this.space.style.height = `${n * this.height}px`;
		this.box.style.setProperty("--rows-height", `${n * this.height + 2}px`);
		if (fresh) {
			for (const row of this.shown.values()) row.remove();
			this.shown.clear();
		}
		this.draw();
	}

	// Makes the row anew.
	renew(index) {
		this.shown.get(index)?.remove();
		this.shown.delete(index);
		this.draw();
	}

	setCurrent(index, reveal = true) {
		this.shown.get(this.current)?.setAttribute("aria-selected", "false");
		this.current = index;
		if (reveal && index >= 0) {
			const top = index * this.height;
			const room = this.box.clientHeight - this.height;
			if (top < this.box.scrollTop) this.box.scrollTop = top;
			else if (top > this.box.scrollTop + room) this.box.scrollTop = top - room;
		}
		this.draw();
		this.shown.get(index)?.setAttribute("aria-selected", "true");
		if (this.shown.has(index)) this.box.setAttribute("aria-activedescendant", `row-${index}`);
		else this.box.removeAttribute("aria-activedescendant");
	}

	draw() {
		const spare = 8;
		const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - spare);
		const seen = Math.ceil(this.box.clientHeight / this.height) + 2 * spare;
		const end = Math.min(this.n, first + seen);
		for (const [index, row] of this.shown) {
			if (index >= first && index < end) continue;
			row.remove();
			this.shown.delete(index);
		}
		for (let index = first; index < end; index++) {
			if (this.shown.has(index)) continue;
			const row = this.make(index);
			row.id = `row-${index}`;
			row.dataset.index = index;
			row.setAttribute("role", "option");
			row.setAttribute("aria-selected", index === this.current);
			row.setAttribute("aria-setsize", this.n);
			row.setAttribute("aria-posinset", index + 1);
			row.style.transform = `translateY(${index * this.height}px)`;
			row.style.height = `${this.height}px`;
			this.shown.set(index, row);
			this.space.append(row);
		}
	}

	close() {
		this.watch.disconnect();
	}
}

const LONG = 100; // characters of a table's cell; its tooltip has longer ones

// A cell of a table, which a hostile name can't make wide.
export function tableCell(tag, attributes, content) {
	const cell = el(tag, attributes, content);
	if (cell.textContent.length <= LONG) return cell;
	cell.classList.add("long");
	cell.title = cell.textContent;
	return cell;
}

// A table whose cells are texts or elements.
export function plainTable(label, head, rows) {
	return el(
		"div",
		{ class: "wide", tabindex: "0", role: "region", "aria-label": label },
		el(
			"table",
			{},
			el("thead", {}, el("tr", {}, head.map((title) => tableCell("th", { scope: "col" }, title)))),
			el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell) => tableCell("td", {}, cell ?? ""))))),
		),
	);
}
