/* SPDX-License-Identifier: Apache-2.0 */
#include "model/dialect.h"

#include <errno.h>
#include <string.h>

int dialect_parameters(const struct chat_tool *tool, json_t **out, struct fh_error *err)
{
	static const char nothing[] = "{\"type\":\"object\",\"properties\":{}}";
	const char *text = tool->parameters ? tool->parameters : nothing;
	int r = json_parse("parameters", text, strlen(text), out, err);

	return r < 0 ? error_wrap(err, "tool '%s'", tool->name) : 0;
}
