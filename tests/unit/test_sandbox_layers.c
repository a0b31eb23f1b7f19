/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox_fixture.h"

#include "base/mem.h"
#include "base/path.h"
#include "native/layers.h"
#include "native/native.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Layers are folders that sandboxes share: which files they get, with which rights, and what is
 * refused. */

#define ADD(name, ...)                                                                             \
	owner_add_layer(owner, name, (const struct layer_item[]){ __VA_ARGS__ },                   \
			ARRAY_SIZE(((const struct layer_item[]){ __VA_ARGS__ })), &error)

static const struct ran *run_in_layer(const char *layer, const char *script)
{
	struct sandbox *sb = start_sandbox(&(struct sandbox_options){ .layer = layer });
	const struct ran *ran = run_script(sb, script);

	sandbox_close(sb);
	return ran;
}

static void make_source(void)
{
	assert_int_equal(mkdir(scratch_path("src"), 0700), 0);
	assert_int_equal(mkdir(scratch_path("src/sub"), 0500 | 0200), 0);
	assert_int_equal(mkdir(scratch_path("src/empty"), 0777), 0);
	scratch_file("src/plain", "plain\n");
	scratch_file("src/program", "#!/bin/sh\necho ran\n");
	scratch_file("src/private", "private\n");
	scratch_file("src/sub/deep", "deep\n");
	assert_int_equal(chmod(scratch_path("src/program"), 04711), 0);
	assert_int_equal(chmod(scratch_path("src/private"), 0600), 0);
	assert_int_equal(symlink("plain", scratch_path("src/link")), 0);
	assert_int_equal(symlink("/etc/shadow", scratch_path("src/outside")), 0);
	assert_int_equal(symlink("nowhere", scratch_path("src/broken")), 0);
	assert_int_equal(link(scratch_path("src/plain"), scratch_path("src/hard")), 0);
	assert_int_equal(mkfifo(scratch_path("src/fifo"), 0666), 0);
	assert_int_equal(chmod(scratch_path("src/sub"), 0500), 0);
}

static int open_with_source(void **state)
{
	open_owner(state);
	make_source();
	return 0;
}

static int close_with_source(void **state)
{
	chmod(scratch_path("src/sub"), 0700);
	return close_owner(state);
}

static void test_what_is_copied(void **state)
{
	assert_done(ADD("copy", { scratch_path("src"), "workspace", false }));
	assert_true(layers_has(native_owner_of(owner), "copy"));
	assert_string_equal(
			run_in_layer("copy",
					"stat -c '%n %F %a %U %h' * sub/*; readlink link outside broken")
					->output,
			"broken symbolic link 777 agent 1\n"
			"empty directory 755 agent 2\n"
			"hard regular file 644 agent 1\n"
			"link symbolic link 777 agent 1\n"
			"outside symbolic link 777 agent 1\n"
			"plain regular file 644 agent 1\n"
			"private regular file 644 agent 1\n"
			"program regular file 755 agent 1\n"
			"sub directory 755 agent 2\n"
			"sub/deep regular file 644 agent 1\n"
			"plain\n/etc/shadow\nnowhere\n");
	assert_string_equal(run_in_layer("copy",
					    "./program; cat private sub/deep; cat outside 2>&1; "
					    "echo mine >plain; rm sub/deep hard; mv sub other; ls; "
					    "cat plain")
					    ->output,
			"ran\nprivate\ndeep\ncat: outside: No such file or directory\n"
			"broken\nempty\nlink\nother\noutside\nplain\nprivate\nprogram\nmine\n");
	/* The next sandbox with this layer sees no change of the last one. */
	assert_string_equal(run_in_layer("copy", "cat plain sub/deep hard")->output,
			"plain\ndeep\nplain\n");
}

/* A layer is a copy: it stays the same if its source changes or is removed. */
static void test_copied_once(void **state)
{
	const char *file = scratch_file("once", "first\n");

	assert_done(ADD("once", { file, "workspace/a/b/file", false }));
	scratch_file("once", "second\n");
	assert_string_equal(run_in_layer("once", "cat a/b/file; stat -c %U a a/b")->output,
			"first\nagent\nagent\n");
	assert_int_equal(unlink(file), 0);
	assert_string_equal(run_in_layer("once", "cat a/b/file")->output, "first\n");
	scratch_file("once", "third\n");
}

