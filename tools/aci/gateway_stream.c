/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway_stream.h"

#include <stdlib.h>

/* Appends an event, and drops the reference to `data`. Anthropic's events have names. */
static void stream_add(struct buf *out, const char *name, json_t *data)
{
	if (name)
		buf_printf(out, "event: %s\n", name);
	buf_add_str(out, "data: ");
	json_add(out, data, false);
	buf_add_str(out, "\n\n");
	json_decref(data);
}

static json_t *stream_copy(json_t *object)
{
	json_t *copy = json_is_object(object) ? json_copy(object) : NULL;

	return copy ? copy : json_object();
}

/* --- OpenAI ----------------------------------------------------------------------------------- */

/* Makes the delta that has a whole message. Tool calls in a delta have an index. */
static json_t *stream_delta(json_t *message)
{
	json_t *delta = stream_copy(message), *uses = json_array();
	json_t *use;
	size_t i;

	json_array_foreach(json_object_get(message, "tool_calls"), i, use) {
		json_t *numbered = stream_copy(use);

		json_object_set_new(numbered, "index", json_integer((json_int_t)i));
		json_array_append_new(uses, numbered);
	}
	if (i)
		json_object_set(delta, "tool_calls", uses);
	json_decref(uses);
	return delta;
}

/* Adds an event with all choices: with their messages, or with the reasons for their ends. */
static void stream_add_choices(struct buf *out, json_t *chunk, const json_t *choices, bool end)
{
	json_t *event = stream_copy(chunk), *list = json_array();
	json_t *choice;
	size_t i;

	json_array_foreach(choices, i, choice) {
		json_t *own = stream_copy(choice);

		json_object_del(own, "message");
		if (end) {
			json_object_set_new(own, "delta", json_object());
			json_object_del(own, "logprobs");
		} else {
			json_object_set_new(own, "delta",
					stream_delta(json_object_get(choice, "message")));
			json_object_set_new(own, "finish_reason", json_null());
		}
		json_array_append_new(list, own);
	}
	json_object_set_new(event, "choices", list);
	stream_add(out, NULL, event);
}

void gateway_stream_openai(struct buf *out, json_t *answer, bool usage)
{
	json_t *chunk = stream_copy(answer);
	json_t *counts = json_object_get(answer, "usage");

	json_object_set_new(chunk, "object", json_string("chat.completion.chunk"));
	json_object_del(chunk, "usage");
	stream_add_choices(out, chunk, json_object_get(answer, "choices"), false);
	stream_add_choices(out, chunk, json_object_get(answer, "choices"), true);
	if (usage && counts) {
		json_object_set_new(chunk, "choices", json_array());
		json_object_set(chunk, "usage", counts);
		stream_add(out, NULL, json_incref(chunk));
	}
	buf_add_str(out, "data: [DONE]\n\n");
	json_decref(chunk);
}

/* --- Anthropic -------------------------------------------------------------------------------- */

/*
 * Moves a text of the block into a delta of its own, so that the block begins without it. `as`: the
 * delta's member for the text, and its type without "_delta".
 */
static void stream_add_delta(struct buf *deltas, json_t *block, const char *key, const char *as,
		json_int_t index)
{
	json_t *value = json_incref(json_object_get(block, key));
	char *text = json_is_object(value) ? json_dumps(value, JSON_COMPACT) : NULL;

	if (text) {
		stream_add(deltas, "content_block_delta",
				json_pack("{s:s, s:I, s:{s:s, s:s}}", "type", "content_block_delta",
						"index", index, "delta", "type", "input_json_delta",
						"partial_json", text));
		json_object_set_new(block, key, json_object());
	} else if (json_is_string(value)) {
		json_t *delta = json_pack("{s:s+, s:O}", "type", as, "_delta", as, value);

		stream_add(deltas, "content_block_delta",
				json_pack("{s:s, s:I, s:o}", "type", "content_block_delta", "index",
						index, "delta", delta));
		json_object_set_new(block, key, json_string(""));
	}
	free(text);
	json_decref(value);
}

static void stream_add_block(struct buf *out, json_t *block, json_int_t index)
{
	static const char *const texts[] = { "text", "thinking", "signature" };
	struct buf deltas = BUF_INIT(out->cap);
	json_t *begin = stream_copy(block);

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		stream_add_delta(&deltas, begin, texts[i], texts[i], index);
	stream_add_delta(&deltas, begin, "input", "input_json", index);
	stream_add(out, "content_block_start",
			json_pack("{s:s, s:I, s:o}", "type", "content_block_start", "index", index,
					"content_block", begin));
	buf_add(out, buf_str(&deltas), deltas.len);
	stream_add(out, "content_block_stop",
			json_pack("{s:s, s:I}", "type", "content_block_stop", "index", index));
	buf_release(&deltas);
}

void gateway_stream_anthropic(struct buf *out, json_t *answer)
{
	static const char *const ends[] = { "stop_reason", "stop_sequence" };
	json_t *message = stream_copy(answer), *delta = json_object();
	json_t *counts = json_object_get(answer, "usage");
	json_t *block;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		json_t *value = json_object_get(answer, ends[i]);

		json_object_set(delta, ends[i], value ? value : json_null());
		json_object_set_new(message, ends[i], json_null());
	}
	json_object_set_new(message, "content", json_array());
	stream_add(out, "message_start",
			json_pack("{s:s, s:o}", "type", "message_start", "message", message));
	json_array_foreach(json_object_get(answer, "content"), i, block)
		stream_add_block(out, block, (json_int_t)i);
	stream_add(out, "message_delta",
			json_pack("{s:s, s:o, s:o}", "type", "message_delta", "delta", delta,
					"usage", counts ? json_incref(counts) : json_object()));
	stream_add(out, "message_stop", json_pack("{s:s}", "type", "message_stop"));
}
