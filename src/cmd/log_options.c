/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/log_options.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

const char *const log_levels[] = {
	[LOG_DEBUG] = "debug", [LOG_INFO] = "info", [LOG_WARN] = "warn", [LOG_ERROR] = "error", NULL
};
const char *const log_formats[] = { "text", "json", NULL };

int log_options_read(const struct command_context *ctx, const struct log_choice *choice,
		enum log_level otherwise, struct log_options *out, struct fh_error *err)
{
	const char *variable = getenv("FUMEHOOD_LOG");
	int level = (int)otherwise;

	if (cmd_given(ctx, "log")) {
		level = choice->level;
	} else if (variable && *variable) {
		level = log_level_of(variable);
		if (level < 0)
			return error_say(err, EINVAL,
					"FUMEHOOD_LOG wants one of debug, info, warn, error, not '%s'",
					variable);
	}
	*out = (struct log_options){
		.level = (enum log_level)level,
		.json = choice->format == 1,
		.fd = STDERR_FILENO,
		.time = choice->format == 1 || level < LOG_WARN,
	};
	return 0;
}
