/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_BESIDE_H
#define ENV_BESIDE_H

#include <fumehood/env.h>

/*
 * Scoring while an agent's command (env/command.h) runs. The tool `validate` then calls the
 * environment, and waits for the score.
 */

/* Serves `validate` and `submit`. Call it after calls_advance(). */
void beside_advance(struct fh_env *env);

/* Ends an unfinished grading when the command has ended. The step scores the submission then. */
void beside_end(struct fh_env *env);

#endif
