/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_person.h"

#include "cli/interrupt.h"

#include <unistd.h>

/* The episode with a running command that a person typed; NULL: none. */
static const struct episode *run_person_watch(const struct run *run)
{
	for (size_t i = 0; run->plan.interactive && !run->stopping && i < run->begun; i++)
		if (episode_watch(&run->plan.episodes[i]))
			return &run->plan.episodes[i];
	return NULL;
}

void run_person_serve(const struct run *run)
{
	/* On the page of --web a person does not type at the terminal. */
	const struct episode *e = run->play.takeover ? NULL : run_person_watch(run);

	interrupt_soft(e && isatty(STDIN_FILENO));
	for (uint64_t n = interrupt_take_soft(); n && e; n--)
		episode_interrupt(e);
}
