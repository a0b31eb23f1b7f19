/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_ASIDE_H
#define ENV_ASIDE_H

#include <fumehood/aside.h>

/*
 * Asides: turns that are not steps (fumehood/aside.h). A command runs in the episode's shell. The
 * porter copies files, because an agent can make a copy wait by the kernel's lock of a file.
 */
int aside_begin(struct fh_env *env, const struct fh_action *action, struct fh_error *err);
int aside_begin_put(struct fh_env *env, const struct fh_file *file, struct fh_error *err);
int aside_begin_get(struct fh_env *env, const char *path, size_t max_bytes, struct fh_error *err);
void aside_advance(struct fh_env *env);

#endif
