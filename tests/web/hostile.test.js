// Tests all pages with records that are broken or have numbers without bounds, in Chromium.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";

import { viewer } from "./browser.js";
import { HOSTILE, opening, step, writeEpisode, writeRun } from "./records.js";

const HUGE = 1.7e308;
const LINE = 10_000_000;

const v = viewer((top) => {
	const spent = { task_cost: HUGE, total_cost: HUGE, tokens_sent: 2 ** 63, tokens_received: -(2 ** 63), api_calls: 1e300 };
	for (const [run, name] of ["huge", "other"].entries())
		writeRun(top, name, [
			opening({ task: "numbers", run: 1e300, max_steps: 1e300, baseline: { Score: -HUGE } }),
			{ event: "spent", model_stats: spent },
			...[HUGE, -HUGE, 5e-324].map((score, i) =>
				step(i + 1, { action: "validate", info: { score: { Score: score / (run + 1) }, duration_s: HUGE, exit_code: 1e300, step: HUGE } }),
			),
			{ event: "end", exit_status: "submitted", steps: HUGE, over: true, model_stats: spent },
		]);
	const broken = writeRun(top, "broken", [opening({ task: "broken" }), step(1, { observation: "x".repeat(LINE) }), step(2, { observation: "BYTES" }), step(3)]);
	const [before, after] = readFileSync(broken, "latin1").split("BYTES");
	writeFileSync(broken, `${before}\xff\xfe\xc0\x80${after.slice(0, -20)}`, "latin1");
	const deep = writeRun(top, "deep", [opening({ task: "deep" }), step(1)]);
	writeFileSync(deep, readFileSync(deep, "utf8").replace('"task"', `"x":${"[".repeat(3000)}${"]".repeat(3000)},"task"`));
	mkdirSync(`${top}/left__lost__default__t_run_0`);
	writeFileSync(`${top}/left__lost__default__t_run_0/results.json`, JSON.stringify({ agent: [{ Score: 2 }, { Score: 1.5 }], baseline: { Score: 1 } }));
	writeEpisode(`${top}/rollouts`, 1, 0, HUGE, -HUGE);
	writeEpisode(`${top}/rollouts`, 1e15, 1, -HUGE, HUGE);
	writeFileSync(`${top}/rollouts/cut.traj`, JSON.stringify({ trajectory: [{ action: HOSTILE, observation: HOSTILE }, {}] }).slice(0, -4));
});

const ids = async () => {
	const { runs } = await v.page.request.get(`${v.address}api/runs`).then((reply) => reply.json());
	return Object.fromEntries(runs.map((run) => [run[1].split("/").at(-1), run[0]]));
};

test("numbers without bounds are shown", async () => {
	const { huge, other } = await ids();
	for (const [hash, ready] of [
		["#/?columns=name,steps,best,last,cost,tokens_sent,seconds,policy_step,reward", ".row"],
		[`#/run/${huge}/2`, ".step h2"],
		[`#/compare/${huge}/${other}/1`, ".pair-half .step"],
		[`#/compare/${huge}/${other}/1?by=score`, ".pair-half .step"],
		["#/task/numbers", ".plot svg"],
		["#/task/numbers?scores=each", ".plot svg"],
		["#/report", ".picture"],
		["#/training", ".plot svg"],
	]) {
		await v.go(hash);
		await v.page.locator(ready).first().waitFor();
		assert.deepEqual(v.faults, [], hash);
		assert.ok(!(await v.page.locator("main").innerHTML()).includes("NaN"), hash);
	}
	await v.go(`#/run/${huge}/2`);
	await v.page.locator(".run-facts", { hasText: /best\s*1\.7e\+308 \(step 1\)/ }).waitFor();
});

test("a line of 10 MB opens at once, and steps around broken ones are shown", async () => {
	const { broken } = await ids();
	const began = performance.now();
	await v.go(`#/run/${broken}/1`);
	await v.page.locator(".part-observation .more").waitFor();
	assert.ok(performance.now() - began < 20_000);
	assert.ok((await v.page.locator(".part-observation .text").innerText()).length < 10_000);
	await v.press("j");
	await v.page.getByRole("heading", { name: "This step can't be read" }).waitFor();
	assert.match(await v.page.locator(".part-broken .text").innerText(), /xff/);
	await v.page.locator('[aria-setsize="2"]').first().waitFor(); // the last event is cut
	await v.press("m", "f", "f", "k");
	await v.page.locator(".step h2", { hasText: "Step 1" }).waitFor();
});

test("a .traj that was cut shows its whole steps", async () => {
	const cut = (await ids())["cut.traj"];
	await v.go(`#/run/${cut}/1`);
	await v.page.locator(".part-action", { hasText: "<script>" }).waitFor();
	await v.page.locator(".run-facts", { hasText: /ended\s*cut off/ }).waitFor();
});

test("the table of runs names what can't be read", async () => {
	await v.go("#/?filter=damage:jsonl:3&columns=name,exit_status,damage");
	const row = v.page.locator(".row-run", { hasText: "broken" });
	await row.waitFor();
	assert.match(await row.innerText(), /\u26a0 cut off[^]*:3:/);
	assert.match(await row.locator(".cell").nth(1).getAttribute("title"), /Not all of the record can be read: .*:3:/);
	await v.page.setViewportSize({ width: 400, height: 800 });
	await v.go("#/?filter=damage:jsonl:3");
	const name = v.page.locator(".row-run .cell-name", { hasText: /^\u26a0 .*broken/ });
	await name.waitFor();
	assert.match(await name.getAttribute("title"), /Not all of the record can be read: .*:3:/);
	await v.page.setViewportSize({ width: 1280, height: 800 });
	await v.go("#/?filter=name:deep&columns=name,exit_status,damage");
	await v.page.locator(".row-run", { hasText: /\u26a0[^]*nested too deep/ }).waitFor();
	await v.press("Enter");
	await v.page.locator(".run-facts", { hasText: /damage.*nested too deep/ }).waitFor();
});

test("a table that changes while another address opens does not take the address back", async () => {
	await v.go("#/?filter=damage:jsonl:3");
	await v.page.locator(".row-run", { hasText: "broken" }).waitFor();
	await v.page.evaluate(() => {
		location.hash = "#/?filter=name:deep"; // its event comes later
		document.querySelector(".table-head button").click();
	});
	await v.page.locator(".row-run", { hasText: "deep" }).waitFor();
});

test("a run of which only the results are left has a row and a plain page", async () => {
	await v.go("#/?filter=task=lost");
	const row = v.page.locator(".row-run", { hasText: "left" });
	await row.waitFor();
	const shown = await row.locator(".cell").evaluateAll((all) => all.map((cell) => [cell.innerText, cell.title]));
	assert.deepEqual(shown.slice(3, 7).map(([text]) => text), ["\u2013", "\u2013", "2", "1"]);
	assert.equal(shown[3][1], "Only results.json is left of the run.");
	await row.click();
	await v.page.getByText("Only results.json is left of this run.").waitFor();
	assert.match(await v.page.locator(".run-facts").innerText(), /ended\s*unknown\s*steps\s*unknown\s*best\s*2\s*last\s*1\.5\s*baseline\s*1/);
	assert.equal(await v.page.locator("main button:visible, main input:visible").count(), 0);
	await v.press("j", "f", "m", "u");
	await row.waitFor();
});