static void test_read_only(void **state)
{
	const char *src = scratch_path("src"), *file = scratch_path("src/plain");

	assert_done(ADD("read-only", { file, "workspace/evaluate.py", true },
			{ src, "workspace/data", true }, { NULL, "workspace/free", false },
			{ file, "workspace/free/file", false }));
	assert_string_equal(
			run_in_layer("read-only",
					"stat -c '%n %a %U' evaluate.py data data/plain data/program "
					"free free/file; exec 2>&1; echo x >>evaluate.py; "
					"chmod 666 evaluate.py; echo x >data/plain; echo x >data/new; "
					"rm -f evaluate.py data/plain; echo mine >evaluate.py; "
					"cat evaluate.py; echo x >>free/file")
					->output,
			"evaluate.py 444 root\ndata 755 agent\ndata/plain 444 root\n"
			"data/program 555 root\nfree 755 agent\nfree/file 644 agent\n"
			"bash: line 1: evaluate.py: Permission denied\n"
			"chmod: changing permissions of 'evaluate.py': Operation not permitted\n"
			"bash: line 1: data/plain: Permission denied\nmine\n");
}

static void test_items_over_items(void **state)
{
	const char *src = scratch_path("src"), *other = scratch_file("other", "other\n");

	assert_done(ADD("over", { src, "workspace", false }, { other, "workspace/plain", false },
			{ other, "workspace/sub/deep", true }, { src, "workspace/sub", false },
			{ other, "workspace/link", false }, { NULL, "workspace/sub", false },
			{ other, "note", false }, { other, "workspace/broken", false }));
	assert_string_equal(run_in_layer("over",
					    "cat plain sub/deep sub/sub/deep link broken ~/note; "
					    "test -L link || echo no link; ls sub | wc -l")
					    ->output,
			"other\nother\ndeep\nother\nother\nother\nno link\n10\n");
}

/* An item of a layer can't be written outside of it through an earlier item that is a link. */
static void test_no_way_out(void **state)
{
	const char *src = scratch_path("src"), *file = scratch_path("src/plain");
	auto_free char *outside = xstrdup(scratch_path("outside"));
	auto_free char *link = xstrdup(scratch_path("way"));
	const char *const targets[] = { "../x", "../../x", "workspace/../../x", "..", ".",
		"workspace/..", "workspace/.", "", "workspace/", "/", "out/x" };

	assert_int_equal(mkdir(outside, 0777), 0);
	assert_int_equal(symlink(outside, link), 0);
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		if (ADD("out", { link, "out", false }, { file, targets[i], false }) == 0)
			fail_msg("'%s' is taken", targets[i]);
		if (ADD("out", { link, "out", false }, { src, targets[i], false }) == 0)
			fail_msg("'%s' is taken for a folder", targets[i]);
		assert_false(layers_has(native_owner_of(owner), "out"));
	}
	assert_int_equal(rmdir(outside), 0); /* it is empty */
	assert_string_equal(run_in_layer("empty", "ls -A ~ /tmp")->output,
			"/home/agent:\nworkspace\n\n/tmp:\n");
}

static void test_names(void **state)
{
	static const char *const bad[] = { "a/b", "/a", "..", ".", ".hidden", "", "../x", "a,b",
		"a:b", "a\\b" };
	const char *src = scratch_path("src");
	auto_free char *long_name = calloc(1, 5001);

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (ADD(bad[i], { src, "workspace", false }) == 0)
			fail_msg("'%s' is taken", bad[i]);
		assert_false(layers_has(native_owner_of(owner), bad[i]));
	}
	memset(long_name, 'x', 300);
	assert_true(ADD(long_name, { src, "workspace", false }) < 0);
	memset(long_name, 'x', 5000);
	assert_true(ADD(long_name, { src, "workspace", false }) < 0);
	assert_true(ADD("long-target", { src, long_name, false }) < 0);
	assert_true(ADD("long-source", { long_name, "workspace", false }) < 0);
	assert_string_equal(run_in_layer("empty", "echo on")->output, "on\n");
	assert_done(ADD("a b=c-d", { src, "workspace", false }));
	assert_string_equal(run_in_layer("a b=c-d", "cat plain")->output, "plain\n");
}

