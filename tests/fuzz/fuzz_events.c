/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "trajectory/export.h"

#include <stdint.h>

/* Fuzzes the export of event logs with any bytes. A log is refused, or made into a trajectory that
 * can be read back. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_buf struct buf text = BUF_INIT(TRAJ_BYTES_MAX);
	struct fh_error err;
	struct exported e;
	struct traj *t;

	if (export_parse("fuzz", (const char *)data, n, &e, &err) < 0)
		return 0;
	traj_write(&text, e.traj);
	export_release(&e);
	if (traj_parse("made", buf_str(&text), text.len, &t, &err) < 0)
		__builtin_trap();
	traj_free(t);
	return 0;
}
