/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>

/* --- by the text ------------------------------------------------------------------------------ */

static void test_text(void **state)
{
	static const struct {
		char *(*make)(const char *path);
		const char *in, *out;
	} cases[] = {
		{ path_dirname, "a/b/c", "a/b" },
		{ path_dirname, "a", "." },
		{ path_dirname, "/a", "/" },
		{ path_dirname, "/", "/" },
		{ path_dirname, "a/b/", "a" },
		{ path_dirname, "a//b", "a" },
		{ path_normalise, "a/./b/../c", "a/c" },
		{ path_normalise, "", "." },
		{ path_normalise, ".", "." },
		{ path_normalise, "a/..", "." },
		{ path_normalise, "a/../..", ".." },
		{ path_normalise, "../../a", "../../a" },
		{ path_normalise, "../a/../b", "../b" },
		{ path_normalise, "/", "/" },
		{ path_normalise, "/..", "/" },
		{ path_normalise, "/../a//b/", "/a/b" },
		{ path_normalise, "/a/..", "/" },
		{ path_normalise, "//a", "/a" },
		{ path_normalise, "...", "..." },
		{ path_normalise, "a/..b", "a/..b" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *out = cases[i].make(cases[i].in);

		assert_string_equal(out, cases[i].out);
	}
	assert_string_equal(path_basename("a/b"), "b");
	assert_string_equal(path_basename("b"), "b");
}

static void test_join(void **state)
{
	static const char *const cases[][3] = { { "a", "b", "a/b" }, { "a/", "b", "a/b" },
		{ "a", "/b", "/b" }, { "", "b", "b" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *out = path_join(cases[i][0], cases[i][1]);

		assert_string_equal(out, cases[i][2]);
	}
}

static void test_stays_inside(void **state)
{
	static const char *const inside[] = { "a", "a/b", "a/../b", ".", "./a", "..a", "a/" };
	static const char *const outside[] = { "", "..", "../a", "a/../../b", "/a", "/", "./.." };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(inside); i++)
		assert_true(path_stays_inside(inside[i]));
	for (size_t i = 0; i < ARRAY_SIZE(outside); i++)
		assert_false(path_stays_inside(outside[i]));
}

/* --- on the disk ------------------------------------------------------------------------------ */

struct scratch {
	char dir[FOLDER_MAX];
	char *cwd;
};

static int make_scratch(void **state)
{
	struct scratch *s = calloc(1, sizeof(*s));

	s->cwd = getcwd(NULL, 0);
	*state = s;
	return folder_make(s->dir) == 0 && chdir(s->dir) == 0 ? 0 : -1;
}

static int remove_scratch(void **state)
{
	struct scratch *s = *state;
	int r = chdir(s->cwd);

	r |= folder_remove(s->dir);
	free(s->cwd);
	free(s);
	return r;
}

static void test_is_within(void **state)
{
	static const struct {
		const char *path, *folder;
		bool within;
	} cases[] = {
		{ "/opt/a", "/opt", true },
		{ "/opt", "/opt", true },
		{ "/opt/a", "/", true },
		{ "/", "/", true },
		{ "/optional", "/opt", false },
		{ "/op", "/opt", false },
		{ "/", "/opt", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(path_is_within(cases[i].path, cases[i].folder), cases[i].within);
}

/* Whether a path lies in a folder if links are followed. test_is_within() compares names only. */
static void test_lies_within(void **state)
{
	static const struct {
		const char *path, *folder;
		bool within;
	} cases[] = {
		{ "real/a/file", "real/a", true },
		{ "real/a/file", "real/a/file", true },
		{ "real/a/file", "hard", true },
		{ "real/a/file", "link", true },
		{ "link/file", "real", true },
		{ "link/file", "/", true },
		{ "link", "real", true },
		{ "real/a/not/yet", "link", true },
		{ "link/not/yet", "real/a", true },
		{ "real/ab", "real/a", false },
		{ "real", "real/a", false },
		{ "link/file", "real/ab", false },
		{ "real/a/file", "not/there", false },
	};

	assert_int_equal(path_mkdirs("real/a", 0755, NULL), 0);
	assert_int_equal(path_mkdirs("real/ab", 0755, NULL), 0);
	assert_int_equal(fd_write_file("real/a/file", "", 0, 0600, NULL), 0);
	assert_int_equal(symlink("real/a", "link"), 0);
	assert_int_equal(link("real/a/file", "hard"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (path_lies_within(cases[i].path, cases[i].folder) != cases[i].within)
			fail_msg("%s, %s", cases[i].path, cases[i].folder);
}

static void test_mkdirs(void **state)
{
	struct fh_error err = FH_ERROR_INIT;

	(void)state;
	assert_int_equal(path_mkdirs("x/y/z", 0755, &err), 0);
	assert_int_equal(path_mkdirs("x/y/z", 0755, &err), 0);
	assert_true(path_is_dir("x/y/z"));
	assert_int_equal(path_mkdirs("/", 0755, &err), 0);
	assert_int_equal(fd_write_file("file", "", 0, 0600, &err), 0);
	assert_true(path_exists("file"));
	assert_false(path_is_dir("file"));
	assert_int_equal(path_mkdirs("file/a", 0755, &err), -ENOTDIR);
	assert_non_null(strstr(err.message, "'file'"));
	assert_false(path_exists("nothing"));
}

static void make_root(void)
{
	assert_int_equal(path_mkdirs("root/in", 0755, NULL), 0);
	assert_int_equal(path_mkdirs("rootless", 0755, NULL), 0);
	assert_int_equal(fd_write_file("root/in/file", "", 0, 0600, NULL), 0);
	assert_int_equal(fd_write_file("secret", "", 0, 0600, NULL), 0);
	assert_int_equal(symlink("in", "root/near"), 0);
	assert_int_equal(symlink("../rootless", "root/out"), 0); /* outside of "root" */
	assert_int_equal(symlink("/etc/passwd", "root/far"), 0);
	assert_int_equal(fd_write_file("rootless/x", "", 0, 0600, NULL), 0);
}

static void test_beneath(void **state)
{
	static const char *const outside[] = { "../secret", "/etc/passwd", "out", "out/x", "far",
		"in/../.." };
	const struct scratch *s = *state;
	auto_free char *real = NULL;
	auto_free char *expected = path_join(s->dir, "root/in/file");
	struct fh_error err = FH_ERROR_INIT;

	make_root();

	assert_int_equal(path_beneath("root", "near/file", &real, &err), 0);
	assert_string_equal(real, expected);
	for (size_t i = 0; i < ARRAY_SIZE(outside); i++) {
		char *untouched = (char *)(uintptr_t) "untouched";

		assert_int_equal(path_beneath("root", outside[i], &untouched, &err), -EPERM);
		assert_string_equal(untouched, "untouched");
	}
	assert_int_equal(path_beneath("root", "none", &real, &err), -ENOENT);
}

static void test_beneath_new(void **state)
{
	static const struct {
		const char *path, *real; /* real path, relative to the root */
		int error;
	} cases[] = {
		{ "in/file", "in/file", 0 },
		{ "near/new", "in/new", 0 },
		{ "a/b/c", "a/b/c", 0 },
		{ "near/a/b", "in/a/b", 0 },
		{ "out/new", NULL, -EPERM },
		{ "out/a/b", NULL, -EPERM },
		{ "far", NULL, -EPERM },
		{ "../new", NULL, -EPERM },
		{ "nowhere", NULL, -EPERM },
		{ "nowhere/x", NULL, -EPERM },
		{ "in/file/x", NULL, -ENOTDIR },
	};
	const struct scratch *s = *state;
	struct fh_error err = FH_ERROR_INIT;

	make_root();
	assert_int_equal(symlink("../yet-to-be-made", "root/nowhere"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *expected =
				xasprintf("%s/root/%s", s->dir, cases[i].real ? cases[i].real : "");
		auto_free char *real = NULL;

		assert_int_equal(path_beneath_new("root", cases[i].path, &real, &err),
				cases[i].error);
		if (cases[i].real)
			assert_string_equal(real, expected);
		else
			assert_null(real);
	}
	assert_int_equal(path_beneath_new("no-root", "x", &(char *){ NULL }, &err), -ENOENT);
}

static void test_absolute(void **state)
{
	const struct scratch *s = *state;
	auto_free char *expected = path_join(s->dir, "b");
	auto_free char *out = NULL;
	auto_free char *same = NULL;

	assert_int_equal(path_absolute("a/../b", &out, NULL), 0);
	assert_string_equal(out, expected);
	assert_int_equal(path_absolute("/x/./y", &same, NULL), 0);
	assert_string_equal(same, "/x/y");
}

/* --- places ----------------------------------------------------------------------------------- */

static void test_places_of_a_checkout(void **state)
{
	const struct places *places = places_get();
	auto_free char *tasks = path_join(places->share_dir, "tasks");
	auto_free char *duel = path_join(places->graders, "duel.py");

	(void)state;
	assert_true(path_exists(places->guest_plugin));
	assert_true(path_is_dir(tasks));
	assert_true(path_exists(duel));
	assert_true(str_ends(places->aci, "/fh-aci"));
	assert_true(str_ends(places->grade_csv, "/fh-grade-csv"));
	assert_true(str_ends(places->sat, "/fh-sat.so"));
	assert_ptr_equal(places_get(), places);
}

static void test_state_dir(void **state)
{
	const struct scratch *s = *state;
	auto_free char *given = path_join(s->dir, "given/state");
	auto_free char *named = path_join(s->dir, "named");
	auto_free char *out = NULL;
	auto_free char *out2 = NULL;
	struct fh_error err = FH_ERROR_INIT;

	setenv("FUMEHOOD_STATE", named, 1);
	assert_int_equal(places_state_dir("given/state", &out, &err), 0);
	assert_string_equal(out, given);
	assert_true(path_is_dir(given));
	assert_int_equal(places_state_dir(NULL, &out2, &err), 0);
	assert_string_equal(out2, named);
	assert_int_equal(fd_write_file("file", "", 0, 0600, NULL), 0);
	assert_int_equal(places_state_dir("file/x", &out2, &err), -ENOTDIR);
	assert_non_null(strstr(err.message, "FUMEHOOD_STATE"));
	unsetenv("FUMEHOOD_STATE");
}

/* Id of some user who is not root. */
#define SOMEONE 65534

static void test_state_dir_of_a_user(void **state)
{
	const struct scratch *s = *state;
	auto_free char *expected = path_join(s->dir, "xdg/fumehood");
	auto_free char *xdg = path_join(s->dir, "xdg");
	auto_free char *out = NULL;
	int r;

	if (geteuid() == 0) {
		assert_int_equal(chown(s->dir, SOMEONE, SOMEONE), 0);
		assert_int_equal(seteuid(SOMEONE), 0);
	}
	setenv("XDG_STATE_HOME", xdg, 1);
	r = places_state_dir(NULL, &out, NULL);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(r, 0);
	assert_string_equal(out, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_stays_inside),
		cmocka_unit_test(test_is_within),
		cmocka_unit_test_setup_teardown(test_lies_within, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(test_mkdirs, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(test_beneath, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(test_beneath_new, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(test_absolute, make_scratch, remove_scratch),
		cmocka_unit_test(test_places_of_a_checkout),
		cmocka_unit_test_setup_teardown(test_state_dir, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(
				test_state_dir_of_a_user, make_scratch, remove_scratch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
