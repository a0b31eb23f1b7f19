/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INSIDE_ENVIRONMENT_H
#define INSIDE_ENVIRONMENT_H

#include "inside/places.h"

#define AGENT_PATH "/fumehood/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Initializers of an array: the variables of a program in a sandbox whose caller names none. */
#define AGENT_ENVIRONMENT                                                                          \
	("HOME=" GUEST_HOME), "USER=agent", "LOGNAME=agent", "SHELL=/bin/bash", "LANG=C.UTF-8",    \
			("PATH=" AGENT_PATH)

#endif
