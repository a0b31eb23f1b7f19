/* SPDX-License-Identifier: Apache-2.0 */
#include "../../tools/aci/parquet.h"
#include "../../tools/aci/table.h"

#include "base/buf.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* Any bytes as a data file, and as the footer of a Parquet file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_table(const uint8_t *data, size_t n)
{
	char path[] = "/tmp/fumehood-fuzz-XXXXXX";
	int fd = mkstemp(path);
	struct table t;

	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	close(fd);
	if (table_open(path, &t)) {
		while (table_next(&t) > 0)
			for (size_t i = 0; i < t.n; i++)
				(void)cell_is_missing(t.cells[i]);
		table_close(&t);
	}
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_buf struct buf out = BUF_INIT(1 << 20);
	static int silenced;

	if (!silenced++ && !freopen("/dev/null", "w", stdout))
		abort();
	if (n > 65536)
		return 0;
	read_table(data, n);
	parquet_tell(data, n, &out);
	return 0;
}
