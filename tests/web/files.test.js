// Tests the files of a run after each step in Chromium.

import assert from "node:assert/strict";
import { statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { viewer } from "./browser.js";
import { HOSTILE, lines as jsonLines, opening, step, writeRun, writeTraj } from "./records.js";

const W = "/home/agent/workspace";
const DONE = "The file is changed. Look at the lines above: is the indentation right, is nothing there twice?\n";

// What the editor shows of a file.
function shown(name, lines, first = 1, last = lines.length) {
	const above = first > 1 ? `(${first - 1} more lines above)\n` : "";
	const below = last < lines.length ? `(${lines.length - last} more lines below)\n` : "";
	const numbered = lines.slice(first - 1, last).map((line, i) => `${first + i}:${line}\n`);
	return `[File: ${W}/${name} (${lines.length} lines total)]\n${above}${numbered.join("")}${below}`;
}

const base = Array.from({ length: 12 }, (_, i) => `line ${i + 1}`);
const edited = [...base.slice(0, 3), "new A", "new B", ...base.slice(4)];
const long = Array.from({ length: 3000 }, (_, i) => `row ${i + 1}`);
const hostile = [...HOSTILE.split("\n").slice(0, 2), "\u202egnp.exe", "x".repeat(1_000_000)];

const steps = [
	["open a.py", shown("a.py", base)],
	["edit 4:4\nnew A\nnew B\nend_of_edit", shown("a.py", edited) + DONE],
	["python3 train.py", "trained"],
	["edit 1:1\n(\nend_of_edit", `The file was not changed, since it would have new errors:\n\n${shown("a.py", ["("])}`],
	["cat > b.sh <<'EOF'\necho $HOME\nls\nEOF", ""],
	["cat > c.txt <<EOF\n$HOME\nEOF", ""],
	["cat b.sh", "echo $HOME\nls\n"],
	["cp b.sh d.sh && rm b.sh", ""],
	["open long.txt", shown("long.txt", long, 1, 1000)],
	["create evil.html", shown("evil.html", [""])],
	[`edit 1:1\n${hostile.join("\n")}\nend_of_edit`, shown("evil.html", hostile) + DONE],
	["open a.py", shown("a.py", [...edited, "appended"])],
	["edit 9:9\nlost", shown("\0", []).repeat(3)],
];

const v = viewer((top) => {
	const state = { open_file: "n/a", working_dir: W };
	writeRun(top, "files", [
		opening(),
		...steps.map(([action, observation], i) => step(i + 1, { action, observation, info: { state } })),
		{ event: "end", exit_status: "submitted", steps: steps.length, over: true },
	]);
	const replayed = writeRun(top, "replayed", [
		opening({ task: "replayed" }),
		step(1, { action: `cat > ${W}/e.py <<'X'\na = 1\nX` }),
		step(2, { action: "sed -i s/1/2/ e.py" }),
		step(3, { action: "./make" }),
		step(4, { action: `cat > ${W}/e.py <<'X'\nlast\nX` }),
	]);
	writeFileSync(join(top, "replayed", "files.jsonl"), jsonLines([
		{ format: 1, record_bytes: statSync(replayed).size, steps: 4, differs: 4, full: true },
		{ step: 0, path: "start.txt", text: "start\n" },
		{ step: 1, path: "e.py", text: "a = 1\n" },
		{ step: 2, path: "e.py", text: "a = 2\n" },
		{ step: 3, path: "made.txt", text: hostile.join("\n") },
		{ step: 3, path: "start.txt", text: null, gone: true },
		{ step: 4, path: "e.py", text: "other\n" },
	]));
	writeTraj(top, "none", "cut");
	truncateSync(join(top, "none", "cut.traj"), 62);
});

async function openStep(number, run = "files") {
	await v.go(`#/?filter=name:${run}`);
	await v.status("1 of 3 runs");
	await v.page.locator('[aria-posinset="1"]').waitFor();
	await v.press("Enter");
	await v.page.locator(".step").waitFor();
	await v.press("f");
	await v.page.getByRole("heading", { name: "Files after step 1", exact: true }).waitFor();
	await goStep(number);
}

async function goStep(number) {
	await v.page.evaluate((n) => (location.hash = location.hash.replace(/^(#\/run\/\w+\/)\d+/, `$1${n}`)), number);
	await v.page.getByRole("heading", { name: `Files after step ${number}`, exact: true }).waitFor();
}

const lines = (sign) => v.page.locator(`.line-${sign} .line-text`).allInnerTexts();
const known = () => v.page.locator(".known").innerText();

async function choose(name) {
	const option = v.page.locator("option", { hasText: `${W}/${name} ` });
	await v.page.getByLabel("File", { exact: true }).selectOption(await option.getAttribute("value"));
}

test("an edit is shown as a difference, and is exact until a program runs", async () => {
	await openStep(1);
	assert.match(await known(), /^Exact Step 1 showed it first\.$/);
	await v.page.getByText("How to see what programs changed").click();
	const command = `fumehood replay --files ${join(v.top, "files", "events.jsonl")}`;
	await v.page.locator(".detail pre", { hasText: command }).waitFor();
	await v.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
	await v.page.getByRole("button", { name: "Copy the command" }).click();
	await v.status("The command is copied.");
	assert.equal(await v.page.evaluate(() => navigator.clipboard.readText()), command);
	await v.press("j");
	await v.page.getByText("2 lines added and 1 removed since step 1.").waitFor();
	assert.deepEqual(await lines("added"), ["new A", "new B"]);
	assert.deepEqual(await lines("removed"), ["line 4"]);
	assert.deepEqual(await lines("same"), ["line 1", "line 2", "line 3", "line 5", "line 6", "line 7"]);
	assert.match(await known(), /^Exact Step 2 edited it\. Step 2 showed all of it\.$/);
	await v.press("j");
	await v.page.getByText("This step did not change the file").waitFor();
	assert.match(await known(), /^Rebuilt .* The command of step 3 may have changed it since\. So may later ones: from step 3 on the text is rebuilt\.$/);
	await goStep(4); // a refused edit changes nothing
	await v.press("d", "d");
	await v.page.locator(".line-same").nth(12).waitFor();
	assert.deepEqual(await lines("same"), edited);
	await goStep(12); // a step saw that the file had changed unseen
	assert.match(await known(), /^Exact It had changed before step 12 showed it\.$/);
	await v.press("d", "d");
	await v.page.getByText("3 lines added and 1 removed since step 1.").waitFor();
});

test("written, copied and removed files are followed", async () => {
	await openStep(5);
	assert.match(await known(), /^Exact The command of step 5 wrote it\. Step 7 showed the same text later\.$/);
	assert.deepEqual(await lines("added"), ["echo $HOME", "ls"]);
	await goStep(7);
	assert.match(await known(), /Exact .* Step 7 showed all of it/);
	await goStep(8);
	const names = await v.page.locator("option").allInnerTexts();
	assert.deepEqual(names, [
		`${W}/a.py (edited in step 2)`,
		`${W}/b.sh (removed in step 8, this one)`,
		`${W}/d.sh (copied in step 8, this one)`,
	]);
	await choose("b.sh");
	await v.page.getByText("The command of step 8 removed it.").waitFor();
	assert.deepEqual(await lines("removed"), ["echo $HOME", "ls"]);
	await v.press("]");
	await v.page.getByText("The command of step 8 copied or moved it here.").waitFor();
	assert.match(await known(), /^Rebuilt .* No step showed all of it\.$/);
	assert.match(v.page.url(), /\/8\/files\/\d+\/step$/);
	await v.page.reload();
	await v.page.getByText("The command of step 8 copied or moved it here.").waitFor();
	await v.page.getByRole("button", { name: "Files" }).click();
	await v.page.locator(".step h2", { hasText: "Step 8" }).waitFor();
	await v.press("W"); // the edit before
	await v.page.locator(".step h2", { hasText: "Step 5" }).waitFor();
});

test("lines that no step showed are not known", async () => {
	await openStep(9);
	await v.page.getByRole("button", { name: "Text", exact: true }).click();
	assert.match(await known(), /^Rebuilt .*No step showed 2000 of its 3000 lines\.$/);
	await v.page.getByRole("button", { name: "Show more of 3000 lines" }).click();
	assert.equal(await v.page.locator(".line .unknown").count(), 1000);
});

test("texts of a replay are exact, until it differs from the run", async () => {
	await openStep(2, "replayed");
	assert.match(await known(), /^Exact Step 2 of a replay made this text\.$/);
	assert.deepEqual([await lines("removed"), await lines("added")], [["a = 1"], ["a = 2"]]);
	await v.page.getByText(/^Texts of the workspace come from a replay up to step 3\. .* The run has too many files/).waitFor();
	await choose("start.txt");
	await v.page.getByText("This step did not change the file.", { exact: true }).waitFor();
	assert.match(await known(), /^Exact A replay began with this text\.$/);
	await v.press("j");
	await v.page.getByText("1 removed since the start.").waitFor();
	assert.match(await known(), /^It was gone after step 3 of a replay\.$/);
	await choose("made.txt");
	await v.page.getByText("4 lines added and 0 removed in a new file.").waitFor();
	await v.press("j");
	await v.page.locator(".known", { hasText: /^Replayed .* The replay differs from the run since step 4, or ended there\.$/ }).waitFor();
	await choose("e.py"); // the record tells more than a replay that differs
	await v.page.locator(".known", { hasText: "The command of step 4 wrote it." }).waitFor();
	assert.deepEqual(await lines("added"), ["last"]);
});

test("keys do nothing before there are files", async () => {
	await openStep(1);
	await v.press("f");
	let goOn;
	const held = new Promise((done) => (goOn = done));
	await v.page.route("**/api/files?*", async (route) => {
		await held;
		await route.continue();
	});
	await v.page.reload();
	await v.page.locator(".step").waitFor();
	await v.press("f", "d", "[", "]");
	goOn();
	await v.page.getByRole("heading", { name: "Files after step 1", exact: true }).waitFor();
	await v.press("d");
	await v.page.getByRole("button", { name: "Change since the start", pressed: true }).waitFor();
	await v.go("#/?filter=none");
	await v.status("1 of 3 runs");
	await v.page.locator('[title^="Not all of the record can be read:"]', { hasText: "\u26a0" }).waitFor();
	await v.press("Enter");
	await v.page.locator(".detail p", { hasText: /^No step can be read: .*cut\.traj.*a string that does not end$/ }).waitFor();
	await v.page.locator(".run-facts", { hasText: /damage.*a string that does not end/ }).waitFor();
	await v.press("f", "d", "[", "]");
});

test("hostile files are only text", async () => {
	await openStep(11);
	const added = await lines("added");
	assert.equal(added[0], hostile[0]);
	assert.ok(added[2].includes("U+202E") && !added[2].includes("\u202e"));
	assert.ok(added[3].length < 3000 && added[3].includes("more characters"));
	assert.equal(await v.page.locator(".detail :is(script, img, svg, a)").count(), 0);
	await goStep(13);
});

v.checkAxe(async () => {
	await openStep(2);
	const url = new URL(v.page.url()).hash;
	return [
		[url, ".line-added"],
		[url.replace(/step$/, "text"), ".line"],
	];
});
