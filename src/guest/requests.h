/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_REQUESTS_H
#define GUEST_REQUESTS_H

#include "base/error.h"

/* Named pipes for an agent's requests. Pipe i asks for the REQUEST_* bit 1 << i. */
#define REQUEST_PIPES 4

/* Makes and opens the named pipes for an agent's requests. */
int requests_open(int pipes[REQUEST_PIPES], struct fh_error *err);
/* Empties a request pipe after the owner was told, so that processes that wait for room in it go
 * on. */
void requests_answer(int pipe);

#endif
