/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_REQUESTS_H
#define GUEST_REQUESTS_H

#include "base/error.h"

/* Pipes of requests. Pipe i asks for bit 1 << i. */
#define REQUEST_PIPES 4

/* Makes the pipes. */
int requests_open(int pipes[REQUEST_PIPES], struct fh_error *err);
/* Once the owner has been told: releases processes that wait at this pipe. */
void requests_answer(int pipe);

#endif
