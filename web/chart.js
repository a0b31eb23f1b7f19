// The curve of a run's scores over its steps.

import { el, svg } from "./dom.js";
import { number } from "./step.js";

const WIDTH = 1000;
const HEIGHT = 120;
const EDGE = 10;

// Share of the way from `high` to `low`. Halves, because the difference of huge numbers is infinite.
const share = (high, value, low) => (high / 2 - value / 2) / (high / 2 - low / 2);

const NAMED_MOST = 500; // so many marks have a name; more are one stroke, which is drawn fast

// `points` are {step, score, apart}. The line leaves out a score that is apart, because other answers
// gave it. Marks are strokes, which keep their form when the curve is
// stretched. A click calls `choose` with the step of the nearest point. Returns the element, and a
// function that moves the line of the chosen step.
export function scoreChart({ points, steps, baseline, minimize, choose, metric }) {
	let low = baseline ?? Infinity;
	let high = baseline ?? -Infinity;
	for (const p of points) {
		low = Math.min(low, p.score);
		high = Math.max(high, p.score);
	}
	const x = (step) => EDGE + ((WIDTH - 2 * EDGE) * (step - 1)) / Math.max(1, steps - 1);
	const y = (score) =>
		high === low ? HEIGHT / 2 : EDGE + (HEIGHT - 2 * EDGE) * share(high, score, low);
	const parts = [];

	if (baseline !== null) {
		const at = y(baseline);
		parts.push(svg("line", { class: "baseline", x1: 0, x2: WIDTH, y1: at, y2: at }));
	}
	const now = svg("line", { class: "now", y1: 0, y2: HEIGHT, visibility: "hidden" });
	parts.push(now);
	let best = null;
	let line = "";
	for (const p of points) {
		const better = !p.apart && (best === null || (minimize ? p.score < best : p.score > best));
		const before = best;
		if (better) best = p.score;
		if (best === null) continue;
		line += before === null ? `M${x(p.step)} ${y(best)}` : `H${x(p.step)}V${y(best)}`;
	}
	if (line) line += `H${WIDTH - EDGE}`;
	parts.push(svg("path", { class: "best", d: line }));
	const mark = (p) => `M${x(p.step)} ${y(p.score)}h0`;
	const named = (p) => svg("path", { class: "point", d: mark(p) }, svg("title", {}, `step ${p.step}: ${metric} ${p.score}`));
	if (points.length > NAMED_MOST) parts.push(svg("path", { class: "point", d: points.map(mark).join("") }));
	else parts.push(...points.map(named));
	const drawn = svg(
		"svg",
		{
			class: "chart",
			viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
			preserveAspectRatio: "none",
			role: "img",
			"aria-label": `${metric} over steps, from ${low} to ${high}`,
		},
		parts,
	);
	drawn.addEventListener("click", (event) => {
		const box = drawn.getBoundingClientRect();
		const at = ((event.clientX - box.left) / box.width) * WIDTH;
		const near = points.reduce((a, b) => (Math.abs(x(b.step) - at) < Math.abs(x(a.step) - at) ? b : a));
		choose(near.step);
	});
	const same = high === low;
	const move = (step) => {
		now.setAttribute("visibility", step ? "visible" : "hidden");
		now.setAttribute("x1", x(step));
		now.setAttribute("x2", x(step));
	};
	const box = el(
		"div",
		{ class: "axes" },
		el("div", { class: same ? "axis-y axis-y-one" : "axis-y" }, el("span", {}, number(high)), same ? null : el("span", {}, number(low))),
		drawn,
		el("div", { class: "axis-x" }, el("span", {}, "1"), el("span", {}, `${metric} over steps`), el("span", {}, String(steps))),
	);
	return { box, move };
}
