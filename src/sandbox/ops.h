/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_OPS_H
#define SANDBOX_OPS_H

#include "sandbox/sandbox.h"

/*
 * Table of functions of an implementation of sandboxes, which is one const struct. sandbox.h
 * explains each operation: owner_x() and sandbox_x() there call `x` here. An implementation's
 * structs begin with struct owner and struct sandbox.
 */
struct owner {
	const struct sandbox_ops *ops;
	struct gpus *gpus; /* pool of the GPUs that the owner holds; NULL: none */
};

struct sandbox {
	const struct sandbox_ops *ops;
	sandbox_take_output *take_output;
	void *output_arg;
};

struct shell_ops;

struct sandbox_ops {
	const struct shell_ops *shell; /* functions for the shells of these sandboxes */

	int (*owner_open)(const struct owner_options *options, struct owner **out,
			struct fh_error *err);
	void (*owner_close)(struct owner *owner);
	int (*hide)(struct owner *owner, const char *folder, struct fh_error *err);
	int (*hide_check)(const char *folder, struct fh_error *err);
	const char *(*warning)(const struct owner *owner);
	int (*collect)(void);
	int (*add_layer)(struct owner *owner, const char *name, const struct layer_item *items,
			size_t n, struct fh_error *err);
	void (*drop_layer)(struct owner *owner, const char *name);
	int (*add_writable)(struct owner *owner, const char *source, struct fh_error *err);

	int (*start)(struct owner *owner, const struct sandbox_options *options,
			struct sandbox **out, struct fh_error *err);
	void (*close)(struct sandbox *sb);
	void (*close_traceless)(struct sandbox *sb, struct job **out);
	int (*pause)(struct sandbox *sb, struct job **out, struct fh_error *err);
	void (*resume)(struct sandbox *sb);
	void (*waits)(const struct sandbox *sb, struct waits *w);
	void (*fds)(const struct sandbox *sb, int out_fds[SANDBOX_FDS]);
	void (*next_event)(struct sandbox *sb, struct sandbox_event *out);
	int (*clear_requests)(struct sandbox *sb, struct fh_error *err);

	int (*run)(struct sandbox *sb, const struct program_request *request, uint32_t *out_id,
			struct fh_error *err);
	int (*go)(struct sandbox *sb, uint32_t id, struct fh_error *err);
	int (*send_signal)(
			struct sandbox *sb, uint32_t id, int signal_number, struct fh_error *err);
	void (*hold_output)(struct sandbox *sb, bool hold);
	int (*shut_output)(struct sandbox *sb, uint32_t id, int slot, struct fh_error *err);
	int (*feed)(struct sandbox *sb, const void *data, size_t n, struct fh_error *err);

	int (*pack)(struct sandbox *sb, const char *folder, const char *except, int to,
			struct fh_error *err);
	int (*get_begin)(struct sandbox *sb, const char *folder, const char *path,
			int64_t max_bytes, uint32_t *out_id, struct fh_error *err);
	int (*put_begin)(struct sandbox *sb, const char *folder, const char *path, int from,
			mode_t mode, uint32_t *out_id, struct fh_error *err);
	int (*drain_begin)(struct sandbox *sb, uint32_t *out_id, struct fh_error *err);
	int (*take)(struct sandbox *sb, struct sandbox_answer *out, struct fh_error *err);
	bool (*answered)(struct sandbox *sb, uint32_t id);
	void (*answer_waits)(const struct sandbox *sb, struct waits *w);

	int64_t (*count)(const struct sandbox *sb, enum sandbox_counter counter);
};

/* the only implementation of sandboxes, in src/native */
extern const struct sandbox_ops sandbox_native;

#endif
