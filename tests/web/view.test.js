// Tests the viewer's page in Chromium, by keys and clicks. FUMEHOOD names the program, and
// PACKAGES the folder with playwright-core and axe-core.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, afterEach, before, beforeEach, test } from "node:test";

import { LOOKS } from "./browser.js";
import { HOSTILE, lines, opening, step, writeKinds, writeLive, writeRun } from "./records.js";
import { longestTask, scroll } from "./tasks.js";

const packages = createRequire(join(process.env.PACKAGES, "package.json"));
const { chromium } = packages("playwright-core");
const axe = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");
const MANY = 5000;

let top, server, address, browser, page, faults, live, context;

before(async () => {
	top = mkdtempSync(join(tmpdir(), "fumehood-web-"));
	writeKinds(top);
	live = writeRun(top, "live", [opening(), step(1)]);
	writeRun(top, "many", [
		opening({ max_steps: MANY, model: "openai:metagen-claude-35-sonnet-new" }),
		...Array.from({ length: MANY }, (_, i) =>
			step(i + 1, { observation: "long ".repeat(400), info: i % 100 ? {} : { score: { Score: i } } }),
		),
		{ event: "end", exit_status: "submitted", steps: MANY, over: true },
	]);
	server = spawn(process.env.FUMEHOOD, ["view", top], { stdio: ["ignore", "pipe", "inherit"] });
	for await (const line of createInterface(server.stdout)) {
		address = line;
		break;
	}
	browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
});

after(async () => {
	await browser?.close();
	server?.kill();
	rmSync(top, { recursive: true, force: true });
});

async function open(options = {}) {
	context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
	page = await context.newPage();
	faults = [];
	page.on("pageerror", (error) => faults.push(String(error)));
	page.on("console", (message) => {
		if (["error", "warning"].includes(message.type())) faults.push(message.text());
	});
	page.on("request", (request) => {
		const url = request.url();
		if (!url.startsWith(address) && !url.startsWith("data:")) faults.push(`request to ${url}`);
	});
}

beforeEach(() => open());

afterEach(async () => {
	const ran = await page.evaluate(() => window.ran);
	await context.close();
	assert.equal(ran, undefined, "recorded content ran");
	assert.deepEqual(faults, []);
});

async function openRun(name) {
	await page.goto(address);
	await page.getByText("3 of 3 runs").waitFor();
	await press("/");
	await page.keyboard.type(name);
	await page.getByText("1 of 3 runs").waitFor();
	await press("Enter", "Enter");
	await page.locator(".step").waitFor();
}

async function atStep(number) {
	await page.locator(".step h2", { hasText: new RegExp(`^Step ${number} `) }).waitFor();
	assert.match(page.url(), new RegExp(`/${number}$`));
}

async function press(...keys) {
	for (const key of keys) await page.keyboard.press(key);
}

