/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_PARSED_H
#define AGENT_PARSED_H

/* A model's reply, as an output parser splits it. */
struct parsed {
	const char *thought, *action; /* strings in the arena, or parts of the reply */
};

#endif
