/* SPDX-License-Identifier: Apache-2.0 */
#include "view/rebuild_record.h"
#include "view/record.h"

#include <stdio.h>
#include <string.h>

/*
 * Checks the files that the viewer rebuilds from recorded runs. It reads paths of records from
 * standard input, one a line. Whenever a step shows a file again, it prints a line
 * "files<tab>EQUAL|DIFFERENT|SKIPPED<tab>RECORD<tab>what". A file that a program may have changed
 * before is skipped if it differs.
 */

static void check_record(const char *path)
{
	struct record *r = record_new(path);
	struct rebuild *b = rebuild_new(0);
	struct rebuilt_checks before;

	record_refresh(r, NULL);
	for (size_t i = 0; i < r->n_steps; i++) {
		before = b->checks;
		rebuild_record(b, r, i + 1);
		if (b->checks.equal > before.equal)
			printf("files\tEQUAL\t%s\tstep %zu\n", path, i);
		if (b->checks.different > before.different)
			printf("files\tDIFFERENT\t%s\tstep %zu: %s\n", path, i, r->steps[i].head);
		if (b->checks.changed > before.changed)
			printf("files\tSKIPPED\t%s\tstep %zu: a program changed the file\n", path,
					i);
	}
	rebuild_free(b);
	record_free(r);
}

int main(void)
{
	char path[8192];

	while (fgets(path, sizeof(path), stdin)) {
		path[strcspn(path, "\n")] = '\0';
		check_record(path);
	}
	return 0;
}
