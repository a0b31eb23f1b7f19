// The conversation of a run with its model, in pages.

import { getJson, isExport } from "./api.js";
import { el } from "./dom.js";
import { rejectedView } from "./step.js";
import { size, textBlock } from "./text.js";

const MESSAGES_PAGE = 20;

function processorNote(n, processor, assumed, cut) {
	if (!n) return "";
	if (!processor) return "The record does not tell how the history processor shortened them.";
	const where = assumed ? "today's configuration of this agent has" : "the run used";
	const left = cut ? ` It left out parts of ${cut} of these messages.` : "";
	return `As the model saw them: ${where} ${processor}.${left}`;
}

// A message as the model saw it. Parts that the history processor left out are folded.
function messageView(message) {
	if (message.rejected) return rejectedView(message, "assistant");
	const kind = message.is_demo ? ", demonstration" : message.is_hint ? ", a person's hint" : "";
	const title = `${message.role.text}${kind}`;
	return el(
		"section",
		{ class: "part part-message" },
		el("h3", {}, message.shown ? `${title}, shortened` : title),
		textBlock(message.shown ?? message.content),
		message.shown
			? el(
					"details",
					{ class: "left-out" },
					el("summary", {}, `What the model did not see: the whole message, ${size(message.content.bytes)}`),
					textBlock(message.content),
				)
			: null,
	);
}

// Gives the elements of the page that has the message `from`, which counts from 0. The last page is
// shown without it. null: there are fewer messages. `turn` shows the page of another message. An
// exported page only has the messages of the whole run.
export async function conversation(run, step, from, turn) {
	const get = (at) => getJson("messages", isExport ? { run, from: at } : { run, step, from: at });
	const first = from ?? (isExport ? 0 : Math.max(0, (await get(Number.MAX_SAFE_INTEGER)).n - 1));
	const at = first - (first % MESSAGES_PAGE);
	const { n, messages, processor, assumed } = await get(at);
	if (n && at >= n) return null;
	const end = at + messages.length;
	const page = (text, to) => el("button", { type: "button", click: () => turn(to) }, text);
	const cut = messages.filter((message) => message.shown).length;
	return [
		el("h2", {}, n ? `Messages ${at + 1} to ${end} of ${n}${isExport ? "" : ` before step ${step}`}` : "No messages were recorded"),
		el("p", { class: "note" }, processorNote(n, processor, assumed, cut)),
		...messages.map(messageView),
		el(
			"p",
			{ class: "jumps" },
			at > 0 ? page("Earlier messages", at - MESSAGES_PAGE) : null,
			end < n ? page("Later messages", end) : null,
		),
	];
}
