/* SPDX-License-Identifier: Apache-2.0 */
#include "../../tools/aci/parquet.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Any bytes as a Parquet file: its footer, and the cells of all columns. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A few bytes can stand for millions of cells. */
static bool see(void *user, const char *cell)
{
	size_t *left = user;

	return (*left)-- > 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	int fd = memfd_create("parquet", MFD_CLOEXEC);
	struct parquet p;
	char path[64];

	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (n <= 65536 && parquet_open(path, &p)) {
		size_t left = 10000;

		for (size_t i = 0; i < p.n && left; i++)
			parquet_read_column(&p, i, see, &left);
		parquet_close(&p);
	}
	close(fd);
	return 0;
}