test("runs are listed, filtered and opened by keys", async () => {
	await page.goto(address);
	await page.getByText("3 of 3 runs").waitFor();
	await press("/");
	await page.keyboard.type("task:rows steps>8 best<3 KIND");
	await page.getByText("1 of 3 runs").waitFor();
	await page.reload(); // the address has the filter
	await page.getByText("1 of 3 runs").waitFor();
	await press("Enter");
	await page.locator(".step").waitFor();
	assert.match(page.url(), /#\/run\/[0-9a-f]{16}/);
	await press("u");
	await page.getByText("3 of 3 runs").waitFor();
	await press("j", "j", "k");
	await page.locator('[aria-posinset="2"][aria-selected="true"]').waitFor();
	await page.getByText("3 of 3 runs").waitFor(); // a key leaves the number of runs in sight
	await press("G", "Enter");
	await page.locator(".step").waitFor();
	await press("u");
	await page.locator('[aria-posinset="3"][aria-selected="true"]').waitFor();
});

test("runs are found by the texts of their steps", async () => {
	await page.goto(address);
	await page.getByText("3 of 3 runs").waitFor();
	const find = async (words, n) => {
		await page.locator("input[type=search]").fill(words);
		await page.getByText(`${n} of 3 runs`).waitFor();
	};
	await find('text:"LINE 2999"', 1); // the end of a long observation
	await find('text:"rain.py 4999"', 1);
	await find("text:train.py", 3);
	await find("text:train.py steps>8 best<3", 1);
	await find("text:duration_s", 0); // a member's name
	await find("text:submitted", 0); // another event
	await find('text:"new line"', 1);
	// A search tells how far it is. Its answer is held up until the page has told so.
	let goOn;
	const held = new Promise((done) => (goOn = done));
	await page.route("**/api/search?*", async (route) => {
		await held;
		await route.continue();
	});
	await page.locator("input[type=search]").fill("text:output");
	await page.getByText("0 of 3 runs. Searching their steps: 0 of 3 runs so far.").waitFor();
	goOn();
	await page.getByText(/^2 of 3 runs$/).waitFor();
	await page.unroute("**/api/search?*");
	await page.locator("input[type=search]").fill(`text:${"x".repeat(5000)}`);
	await page.getByText("0 of 3 runs. The server can't search for this text.").waitFor();
	faults = faults.filter((fault) => !fault.includes("400"));
});

test("a filter names columns by their titles, and tells which there are", async () => {
	await page.goto(address);
	const find = async (words, told) => {
		await page.locator("input[type=search]").fill(words);
		await page.getByText(told).waitFor();
	};
	await find("errors>1 ended:submitted", /^1 of 3 runs$/);
	await find("failed>1 exit_status:submitted", /^1 of 3 runs$/);
	await find("openai:m", /^3 of 3 runs$/);
	await find("colour:red", /^0 of 3 runs\. There is no column "colour", only run, task, model, .*, damage, and text for steps\.$/);
	await find("steps>8 best>", /^2 of 3 runs\. Type a value after "best>"\.$/);
	await find("steps>8 best<1e", /^2 of 3 runs\. Type a value after "best<1e"\.$/);
	await find("baseli", /^3 of 3 runs\. No run has this text\. For the column type baseline=VALUE, < or >\.$/);
	await find('text:"', /^3 of 3 runs\. Type a value after "text:"\.$/);
	await find("best>abc", /^0 of 3 runs\. "abc" is not a number\.$/);
});

test("runs are sorted, columns are chosen, and new steps appear", async () => {
	await page.goto(address);
	const cells = () => page.locator(".row-run").evaluateAll((rows) => rows.map((row) => row.innerText.split("\n")));
	await page.getByRole("button", { name: "Sort by Best" }).click();
	await page.getByRole("button", { name: "Sort by Best" }).click();
	await page.waitForFunction(() => document.querySelector('[aria-posinset="1"]').innerText.includes("4900"));
	assert.match(page.url(), /sort=-best/);
	const lefts = (selector) => page.locator(selector).evaluateAll((all) => all.map((e) => Math.round(e.getBoundingClientRect().left)));
	assert.deepEqual(await lefts('[aria-posinset="1"] .cell'), await lefts(".table-head button"));
	const cut = await page.locator(".row-run .cell").evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.title));
	assert.deepEqual(cut, []);
	await page.getByText("Columns", { exact: true }).click();
	await page.getByRole("checkbox", { name: "Run", exact: true }).check();
	await page.getByRole("checkbox", { name: "Task" }).uncheck();
	await press("Escape");
	await page.getByRole("checkbox", { name: "Task" }).waitFor({ state: "hidden" });
	assert.match(page.url(), /columns=name%2Cmodel/);
	await page.reload();
	await page.getByText("3 of 3 runs").waitFor();
	assert.equal((await cells())[0][0], "many");
	const before = (await cells()).find((row) => row[0] === "live").length;
	assert.ok(before > 1);
	await page.goto(`${address}#/?filter=best:77&sort=steps`);
	await page.getByText("0 of 3 runs").waitFor();
	appendFileSync(live, lines([step(2, { action: "validate", info: { score: { Score: 77 } } })]));
	await page.getByText("1 of 3 runs").waitFor();
});

