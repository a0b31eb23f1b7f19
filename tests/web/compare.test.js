// Tests the table of runs, and the pages of two runs and of all runs of a task, in Chromium.

import assert from "node:assert/strict";
import { test } from "node:test";

import { viewer } from "./browser.js";
import { HOSTILE, opening, step, writeRun, writeTraj } from "./records.js";

// Writes a run with these scores; null: a step without one.
function writeScores(top, name, model, scores, task = "rows") {
	const steps = scores.map((score, i) => step(i + 1, score === null ? {} : { action: "validate", info: { score: { Score: score } } }));
	const spent = { event: "spent", model_stats: { task_cost: scores[1] ?? 0.0125, total_cost: 1, api_calls: 1 } };
	return writeRun(top, name, [opening({ model, task }), spent, ...steps, { event: "end", exit_status: "submitted", steps: steps.length, over: true }]);
}

const v = viewer((top) => {
	writeScores(top, "a", "one", [null, 2, 1.5, 3, null]);
	writeScores(top, "b", "two", [1.5, null, 2.5]);
	writeScores(top, "c", "two", [null, null, 4]);
	for (const run of [0, 1]) writeTraj(top, `c-large__other__default__t-0.00_run_${run}`, "other");
	for (const [i, score] of [1, 2, 2.5, 3, -6e13, 9e12].entries()) writeScores(top, `e-spread-${i}`, "one", [score], "spread");
	writeRun(top, "d", [opening({ model: HOSTILE.slice(0, 120), task: HOSTILE.slice(0, 120) }), step(1, { action: HOSTILE, info: { score: { Score: 1 } } })]);
});

async function openPair() {
	await v.go("#/?sort=name");
	await v.status("12 of 12 runs");
	await v.press("g", "c");
	await v.status(/is marked/);
	await v.press("j", "c");
	await v.page.locator(".pair-half .step").first().waitFor();
}

const heads = () => v.page.locator(".pair-half").evaluateAll((all) => all.map((e) => (e.querySelector("h2") ?? e).innerText.trim().split(" ").slice(0, 2).join(" ")));
const shows = (a, b) => v.page.waitForFunction(
	([x, y]) => {
		const all = [...document.querySelectorAll(".pair-half")].map((e) => e.innerText.trim());
		return all.length === 2 && all[0].startsWith(x) && all[1].startsWith(y);
	},
	[a, b],
);

const title = (name) => v.page.getByRole("button", { name: `Sort by ${name}` });

test("rows of the table are told apart, and their numbers stand below each other", async () => {
	await v.go("#/?sort=name");
	await v.status("12 of 12 runs");
	const rows = v.page.locator(".row-run");
	const titles = await v.page.locator(".table-head button").allInnerTexts();
	const cell = (row, name) => rows.nth(row).locator(".cell").nth(titles.findIndex((text) => text.startsWith(name)));
	assert.deepEqual((await rows.locator(".name-tail").allInnerTexts()).slice(0, 6), ["a", "b", "c", "_run_0/other.traj", "_run_1/other.traj", "d"]);
	const costs = [];
	for (let row = 0; row < 6; row++) costs.push(await cell(row, "Cost").innerText());
	assert.deepEqual(costs, ["$2.0000", "$0.0125", "$0.0125", "\u2013", "\u2013", "\u2013"]);
	assert.match(await cell(3, "Cost").getAttribute("title"), /no price of the model was known/);
	const rights = await v.page.locator(".cell-number").evaluateAll((all) => all.map((e) => [getComputedStyle(e).textAlign, getComputedStyle(e).fontVariantNumeric]));
	assert.deepEqual([...new Set(rights.map(String))], ["end,tabular-nums"]);
	assert.equal(await cell(3, "Time").innerText(), "6.5 s");
	assert.equal(await cell(3, "Time").getAttribute("title"), "6.5 s in steps. The record has no other times.");
	assert.equal(await cell(3, "Errors").innerText(), "\u2013");
	assert.equal(await cell(3, "Errors").getAttribute("title"), "The record has no exit codes.");
	assert.equal(await cell(0, "Errors").innerText(), "0");
	// The end of a name is whole, to a fraction of a pixel: else the browser cuts a letter off.
	await v.page.setViewportSize({ width: 1100, height: 800 });
	const room = await rows.locator(".name-tail").evaluateAll((all) =>
		all.map((e) => {
			const text = document.createRange();
			text.selectNodeContents(e);
			return e.getBoundingClientRect().width - text.getBoundingClientRect().width;
		}),
	);
	assert.ok(room.every((width) => width > -0.01), room.join());
	await v.go("#/training");
	await v.page.getByText("No run here is an episode of a training.").waitFor();
	// On a narrow page a name has a line of its own.
	await v.page.setViewportSize({ width: 400, height: 800 });
	await v.go("#/?sort=name");
	await v.status("12 of 12 runs");
	const cut = await v.page.locator(".name-head, .name-tail").evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth).length);
	assert.equal(cut, 0);
	await title("Best").waitFor();
	const places = await rows.nth(3).locator(".cell").evaluateAll((all) => all.map((e) => e.getBoundingClientRect().top));
	assert.ok(places.length === 4 && places.slice(1).every((top) => top > places[0] + 10), places.join());
});

