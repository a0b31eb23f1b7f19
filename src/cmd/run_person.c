/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_person.h"

#include "cli/interrupt.h"
#include "env/output.h"

#include <unistd.h>

static const struct episode *run_person_episode(const struct run *run)
{
	for (size_t i = 0; run->plan.interactive && !run->stopping && i < run->begun; i++) {
		const struct episode *e = &run->plan.episodes[i];

		if (e->phase == EPISODE_STEPPING && e->model)
			return e;
	}
	return NULL;
}

void run_person_serve(const struct run *run)
{
	const struct episode *e = run_person_episode(run);
	const struct buf *output = e ? env_output(e->env) : NULL;

	if (output)
		model_watch(e->model, output);
	interrupt_soft(e && isatty(STDIN_FILENO));
	if (interrupt_take_soft() && e)
		fh_env_interrupt(e->env);
}
