/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_DUMP_POLICY_H
#define REPORT_DUMP_POLICY_H

#include "trajectory/traj.h"

/* Reads <task>_pi<N>_<time>.json, the episode of a policy, in the form of a .traj. The
 * conversation is the prompt, with the reply and the observation of each turn. *out owns the turns.
 */
int dump_policy_read(const char *path, struct traj **out, const struct pyjson **out_turns,
		struct fh_error *err);

/* Makes an event `step` of a turn, which has the members of both the event and its `info`. */
const struct pyjson *dump_policy_event(struct arena *a, const struct pyjson *turn);

#endif
