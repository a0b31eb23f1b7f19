/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "model/chat_model.h"

#include <errno.h>
#include <string.h>

size_t chat_request_bytes(const struct chat_request *request)
{
	size_t n = 0;

	for (size_t i = 0; i < request->n_messages; i++) {
		const struct chat_message *message = &request->messages[i];

		n += strlen(message->content);
		for (size_t j = 0; j < message->n_uses; j++)
			n += strlen(message->uses[j].arguments);
	}
	for (size_t i = 0; i < request->n_tools; i++)
		if (request->tools[i].parameters)
			n += strlen(request->tools[i].parameters);
	return n;
}

int chat_request_write(const struct chat_model *m, const struct chat_request *request,
		struct buf *out, struct fh_error *err)
{
	const struct dialect_request written = {
		.model = m->name,
		.options = &m->options,
		.chat = request,
		.own_address = m->own_address,
	};
	auto_json json_t *body = NULL;
	const char *key;
	json_t *value;
	int r = m->vendor->dialect->write(&written, &body, err);

	if (r < 0)
		return r;
	/*
	 * Add the user's members `extra` to the request, or replace members of the same name. A
	 * null removes a member.
	 */
	json_object_foreach(m->extra, key, value) {
		if (json_is_null(value))
			json_object_del(body, key);
		else
			json_object_set(body, key, value);
	}
	json_add(out, body, false);
	if (out->truncated)
		return error_say(
				err, EINVAL, "a conversation of more than %zu MiB", out->cap >> 20);
	return 0;
}
