// Tests the page of a policy's training in Chromium.

import assert from "node:assert/strict";
import { test } from "node:test";

import { viewer } from "./browser.js";
import { HOSTILE, opening, step, writeEpisode, writeRun } from "./records.js";

const STEPS = 6;
const v = viewer((top) => {
	for (let policy = 0; policy < STEPS; policy++)
		for (let number = 0; number < 4; number++)
			writeEpisode(`${top}/rollouts`, policy * 10, number, 1 + policy / 2 + number / 10, policy / 10 + number / 100);
	writeEpisode(`${top}/rollouts`, 0, 0, 2, 0, HOSTILE.slice(0, 80));
	for (let policy = 0; policy < 2; policy++) writeEpisode(`${top}/rollouts`, policy, 0, -12345 - policy, -0.000125, "large");
	writeEpisode(`${top}/rollouts`, 100, 0, 2, 0.5, "large");
	writeRun(top, "other", [opening(), step(1)]);
});

async function openTraining() {
	await v.go("");
	await v.page.getByRole("link", { name: "Training" }).waitFor();
	await v.press("p");
	await v.page.locator(".plot svg").nth(1).waitFor();
}

test("episodes are grouped by policy step, and a point lists them", async () => {
	await openTraining();
	const section = v.page.locator(".picture", { hasText: `${STEPS} policy steps` });
	assert.match(await section.locator("h2").innerText(), /24 episodes, 6 policy steps/);
	await section.getByText("Table").click();
	const cells = await section.locator("tbody tr").nth(1).locator("td").allInnerTexts();
	// Rewards are 0.10 to 0.13, scores 1.5 to 1.8.
	assert.deepEqual(cells, ["10", "4", "0.115", "0.1075 to 0.1225", "1.65", "1.575 to 1.725"]);
	await section.locator(".plot").first().focus();
	await v.press("ArrowRight", "ArrowRight", "ArrowRight");
	await v.status("Policy step 20: reward 0.215 in the mean of 4 episodes");
	await v.press("Enter");
	await v.status(/^4 of /);
	assert.match(decodeURIComponent(v.page.url()), /task=rows\+policy_step=20/);
});

test("a click on a point lists its episodes", async () => {
	await openTraining();
	const plot = v.page.getByRole("application", { name: /^Reward of rows/ });
	const box = await plot.boundingBox();
	await plot.click({ position: { x: box.width - 15, y: 20 } });
	await v.status(/^4 of /);
	assert.match(decodeURIComponent(v.page.url()), /policy_step=50/);
});

test("names in records are only text", async () => {
	await openTraining();
	await v.page.getByRole("heading", { name: "<script>" }).waitFor();
	assert.equal(await v.page.locator("main script, main img").count(), 0);
});

test("new episodes appear", async () => {
	await openTraining();
	writeEpisode(`${v.top}/rollouts`, 60, 0, 9, 1);
	await v.page.getByText("25 episodes, 7 policy steps").waitFor();
});

test("the table tells policy steps, in their order", async () => {
	await v.go("#/?filter=task:large");
	await v.status(/^3 of /);
	const cells = () => v.page.locator(".row-run").evaluateAll((rows) => rows.map((row) => [...row.children].slice(-2).map((cell) => cell.textContent)));
	const wanted = [["0", "-0.000125"], ["1", "-0.000125"], ["100", "0.5"]];
	assert.deepEqual(await cells(), wanted);
	assert.deepEqual((await v.page.locator(".table-head button").allTextContents()).slice(-2), ["Policy step", "Reward"]);
	assert.ok(await v.page.locator("label", { hasText: "Policy step" }).locator("input").isChecked());
	assert.ok(!v.page.url().includes("columns"));
	await v.go("#/?filter=task:rows&sort=name");
	const steps = async () => (await cells()).map(([step]) => Number(step));
	await v.page.waitForFunction(() => document.querySelector(".row-run")?.children.length > 11);
	assert.deepEqual(await steps(), (await steps()).sort((a, b) => a - b));
	await v.go("#/?filter=name:other");
	await v.status(/^1 of /);
	assert.equal(await v.page.getByRole("button", { name: "Sort by Policy step" }).count(), 0);
});

test("the replies of episodes are searched", async () => {
	await v.go("#/?filter=text:%22i%20TRY%22%20task:large");
	await v.status(/^3 of \d+ runs$/);
	await v.press("Enter");
	await v.page.getByLabel("Search steps").fill("i try");
	await v.press("Enter");
	await v.status("2 of 2 steps with this text");
	await v.page.getByLabel("Search steps").fill("validate");
	await v.press("Enter");
	await v.status("1 of 1 steps with this text");
});

test("an episode opens", async () => {
	await v.go('#/?filter=policy_step%3D20');
	await v.status(/^4 of /);
	await v.press("Enter");
	await v.page.locator(".step", { hasText: "I try" }).waitFor();
	await v.page.locator(".run-facts", { hasText: /best\s*2\.?\d* \(step 2\)/ }).waitFor();
});

v.checkAxe(async () => [["#/training", ".plot svg"]]);
