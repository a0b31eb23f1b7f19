// The curve of a run's scores over its steps.

import { el, svg } from "./dom.js";
import { number } from "./step.js";

const WIDTH = 1000;
const HEIGHT = 120;
const EDGE = 10;

// `points` are {step, score}. Marks are strokes, which keep their form when the curve is
// stretched. A click calls `choose` with the step of the nearest point.
export function scoreChart({ points, steps, baseline, minimize, current, choose, metric }) {
	const values = points.map((p) => p.score).concat(baseline === null ? [] : [baseline]);
	const low = Math.min(...values);
	const high = Math.max(...values);
	const x = (step) => EDGE + ((WIDTH - 2 * EDGE) * (step - 1)) / Math.max(1, steps - 1);
	const y = (score) =>
		high === low ? HEIGHT / 2 : EDGE + ((HEIGHT - 2 * EDGE) * (high - score)) / (high - low);
	const parts = [];

	if (baseline !== null) {
		const at = y(baseline);
		parts.push(svg("line", { class: "baseline", x1: 0, x2: WIDTH, y1: at, y2: at }));
	}
	if (current) parts.push(svg("line", { class: "now", x1: x(current), x2: x(current), y1: 0, y2: HEIGHT }));
	let best = null;
	let line = "";
	for (const p of points) {
		const better = best === null || (minimize ? p.score < best : p.score > best);
		const before = best;
		if (better) best = p.score;
		line += before === null ? `M${x(p.step)} ${y(best)}` : `H${x(p.step)}V${y(best)}`;
	}
	if (points.length) line += `H${WIDTH - EDGE}`;
	parts.push(svg("path", { class: "best", d: line }));
	for (const p of points) {
		const name = `step ${p.step}: ${metric} ${p.score}`;
		parts.push(
			svg(
				"path",
				{ class: "point", d: `M${x(p.step)} ${y(p.score)}h0` },
				svg("title", {}, name),
			),
		);
	}
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
	return el(
		"div",
		{ class: "axes" },
		el("div", { class: same ? "axis-y axis-y-one" : "axis-y" }, el("span", {}, number(high)), same ? null : el("span", {}, number(low))),
		drawn,
		el("div", { class: "axis-x" }, el("span", {}, "1"), el("span", {}, `${metric} over steps`), el("span", {}, String(steps))),
	);
}
