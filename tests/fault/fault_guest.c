/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fault.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Maps the test's shared page when bash loads this plugin. Processes that it clones inherit the
 * mapping. */
__attribute__((constructor)) static void attach(void)
{
	char path[64];
	void *page;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getppid(), FAULT_PAGE_FD);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	page = mmap(NULL, sizeof(struct fault_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (page != MAP_FAILED)
		fault_page = page;
}
