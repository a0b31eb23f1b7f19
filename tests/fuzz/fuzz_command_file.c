/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/command_file.h"
#include "base/scope.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

/* Fuzzes the reader of command files, which define an agent's commands. The file must get
 * documentation, or be refused with an error that names it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void try_as(const char *path, const char *text, size_t n)
{
	static const struct text_pair pair = { "WINDOW", "100" };
	static const struct text_map fields = { &pair, 1 };
	auto_arena struct arena a = ARENA_INIT;
	struct fh_error err = FH_ERROR_INIT;
	struct command_file file;

	if (command_file_parse(&a, path, text, n, &file, &err) < 0) {
		check(err.code < 0 && str_starts(err.message, path), err.message);
		return;
	}
	check(file.n_commands <= COMMANDS_MAX && file.n_contents == n, "too much");
	for (size_t i = 0; i < file.n_commands; i++)
		check(*file.commands[i].name && *file.commands[i].name != '_', "name");
	for (enum command_docs i = 0; command_docs_names[i]; i++) {
		auto_buf struct buf out = BUF_INIT(1 << 24);

		if (command_docs_add(&out, i, &file, 1, &fields, &err) < 0)
			check(str_starts(err.message, path), err.message);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	try_as("f.sh", (const char *)data, n);
	try_as("f", (const char *)data, n);
	try_as("_f", (const char *)data, n);
	return 0;
}
