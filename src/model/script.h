/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_SCRIPT_H
#define MODEL_SCRIPT_H

#include "base/error.h"
#include "model/model.h"

/* A fixed list of actions, given in order, then "submit". */
struct script;

struct script *script_new(void);
void script_free(void *script); /* NULL is fine */
void script_add(struct script *s, const char *action);

/* Adds the actions of a file of JSON lines, a string in each. -EINVAL with "FILE:LINE:COLUMN:
 * ...". */
int script_read(struct script *s, const char *path, struct fh_error *err);

/* The `next` of a backend whose state is a script. */
int script_next(void *script, const struct fh_step *step, struct model_turn *out,
		struct fh_error *err);

#endif
