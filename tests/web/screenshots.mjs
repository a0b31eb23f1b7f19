#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
//
// Makes the pictures of the viewer in docs/pictures anew, of generated runs.
//
// Usage: PACKAGES=build/web-packages tests/web/screenshots.mjs
//
// PACKAGES is the folder with playwright-core, which `scripts/test web` makes.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { opening, step, writeEpisode, writeRun } from "./records.js";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const program = process.env.FUMEHOOD ?? join(root, "build/fumehood");
const packages = createRequire(join(resolve(process.env.PACKAGES ?? join(root, "build/web-packages")), "package.json"));
const { chromium } = packages("playwright-core");
const pictures = join(root, "docs/pictures");
const top = mkdtempSync(join(tmpdir(), "fumehood-pictures-"));

const W = "/home/agent/workspace";
const MODELS = ["anthropic:large", "openai:middle", "openai:small"];
const TASKS = [["titanicSurvival", "accuracy", 0.7655], ["battleOfSexes", "Score", 1.02], ["blotto", "Score", -0.25]];
const CODE = ["import pandas as pd", "from sklearn.ensemble import RandomForestClassifier", "", 'train = pd.read_csv("data/train.csv")', 'model = RandomForestClassifier(n_estimators=100)', "model.fit(train[FEATURES], train.Survived)"];
const BETTER = [...CODE.slice(0, 4), "model = RandomForestClassifier(n_estimators=500, max_depth=6)", ...CODE.slice(5)];

// Numbers that are the same each time.
let seed = 1;
function random() {
	seed = (seed * 48271) % 2147483647;
	return seed / 2147483647;
}

function shown(lines) {
	return `[File: ${W}/train.py (${lines.length} lines total)]\n${lines.map((line, i) => `${i + 1}:${line}\n`).join("")}`;
}

// What an agent does in turns: reads, edits, trains, validates.
function turn(number, metric, score) {
	const failed = random() < 0.2;
	return [
		{ action: "open train.py", thought: "I look at the training script first.", observation: shown(CODE) },
		{ action: `edit 5:5\n${BETTER[4]}\nend_of_edit`, thought: "More trees, and not as deep, so that they fit the noise less.", observation: `${shown(BETTER)}The file is changed.` },
		{ action: "python3 train.py", thought: "I train it.", observation: failed ? "Traceback (most recent call last):\n  \x1b[31mKeyError\x1b[0m: 'Survived'" : "epoch 1: loss 0.512\nepoch 2: loss 0.431\nsaved submission.csv", info: { exit_code: failed ? 1 : 0, duration_s: 12 * random() } },
		{ action: "validate", thought: "I let it be scored.", observation: `Your code produced this score: ${score}`, info: { score: { [metric]: score }, duration_s: 1.5 } },
	][number % 4];
}

function writeOne(model, m, [task, metric, baseline], run) {
	let score = baseline;
	const steps = [];
	for (let i = 0; i < 24; i++) {
		if (i % 4 === 3) score = Number((score + (random() - 0.35) * 0.05 * (3 - m) * Math.max(0.4, Math.abs(baseline))).toFixed(4));
		const { info = {}, ...more } = turn(i, metric, score);
		steps.push({ event: "spent", model_stats: { task_cost: (i + 1) * 0.012 * (3 - m), total_cost: (i + 1) * 0.012 * (3 - m), tokens_sent: (i + 1) * 3200, tokens_received: (i + 1) * 210, api_calls: i + 1 } });
		steps.push(step(i + 1, { ...more, info: { state: { open_file: `${W}/train.py`, working_dir: W }, ...info } }));
	}
	const time = (second) => `2026-01-31T12:${String(Math.floor(second / 60)).padStart(2, "0")}:${String(second % 60).padStart(2, "0")}.000Z`;
	const events = [opening({ task, model, metric, run, baseline: { [metric]: baseline }, agent_config: "default" }), ...steps, { event: "end", exit_status: run % 5 ? "submitted" : "autosubmission (max_steps)", steps: 24, over: true }];
	writeRun(join(top, "runs"), `${model.replace(":", "-")}__${task}_run_${run}`, events.map((event, i) => ({ ...event, time: time(i * 7) })));
}

// Writes the episodes of a training, whose policy becomes better.
function writeTraining() {
	for (let policy = 0; policy <= 200; policy += 20)
		for (let number = 0; number < 16; number++) {
			const reward = 0.1 + policy / 400 + 0.2 * random();
			writeEpisode(join(top, "training"), policy, number, Number((1 + reward).toFixed(4)), Number(reward.toFixed(4)), "battleOfSexes");
		}
}

const children = [];

// Starts the program, and returns the address that it prints.
async function start(args, stream) {
	const env = { ...process.env, FUMEHOOD_STATE: join(top, "state") };
	const child = spawn(program, args, { env, stdio: ["ignore", "pipe", stream === "stderr" ? "pipe" : "inherit"] });
	children.push(child);
	for await (const line of createInterface(child[stream])) if (line.startsWith("http")) return line;
	throw new Error(`fumehood ${args[0]} ended`);
}

// Plays two steps by hand, and types a third.
async function playByHand(page) {
	const act = page.getByRole("textbox", { name: /^Action:/ });
	await page.goto(await start(["run", "--web", "--task", "battleOfSexes", "--model", "human", "--out", join(top, "by-hand")], "stderr"));
	for (const [i, action] of ["cat strategy.py", "validate"].entries()) {
		await page.getByText(`Step ${i + 1} waits for you.`).waitFor();
		await act.fill(action);
		await page.getByRole("button", { name: "Take the step" }).click();
	}
	await page.getByText("Step 3 waits for you.").waitFor();
	await act.fill("edit 1:1\nimport random\nend_of_edit");
}

async function main() {
	for (const [m, model] of MODELS.entries())
		for (const task of TASKS) for (let run = 0; run < 9; run++) writeOne(model, m, task, run);
	writeTraining();
	mkdirSync(pictures, { recursive: true });
	const address = await start(["view", join(top, "runs")], "stdout");
	const training = await start(["view", join(top, "training")], "stdout");
	const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
	const page = await browser.newPage({ viewport: { width: 1000, height: 500 } });
	const take = async (name) => {
		await page.waitForTimeout(300);
		await page.screenshot({ path: join(pictures, `${name}.png`) });
	};
	try {
		const { runs } = await (await fetch(`${address}api/runs`)).json();
		const id = (text) => runs.find((run) => run[1] === text)[0];
		const [one, other] = [id("anthropic-large__titanicSurvival_run_1"), id("openai-small__titanicSurvival_run_1")];
		for (const [name, place, ready, top] of [
			["runs", `${address}#/?sort=-best&filter=task%3Atitanic`, ".row"],
			["run", `${address}#/run/${one}/8`, ".step"],
			["files", `${address}#/run/${one}/2/files`, ".line-added"],
			["compare", `${address}#/compare/${one}/${other}/8`, ".pair-half .step"],
			["task", `${address}#/task/titanicSurvival`, ".plot svg"],
			["report", `${address}#/report`, "#report-iqm ~ div .plot svg", "#report-profile-attempt ~ div"],
			["training", `${training}#/training`, ".plot svg"],
		]) {
			await page.goto("about:blank");
			await page.goto(place);
			await page.locator(ready).first().waitFor();
			if (top) await page.locator(top).evaluate((e) => e.scrollIntoView());
			await take(name);
		}
		await page.setViewportSize({ width: 1000, height: 620 });
		await playByHand(page);
		await take("takeover");
	} finally {
		await browser.close();
		for (const child of children) child.kill();
		rmSync(top, { recursive: true, force: true });
	}
}

await main();