test("keys jump between steps", async () => {
	await openRun("kinds");
	await press("j", "j", "k");
	await atStep(2);
	for (const [key, number] of [["b", 5], ["g", 1], ["e", 2], ["e", 4], ["E", 2], ["v", 3], ["w", 3], ["W", 2], ["G", 9], ["ArrowUp", 8]]) {
		await press(key);
		await page.locator(`[aria-posinset="${number}"][aria-selected="true"]`).waitFor();
	}
	await press("/");
	await page.keyboard.type("train.py 4");
	await press("g"); // typed, not a command
	await press("Backspace", "Shift+Enter");
	await atStep(4);
	await press("j", "/", "Enter"); // goes on at the first step
	await atStep(4);
	// The end of a long observation, a line of an action behind the first, and a thought.
	for (const [text, number] of [["LINE 2999", 7], ["new line", 2], ["The end", 8], ["i THINK 9", 9]]) {
		await page.getByLabel("Search steps").fill(text);
		await press("Enter");
		await page.locator("#status", { hasText: "1 of 1 steps with this text" }).waitFor();
		await atStep(number);
		// A folded text that has it is unfolded, and the place is in sight.
		const mark = page.locator(".step mark");
		assert.equal((await mark.innerText()).toLowerCase(), text.toLowerCase());
		assert.ok(await mark.evaluate((e) => e.getBoundingClientRect().bottom < innerHeight));
	}
	await page.getByLabel("Search steps").fill("duration_s");
	await press("Enter");
	await page.locator("#status", { hasText: "No step has this text." }).waitFor();
});

test("buttons jump, and an address names a step", async () => {
	await openRun("kinds");
	await page.getByRole("button", { name: "Best" }).click();
	await atStep(5);
	await page.getByRole("button", { name: "Next score" }).click(); // step 7 got none
	await atStep(9);
	const shared = page.url();
	await page.goto("about:blank");
	await page.goto(shared);
	await atStep(9);
	await page.locator(".chart").click({ position: { x: 5, y: 5 } });
	await atStep(3);
});

test("marks and facts tell what happened", async () => {
	await openRun("kinds");
	const signs = (number) => page.locator(`[aria-posinset="${number}"] .mark`).evaluateAll((all) => all.map((m) => `${m.innerText} ${m.title}`));
	assert.deepEqual(await signs(2), ["\u2717 error", "\u270e file edit"]);
	assert.deepEqual(await signs(4), ["\u25f7 timeout", "\u2717 error"]);
	assert.deepEqual(await signs(5), ["\u26a0 tampering seen", "\u2713 validate"]);
	assert.deepEqual(await signs(7), ["\u2717 error", "\u2298 no score"]);
	await press("b");
	await atStep(5);
	const facts = await page.locator(".step .facts").innerText();
	assert.match(facts, /score\s*2\.5/);
	assert.match(facts, /tampering\s*a file was changed/);
	assert.match(await page.locator(".run-facts").innerText(), /best\s*2\.5 \(step 5\)/);
});

test("hostile content is only text", async () => {
	await openRun("kinds");
	await page.evaluate(() => (location.hash += "/6"));
	await atStep(6);
	const shown = await page.locator(".part-observation .text").textContent();
	for (const line of HOSTILE.split("\n").slice(0, 2)) assert.ok(shown.includes(line));
	assert.ok(shown.includes("U+202E") && shown.includes("U+0007"));
	assert.ok(!shown.includes("\u202e") && !shown.includes("title"));
	const heads = await page.locator("body").textContent();
	assert.ok(heads.includes("[U+202E]ls") && heads.includes("/w/[U+202E]gnp.exe") && !heads.includes("\u202e"));
	assert.equal(await page.locator(".part-observation .fg-red").textContent(), "red");
	assert.equal(await page.locator(".part-observation .bold.bg-blue").textContent(), "bold");
	assert.equal(await page.locator(".step script, .step img, .step svg, .step a").count(), 0);
	// The policy stops what the page's own code would let through.
	const refused = await page.evaluate(() => {
		try {
			document.body.innerHTML = "<b>x</b>";
		} catch (error) {
			return error.name;
		}
	});
	assert.equal(refused, "TypeError");
	faults = faults.filter((fault) => !fault.includes("TrustedHTML"));
});

test("long output is folded, and shown on request", async () => {
	await openRun("kinds");
	await page.evaluate(() => (location.hash += "/7"));
	await atStep(7);
	const text = page.locator(".part-observation .text");
	assert.ok(!(await text.textContent()).includes("line 100\n"));
	await page.getByRole("button", { name: /Show all of/ }).click();
	assert.ok((await text.textContent()).endsWith("line 2999"));
	await press("j");
	await atStep(8);
	for (let i = 0; i < 10; i++) {
		const more = page.locator(".part-observation .more");
		if (!(await more.count())) break;
		await more.click();
		await page.locator(".part-observation .more:disabled").waitFor({ state: "detached" });
	}
	assert.equal((await text.textContent()).length, 2_000_000);
});

