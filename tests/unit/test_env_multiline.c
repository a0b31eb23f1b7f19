/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/scope.h"
#include "base/str.h"
#include "env/multiline.h"

#include <stdlib.h>

static const struct multiline commands[] = { { "edit", "end_of_edit" }, { "put", "done" } };

static const struct {
	const char *text, *quoted; /* NULL: as it is */
} cases[] = {
	{ "edit 1:2\na $b\nend_of_edit", "edit 1:2 << 'end_of_edit'\na $b\nend_of_edit\n" },
	{ "  edit 1:2 \t\r\nend_of_edit  \nls", "  edit 1:2 << 'end_of_edit'\nend_of_edit\nls" },
	{ "cd x\nedit 1:1\n  end_of_edit\nend_of_edit\nput a\nb\ndone\n",
			"cd x\nedit 1:1 << 'end_of_edit'\n  end_of_edit\nend_of_edit\nput a << 'done'\nb\n"
			"done\n" },
	{ "edit 1:1 << 'end_of_edit'\nx\nend_of_edit", NULL },
	{ "edit 1:1 <<EOF\nx\nEOF", NULL },
	{ "edit 1:1\nx\nend_of_edits", NULL },
	{ "editor 1\nend_of_edit", NULL },
	{ "echo edit 1:1\nend_of_edit", NULL },
	{ "edit 1:1 end_of_edit", NULL },
	{ "", NULL },
};

static void test_cases(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *out =
				multiline_quote(cases[i].text, commands, ARRAY_SIZE(commands));

		if (!str_eq(out, cases[i].quoted))
			fail_msg("%zu: '%s'", i, out ? out : "(as it is)");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
