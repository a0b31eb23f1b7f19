// Tests the conversation of a run in Chromium.

import assert from "node:assert/strict";
import { test } from "node:test";

import { LOOKS, viewer } from "./browser.js";
import { HOSTILE, opening, step, writeRun } from "./records.js";

const STEPS = 6;
const said = (number) => `output ${number}\nsecond line\n${HOSTILE}`;

// Replies that were rejected before that of step 4.
const FAULTS = [
	{ event: "fault", kind: "format", response: `no action ${HOSTILE}`, complaint: "Your reply had no action." },
	{
		event: "fault",
		kind: "blocked",
		response: "",
		tool_calls: [{ id: "1", type: "function", function: { name: "bash", arguments: '{"command": "vim notes"}' } }],
		complaint: "vim is blocked.",
	},
];

const v = viewer((top) => {
	const message = (role, content) => ({ event: "message", role, content });
	writeRun(top, "talk", [
		opening({ history_processor: "LastNObservations", history_n: 2, agent_config: "default" }),
		message("system", "You are an agent."),
		...Array.from({ length: STEPS }, (_, i) => [
			message("user", said(i)),
			...(i === 3 ? FAULTS : []),
			message("assistant", `reply ${i + 1}`),
			step(i + 1),
		]).flat(),
		{ event: "spent", model_stats: { total_cost: 0, tokens_sent: 9, tokens_received: 2, api_calls: 1, is_free: true } },
		{ event: "end", exit_status: "submitted", steps: STEPS, over: true },
	]);
	writeRun(top, "openai-m__apart-micro__default__t-0.00__p-0.95__c-3.00__install-0_run_0", [
		opening({ task: "apart", variant: "micro", model: "openai:metagen-claude-35-sonnet-new" }),
		step(1, { action: "validate", info: { score: { Score: 1.75 }, duration_s: 1e308 } }),
		step(2, { action: "validate", info: { score: { Score: 1.5 }, duration_s: 1e308 } }),
		step(3, { action: "submit", info: { score: { Score: 1.25 }, final: { score: { Score: 1.25 } } } }),
		{ event: "end", exit_status: "autosubmission (exit_format)", steps: 3, over: true },
	]);
	writeRun(top, "assumed", [
		opening({ agent_config: "default", task: "other" }),
		{ event: "spent", model_stats: { total_cost: 0, tokens_sent: 9, tokens_received: 2, api_calls: 1 } },
		...Array.from({ length: 3 }, (_, i) => [message("user", said(i)), message("assistant", "reply"), step(i + 1)]).flat(),
	]);
});

async function openStep(filter, number) {
	await v.go(`#/?filter=${filter}`);
	await v.page.locator('[aria-posinset="1"]').waitFor();
	await v.press("Enter");
	await v.page.locator(".step").waitFor();
	for (let i = 1; i < number; i++) await v.press("j");
	await v.page.locator(".step h2", { hasText: `Step ${number}` }).waitFor();
	await v.press("m");
}

test("parts that the history processor left out are folded", async () => {
	await openStep("task:rows", STEPS);
	await v.page.getByRole("heading", { name: "Messages 1 to 12 of 12 before step 6" }).waitFor();
	await v.page.getByText("the run used LastNObservations. It left out parts of 3 of these messages.").waitFor();
	const titles = await v.page.locator(".part-message h3").allTextContents();
	assert.deepEqual(
		titles.map((title, i) => [i, title]).filter(([, title]) => title.endsWith("shortened")).map(([i]) => i),
		[3, 5, 7], // the first observation and the last two are whole
	);
	const cut = v.page.locator(".part-message").nth(3);
	assert.equal(await cut.locator(".text").first().textContent(), "(5 lines of earlier output are left out)");
	assert.ok(!(await cut.locator("details .text").isVisible()));
	await cut.locator("summary").focus();
	await v.press("Enter");
	assert.ok((await cut.locator("details .text").innerText()).startsWith("output 1\nsecond line\n<script>"));
	await v.press("k");
	await v.page.locator(".step h2", { hasText: "Step 5" }).waitFor();
});

