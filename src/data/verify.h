/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DATA_VERIFY_H
#define DATA_VERIFY_H

#include "task/dataset.h"

enum data_state { DATA_RIGHT, DATA_UNKNOWN, DATA_MISSING, DATA_DIFFERS };

struct data_verdict {
	const char *path; /* absolute path of the file */
	enum data_state state;
	const char *sha256;   /* hash of the file; NULL: it is missing or a folder */
	const char *expected; /* hash that the file should have; NULL: not known */
};

/*
 * Compares the files of a data set with their sha256: that of datasets/<id>.yaml, else that of
 * data.lock. If the data set has a layout, fetched files that are still there are compared too.
 * Calls `tell` for each file. *out_wrong is the number of files that are missing or differ.
 */
int data_verify(const struct dataset *dataset,
		void (*tell)(void *user, const struct data_verdict *), void *user,
		size_t *out_wrong, struct fh_error *err);

#endif
