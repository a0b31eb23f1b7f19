/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_PAGE_FILES_H
#define VIEW_PAGE_FILES_H

/* A file of the page in the folder web/, which is part of the program. */
struct page_file {
	const char *path; /* "" is the page itself */
	const char *mime;
	const char *text;
};

extern const struct page_file page_files[]; /* the last has no path */

#endif