test("a step's JSON is shown", async () => {
	await openRun("kinds");
	await page.getByText("JSON", { exact: true }).click();
	await page.locator(".raw .text", { hasText: '"event": "step"' }).waitFor();
});

test("the conversation is shown in pages", async () => {
	await openRun("kinds");
	await press("m");
	await page.getByText("Messages 21 to 25 of 25 before step 1").waitFor();
	await page.getByText("The record does not tell how").waitFor();
	assert.equal(await page.locator(".part-message .text").last().textContent(), "message 24");
	await page.getByRole("button", { name: "Earlier messages" }).click();
	await page.getByText("Messages 1 to 20 of 25").waitFor();
	assert.match(page.url(), /\/1\/conversation\/1$/);
	await page.reload();
	await page.getByText("Messages 1 to 20 of 25").waitFor();
	await page.evaluate(() => (location.hash = location.hash.replace(/1$/, "999")));
	await page.getByText("Messages 21 to 25 of 25").waitFor();
	await press("j");
	await atStep(2);
});

test("a run plays step by step", async () => {
	await openRun("kinds");
	await press("p");
	await atStep(3);
	await press("p");
	assert.equal(await page.getByRole("button", { name: "Play" }).count(), 1);
});

test("a run that goes on moves", async () => {
	await openRun("live");
	await atOnly(2);
	await press("G");
	appendFileSync(live, lines([step(3, { action: "exit_format", observation: "fresh" })]));
	await page.locator(".part-observation", { hasText: "fresh" }).waitFor();
	assert.deepEqual(await page.locator(".step h2 .mark").evaluateAll((all) => all.map((m) => m.title)), ["wrong format", "end without a submit"]);
	const rejected = (kind, complaint) => lines([{ event: "fault", kind, response: `vim ${HOSTILE}`, complaint }]);
	appendFileSync(live, rejected("format", "Say it again."));
	await page.locator(".part-rejected", { hasText: "Say it again." }).waitFor();
	await page.locator('.row-running [title="wrong format"]').waitFor();
	appendFileSync(live, rejected("blocked", "Not vim."));
	await page.locator(".part-rejected", { hasText: "Not vim." }).waitFor();
	await page.locator('.row-running [title="blocked command"]').waitFor();
	writeLive(live, { phase: "step", step: 4, time: "2026-01-31T12:00:00.123Z", thought: HOSTILE, action: HOSTILE, output: HOSTILE });
	await page.locator(".run-facts", { hasText: /ended\s*cut off in step 4/ }).waitFor();
	await page.locator('.row-running [title="cut off"]').waitFor();
	await page.locator(".part-observation .text", { hasText: "<script>window.ran" }).waitFor();
	assert.deepEqual(await page.locator(".step h3").allTextContents(), [
		"Reply, rejected: wrong format",
		"Reply, rejected: blocked command",
		"Thought",
		"Action",
		"Last output",
	]);
	await press("k");
	await atStep(3);
	await press("j");
	await page.locator(".note", { hasText: "cut off in step 4" }).waitFor();
	assert.match(page.url(), /\/4$/);
	appendFileSync(live, lines([{ event: "end", exit_status: "submitted", steps: 3, over: true }]));
	await page.locator(".run-facts", { hasText: /ended\s*submitted/ }).waitFor();
});

async function atOnly(n) {
	await page.locator(`[aria-setsize="${n}"]`).first().waitFor();
}

test("5,000 steps scroll without long tasks", async () => {
	const began = Date.now();
	await openRun("many");
	assert.ok(Date.now() - began < 5000);
	const longest = await longestTask(browser, page, () => scroll(page, ".list", 2500, 60));
	const list = page.locator(".list");
	assert.ok((await list.evaluate((e) => e.scrollTop)) > 100_000);
	assert.ok((await list.locator(".row").count()) < 100);
	assert.ok(longest.tasks > 60 && longest.cpu < 50, `a task took ${longest.cpu} ms of CPU`);
	await press("G");
	await atStep(MANY);
});

