// Tests in Chromium that a person plays, and takes over a model's run, by the page of a run with
// --web. FUMEHOOD names the program, and PACKAGES the folder with playwright-core and axe-core.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { after, afterEach, before, test } from "node:test";

import { LOOKS } from "./browser.js";

const packages = createRequire(join(process.env.PACKAGES, "package.json"));
const { chromium } = packages("playwright-core");
const axe = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");
const tests = resolve(import.meta.dirname, "..");

let top, browser, page, faults, children;

before(async () => {
	browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
});
after(() => browser?.close());

function start(program, args, options) {
	const child = spawn(program, args, options);
	child.ended = new Promise((done) => child.on("exit", done));
	children.push(child);
	return child;
}

async function lineOf(stream, wanted) {
	for await (const line of createInterface(stream)) if (wanted.test(line)) return line;
	throw new Error("the program ended");
}

// Starts a run with --web, and opens its page at the episode.
async function play(model, { width = 1280, more = [], ...options } = {}) {
	children = [];
	top = mkdtempSync(join(tmpdir(), "fumehood-web-"));
	const env = { ...process.env, FUMEHOOD_STATE: join(top, "state"), OPENAI_API_KEY: "k" };
	const run = start(
		process.env.FUMEHOOD,
		["run", "--web", "--tasks-dir", join(tests, "tasks"), "--task", "rows", "--max-steps", "40", "--out", join(top, "out"), "--model", model, ...more],
		{ env, stdio: ["ignore", "ignore", "pipe"] },
	);
	const address = await lineOf(run.stderr, /#\/live$/);
	const context = await browser.newContext({ viewport: { width, height: 800 }, ...options });
	page = await context.newPage();
	faults = [];
	page.on("pageerror", (error) => faults.push(String(error)));
	page.on("console", (message) => {
		if (["error", "warning"].includes(message.type())) faults.push(message.text());
	});
	await page.goto(address);
	await page.locator(".takeover").waitFor();
	return { run, address };
}

// Starts a run of a model that gives the replies.
async function playModel(replies, options) {
	children = [];
	const folder = mkdtempSync(join(tmpdir(), "fumehood-web-"));
	const script = join(folder, "script.json");
	writeFileSync(script, JSON.stringify({ m: { tries: replies } }));
	const server = spawn("python3", [join(tests, "servers", "llm.py"), script], { stdio: ["pipe", "pipe", "inherit"] });
	const port = await lineOf(server.stdout, /^\d+$/);
	const played = await play("openai:m", { ...options, more: ["--url", `http://127.0.0.1:${port}/v1`] });
	children.push(server);
	return played;
}

afterEach(async () => {
	await page?.context().close();
	for (const child of children) child.kill("SIGKILL");
	rmSync(top, { recursive: true, force: true });
});

const status = (text) => page.locator(".takeover-status", { hasText: text }).waitFor();
const said = (text) => page.locator("#status", { hasText: text }).waitFor();
const observation = (text) => page.locator(".part-observation .text", { hasText: text }).waitFor();

test("a person plays by keys", async () => {
	await play("human");
	await status("Step 1 waits for you.");
	await page.locator(".detail", { hasText: "Write the sign of each row's x" }).waitFor();
	await page.keyboard.press("i");
	await page.keyboard.type("echo one\necho '<b>two</b>'");
	await page.keyboard.press("Control+Enter");
	await observation("one\n<b>two</b>");
	await status("Step 2 waits for you.");
	assert.equal(await page.locator(".takeover textarea:visible").inputValue(), "");
	await page.keyboard.press("Escape");
	await page.keyboard.press("?");
	const keys = await page.locator("#help-keys kbd").allTextContents();
	assert.ok(keys.includes("i") && !keys.includes("h"), `the help lists ${keys}`);
	await page.keyboard.press("Escape");
	await page.locator('[aria-posinset="1"] .mark-person').waitFor();
	await page.keyboard.press("t");
	await page.locator(".detail h2", { hasText: "Task" }).waitFor();
	assert.match(page.url(), /\/1\/task$/);
	await page.reload();
	await page.locator(".detail h2", { hasText: "Task" }).waitFor();
	await page.keyboard.press("i");
	await page.keyboard.type("vim x");
	await page.keyboard.press("Control+Enter");
	await said("needs a whole screen");
	assert.equal(await page.locator(".takeover textarea:visible").inputValue(), "vim x");
	faults = faults.filter((fault) => !fault.includes("400"));
	assert.deepEqual(faults, []);
});

test("a person validates and submits by buttons on a narrow page", async () => {
	const { run } = await play("human", { width: 400 });
	await status("Step 1 waits for you.");
	await page.getByRole("textbox", { name: /^Action:/ }).fill("cp zeros.csv submission.csv");
	await page.getByRole("button", { name: "Take the step" }).click();
	await status("Step 2 waits for you.");
	await page.getByRole("button", { name: "Validate" }).click();
	await observation("accuracy");
	await status("Step 3 waits for you.");
	const covers = await page.evaluate(() => document.querySelector(".takeover").getBoundingClientRect().top < document.querySelector(".detail").getBoundingClientRect().bottom);
	assert.ok(!covers, "the controls cover the page");
	await page.getByRole("button", { name: "Submit" }).click();
	await page.keyboard.press("Escape");
	await page.getByRole("dialog").waitFor({ state: "hidden" });
	await status("Step 3 waits for you.");
	await page.getByRole("button", { name: "Submit" }).click();
	await page.getByRole("button", { name: "Yes, submit" }).click();
	await status("The episode has ended.");
	await page.locator(".run-facts", { hasText: /ended\s*submitted/ }).waitFor();
	await observation("accuracy");
	assert.equal(await run.ended, 0);
	assert.equal(await page.getByRole("link", { name: "The episode that is played now" }).count(), 0);
	// The page looks for a next episode until the server ends.
	assert.deepEqual(faults.filter((fault) => !fault.includes("ERR_CONNECTION_REFUSED")), []);
});

test("a second page can't take the same step", async () => {
	const { address } = await play("human");
	const other = await page.context().newPage();
	await other.goto(address);
	await other.locator(".takeover-status", { hasText: "Step 1 waits" }).waitFor();
	await other.route("**/api/run?*", () => {}); // no answer: it does not learn of the step
	await status("Step 1 waits for you.");
	await page.getByRole("textbox", { name: /^Action:/ }).fill("echo first");
	await page.getByRole("button", { name: "Take the step" }).click();
	await observation("first");
	await page.close();
	page = other;
	await page.getByRole("textbox", { name: /^Action:/ }).fill("echo late");
	await page.keyboard.press("Control+Enter");
	await said("Step 1 was taken already, maybe on another page.");
	await page.unroute("**/api/run?*");
	await status("Step 2 waits for you.");
	await page.getByRole("textbox", { name: /^Action:/ }).fill("echo second");
	await page.keyboard.press("Control+Enter");
	await observation("second");
	await status("Step 3 waits for you.");
	// A viewer of a folder that does not exist yet waits for its runs.
	const later = join(top, "later");
	await page.goto(await lineOf(start(process.env.FUMEHOOD, ["view", later]).stdout, /^http/));
	await page.getByText("There are no runs yet. They appear here when they begin.").waitFor();
	cpSync(join(top, "out"), later, { recursive: true });
	await page.locator("#status", { hasText: "1 of 1 runs" }).waitFor();
	await page.locator(".row-run").waitFor();
	// Another viewer, which can't take over, opens the run at its end too.
	await page.goto(await lineOf(start(process.env.FUMEHOOD, ["view", join(top, "out")]).stdout, /^http/));
	await page.locator("#status", { hasText: "1 of 1 runs" }).waitFor();
	await page.keyboard.press("Enter");
	await observation("second");
});

test("a command is interrupted, and the next episode opens", async () => {
	await play("human", { more: ["--runs", "2"] });
	await status("Step 1 waits for you.");
	await page.getByRole("textbox", { name: /^Action:/ }).fill("echo began; sleep 300");
	await page.keyboard.press("Control+Enter");
	await status("Step 1 runs.");
	await page.locator(".row-running", { hasText: "echo began; sleep 300" }).locator('[title="running"]').waitFor();
	await page.locator(".step h2", { hasText: "Step 1" }).waitFor();
	await observation("began");
	await page.locator(".run-facts", { hasText: /now\s*step 1 runs, [1-9]/ }).waitFor();
	await page.getByRole("button", { name: "Interrupt" }).click();
	await status("Step 2 waits for you.");
	await page.locator(".step .facts", { hasText: "interrupted" }).waitFor();
	assert.equal(await page.locator(".row-running").count(), 0);
	await observation("began");
	await page.getByRole("button", { name: "Leave" }).focus();
	await page.keyboard.press("Enter");
	await page.getByRole("dialog", { name: "Leave now? The episode ends without a score." }).waitFor();
	await page.keyboard.press("Tab");
	await page.keyboard.press("Enter");
	await status("The episode has ended.");
	await page.getByRole("link", { name: "The episode that is played now" }).click();
	await page.locator(".run-name", { hasText: "run_1" }).waitFor();
	await status("Step 1 waits for you.");
});

test("a model is paused, told, led by hand and let go", async () => {
	const turn = (command) => ({ text: `So.\n\`\`\`\n${command}\n\`\`\`\n`, delay: 0.3 });
	await playModel([...Array.from({ length: 3 }, () => turn("sleep 0.2")), turn("echo later")]);
	await page.locator(".row").first().waitFor();
	await page.keyboard.press("P");
	await status(/Step \d+ waits for you/);
	const step = Number((await page.locator(".takeover-status").innerText()).match(/\d+/)[0]);
	await page.keyboard.press("h");
	await page.keyboard.type("Try <script>window.ran = 1</script> less.");
	await page.keyboard.press("Control+Enter");
	await said("The model sees the hint");
	await page.keyboard.press("i");
	await page.keyboard.type("echo by hand");
	await page.keyboard.press("Control+Enter");
	await status(`Step ${step + 1} waits for you`);
	await observation("by hand");
	await page.locator(".step .facts", { hasText: /taken by:?\s*a person\s*told:?\s*a person's hint/ }).waitFor();
	const marked = page.locator(".row", { has: page.locator('[title="after a hint"]') });
	assert.equal(await marked.locator(".row-number").innerText(), String(step));
	await page.getByRole("button", { name: "Let go" }).click();
	await observation("later");
	await page.keyboard.press("Escape");
	await page.locator(".list").focus();
	await page.keyboard.press("N"); // from a later step to that of the person
	await page.locator(`[aria-posinset="${step}"][aria-selected="true"]`).waitFor();
	await page.keyboard.press("j"); // a later step may have more messages than the page shows at once
	await page.locator(`[aria-posinset="${step + 1}"][aria-selected="true"]`).waitFor();
	await page.keyboard.press("m");
	await page.locator(".part-message", { hasText: "a person's hint" }).locator(".text", { hasText: "<script>window.ran" }).waitFor();
	assert.equal(await page.evaluate(() => window.ran), undefined);
	assert.deepEqual(faults, []);
});

for (const { width, colorScheme } of LOOKS)
	test(`axe finds nothing serious at ${width} px, ${colorScheme}`, async () => {
		const reply = { text: "So.\n```\nsleep 0.2\n```\n", delay: 0.3 };
		await playModel([reply], { width, colorScheme, bypassCSP: true });
		const check = async () => {
			const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
			assert.ok(!wide, "wider than the window");
			const found = await page.evaluate(() => window.axe.run());
			const serious = found.violations.filter((fault) => ["serious", "critical"].includes(fault.impact));
			assert.deepEqual(serious.map((fault) => [fault.id, fault.nodes[0].html, fault.nodes[0].failureSummary]), []);
		};
		await page.evaluate(axe);
		await check();
		await page.getByRole("button", { name: "Pause" }).click();
		await status(/Step \d+ waits for you/);
		await check();
		await page.getByRole("button", { name: "Submit" }).click();
		await page.getByRole("dialog").waitFor();
		await check();
	});
