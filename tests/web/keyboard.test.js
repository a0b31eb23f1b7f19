// Goes through all pages by keys alone, in both widths and colours, in Chromium.

import assert from "node:assert/strict";
import { test } from "node:test";

import { LOOKS, viewer } from "./browser.js";
import { opening, step, writeEpisode, writeRun } from "./records.js";

const v = viewer((top) => {
	for (const name of ["a", "b"])
		writeRun(top, name, [
			opening({ model: name }),
			{ event: "message", role: "user", content: "go" },
			step(1, { action: "create new.py", observation: "[File: /w/new.py (1 lines total)]\n1:x\n", info: { state: { open_file: "n/a", working_dir: "/w" } } }),
			step(2, { action: "validate", info: { score: { Score: name === "a" ? 2 : 3 } } }),
			{ event: "end", exit_status: "submitted", steps: 2, over: true, model_stats: { task_cost: 0.1, total_cost: 0.1, api_calls: 1 } },
		]);
	writeEpisode(`${top}/0-rollouts`, 1, 0, 2, 1, "other");
});

// True if the window shows the beginning of an element.
const isSeen = (selector) => v.page.locator(selector).first().evaluate((e) => e.getBoundingClientRect().top >= 0 && e.getBoundingClientRect().top < innerHeight);

const shows = (selector, text) => v.page.locator(selector, text ? { hasText: text } : {}).first().waitFor();

// Presses Tab until an element has the focus.
async function tabTo(selector) {
	for (let i = 0; i < 60; i++) {
		if (await v.page.evaluate((name) => document.activeElement.matches(name), selector)) return;
		await v.press("Tab");
	}
	assert.fail(`Tab does not lead to ${selector}`);
}

for (const { width, colorScheme } of LOOKS)
	test(`all pages are reached by keys at ${width} px, ${colorScheme}`, async () => {
		await v.open({ viewport: { width, height: width > 700 ? 800 : 450 }, colorScheme });
		await v.go("#/?sort=task");
		await v.status("3 of 3 runs");
		await v.press("g", "j", "c", "j", "c");
		await shows(".pair-half .step");
		await v.press("j", "a", "u");
		await v.status("3 of 3 runs");
		await v.press("G", "t");
		await shows(".plot svg");
		await tabTo(".plot");
		await v.press("ArrowRight", "Enter");
		await shows(".step h2", "Step 2");
		await v.press("g", "f");
		await shows("h2", "Files after step 1");
		await v.press("d", "]");
		await v.status("There is no file in this direction.");
		await v.press("f", "m");
		await shows("h2", "Messages 1 to 1 of 1");
		await v.page.waitForFunction(() => scrollY > 0 || innerWidth > 700);
		assert.ok(await isSeen(".detail h2"));
		await v.press("Enter");
		assert.ok(await v.page.evaluate(() => document.activeElement.matches(".detail")));
		await v.press("f"); // leaves the conversation for the files
		await shows("h2", "Files after step 1");
		await v.press("m", "m");
		await shows("h2", "Files after step 1");
		await v.press("f", "m", "m");
		await shows(".step h2", "Step 1");
		await v.press("d");
		await v.status("Press f to see the files first.");
		await v.press("t");
		await v.status("This record has no text of the task.");
		assert.ok(await isSeen("#status"));
		await v.press("u");
		await v.status("3 of 3 runs");
		await v.press("o");
		await shows(".picture");
		// Records only tell the cost of the whole run, so this table has a note and no rows.
		await shows("#report-over-cost + p", "their records don't tell what each step cost");
		assert.equal(await v.page.locator("section", { has: v.page.locator("#report-over-cost") }).locator("table").count(), 0);
		await tabTo("main a");
		await v.press("Enter");
		await v.status(/of 3 runs/);
		await v.press("p");
		await shows(".plot svg");
		await tabTo(".plot");
		await v.press("ArrowRight", "Enter");
		await v.status("1 of 3 runs");
		await v.press("?");
		await shows("dialog[open]");
		await v.press("Escape");
		// The focus leaves the closed dialog with the next frame.
		await v.page.waitForFunction(() => document.activeElement === document.body);
		await v.press("Enter");
		await shows(".step");
	});