test("10,000 runs open without a long task", async () => {
	// The server's own answer with each run many times: to index as many records takes longer.
	await page.route("**/api/runs?*", async (route) => {
		const answer = await (await route.fetch()).json();
		if (answer.places) return route.fulfill({ json: answer });
		const copies = Array.from({ length: 10_000 }, (_, i) => [i.toString(16).padStart(16, "0"), ...answer.runs[i % 3].slice(1)]);
		await route.fulfill({ json: { ...answer, runs: copies } });
	});
	const tasks = [];
	for (let i = 0; i < 2; i++) {
		const open = async () => {
			await page.goto(`${address}?${i}`);
			await page.getByText("10000 of 10000 runs").waitFor();
		};
		tasks.push((await longestTask(browser, page, open)).cpu);
	}
	assert.ok(Math.min(...tasks) < 40, `tasks took ${tasks} ms of CPU`);
});

test("the curve has axes, and round marks", async () => {
	await openRun("kinds");
	assert.deepEqual(await page.locator(".axes span").allTextContents(), ["2.5", "1", "1", "Score over steps", "9"]);
	const sizes = await page.locator(".chart .point").evaluateAll((all) => all.map((p) => getComputedStyle(p).vectorEffect));
	assert.deepEqual(sizes, Array(3).fill("non-scaling-stroke"));
});

test("a short list takes little of a narrow page", async () => {
	await context.close();
	await open({ viewport: { width: 400, height: 800 } });
	await page.goto(address);
	await page.getByText("3 of 3 runs").waitFor();
	assert.ok((await page.locator(".list").boundingBox()).height < 150);
	await openRun("many");
	assert.equal(Math.round((await page.locator(".list").boundingBox()).height), 320);
});

test("a view that is left before it opens does not replace the next one", async () => {
	await openRun("kinds");
	const run = new URL(page.url()).hash;
	await press("u");
	await page.getByText("3 of 3 runs").waitFor();
	let goOn;
	const held = new Promise((done) => (goOn = done));
	await page.route("**/api/run?*", async (route) => {
		await held;
		await route.continue();
	});
	await page.evaluate((hash) => (location.hash = hash), run);
	await page.getByText("Loading").waitFor();
	await page.evaluate(() => (location.hash = "#/?filter=kinds"));
	await page.getByText("1 of 3 runs").waitFor();
	const answer = page.waitForResponse("**/api/run?*");
	goOn();
	await (await answer).finished();
	await page.evaluate(() => new Promise((done) => setTimeout(done, 100)));
	assert.equal(await page.locator("h1").innerText(), "Runs");
	assert.match(page.url(), /filter=kinds/);
});

test("wrong addresses say so", async () => {
	const reply = await page.goto(`${address}#/run/0000000000000000`);
	assert.equal(reply.status(), 200);
	await page.getByText("There is no such run. All runs").waitFor();
	await press("j", "u");
	await page.getByText("3 of 3 runs").waitFor();
	await press("Enter");
	await page.locator(".step").waitFor();
	await page.evaluate(() => (location.hash += "/2/nope"));
	await page.getByText('There is no view "nope" of a step.').waitFor();
	await page.evaluate(() => (location.hash = location.hash.replace(/2.nope$/, "999")));
	await atStep(9);
	await page.evaluate(() => (location.hash = location.hash.replace(/9$/, "2.5")));
	await page.locator(".step h2", { hasText: "Step 2 " }).waitFor();
	await page.goto(`${address}#/nope/1`);
	await page.getByText('There is no view "nope" of the runs.').waitFor();
	await page.getByRole("link", { name: "All runs" }).click();
	await page.getByText("3 of 3 runs").waitFor();
	faults = faults.filter((fault) => !fault.includes("404"));
	const wrong = await page.goto(new URL("/wrong/", address).href);
	assert.equal(wrong.status(), 403);
	faults = [];
});

for (const { width, colorScheme } of LOOKS) {
	test(`axe finds nothing serious at ${width} px, ${colorScheme}`, async () => {
		await context.close();
		await open({ viewport: { width, height: 800 }, colorScheme, bypassCSP: true });
		const check = async () => {
			const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
			assert.ok(!wide, "the page is wider than the window");
			await page.evaluate(axe);
			const found = await page.evaluate(() => window.axe.run());
			const serious = found.violations.filter((v) => ["serious", "critical"].includes(v.impact));
			assert.deepEqual(serious.map((v) => [v.id, v.nodes[0].html, v.nodes[0].failureSummary]), []);
		};
		await page.goto(address);
		await page.getByText("3 of 3 runs").waitFor();
		await check();
		await openRun("kinds");
		await press("b");
		await atStep(5);
		await check();
		await press("?");
		await page.getByRole("dialog").waitFor();
		await check();
	});
}
