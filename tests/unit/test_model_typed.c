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

static void test_programs_that_need_a_terminal(void **state)
{
	static const char screen[] = " needs a whole screen", input[] = " would end at once";
	static const struct {
		const char *text, *name, *why;
	} cases[] = {
		{ "vim a.py", "vim", screen },
		{ "vimdiff a b", "vimdiff", screen },
		{ "lynx page.html", "lynx", screen },
		{ "cd /; LINES=3 /usr/bin/less a", "less", screen },
		{ "true && sudo top", "top", screen },
		{ "(nano)", "nano", screen },
		{ "\\vim", "vim", screen },
		{ "'vim' a", "vim", screen },
		{ "\"/usr/bin/vim\" a", "vim", screen },
		{ "command vim", "vim", screen },
		{ "/usr/bin/vim", "vim", screen },
		{ "env vim", "vim", screen },
		{ "/usr/bin/env -i A=1 vim", "vim", screen },
		{ "command -p \\less a", "less", screen },
		{ "timeout 5 top", "top", screen },
		{ "if less a; then ls; fi", "less", screen },
		{ "while true; do watch ls; done", "watch", screen },
		{ "python3", "python3", input },
		{ "/usr/bin/python3.11", "python3.11", input },
		{ "cd /; X=1 bash ", "bash", input },
		{ "(sh)", "sh", input },
		{ "cat", "cat", input },
		{ "cat a; cat >b; cat -n a", NULL, NULL },
		{ "ls | cat", NULL, NULL },
		{ "python3 a.py", NULL, NULL },
		{ "python3 -c 1; bash -c ls", NULL, NULL },
		{ "python3 <<E\n1\nE", NULL, NULL },
		{ "echo ls | bash", NULL, NULL },
		{ "ls | while read x; do bash; done", NULL, NULL },
		{ "while read x; do bash; done <a", NULL, NULL },
		{ "which bash; type python3", NULL, NULL },
		{ "./python4ever; 3", NULL, NULL },
		{ "cat a | less", NULL, NULL },
		{ "python3 -i", "python3", input },
		{ "bash -li -", "bash", input },
		{ "python3 -i a.py", NULL, NULL },
		{ "vim x -e", "vim", screen },
		{ "vim a-es", "vim", screen },
		{ "nano -e", "nano", screen },
		{ "less -b 9 a", "less", screen },
		{ "gdb -tui a", "gdb", screen },
		{ "gdb a --tui", "gdb", screen },
		{ "gdb -i tui a", "gdb", screen },
		{ "gdb --interpreter=tui a", "gdb", screen },
		{ "gdbtui a", "gdbtui", screen },
		{ "perf report --tui", "perf", screen },
		{ "gdb -batch -ex bt a", NULL, NULL },
		{ "gdb -tui --version", NULL, NULL },
		{ "perf report --stdio", NULL, NULL },
		{ "ls -tui", NULL, NULL },
		{ "vim -es a", NULL, NULL },
		{ "vim --version", NULL, NULL },
		{ "top -b -n1", NULL, NULL },
		{ "top -bn1", NULL, NULL },
		{ "emacs --batch a", NULL, NULL },
		{ "echo vim", NULL, NULL },
		{ "echo \\vim", NULL, NULL },
		{ "command -v vim", NULL, NULL },
		{ "./vimlike; vi.sh", NULL, NULL },
		{ "cat <<E\nvim\nE", NULL, NULL },
		{ "", NULL, NULL },
		{ "FOO=1", NULL, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_arena struct arena a = ARENA_INIT;
		const char *said = typed_refusal(&a, cases[i].text);
		const char *begin = cases[i].name
				? arena_printf(&a, "%s%s", cases[i].name, cases[i].why)
				: NULL;

		if (!begin != !said || (said && !str_starts(said, begin)))
			fail_msg("'%s': %s", cases[i].text, said ? said : "nothing");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_nothing_is_run),
		cmocka_unit_test(test_programs_that_need_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
