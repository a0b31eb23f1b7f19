/* SPDX-License-Identifier: Apache-2.0 */
#include "../../tools/aci/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* Fuzzes the reader of data files, as agents inspect them, with any bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_table(const uint8_t *data, size_t n)
{
	char path[] = "/tmp/fumehood-fuzz-XXXXXX";
	int fd = mkstemp(path);
	struct data_table t;

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
	static int silenced;

	if (!silenced++ && !freopen("/dev/null", "w", stdout))
		abort();
	if (n > 65536)
		return 0;
	read_table(data, n);
	return 0;
}