test("earlier steps had fewer messages", async () => {
	await openStep("task:rows", 2);
	await v.page.getByRole("heading", { name: "Messages 1 to 4 of 4 before step 2" }).waitFor();
	assert.equal(await v.page.locator(".left-out").count(), 0);
	const note = await v.page.locator(".note").innerText();
	assert.equal(note, "As the model saw them: the run used LastNObservations.");
	assert.match(v.page.url(), /\/2\/conversation$/);
	await v.page.reload();
	await v.page.getByRole("heading", { name: "Messages 1 to 4 of 4 before step 2" }).waitFor();
});

test("rejected replies are shown, marked and found", async () => {
	await openStep("task:rows", 1);
	await v.page.getByRole("heading", { name: "Messages 1 to 2 of 2 before step 1" }).waitFor();
	await v.press("m", "e"); // the next error
	await v.page.locator(".step h2", { hasText: "Step 4" }).waitFor();
	const titles = ["Reply, rejected: wrong format", "Reply, rejected: blocked command"];
	assert.deepEqual(await v.page.locator(".part-rejected h3").allTextContents(), titles);
	const texts = await v.page.locator(".part-rejected .text").allTextContents();
	assert.match(texts[0], /^no action <script>/);
	assert.deepEqual(texts.slice(1), ["Your reply had no action.", 'bash {"command": "vim notes"}', "vim is blocked."]);
	assert.match(await v.page.locator(".run-facts").innerText(), /cost\s*\$0\.00/);
	const row = v.page.locator('.row[aria-posinset="4"], [aria-posinset="4"] .row').first();
	await row.locator('[title="wrong format"]').waitFor();
	await row.locator('[title="blocked command"]').waitFor();
	await v.press("m");
	await v.page.getByRole("heading", { name: "Messages 1 to 10 of 10 before step 4" }).waitFor();
	const rejected = v.page.locator(".part-message, .part-rejected").nth(8).locator("h3");
	assert.equal(await rejected.textContent(), "assistant, rejected: wrong format");
	await v.press("m", "g", "/");
	await v.page.keyboard.type("VIM NOTES");
	await v.press("Enter");
	await v.page.locator(".part-rejected mark", { hasText: "vim notes" }).waitFor();
	await v.go("#/?filter=text:%22had+no+action%22");
	await v.page.getByText("1 of 3 runs").waitFor();
});

test("the score of a run is that of its end, if other answers gave it", async () => {
	await v.go("#/?filter=task:apart&columns=name,nonsense,best,exit_status");
	await v.page.getByText('1 of 3 runs. There is no column "nonsense" to show.').waitFor();
	const cells = v.page.locator(".row-run .cell");
	assert.deepEqual(await cells.allTextContents(), ["openai-m__apart-micro__default__t-0.00__p-0.95__c-3.00__install-0_run_0", "autosubmission (exit_format)", "1.25"]);
	await v.go("#/?filter=task:apart");
	await v.page.locator(".row-run .cell").nth(9).waitFor();
	const cut = await cells.evaluateAll((all) => all.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent));
	assert.deepEqual(cut, []);
	await v.press("Enter");
	await v.page.locator(".step").waitFor();
	const facts = Object.fromEntries(await v.page.locator(".run-facts dl > div").evaluateAll((all) => all.map((one) => [...one.children].map((e) => e.textContent))));
	assert.deepEqual([facts.final, facts["best validate"], facts.best], ["1.25 (step 3)", "1.75 (step 1)", undefined]);
	assert.equal(facts["time in steps"], "unknown");
	assert.match(await v.page.title(), /^apart:micro/);
	await v.press("b");
	await v.page.locator(".step h2", { hasText: "Step 3" }).waitFor();
});

test("a record without the processor's name is shown as its agent is configured today", async () => {
	await openStep("task:other", 3);
	await v.page.getByText("today's configuration of this agent has Last5Observations.").waitFor();
	assert.match(await v.page.locator(".run-facts").innerText(), /cost\s*unknown/);
});

test("axe finds nothing serious in the conversation, in both widths and colours", async () => {
	for (const { width, colorScheme } of LOOKS) {
		await v.open({ viewport: { width, height: 800 }, colorScheme, bypassCSP: true });
		await openStep("task:rows", STEPS);
		await v.page.locator(".left-out").first().waitFor();
		assert.deepEqual(await v.serious(), []);
	}
});
