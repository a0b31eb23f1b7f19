/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INSIDE_PLACES_H
#define INSIDE_PLACES_H

/* Paths inside a sandbox that exist whichever implementation makes the sandbox. */
#define GUEST_HOME "/home/agent"
#define GUEST_WORKSPACE "/home/agent/workspace"
/* folder of named pipes, for an agent's requests: inside/tools.h */
#define GUEST_RUN_DIR "/run/fumehood"

#endif
