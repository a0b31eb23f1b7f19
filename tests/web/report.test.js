// Tests the report in the viewer in Chromium.

import assert from "node:assert/strict";
import { test } from "node:test";

import { viewer } from "./browser.js";
import { HOSTILE, opening, step, writeRun } from "./records.js";
import { longestTask } from "./tasks.js";

const v = viewer((top) => {
	// The second model costs so much, and the last is so bad, that their points are outside of plots.
	for (const [model, score, cost] of [["one", 2, 0.2], ["two", 3, 2], [`${HOSTILE.slice(0, 60)}${"x".repeat(4000)}`, -50, 0.1]])
		for (const task of ["first", "second"])
			writeRun(top, `${model.replace(/\W/g, "-").slice(0, 60)}-${task}`, [
				opening({ model, task }),
				{ event: "spent", model_stats: { task_cost: cost, total_cost: cost, api_calls: 1 } },
				step(1, {
					action: "validate",
					info: { score: { Score: score }, ...(model === "one" && task === "first" ? { integrity: "a file was changed" } : {}) },
				}),
				{ event: "end", exit_status: "submitted", steps: 1, over: true, model_stats: { task_cost: cost } },
			]);
});

async function openReport() {
	await v.go("");
	await v.status("6 of 6 runs");
	await v.press("o");
	await v.status(/tables, \d+ with a picture/);
}

test("cells of the heat map lead to their runs", async () => {
	await openReport();
	const cell = v.page.locator("#report-scores-attempt ~ .wide td").nth(3);
	assert.equal(await cell.innerText(), "3.0");
	assert.match(await cell.getAttribute("class"), /heat-5/);
	await cell.locator("a").focus();
	await v.press("Enter");
	await v.status("1 of 6 runs");
	assert.match(decodeURIComponent(v.page.url()), /task=first\+model=two/);
	await v.press("Enter");
	await v.page.locator(".run-name", { hasText: "two-first" }).waitFor();
});

test("a run to look at can be opened", async () => {
	await openReport();
	const table = v.page.locator("#report-troubles ~ details");
	assert.match(await table.locator("td").first().innerText(), /^integrity 1/);
	await table.locator("a", { hasText: "one-first" }).click();
	await v.page.locator("#trail", { hasText: "first" }).waitFor();
	// The header does not name the page that was left.
	let goOn;
	const held = new Promise((done) => (goOn = done));
	await v.page.route("**/api/report?*", async (route) => {
		await held;
		await route.continue();
	});
	await v.page.evaluate(() => (location.hash = "#/report"));
	await v.page.getByText("Loading").waitFor();
	assert.equal(await v.page.locator("#trail").innerText(), "");
	goOn();
	await v.page.locator("#trail", { hasText: "Report" }).waitFor();
});

test("points and lines lead to the runs of their model", async () => {
	await openReport();
	for (const name of [/^Performance profile, best@attempt/, /^Score over steps/, /^Interquartile mean/]) {
		const plot = v.page.getByRole("application", { name });
		await plot.focus();
		// Lines are in the order of models: <script..., one, two; profiles begin with them too.
		await v.press("ArrowRight", "ArrowDown", "Enter");
		await v.status("2 of 6 runs");
		assert.match(decodeURIComponent(v.page.url()), /model=one$/);
		await openReport();
	}
});

test("points outside of a plot have triangles at its edge, and lead to their runs", async () => {
	await openReport();
	const edges = (name) => v.page.getByRole("application", { name }).locator(".plot-edge").evaluateAll((all) => all.map((path) => path.getAttribute("d").match(/l.*/)[0]));
	assert.deepEqual(await edges(/^Interquartile mean/), ["l-5 -9h10z", "l-9 -5v10z"]);
	assert.deepEqual(await edges(/^Score over steps/), ["l-5 -9h10z"]);
	await v.page.getByText("1 of 3 points lie right of the picture; the furthest is at 2.").waitFor();
	await v.page.getByRole("application", { name: /^Interquartile mean/ }).focus();
	await v.press("ArrowRight", "ArrowDown", "ArrowDown");
	await v.status(/^two: 2, /); // its own cost, not that of the edge
	await v.press("Enter");
	await v.status("2 of 6 runs");
});

