// Plots of lines and points over two axes. Lines differ by colour, dashes and marks, so that they
// can be told apart without colour. Arrow keys move between points, and Enter or a click opens one.

import { el, say, svg } from "./dom.js";
import { number } from "./step.js";

const RIGHT = 14;
const TOP = 28; // room for the title of the y axis, which has no room beside long numbers
const BOTTOM = 40;
const DIGIT = 8; // width of a character in numbers
const COLOURS = 8;
const DASHES = ["", "7 3", "2 3", "10 3 2 3", "14 4", "4 4", "1 5"];
// Marks as paths around a point.
const MARKS = [
	"m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0",
	"m-3-3h6v6h-6z",
	"m0-4l4 7h-8z",
	"m0-4.5l4.5 4.5l-4.5 4.5l-4.5-4.5z",
	"m0 4l4-7h-8z",
	"m-4-1h3v-3h2v3h3v2h-3v3h-2v-3h-3z",
	"m-4 0l2-4h4l2 4l-2 4h-4z",
	"m-4-2h8v4h-8z",
];

const MARKS_APART = 120; // of a sparse line
const BANDS_MOST = 4; // more would hide each other: only the chosen line has its own then

const colour = (style) => `plot-${style % COLOURS}`;
const dash = (style) => DASHES[style % DASHES.length];
const mark = (style) => MARKS[(style + Math.floor(style / MARKS.length)) % MARKS.length];

// Numbers at equal, round distances that cover a range.
function ticks(low, high, most) {
	const rough = (high - low) / most;
	const power = 10 ** Math.floor(Math.log10(rough));
	const distance = power * ([1, 2, 5, 10].find((n) => n * power >= rough) ?? 10);
	const all = [];
	const first = Math.ceil(low / distance - 1e-9);
	// Huge numbers that hardly differ have no round numbers between them.
	for (let i = 0; i <= 3 * most && (first + i) * distance <= high + distance * 1e-9; i++) all.push((first + i) * distance);
	return all;
}

// Values that can be drawn: the difference of larger ones would be infinite.
const finite = (value) => value !== null && value !== undefined && Math.abs(value) < 1e300;

function range(lists) {
	let low = Infinity;
	let high = -Infinity;
	for (const list of lists)
		for (const value of list) {
			if (!finite(value)) continue;
			if (value < low) low = value;
			if (value > high) high = value;
		}
	if (low > high) return [0, 1];
	return low === high ? [low - Math.abs(low || 1) / 2, high + Math.abs(high || 1) / 2] : [low, high];
}

// A sample of a line for legends.
export function sample(style, lines = true) {
	return svg(
		"svg",
		{ class: `plot-sample ${colour(style)}`, viewBox: "0 0 34 12", "aria-hidden": "true" },
		lines ? svg("path", { class: "plot-line", d: "M0 6H34", "stroke-dasharray": dash(style) }) : null,
		svg("path", { class: "plot-mark", d: `M17 6${mark(style)}` }),
	);
}

// `lines` are {name, style, x, y, low, high, steps, sparse, text(i)}: x, y, low and high are arrays,
// and y may have gaps (null). `steps` keeps y until the next x. `sparse` leaves out most marks.
// Those of several lines stand at different places.
// The axes end at `right`, `bottom` and `top`, if values lie further out: these have triangles at the edge.
// `choose(line, i)` opens a point.
export class Plot {
	constructor({ label, x, y, lines, level = null, from = null, right = Infinity, bottom = -Infinity, top = Infinity, points = false, choose }) {
		Object.assign(this, { label, titles: { x, y }, lines, level, from, right, bottom, top, points, choose });
		this.at = null;
		this.width = 0;
		this.box = el("div", {
			class: "plot",
			tabindex: "0",
			role: "application",
			"aria-roledescription": "plot",
			"aria-label": `${label}. Arrow keys move between points, Enter opens one.`,
			keydown: (event) => this.key(event),
			click: (event) => this.press(event),
			pointermove: (event) => this.point(event),
			pointerleave: () => this.setAt(null),
		});
		this.watch = new ResizeObserver(() => this.fit());
		this.watch.observe(this.box);
	}

	setLines(lines, level = this.level, [bottom, top] = [this.bottom, this.top]) {
		Object.assign(this, { lines, level, bottom, top, at: null });
		if (this.width) this.draw();
	}

