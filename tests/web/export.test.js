// Tests the pages that `fumehood view --export` writes, in Chromium. FUMEHOOD names the program, and
// PACKAGES the folder with playwright-core and axe-core.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { pathToFileURL } from "node:url";
import { LOOKS } from "./browser.js";
import { HOSTILE, opening, step, writeKinds, writeRun } from "./records.js";

const packages = createRequire(join(process.env.PACKAGES, "package.json"));
const { chromium } = packages("playwright-core");
const axe = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");
const top = mkdtempSync(join(tmpdir(), "fumehood-export-"));
const WRITTEN = ["first", "</script><script>window.ran = 5</script>", "<!--<script>", "last"];
let browser, context, page, faults;

function exported(name, ...places) {
	const path = join(top, name);
	execFileSync(process.env.FUMEHOOD, ["view", "--export", path, ...places.map((place) => join(top, place))]);
	return pathToFileURL(path).href;
}

async function open(options = {}) {
	await context?.close();
	context = await browser.newContext({ viewport: { width: 1280, height: 800 }, offline: true, ...options });
	page = await context.newPage();
	faults = [];
	page.on("pageerror", (error) => faults.push(String(error)));
	page.on("console", (message) => {
		if (["error", "warning"].includes(message.type())) faults.push(message.text());
	});
	page.on("request", (request) => {
		if (!/^(file|data):/.test(request.url())) faults.push(`request to ${request.url()}`);
	});
}

before(async () => {
	writeKinds(join(top, "kinds"));
	for (const [i, model] of ["one", "two", "two"].entries())
		writeRun(join(top, "runs"), `run-${i}`, [
			opening({ model, task: HOSTILE.slice(0, 40) }),
			step(1, { action: `cat > new.txt <<'E'\n${WRITTEN.join("\n")}\nE`, observation: "" }),
			...Array.from({ length: 24 }, (_, k) => step(k + 2)),
			step(26, { action: "validate", info: { score: { Score: 1.5 + i } } }),
			{ event: "end", exit_status: "submitted", steps: 26, over: true },
		]);
	browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
});

after(async () => {
	await browser?.close();
	rmSync(top, { recursive: true, force: true });
});

beforeEach(() => open());
afterEach(async () => {
	const ran = await page.evaluate(() => window.ran);
	await context.close();
	assert.equal(ran, undefined, "recorded content ran");
	assert.deepEqual(faults, []);
});

test("one run opens at its first step, with its whole texts and messages", async () => {
	await page.goto(exported("one.html", "kinds"));
	await page.locator(".step h2", { hasText: "Step 1" }).waitFor();
	assert.equal(await page.locator("details.raw").count(), 0);
	for (let i = 0; i < 7; i++) await page.keyboard.press("j");
	await page.locator(".step h2", { hasText: "Step 8" }).waitFor();
	await page.locator(".part-observation button.more").click();
	assert.equal((await page.locator(".part-observation pre").textContent()).length, 2_000_000);
	await page.getByLabel("Search steps").fill("LINE 2999");
	await page.keyboard.press("Enter");
	await page.locator(".step h2", { hasText: "Step 7" }).waitFor();
	await page.keyboard.press("Escape");
	await page.keyboard.press("m");
	await page.getByText("Messages 1 to 20 of 25").waitFor();
	await page.getByRole("button", { name: "Later messages" }).click();
	await page.getByText("Messages 21 to 25 of 25").waitFor();
	await page.keyboard.press("u");
	await page.locator("#status", { hasText: "1 of 1 runs" }).waitFor();
});

test("a table of runs leads to each run and its files, the task and the report", async () => {
	await page.goto(exported("runs.html", "runs"));
	await page.locator("#status", { hasText: "3 of 3 runs" }).waitFor();
	await page.keyboard.press("/");
	await page.keyboard.type("best>3");
	await page.locator("#status", { hasText: "1 of 3 runs" }).waitFor();
	await page.locator("input[type=search]").fill('text:"SCRIPT>window.ran = 5"');
	await page.locator("#status", { hasText: "3 of 3 runs" }).waitFor();
	await page.locator("input[type=search]").fill("text:nowhere");
	await page.locator("#status", { hasText: "0 of 3 runs" }).waitFor();
	await page.locator("input[type=search]").fill("text:train.py best>3");
	await page.locator("#status", { hasText: "1 of 3 runs" }).waitFor();
	await page.keyboard.press("Enter");
	await page.keyboard.press("Enter");
	await page.locator(".step h2", { hasText: "Step 1" }).waitFor();
	await page.keyboard.press("G");
	await page.locator(".step h2", { hasText: "Step 26" }).waitFor();
	assert.match(await page.locator(".step .facts").textContent(), /score3.5/);
	await page.keyboard.press("g");
	await page.locator(".step h2", { hasText: "Step 1" }).waitFor();
	await page.keyboard.press("f");
	await page.getByRole("button", { name: "Text", exact: true }).click();
	assert.deepEqual(await page.locator(".line-text").allTextContents(), WRITTEN);
	await page.keyboard.press("u");
	await page.locator("#status", { hasText: "3 of 3 runs" }).waitFor();
	await page.keyboard.press("t");
	await page.locator("#status", { hasText: "3 of 3 runs have scores" }).waitFor();
	await page.keyboard.press("u");
	await page.locator("#status", { hasText: "3 of 3 runs" }).waitFor();
	await page.keyboard.press("o");
	await page.locator("#status", { hasText: "with a picture" }).waitFor();
});

test("a page without steps says that it can't search them", async () => {
	truncateSync(writeRun(join(top, "large"), "run", [opening(), step(1)]), 101 << 20);
	await page.goto(exported("large.html", "large"));
	await page.locator("#status", { hasText: "1 of 1 runs" }).waitFor();
	await page.locator("input[type=search]").fill("text:out");
	await page.locator("#status", { hasText: "exported without steps, so their texts can't be searched" }).waitFor();
});

test("two runs open as a comparison", async () => {
	await page.goto(exported("two.html", "runs/run-0", "runs/run-2"));
	await page.locator("h1", { hasText: "Two runs" }).waitFor();
	await page.keyboard.press("a");
	assert.equal(await page.locator(".pair-half").count(), 2);
	assert.match(page.url(), /#\/compare\/[0-9a-f]+\/[0-9a-f]+\?by=score$/);
});

for (const { width, colorScheme } of LOOKS)
	test(`axe finds nothing serious at ${width} px, ${colorScheme}`, async () => {
		await open({ viewport: { width, height: 800 }, colorScheme, bypassCSP: true });
		await page.goto(exported("axe.html", "kinds"));
		await page.locator(".step").waitFor();
		assert.ok(!(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)));
		await page.evaluate(axe);
		const { violations } = await page.evaluate(() => window.axe.run());
		const serious = violations.filter((fault) => ["serious", "critical"].includes(fault.impact));
		assert.deepEqual(serious.map((fault) => [fault.id, fault.nodes[0].html]), []);
	});
