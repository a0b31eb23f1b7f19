/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "fixture.h"
#include "model/typed.h"

static void test_unfinished(void **state)
{
	static const char *const finished[] = { "", "ls", "for i in 1; do :; done", "cat <<E\na\nE",
		"echo 'a'", "echo a \\\\", "fi", "echo $((1 << 2))", "case a in a) ;; esac",
		"# don't", "echo \"<<E\"" };
	static const char *const unfinished[] = { "for i in 1; do", "cat <<E\na", "cat <<E && ls",
		"echo 'a", "echo \"$(ls", "a() {", "if true", "true &&", "echo a \\", "ls |",
		"case a in", "echo $(", "echo `ls" };

	for (size_t i = 0; i < ARRAY_SIZE(finished); i++)
		if (typed_is_unfinished(finished[i]))
			fail_msg("'%s' is finished", finished[i]);
	for (size_t i = 0; i < ARRAY_SIZE(unfinished); i++)
		if (!typed_is_unfinished(unfinished[i]))
			fail_msg("'%s' is unfinished", unfinished[i]);
}

static void test_nothing_is_run(void **state)
{
	char path[] = "/tmp/fumehood-typed-XXXXXX";
	auto_close int fd = mkstemp(path);
	auto_free char *text = xasprintf("rm -f %s; echo $(rm -f %s)", path, path);

	assert_true(fd >= 0);
	assert_false(typed_is_unfinished(text));
	assert_int_equal(unlink(path), 0);
}

static void test_full_screen(void **state)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{ "vim a.py", "vim" },
		{ "cd /; LINES=3 /usr/bin/less a", "less" },
		{ "true && sudo top", "top" },
		{ "(nano)", "nano" },
		{ "\\vim", "vim" },
		{ "'vim' a", "vim" },
		{ "\"/usr/bin/vim\" a", "vim" },
		{ "command vim", "vim" },
		{ "/usr/bin/vim", "vim" },
		{ "env vim", "vim" },
		{ "/usr/bin/env -i A=1 vim", "vim" },
		{ "command -p \\less a", "less" },
		{ "timeout 5 top", "top" },
		{ "if less a; then ls; fi", "less" },
		{ "while true; do watch ls; done", "watch" },
		{ "cat a | less", NULL },
		{ "top -b -n1", NULL },
		{ "emacs --batch a", NULL },
		{ "echo vim", NULL },
		{ "echo \\vim", NULL },
		{ "command -v vim", NULL },
		{ "./vimlike; vi.sh", NULL },
		{ "cat <<E\nvim\nE", NULL },
		{ "", NULL },
		{ "FOO=1", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_arena struct arena a = ARENA_INIT;
		const char *name = typed_full_screen(&a, cases[i].text);

		if (!cases[i].name != !name || (name && !str_eq(name, cases[i].name)))
			fail_msg("'%s': %s", cases[i].text, name ? name : "nothing");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_nothing_is_run),
		cmocka_unit_test(test_full_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