	fit() {
		const width = Math.round(this.box.clientWidth);
		if (!width || width === this.width) return;
		this.width = width;
		this.height = Math.min(380, Math.max(200, Math.round(width * 0.42)));
		this.draw();
	}

	// --- drawing

	draw() {
		const { lines, width, height } = this;
		const xs = range(lines.map((line) => line.x).concat(this.from === null ? [] : [[this.from]]));
		const ys = range(lines.flatMap((line) => [line.y, line.low ?? [], line.high ?? []]).concat(finite(this.level) ? [[this.level]] : []));
		xs[1] = Math.min(xs[1], this.right);
		ys[0] = Math.max(ys[0], this.bottom);
		ys[1] = Math.min(ys[1], this.top);
		const marks = ticks(...ys, 5).map((value) => [value, number(value)]);
		const left = 12 + DIGIT * Math.max(2, ...marks.map(([, text]) => text.length));
		this.x = (value) => left + ((width - left - RIGHT) * (Math.min(value, xs[1]) - xs[0])) / (xs[1] - xs[0]);
		this.y = (value) => height - BOTTOM - ((height - TOP - BOTTOM) * (Math.min(Math.max(value, ys[0]), ys[1]) - ys[0])) / (ys[1] - ys[0]);
		this.cursor = svg("path", { class: "plot-cursor", d: "" });
		this.drawn = new Map(lines.map((line) => [line, this.line(line)]));
		this.bands = svg("g", {}, this.hidesBands ? null : lines.map((line) => this.band(line)));
		this.svg = svg(
			"svg",
			{ viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
			this.axes(ticks(...xs, Math.max(2, Math.floor(width / 110))), marks, left),
			finite(this.level)
				? svg("path", { class: "plot-level", d: `M${left} ${this.y(this.level)}H${width - RIGHT}` })
				: null,
			this.bands,
			[...this.drawn.values()],
			this.cursor,
		);
		this.box.replaceChildren(this.svg);
		this.setAt(this.at);
	}

	axes(steps, marks, left) {
		const { width, height } = this;
		const bottom = height - BOTTOM;
		const text = (x, y, anchor, value) => svg("text", { x, y, "text-anchor": anchor }, value);
		const below = (value) => {
			const label = number(value);
			return text(Math.min(this.x(value), width - 2 - (DIGIT * label.length) / 2), bottom + 18, "middle", label);
		};
		return svg(
			"g",
			{ class: "plot-axes" },
			steps.map(below),
			marks.flatMap(([value, label]) => [
				svg("path", { d: `M${left} ${this.y(value)}H${width - RIGHT}` }),
				text(left - 6, this.y(value) + 4, "end", label),
			]),
			text((left + width - RIGHT) / 2, height - 4, "middle", this.titles.x),
			text(8, 15, "start", this.titles.y),
		);
	}

	place(x, y) {
		return `${this.x(x).toFixed(1)} ${this.y(y).toFixed(1)}`;
	}

	band(line) {
		if (!line.low) return null;
		const known = line.x.map((_, i) => i).filter((i) => finite(line.low[i]) && finite(line.high[i]) && line.x[i] <= this.right);
		const there = known.map((i) => this.place(line.x[i], line.high[i]));
		const back = known.reverse().map((i) => this.place(line.x[i], line.low[i]));
		if (!known.length) return null;
		return svg("path", { class: `plot-band ${colour(line.style)}`, d: `M${there.concat(back).join("L")}Z` });
	}

	line(line) {
		let path = "";
		let marks = "";
		let edges = "";
		let next = line.sparse ? this.x(line.x[0]) + ((line.style + 0.5) * MARKS_APART) / this.lines.length : -Infinity;
		for (let i = 0; i < line.x.length; i++) {
			if (!finite(line.y[i])) continue;
			const at = this.place(line.x[i], line.y[i]);
			const [px, py] = at.split(" ");
			const isRight = line.x[i] > this.right;
			const isAbove = line.y[i] > this.top;
			const isOutside = isRight || isAbove || line.y[i] < this.bottom;
			if (!isRight) path += !path ? `M${at}` : line.steps ? `H${px}V${py}` : `L${at}`;
			if (isOutside) edges += `M${at}${isRight ? "l-9 -5v10z" : isAbove ? "l-5 9h10z" : "l-5 -9h10z"}`;
			const isMarked = Number(px) >= next;
			if (isMarked && line.sparse) next += MARKS_APART;
			// The mark of a point stands beside its triangle.
			if (this.points || (isMarked && !isOutside)) marks += `M${at}${isOutside ? (isRight ? "m-16 0" : isAbove ? "m0 16" : "m0 -16") : ""}${mark(line.style)}`;
		}
		if (line.until && path) path += `H${this.x(line.until).toFixed(1)}`;
		return svg(
			"g",
			{ class: colour(line.style) },
			this.points ? null : svg("path", { class: "plot-line", d: path, "stroke-dasharray": dash(line.style) }),
			svg("path", { class: "plot-mark", d: marks }),
			edges ? svg("path", { class: "plot-mark plot-edge", d: edges }) : null,
		);
	}

	// --- choosing a line and a point

	get hidesBands() {
		return this.lines.filter((line) => line.low).length > BANDS_MOST;
	}

	// Shows the band of a line, if the plot has too many for all. null: no line is chosen.
	showLine(line) {
		if (!this.hidesBands || !this.drawn) return;
		this.bands.replaceChildren(line ? (this.band(line) ?? "") : "");
		for (const [other, group] of this.drawn) group.classList.toggle("plot-chosen", other === line);
	}

	setAt(at) {
		this.at = at;
		const [line, i] = at ?? [];
		this.showLine(line);
		this.cursor?.setAttribute("d", line && finite(line.y[i]) ? `M${this.place(line.x[i], line.y[i])}m-8 0a8 8 0 1 0 16 0a8 8 0 1 0-16 0` : "");
		this.box.classList.toggle("plot-found", at !== null);
		const band = finite(line?.low?.[i]) ? ` (band ${number(line.low[i])} to ${number(line.high[i])})` : "";
		if (at) say(line.text ? line.text(i) : `${line.name}: ${number(line.x[i])}, ${number(line.y[i])}${band}`);
	}

	// The point that is nearest to the pointer.
	find(event) {
		if (!this.svg) return null;
		const box = this.svg.getBoundingClientRect();
		const px = event.clientX - box.left;
		const py = event.clientY - box.top;
		let found = null;
		let least = Infinity;
		for (const line of this.lines)
			for (let i = 0; i < line.x.length; i++) {
				if (!finite(line.y[i])) continue;
				const away = (this.x(line.x[i]) - px) ** 2 + (this.y(line.y[i]) - py) ** 2;
				if (away >= least) continue;
				least = away;
				found = [line, i];
			}
		return found;
	}

	point(event) {
		if (this.pointing) return;
		this.pointing = requestAnimationFrame(() => {
			this.pointing = 0;
			this.setAt(this.find(event));
		});
	}

	press(event) {
		const at = this.find(event);
		if (at) this.choose(...at);
	}

	key(event) {
		const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
		if (event.key === "Enter" && this.at) this.choose(...this.at);
		else if (event.key in moves) this.move(...moves[event.key]);
		else return;
		event.preventDefault();
		event.stopPropagation();
	}

	move(over, along) {
		const lines = this.lines.filter((line) => line.y.some(finite));
		if (!lines.length) return;
		let [line, i] = this.at ?? [lines[0], -1];
		if (over) {
			const x = line.x[Math.max(0, i)];
			line = lines[(lines.indexOf(line) + over + lines.length) % lines.length];
			i = line.x.findLastIndex((value, k) => finite(line.y[k]) && value <= x);
			if (i < 0) i = line.y.findIndex(finite);
		} else {
			do i += along;
			while (i >= 0 && i < line.x.length && !finite(line.y[i]));
		}
		if (i >= 0 && i < line.x.length) this.setAt([line, i]);
	}

	close() {
		this.watch.disconnect();
		cancelAnimationFrame(this.pointing);
	}
}

function pointing(point) {
	if (!point) return {};
	const [start, end] = [() => point(true), () => point(false)];
	return { pointerenter: start, focus: start, pointerleave: end, blur: end };
}

// A list of names with their samples. `items` are {name, style, href, press, point}. `point(on)` tells
// that the name of a link is pointed at, or no longer.
export function legend(items, lines = true) {
	return el(
		"ul",
		{ class: "legend" },
		items.map((item) =>
			el(
				"li",
				{},
				item.press
					? el("button", { type: "button", "aria-pressed": String(item.on), click: item.press, title: item.name }, sample(item.style, lines), item.name)
					: el("a", { href: item.href, title: item.name, ...pointing(item.point) }, sample(item.style, lines), item.name),
			),
		),
	);
}
