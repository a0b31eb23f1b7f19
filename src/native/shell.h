/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_SHELL_H
#define NATIVE_SHELL_H

#include "shell/ops.h"

/* Functions for the shells of native sandboxes. */
extern const struct shell_ops shell_native;

#endif
