/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/command_file.h"
#include "base/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Usage: show_command_docs STYLE [NAME=VALUE...] -- FILE... It prints the documentation of commands
 * in files, for tests/python/test_command_docs.py. */
static int fail(const struct fh_error *err)
{
	fprintf(stderr, "%s\n", err->message);
	return 1;
}

int main(int argc, char **argv)
{
	auto_arena struct arena a = ARENA_INIT;
	auto_buf struct buf out = BUF_INIT(1 << 20);
	struct text_pair *pairs = arena_array(&a, (size_t)argc, sizeof(*pairs));
	struct command_file *files = arena_array(&a, (size_t)argc, sizeof(*files));
	struct text_map fields = { .pairs = pairs };
	struct fh_error err = FH_ERROR_INIT;
	size_t n = 0;
	int i;

	for (i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
		size_t name = strcspn(argv[i], "=");

		pairs[fields.n++] = (struct text_pair){ arena_strndup(&a, argv[i], name),
			argv[i] + name + 1 };
	}
	for (i++; i < argc; i++)
		if (command_file_load(&a, argv[i], &files[n++], &err) < 0)
			return fail(&err);
	if (command_docs_add(&out, (enum command_docs)atoll(argv[1]), files, n, &fields, &err) < 0)
		return fail(&err);
	fputs(buf_str(&out), stdout);
	return 0;
}
