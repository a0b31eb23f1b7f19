/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "trajectory/traj.h"

#include <stdint.h>
#include <string.h>

/* Fuzzes the reader of trajectory files with any bytes. A file is refused, or reads the same after
 * it was written again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_buf struct buf once = BUF_INIT(TRAJ_BYTES_MAX);
	auto_buf struct buf twice = BUF_INIT(TRAJ_BYTES_MAX);
	struct fh_error err;
	struct traj *t;

	if (traj_parse("fuzz", (const char *)data, n, &t, &err) < 0)
		return 0;
	traj_write(&once, t);
	traj_free(t);
	if (traj_parse("again", buf_str(&once), once.len, &t, &err) < 0)
		__builtin_trap();
	traj_write(&twice, t);
	traj_free(t);
	if (once.len != twice.len || memcmp(once.data, twice.data, once.len) != 0)
		__builtin_trap();
	return 0;
}
