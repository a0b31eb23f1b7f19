/* SPDX-License-Identifier: Apache-2.0 */
#include "model/dialect.h"

#include <string.h>

int dialect_write_tools(json_t *body, const struct chat_request *chat, const char *key,
		bool wrapped, struct fh_error *err)
{
	static const char nothing[] = "{\"type\":\"object\",\"properties\":{}}";
	json_t *tools;

	if (!chat->n_tools)
		return 0;
	tools = json_array();
	json_object_set_new(body, "tools", tools);
	for (size_t i = 0; i < chat->n_tools; i++) {
		const struct chat_tool *tool = &chat->tools[i];
		const char *text = tool->parameters ? tool->parameters : nothing;
		const char *description = tool->description ? tool->description : "";
		json_t *parameters, *written;
		int r = json_parse("parameters", text, strlen(text), &parameters, err);

		if (r < 0)
			return error_wrap(err, "tool '%s'", tool->name);
		written = json_pack("{s:o, s:o, s:o}", "name", json_text(tool->name), "description",
				json_text(description), key, parameters);
		if (wrapped)
			written = json_pack("{s:s, s:o}", "type", "function", "function", written);
		json_array_append_new(tools, written);
	}
	return 0;
}

void dialect_write_stop(json_t *body, const struct chat_options *options, const char *key)
{
	json_t *stop;

	if (!options->n_stop)
		return;
	stop = json_array();
	for (size_t i = 0; i < options->n_stop; i++)
		json_array_append_new(stop, json_text(options->stop[i]));
	json_object_set_new(body, key, stop);
}
