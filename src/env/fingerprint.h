/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_FINGERPRINT_H
#define ENV_FINGERPRINT_H

#include "base/sha256.h"
#include "sandbox/sandbox.h"

/*
 * Computes a fingerprint of all that episodes see of this machine. It covers release, packages,
 * Python, this program's version, and the user's binds and GPUs. Scores with different fingerprints
 * may not be comparable. A baseline is played once for each fingerprint.
 */
void fingerprint(const struct sandbox_bind *binds, size_t n_binds, size_t n_gpus,
		char out_hex[SHA256_HEX_BYTES]);

#endif
