// Starts the viewer and Chromium for a file of tests. FUMEHOOD names the program, and PACKAGES the
// folder with playwright-core and axe-core.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, afterEach, before, beforeEach, test } from "node:test";

const packages = createRequire(join(process.env.PACKAGES, "package.json"));
const { chromium } = packages("playwright-core");
const axe = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");

// Widths and colours in which all pages are tested: the two pairs that have each of them, or with
// WEB_ALL=1 all four.
export const LOOKS = [1280, 400]
	.flatMap((width) => ["light", "dark"].map((colorScheme) => ({ width, colorScheme })))
	.filter((look) => process.env.WEB_ALL || (look.width === 1280) === (look.colorScheme === "light"));

// `write` makes the records in a folder. The members of what is returned are set before each test.
export function viewer(write) {
	const v = { top: mkdtempSync(join(tmpdir(), "fumehood-web-")), faults: [] };
	let server, browser, context;

	before(async () => {
		write(v.top);
		server = spawn(process.env.FUMEHOOD, ["view", v.top], { stdio: ["ignore", "pipe", "inherit"] });
		for await (const line of createInterface(server.stdout)) {
			v.address = line;
			break;
		}
		browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
	});

	after(async () => {
		await browser?.close();
		server?.kill();
		rmSync(v.top, { recursive: true, force: true });
	});

	// Opens a page that notes errors of its scripts, and requests to other places.
	v.open = async (options = {}) => {
		await context?.close();
		context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
		v.page = await context.newPage();
		v.faults = [];
		v.page.on("pageerror", (error) => v.faults.push(String(error)));
		v.page.on("console", (message) => {
			if (["error", "warning"].includes(message.type())) v.faults.push(message.text());
		});
		v.page.on("request", (request) => {
			const url = request.url();
			if (!url.startsWith(v.address) && !url.startsWith("data:")) v.faults.push(`request to ${url}`);
		});
	};
	v.go = (hash) => v.page.goto(`${v.address}${hash}`);
	v.press = async (...keys) => {
		for (const key of keys) await v.page.keyboard.press(key);
	};
	v.status = (text) => v.page.locator("#status", { hasText: text }).waitFor();

	beforeEach(() => v.open());
	afterEach(async () => {
		const ran = await v.page.evaluate(() => window.ran);
		await context.close();
		assert.equal(ran, undefined, "recorded content ran");
		assert.deepEqual(v.faults, []);
	});

	// Serious faults that axe finds. The page has to be opened with `bypassCSP`.
	v.serious = async () => {
		await v.page.evaluate(axe);
		const found = await v.page.evaluate(() => window.axe.run());
		const serious = found.violations.filter((fault) => ["serious", "critical"].includes(fault.impact));
		return serious.map((fault) => [fault.id, fault.nodes[0].html, fault.nodes[0].failureSummary]);
	};

	// Pairs of texts in a plot that overlap, and texts that its edge cuts.
	v.hiddenTexts = () =>
		v.page.evaluate(() =>
			[...document.querySelectorAll(".plot svg")].flatMap((plot) => {
				const edge = plot.getBoundingClientRect();
				const texts = [...plot.querySelectorAll("text")].map((e) => ({ text: e.textContent, box: e.getBoundingClientRect() }));
				const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
				const cut = texts.filter(({ box }) => box.left < edge.left || box.right > edge.right || box.bottom > edge.bottom);
				const pairs = texts.flatMap((a, i) => texts.slice(i + 1).filter((b) => overlap(a.box, b.box)).map((b) => `${a.text}, ${b.text}`));
				return [...cut.map(({ text }) => text), ...pairs];
			}),
		);

	// Checks views in both widths and colours. `ready` waits until a view is shown.
	v.checkAxe = (views) => {
		for (const { width, colorScheme } of LOOKS)
			test(`axe finds nothing serious at ${width} px, ${colorScheme}`, async () => {
				await v.open({ viewport: { width, height: 800 }, colorScheme, bypassCSP: true });
				for (const [hash, ready] of await views()) {
					await v.go(hash);
					await v.page.locator(ready).first().waitFor();
					const wide = await v.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
					assert.ok(!wide, `${hash} is wider than the window`);
					assert.deepEqual(await v.hiddenTexts(), []);
					assert.deepEqual(await v.serious(), []);
				}
			});
	};
	return v;
}