test("models come first, and each curve has marks of its own", async () => {
	await openReport();
	const titles = await v.page.locator("main h2").allInnerTexts();
	assert.deepEqual(titles.slice(0, 2), ["Models", "Scores, best@attempt"]);
	const paths = await v.page
		.getByRole("application", { name: /^Performance profile, best@attempt/ })
		.locator(".plot-line + .plot-mark")
		.evaluateAll((all) => all.map((path) => path.getAttribute("d")));
	assert.ok(paths.length >= 3 && paths.every((d) => d.startsWith("M")), paths.join("\n"));
	// Marks of curves that lie over each other do not.
	const places = paths.flatMap((d) => d.match(/M[\d.]+ [\d.]+/g));
	assert.equal(new Set(places).size, places.length);
});

test("of many bands that of the chosen line is shown", async () => {
	// The server's own answer with twice the lines, which are five or more then.
	await v.page.route("**/api/report?*", async (route) => {
		const text = await (await route.fetch()).text();
		const doc = JSON.parse(text.match(/^data: (.*)$/m)[1]);
		for (const { figure } of doc.tables) if (figure) figure.lines.push(...figure.lines);
		const body = `event: report\ndata: ${JSON.stringify(doc)}\n\nevent: end\ndata: {}\n\n`;
		await route.fulfill({ contentType: "text/event-stream", body });
	});
	await openReport();
	const plot = v.page.getByRole("application", { name: /^Score over steps/ });
	const shown = () => plot.evaluate((e) => [e.querySelectorAll(".plot-band").length, [...e.querySelectorAll("svg > g")].findIndex((g) => g.matches(".plot-chosen"))]);
	await plot.scrollIntoViewIfNeeded();
	assert.deepEqual(await shown(), [0, -1]);
	await plot.focus();
	await v.press("ArrowRight", "ArrowDown");
	await v.status(/^one: .* \(band \S+ to \S+\)$/);
	assert.deepEqual(await shown(), [1, 3]);
	const name = v.page.locator(".picture", { has: plot }).locator(".legend a").last();
	await name.hover();
	assert.deepEqual(await shown(), [1, 7]);
	await v.page.mouse.move(0, 0);
	assert.deepEqual(await shown(), [0, -1]);
	await name.focus();
	assert.deepEqual(await shown(), [1, 7]);
	await v.page.unroute("**/api/report?*");
	await openReport();
	assert.equal((await shown())[0], 3); // all bands of few lines
});

test("a click on a point, a bar and a legend leads to runs", async () => {
	await openReport();
	const points = v.page.getByRole("application", { name: /^Interquartile mean/ });
	const box = await points.boundingBox();
	await points.click({ position: { x: box.width - 15, y: 12 } }); // the best and dearest
	await v.status("2 of 6 runs");
	assert.match(decodeURIComponent(v.page.url()), /model=two$/);
	for (const list of [".bars", ".legend"]) {
		await openReport();
		await v.page.locator(list).first().getByRole("link", { name: "one", exact: true }).click();
		await v.status("2 of 6 runs");
	}
});

test("each plot has a table, and names are only text", async () => {
	await openReport();
	const sections = await v.page.locator(".picture").evaluateAll((all) => all.map((e) => e.querySelectorAll("table").length));
	assert.ok(sections.length > 10 && sections.every((n) => n === 1), sections.join(" "));
	assert.ok((await v.page.locator("main").innerText()).includes("<script>window.ran"));
	assert.equal(await v.page.locator("main script, main img").count(), 0);
	const cells = v.page.locator("td, th");
	assert.ok((await cells.evaluateAll((all) => Math.max(...all.map((e) => e.offsetWidth)))) < 700);
	assert.match(await v.page.locator(".long").first().getAttribute("title"), /^<script>.*x{400,}$/);
});

test("a large report opens without a long task", async () => {
	// The server's own answer with each table many times, as reports of thousands of runs are large.
	await v.page.route("**/api/report?*", async (route) => {
		const text = await (await route.fetch()).text();
		const doc = JSON.parse(text.match(/^data: (.*)$/m)[1]);
		const tables = Array.from({ length: 4 }, (_, i) => doc.tables.map((table) => ({ ...table, id: `${table.id}-${i}` }))).flat();
		const body = `event: report\ndata: ${JSON.stringify({ ...doc, tables })}\n\nevent: end\ndata: {}\n\n`;
		await route.fulfill({ contentType: "text/event-stream", body });
	});
	const tasks = [];
	for (let i = 0; i < 2; i++) {
		const open = async () => {
			await v.page.goto(`${v.address}?${i}#/report`);
			await v.status(/tables, \d+ with a picture/);
		};
		tasks.push((await longestTask(v.page.context().browser(), v.page, open)).cpu);
	}
	assert.ok(Math.min(...tasks) < 50, `tasks took ${tasks} ms of CPU`);
});

v.checkAxe(async () => [["#/report", ".picture"]]);