static void test_failures(void **state)
{
	const char *src = scratch_path("src");
	auto_free char *missing = xstrdup(scratch_path("not-there"));
	struct sandbox *sb = NULL;

	assert_int_equal(ADD("fails", { src, "workspace", false }, { missing, "x", false }),
			-ENOENT);
	assert_has(error.message, "not-there");
	assert_false(layers_has(native_owner_of(owner), "fails"));
	assert_int_equal(sandbox_start(owner, &(struct sandbox_options){ .layer = "fails" }, &sb,
					 &error),
			-ENOENT);
	assert_has(error.message, "there is no layer 'fails'");
	/* After an error, another layer may have the failed layer's name. */
	assert_done(ADD("fails", { src, "workspace", false }));
	assert_string_equal(run_in_layer("fails", "cat plain")->output, "plain\n");
	assert_int_equal(ADD("fails", { src, "workspace", false }), -EEXIST);
	assert_int_equal(ADD("file-in-file", { scratch_path("src/plain"), "workspace/f", false },
					 { scratch_path("src/plain"), "workspace/f/g", false }),
			-ENOTDIR);
	assert_done(owner_add_layer(owner, "nothing", NULL, 0, &error));
	assert_string_equal(run_in_layer("nothing", "pwd; ls -A ~; echo x >~/y; cat ~/y")->output,
			"/\nx\n");
}

static void test_deep_folders(void **state)
{
	auto_free char *path = xstrdup(scratch_path("deep"));
	auto_free char *root = xstrdup(path);

	for (int i = 0; i < 62; i++) {
		char *longer = path_join(path, "d");

		assert_int_equal(mkdir(path, 0755), 0);
		free(path);
		path = longer;
	}
	assert_done(ADD("deep", { root, "workspace", false }));
	assert_string_equal(run_in_layer("deep", "find . -type d | wc -l")->output, "62\n");
	for (int i = 0; i < 10; i++) {
		char *longer = path_join(path, "d");

		assert_int_equal(mkdir(path, 0755), 0);
		free(path);
		path = longer;
	}
	assert_int_equal(ADD("deeper", { root, "workspace", false }), -ELOOP);
	assert_has(error.message, "nest deeper");
}

/* A layer has many files and a large one. A sandbox copies only the files that it changes. */
static void test_large(void **state)
{
	auto_free char *data = calloc(1, 8 << 20);
	struct usage usage;
	struct sandbox *sb;
	bool overlay = native_owner_of(owner)->can & NURSERY_CAN_OVERLAY;

	assert_int_equal(mkdir(scratch_path("many"), 0755), 0);
	for (int i = 0; i < 500; i++) {
		char name[32];

		snprintf(name, sizeof(name), "many/%d", i);
		scratch_file(name, name);
	}
	assert_done(fd_write_file(scratch_path("many/large"), data, 8 << 20, 0644, &error));
	assert_done(ADD("large", { scratch_path("many"), "workspace", false }));
	sb = start_sandbox(&(struct sandbox_options){ .layer = "large" });
	assert_string_equal(run_script(sb, "ls | wc -l; cat 499; stat -c ' %s' large")->output,
			"501\nmany/499 8388608\n");
	usage = usage_of(sb);
	if (overlay)
		assert_true(usage.written_bytes < 100000);
	run_script(sb, "echo x >>large");
	usage = usage_of(sb);
	if (overlay)
		assert_true(usage.written_bytes >= 8 << 20);
	sandbox_close(sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_copied),
		cmocka_unit_test(test_copied_once),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_items_over_items),
		cmocka_unit_test(test_no_way_out),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_deep_folders),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, open_with_source, close_with_source);
}
