/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INSIDE_PLACES_H
#define INSIDE_PLACES_H

/* Paths that every sandbox has, whichever implementation makes it. */
#define GUEST_HOME "/home/agent"
#define GUEST_WORKSPACE "/home/agent/workspace"
#define GUEST_RUN_DIR "/run/fumehood" /* folder of the named pipes: inside/tools.h */

#endif
