/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_PORTER_H
#define NATIVE_PORTER_H

#include "native/native.h"

/*
 * Returns the porter's next event without waiting. False: the sandbox is to be ended. A message was
 * malformed or lost, or the porter sends too many or hangs.
 */
bool porter_next_event(struct native_sandbox *sb, struct sandbox_event *out);
/*
 * Returns the time (clock_now_ns()) after which a porter that has not answered counts as hanging.
 * INT64_MAX: no answer is awaited.
 */
int64_t porter_hangs_at(const struct native_sandbox *sb);
void porter_drop_answer(struct native_sandbox *sb);
/* Returns true if the porter's answer to this request has come, for porter_take(). */
bool porter_has_answer(const struct native_sandbox *sb, uint32_t id);

/*
 * Has the porter forward the running command's output until the command ends. Call it again now and
 * then: if the porter does not answer in time, the sandbox is gone. False: the request could not be
 * sent now.
 */
bool porter_pump(struct native_sandbox *sb);

int porter_clear_requests(struct sandbox *base, struct fh_error *err);
void porter_hold_output(struct sandbox *base, bool hold);
int porter_shut_output(struct sandbox *base, uint32_t id, int slot, struct fh_error *err);
int porter_send_input(struct sandbox *base, const void *data, size_t n, struct fh_error *err);
int porter_get_begin(struct sandbox *base, const char *folder, const char *path, int64_t max_bytes,
		uint32_t *out_id, struct fh_error *err);
int porter_put_begin(struct sandbox *base, const char *folder, const char *path, int from,
		mode_t mode, uint32_t *out_id, struct fh_error *err);
int porter_drain_begin(struct sandbox *base, uint32_t *out_id, struct fh_error *err);
int porter_take(struct sandbox *base, struct sandbox_answer *out, struct fh_error *err);

#endif
