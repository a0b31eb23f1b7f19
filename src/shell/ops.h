/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHELL_OPS_H
#define SHELL_OPS_H

#include "shell/session.h"

/* Table of functions for the shells of a kind of sandboxes (sandbox/ops.h): one const struct. The
 * structs of its sessions begin with struct session. session.h explains each operation. */
struct session {
	struct sandbox *sb;
	struct buf output;
	struct session_result result;
	/* receiver of the output of programs beside the shell; NULL: none */
	sandbox_take_output *take_stream;
	void *stream_arg;
	bool is_hungry; /* SANDBOX_HUNGRY has come */
};

struct shell_ops {
	/* Returns a zeroed session of a shell; the caller sets `sb` and `output`. */
	struct session *(*open)(void);
	void (*close)(struct session *s);
	int (*begin)(struct session *s, const char *command, int64_t timeout_ms,
			enum session_command_kind kind, struct fh_error *err);
	void (*waits)(const struct session *s, struct waits *w);
	void (*waits_awake)(const struct session *s, struct waits *w);
	bool (*advance)(struct session *s);
	bool (*answered)(const struct session *s);
	bool (*await_quick)(struct session *s);
	void (*cancel)(struct session *s);
};

#endif
