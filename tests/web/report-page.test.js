// Tests the page that `fumehood report --format html` writes, in Chromium. FUMEHOOD names the
// program, and PACKAGES the folder with playwright-core and axe-core.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { LOOKS } from "./browser.js";
import { opening, step, writeRun } from "./records.js";

const packages = createRequire(join(process.env.PACKAGES, "package.json"));
const { chromium } = packages("playwright-core");
const axe = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");
const top = mkdtempSync(join(tmpdir(), "fumehood-page-"));
const path = join(top, "report.html");
const LONG = "a-model-whose-name-is-longer-than-the-half-of-a-narrow-window";
let browser;

before(async () => {
	for (const model of [LONG, "two"])
		for (const task of ["blotto", "battleOfSexes"])
			for (let run = 0; run < 9; run++)
				writeRun(top, `${model}-${task}-${run}`, [
					opening({ model, task, run, baseline: { Score: 1 } }),
					{ event: "spent", model_stats: { task_cost: 0.1, total_cost: 0.1, api_calls: 1 } },
					step(1, { action: "validate", info: { score: { Score: 1.1 + run / 20 } } }),
					{ event: "end", exit_status: "submitted", steps: 1, over: true },
				]);
	// Models whose curves and points lie close together.
	for (let model = 0; model < 12; model++)
		writeRun(top, `near-${model}`, [
			opening({ model: `near-${model}`, task: "blotto", run: 0, baseline: { Score: 1 } }),
			{ event: "spent", model_stats: { task_cost: 0.1 + model / 1e4, total_cost: 0.1, api_calls: 1 } },
			step(1, { action: "validate", info: { score: { Score: model % 3 ? 1.2 : 0.9 } } }),
			{ event: "end", exit_status: "submitted", steps: 1, over: true },
		]);
	writeRun(top, "hostile", [opening({ model: "two", task: `\u202e${"t".repeat(4000)}`, run: 0 }), step(1)]);
	execFileSync(process.env.FUMEHOOD, [
		...["report", top, "--format", "html", "--compare", `${LONG},two`, "--out", path],
	]);
	browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
});

after(async () => {
	await browser?.close();
	rmSync(top, { recursive: true, force: true });
});

for (const { width, colorScheme } of LOOKS)
	test(`the page is readable at ${width} px, ${colorScheme}`, async () => {
		const context = await browser.newContext({
			viewport: { width, height: 800 },
			colorScheme,
			bypassCSP: true,
		});
		const page = await context.newPage();
		const asked = [];
		page.on("request", (request) => asked.push(request.url()));
		await page.goto(pathToFileURL(path).href);
		assert.equal(asked.length, 1, "the page makes no request");
		const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
		assert.ok(!wide, "the page is wider than the window");
		const clipped = page.locator("td.long").first();
		assert.match(await clipped.getAttribute("title"), /^[^\u202e]{4,20}t{500,}$/);
		assert.ok((await page.locator("td, th").evaluateAll((all) => Math.max(...all.map((e) => e.offsetWidth)))) < 700);
		assert.ok((await page.locator(".picture svg").count()) >= 5);
		// The 14 bands of a picture would hide each other, so each line has a panel with its own.
		const panels = page.locator('[aria-label="Score over steps"] .panel');
		const frames = await panels.evaluateAll((all) =>
			all.map((panel) => {
				const uses = [...panel.querySelectorAll("use")];
				const known = uses.filter((use) => document.querySelector(use.getAttribute("href"))).length;
				const { left, right, top, bottom } = uses[0].getBoundingClientRect();
				const svg = panel.closest("svg").getBoundingClientRect();
				return [uses.length, known, left >= svg.left && right <= svg.right && top >= svg.top && bottom <= svg.bottom && left < right];
			}),
		);
		assert.deepEqual(frames, Array(14).fill([4, 4, true]));
		assert.equal(await page.locator("svg > .band, svg > g > .band").count(), 0);
		// Pictures have the page's background. Each line and name stands out from it.
		const faint = await page.evaluate(() => {
			const light = (colour) => {
				const [r, g, b] = colour.match(/\d+/g).map((part) => {
					const x = part / 255;
					return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
				});
				return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
			};
			const back = light(getComputedStyle(document.body).backgroundColor);
			const far = (colour, from = back) => Math.max(light(colour), from) / Math.min(light(colour), from);
			const heat = getComputedStyle(document.querySelector(".heat")).fill;
			if (far(getComputedStyle(document.querySelector("svg text")).fill, light(heat)) < 4.5) return ["numbers on the heat map"];
			const drawn = (part) => getComputedStyle(part)[part.matches(".line") ? "stroke" : "fill"];
			return [...document.querySelectorAll(".line, .bar, .outside, circle, svg text:not([style])")]
				.map((part) => [part.outerHTML.slice(0, 80), drawn(part)])
				.filter(([, colour]) => far(colour) < 3);
		});
		assert.deepEqual(faint, []);
		assert.equal(
			await page.evaluate(() => getComputedStyle(document.querySelector(".picture")).backgroundColor),
			"rgba(0, 0, 0, 0)",
		);
		// Text of pictures is at least 8 px high on the screen.
		const smallest = await page.evaluate(() =>
			Math.min(...[...document.querySelectorAll("svg text")].map((t) => t.getBoundingClientRect().height)),
		);
		assert.ok(smallest >= 8, `text of ${smallest} px`);
		// Letters of curves, numbers and titles of axes, and names do not lie over each other.
		const over = await page.evaluate(() =>
			[...document.querySelectorAll("svg")]
				.filter((svg) => svg.querySelector(".tick"))
				.flatMap((svg) => {
					const texts = [...svg.querySelectorAll("text")].map((t) => [t.textContent, t.getBoundingClientRect()]);
					const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
					return texts.flatMap(([text, a], i) =>
						texts.slice(0, i).filter(([, b]) => meets(a, b)).map(([other]) => `${svg.ariaLabel}: ${text} over ${other}`),
					);
				}),
		);
		assert.deepEqual(over, []);
		await page.evaluate(axe);
		const found = await page.evaluate(() => window.axe.run());
		const serious = found.violations.filter((fault) => ["serious", "critical"].includes(fault.impact));
		assert.deepEqual(
			serious.map((fault) => [fault.id, fault.nodes[0].html, fault.nodes[0].failureSummary]),
			[],
		);
		await context.close();
	});