// Words of the table of two runs that are broken.
function brokenWords() {
	const broken = [];
	const box = document.querySelector("main");
	const texts = document.createTreeWalker(box, NodeFilter.SHOW_TEXT, (text) => NodeFilter[text.parentElement.closest(".pair-names, .pair-facts .wide") ? "FILTER_ACCEPT" : "FILTER_SKIP"]);
	while (texts.nextNode())
		for (const { 0: word, index } of texts.currentNode.data.matchAll(/[a-z0-9]+/gi)) {
			const range = document.createRange();
			range.setStart(texts.currentNode, index);
			range.setEnd(texts.currentNode, index + word.length);
			if (range.getClientRects().length !== 1) broken.push(word);
		}
	if (box.scrollWidth > box.clientWidth) broken.push("wider than its box");
	return broken;
}

test("the table of two runs breaks no word", async () => {
	const { runs } = await v.page.request.get(`${v.address}api/runs`).then((reply) => reply.json());
	const [one, other] = runs.filter((run) => run[1].includes("__")).map((run) => run[0]);
	for (const width of [1280, 400]) {
		await v.page.setViewportSize({ width, height: 800 });
		await v.go(`#/compare/${one}/${other}`);
		await v.page.locator(".pair-half .step").first().waitFor();
		assert.equal(await v.page.locator(".pair-names a", { hasText: "c-large__other__default__t-0.00_run_0/other.traj" }).count(), 1);
		assert.deepEqual(await v.page.evaluate(brokenWords), []);
		assert.deepEqual(await v.page.locator("tr", { hasText: "Cost" }).locator("td").allInnerTexts(), ["Cost", "unknown", "unknown"]);
		// The facts leave room for the steps on the first screen.
		const steps = await v.page.locator('[aria-posinset="2"]').boundingBox();
		if (width > 700) assert.ok(steps.y + steps.height < 500, `steps end at ${steps.y} px`);
	}
});

