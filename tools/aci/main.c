/* SPDX-License-Identifier: Apache-2.0 */
#include "aci.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

static const struct aci_command *const commands[] = {
	&aci_validate,
	&aci_submit,
	&aci_open,
	&aci_goto,
	&aci_scroll_down,
	&aci_scroll_up,
	&aci_create,
	&aci_edit,
	&aci_insert,
	&aci_search_dir,
	&aci_search_file,
	&aci_find_file,
	&aci_memory_write,
	&aci_memory_read,
	&aci_describe,
	&aci_plot,
	&aci_literature_search,
	&aci_parse_pdf_url,
	&aci_gateway,
};

int aci_usage(const struct aci_command *command, const char *why)
{
	printf("%s%sUsage: %s\n", why ? why : "", why ? "\n" : "", command->help);
	return 1;
}

int main(int argc, char **argv)
{
	const char *path = argc > 0 ? argv[0] : "", *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i]->name, name) != 0)
			continue;
		if (argc > 1 && strcmp(argv[1], "--help") == 0) {
			puts(commands[i]->help);
			return 0;
		}
		setlocale(LC_CTYPE, "C.UTF-8");
		return commands[i]->run(argc, argv);
	}
	fprintf(stderr, "%s: not a command of this environment\n", name);
	return 127;
}
