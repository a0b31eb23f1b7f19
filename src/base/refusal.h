/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_REFUSAL_H
#define BASE_REFUSAL_H

#include "base/error.h"

/*
 * Appends "run `fumehood doctor`" to the error, because the machine may lack something for
 * sandboxes, such as namespaces or subordinate ids. Errors of a temporary shortage (EAGAIN, ENOMEM,
 * EMFILE, ENFILE) keep their message. Returns err->code, or -EIO if err is NULL or has no negative
 * code.
 */
int error_see_doctor(struct fh_error *err);
#define ERROR_SEE_DOCTOR "; run `fumehood doctor`"

#endif
