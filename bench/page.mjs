#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
//
// Measures the viewer's page in Chromium: how soon it shows many runs, and how long its longest
// tasks are while a list is scrolled and a run goes on.
//
// Usage: PACKAGES=build/web-packages bench/page.mjs [RUNS] [STEPS]
//
// PACKAGES is the folder with playwright-core, which `scripts/test web` makes. Processor time of a
// task is given before its time by the clock, which other programs lengthen.

import { spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { lines, opening, step, writeRun } from "../tests/web/records.js";
import { longestTask, scroll } from "../tests/web/tasks.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const program = process.env.FUMEHOOD ?? join(root, "build/fumehood");
const packages = createRequire(join(resolve(process.env.PACKAGES ?? join(root, "build/web-packages")), "package.json"));
const { chromium } = packages("playwright-core");
const [runs = 10000, steps = 5000] = process.argv.slice(2).map(Number);
const top = mkdtempSync(join(tmpdir(), "fumehood-page-"));

// Each step has a score, so that the curve has as many points as it can.
function write() {
	const end = { event: "end", exit_status: "submitted", over: true };
	const scored = (number) => step(number, { action: "validate", info: { score: { Score: Math.sin(number) } } });
	for (let i = 0; i < runs - 2; i++)
		writeRun(top, `run-${i}`, [opening({ task: `task${i % 20}`, model: `model${i % 10}` }), scored(1), end]);
	writeRun(top, "long", [opening({ task: "long", max_steps: steps }), ...Array.from({ length: steps }, (_, i) => scored(i + 1)), end]);
	return writeRun(top, "live", [opening({ task: "live" }), scored(1)]);
}

async function start() {
	const server = spawn(program, ["view", top], { stdio: ["ignore", "pipe", "inherit"] });
	for await (const line of createInterface(server.stdout)) return { server, address: line };
}

function tell(what, { cpu, clock, tasks }) {
	console.log(`${what}: longest of ${tasks} tasks ${cpu.toFixed(0)} ms of CPU, ${clock.toFixed(0)} ms`);
}

// Appends a step to the run that goes on every half second.
function grow(live) {
	let number = 1;
	return setInterval(() => appendFileSync(live, lines([step(++number)])), 500);
}

async function main() {
	const live = write();
	const first = await start(); // makes the index
	await (await fetch(`${first.address}api/runs?`)).text();
	first.server.kill();
	const { server, address } = await start();
	const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
	const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
	const idle = (ms) => page.waitForTimeout(ms);
	try {
		let began;
		tell(
			"opening the table",
			await longestTask(browser, page, async () => {
				began = performance.now();
				await page.goto(address);
				await page.getByText(`${runs} of ${runs} runs`).waitFor();
				began = performance.now() - began;
			}),
		);
		console.log(`${runs} runs shown after ${(began / 1000).toFixed(2)} s`);
		const timer = grow(live);
		tell(
			"table, while a run goes on",
			await longestTask(browser, page, async () => {
				for (let i = 0; i < 5; i++) {
					await scroll(page, ".list", 2500, 60);
					await idle(1000);
				}
			}),
		);
		tell("sorting", await longestTask(browser, page, () => page.getByRole("button", { name: "Sort by Task" }).click()));
		tell("filtering", await longestTask(browser, page, async () => {
			await page.keyboard.press("/");
			await page.keyboard.type("task=live ");
			await page.getByText(`1 of ${runs} runs`).waitFor();
		}));
		tell("opening the run that goes on", await longestTask(browser, page, async () => {
			await page.keyboard.press("Enter");
			await page.keyboard.press("Enter");
			await page.locator(".step").waitFor();
		}));
		tell("watching it", await longestTask(browser, page, () => idle(4000)));
		clearInterval(timer);
		await page.goto(`${address}#/?filter=task%3Dlong`);
		await page.getByText(`1 of ${runs} runs`).waitFor();
		tell("opening a long run", await longestTask(browser, page, async () => {
			await page.keyboard.press("Enter");
			await page.locator(".step").waitFor();
		}));
		tell("scrolling its steps", await longestTask(browser, page, () => scroll(page, ".list", 2500, 60)));
		tell("stepping through it", await longestTask(browser, page, async () => {
			for (let i = 0; i < 20; i++) await page.keyboard.press("j");
			await idle(500);
		}));
		tell("opening the report", await longestTask(browser, page, async () => {
			await page.goto(`${address}#/report`);
			await page.getByText(/tables, \d+ with a picture/).waitFor();
		}));
	} finally {
		await browser.close();
		server.kill();
		rmSync(top, { recursive: true, force: true });
	}
}

await main();