test("two runs are chosen by keys, and aligned by step", async () => {
	await openPair();
	assert.deepEqual(await heads(), ["Step 1", "Step 1"]);
	assert.equal(await v.page.locator(".row").count(), 5);
	const facts = await v.page.locator(".pair-facts tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.innerText)));
	assert.deepEqual(await v.page.locator(".pair-names li").allInnerTexts(), ["A a", "B b"]);
	assert.deepEqual(facts.find(([name]) => name === "Best score"), ["Best score", "3", "2.5"]);
	await v.press("G");
	await shows("Step 5", "B has no such step.");
	await v.press("k", "k");
	await shows("Step 3", "Step 3");
	const address = v.page.url();
	assert.match(address, /#\/compare\/[0-9a-f]{16}\/[0-9a-f]{16}\/3$/);
	await v.page.goto("about:blank");
	await v.page.goto(address);
	await shows("Step 3", "Step 3");
	await v.press("2");
	await v.page.locator(".run-name", { hasText: /^b$/ }).waitFor();
	await v.page.locator(".step h2", { hasText: "Step 3" }).waitFor();
});

test("two runs are aligned by the scores that they reached", async () => {
	await openPair();
	await v.page.getByRole("button", { name: "Align by score" }).click();
	// Levels are 1.5, 2, 2.5 and 3.
	await v.press("g");
	await v.status("Score 1.5: A at step 2, B at step 1");
	await v.press("j");
	await v.status("Score 2: A at step 2, B at step 3");
	await v.press("j");
	await v.status("Score 2.5: A at step 4, B at step 3");
	await v.press("j");
	await v.status("Score 3: A at step 4, B never");
	await shows("Step 4", "B never got this far.");
	assert.match(v.page.url(), /\/4\?by=score$/);
	await v.page.reload();
	await shows("Step 4", "B never got this far.");
	await v.press("x");
	await shows("A never got this far.", "Step 4");
	await v.press("a");
	await v.page.getByRole("button", { name: "Align by score" }).waitFor();
});

test("a point of the picture goes to its step", async () => {
	await openPair();
	await v.page.locator(".plot").focus();
	await v.press("ArrowRight", "ArrowRight", "ArrowRight", "Enter");
	await shows("Step 4", "B has no such step.");
	await v.page.locator(".plot").focus();
	await v.press("ArrowDown");
	await v.status(/^B, step 3/);
});

test("Shift and a click marks a run", async () => {
	await v.go("#/?sort=name");
	await v.status("12 of 12 runs");
	await v.page.locator('[aria-posinset="1"]').click({ modifiers: ["Shift"] });
	await v.page.locator(".row-marked").waitFor();
	await v.page.locator('[aria-posinset="3"]').click({ modifiers: ["Shift"] });
	await shows("Step 1", "Step 1");
});

test("runs of a task are lines that open", async () => {
	await v.go("#/?sort=name");
	await v.status("12 of 12 runs");
	await v.press("g", "t");
	await v.status("3 of 3 runs have scores");
	assert.match(v.page.url(), /#\/task\/rows$/);
	assert.equal(await v.page.locator(".plot .plot-line").count(), 3);
	// Models differ in their dashes and marks, not only in colour.
	const styles = await v.page.locator(".legend svg").evaluateAll((all) => all.map((e) => [...e.children].map((c) => c.getAttribute("stroke-dasharray") ?? c.getAttribute("d"))));
	assert.equal(styles.length, 2);
	for (const part of [0, 1]) assert.notEqual(styles[0][part], styles[1][part]);
	await v.press("ArrowRight", "ArrowRight");
	await v.status("one, a: step 3, score 1.5");
	await v.press("ArrowDown");
	await v.status("two, b: step 3, score 2.5");
	await v.press("Enter");
	await v.page.locator(".run-name", { hasText: /^b$/ }).waitFor();
	assert.match(v.page.url(), /\/3$/);
});

test("a click opens a run, and models are hidden", async () => {
	await v.go("#/task/rows");
	await v.status("3 of 3 runs have scores");
	await v.page.getByRole("button", { name: "two" }).click();
	await v.status("1 of 3 runs have scores");
	assert.equal(await v.page.locator(".plot .plot-line").count(), 1);
	await v.press("a");
	await v.page.getByRole("button", { name: "Show best scores so far" }).waitFor();
	assert.match(v.page.url(), /scores=each/);
	const box = await v.page.locator(".plot").boundingBox();
	await v.page.locator(".plot").click({ position: { x: box.width - 20, y: 20 } });
	await v.page.locator(".run-name", { hasText: /^a$/ }).waitFor();
	assert.match(v.page.url(), /\/4$/);
	await v.page.locator(".run-facts").getByRole("link", { name: "rows" }).click();
	await v.status("3 of 3 runs have scores");
});

test("scores that are outliers lie at the edges of a task's picture", async () => {
	await v.go("#/task/spread");
	await v.status("6 of 6 runs have scores. 2 have scores outside of the picture");
	const edges = await v.page.locator(".plot-edge").evaluateAll((all) => all.map((path) => path.getAttribute("d").match(/l.*/)[0]));
	assert.deepEqual(edges, ["l-5 -9h10z", "l-5 9h10z"]);
	assert.ok((await v.page.locator(".plot-axes text").allTextContents()).includes("2.5"));
	assert.deepEqual(await v.hiddenTexts(), []);
	await v.press("ArrowUp");
	await v.status("one, e-spread-5: step 1, score 9000000000000");
});

test("hostile names are only text", async () => {
	await v.go("#/?filter=script");
	await v.status("1 of 12 runs");
	await v.press("t");
	await v.status("1 of 1 runs have scores");
	assert.match(await v.page.locator("h1").innerText(), /<script>/);
	await v.go("#/task/%E0%A4%A");
	await v.page.getByText("Not found").waitFor();
	await v.go("#/compare/0000000000000000/x");
	await v.page.getByText("there is no such run").waitFor();
	v.faults = v.faults.filter((fault) => !fault.includes("404"));
});

v.checkAxe(async () => {
	const runs = await v.page.request.get(`${v.address}api/runs`).then((reply) => reply.json());
	const [a, b] = runs.runs.map((run) => run[0]);
	return [
		["#/task/rows", ".plot svg"],
		[`#/compare/${a}/${b}/2`, ".pair-half .step"],
		[`#/compare/${a}/${b}/2?by=score`, ".pair-half .step"],
	];
});
