/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_FINGERPRINT_H
#define ENV_FINGERPRINT_H

#include "base/sha256.h"
#include "sandbox/sandbox.h"

/*
 * A fingerprint of what episodes see of this machine: its release, its packages, its Python, this
 * program's version, and what the user gives them: binds, GPUs. Scores with different fingerprints don't compare
 * without a second look, and a baseline is played once for each.
 */
void fingerprint(const struct sandbox_bind *binds, size_t n_binds, size_t n_gpus,
		char out_hex[SHA256_HEX_BYTES]);

#endif
