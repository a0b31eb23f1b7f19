/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "sandbox_fixture.h"

#include "proto/guest.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Binds files and folders of this machine into a sandbox. Checks where they are, and that they
 * can't be changed. */

static struct sandbox *start_with(const struct sandbox_bind *binds, size_t n)
{
	return start_sandbox(&(struct sandbox_options){
			.layer = "empty", .binds = binds, .n_binds = n });
}

/* Runs a script in a new sandbox with these binds, and returns its output. */
static const struct ran *run_with(const struct sandbox_bind *binds, size_t n, const char *script)
{
	struct sandbox *sb = start_with(binds, n);
	const struct ran *ran = run_script(sb, script);

	sandbox_close(sb);
	return ran;
}

/* Starts a sandbox with binds that must fail, and returns the error message. */
static const char *failure_with(const struct sandbox_bind *binds, size_t n)
{
	struct sandbox *sb = begin_sandbox(&(struct sandbox_options){
			.layer = "empty", .binds = binds, .n_binds = n });
	static struct sandbox_event event;

	sandbox_wait_event(sb, 60000, &event);
	assert_int_equal(event.kind, SANDBOX_FAILED);
	assert_int_not_equal(event.status, 0);
	sandbox_close(sb);
	return event.text;
}

static void make_source(void)
{
	assert_int_equal(mkdir(scratch_path("data"), 0755), 0);
	assert_int_equal(mkdir(scratch_path("data/inner"), 0755), 0);
	scratch_file("data/a", "in a\n");
	scratch_file("data/inner/b", "in b\n");
	scratch_file("file", "in file\n");
	assert_int_equal(symlink("data", scratch_path("link")), 0);
	assert_int_equal(symlink("nowhere", scratch_path("broken")), 0);
}

static int open_with_source(void **state)
{
	open_owner(state);
	make_source();
	return 0;
}

static void test_places(void **state)
{
	const struct {
		const char *source, *target, *script, *output;
	} cases[] = {
		{ "file", "/file", "cat /file", "in file\n" },
		{ "file", "/data/deep/file", "cat /data/deep/file; ls -A /data",
				"in file\ndeep\n" },
		{ "data", "/data", "cat /data/a /data/inner/b", "in a\nin b\n" },
		{ "data/", "/data/", "cat /data/a", "in a\n" },
		{ "data", "//data///x", "cat /data/x/a", "in a\n" },
		{ "link", "/data", "cat /data/a", "in a\n" },
		{ "data", "/home/agent/workspace/data", "cat data/a; ls", "in a\ndata\n" },
		{ "file", "/home/agent/new/file", "cat ~/new/file; stat -c %U ~/new",
				"in file\nagent\n" },
		{ "file", "/tmp/file", "cat /tmp/file; echo x >/tmp/y; cat /tmp/y",
				"in file\nx\n" },
		{ "data", "/opt", "cat /opt/a; ls -d /usr", "in a\n/usr\n" },
		{ "data", "/usr/share", "cat /usr/share/a", "in a\n" },
		{ "file", "/etc/hostname", "cat /etc/hostname", "in file\n" },
		{ "data", "/mnt", "cat /mnt/a", "in a\n" },
		{ "data", "/mnt/disk/data", "cat /mnt/disk/data/a", "in a\n" },
		{ "data", "/run/data", "cat /run/data/a; ls /run", "in a\ndata\nfumehood\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sandbox_bind bind = { scratch_path(cases[i].source), cases[i].target };

		print_message("%s\n", cases[i].target);
		assert_string_equal(run_with(&bind, 1, cases[i].script)->output, cases[i].output);
	}
}

/* Neither the agent nor root can write to a bind. Devices and set-uid bits have no effect there. */
static void test_read_only(void **state)
{
	const struct sandbox_bind bind = { scratch_path("data"), "/data" };
	static const char script[] =
			"exec 2>&1; echo x >/data/a; echo x >/data/new; rm /data/a; chmod 777 /data; "
			"touch /data; mv /data/a /data/c; ln /data/a /tmp/a; truncate -s 0 /data/inner/b; "
			"cat /data/a; grep ' /data ' /proc/self/mountinfo | cut -d ' ' -f 6";
	struct sandbox *sb = start_with(&bind, 1);
	struct program_request request = { .argv = NULL };

	request.argv = (const char *const[]){ "bash", "-c", script, NULL };
	for (int i = 0; i < 2; i++) {
		const struct ran *ran = program_request(sb, &request);

		assert_has(ran->output, "in a\nro,nosuid,nodev");
		assert_lacks(ran->output, "rw,");
		request.user = USER_ROOT;
	}
	sandbox_close(sb);
	assert_int_equal(access(scratch_path("data/new"), F_OK), -1);
}

static void test_several(void **state)
{
	const char *data = scratch_path("data"), *file = scratch_path("file");
	const struct sandbox_bind nested[] = { { data, "/d" }, { file, "/d/a" },
		{ data, "/d/inner" }, { data, "/e" } };
	const struct sandbox_bind same[] = { { data, "/d" }, { file, "/d/a" }, { data, "/d" } };
	struct sandbox_bind many[GUEST_BINDS_MAX + 1];
	char targets[GUEST_BINDS_MAX + 1][32];
	struct sandbox *sb;

	assert_string_equal(run_with(nested, 4, "cat /d/a /d/inner/a /e/a")->output,
			"in file\nin a\nin a\n");
	assert_string_equal(run_with(same, 3, "cat /d/a")->output, "in a\n"); /* the last one */
	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		snprintf(targets[i], sizeof(targets[i]), "/many/%zu", i);
		many[i] = (struct sandbox_bind){ i % 2 ? data : file, targets[i] };
	}
	assert_string_equal(
			run_with(many, GUEST_BINDS_MAX, "ls /many | wc -l; cat /many/63/a")->output,
			"64\nin a\n");
	assert_int_equal(sandbox_start(owner,
					 &(struct sandbox_options){ .binds = many,
							 .n_binds = GUEST_BINDS_MAX + 1 },
					 &sb, &error),
			-E2BIG);
}

static void test_refused(void **state)
{
	static const struct {
		const char *source, *target, *says;
	} cases[] = {
		{ "missing", "/data", "missing': No such file" },
		{ "broken", "/data", "broken': No such file" },
		{ "file/x", "/data", "Not a directory" },
		{ "data", "/usr/not-there", "there is no '/usr/not-there' to bind to" },
		{ "data", "/var/lib/data", "there is no '/var/lib' to bind to" },
		{ "file", "/usr/share/not-there", "bind" },
		{ "data", "/etc/passwd", "" }, /* binds a folder over a file */
		{ "file", "/usr/share", "" },  /* binds a file over a folder */
		{ "file", "/etc/passwd/x", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sandbox_bind bind = { scratch_path(cases[i].source), cases[i].target };
		const char *text = failure_with(&bind, 1);

		print_message("%s\n", text);
		assert_has(text, cases[i].says);
		assert_true(strlen(text) > 10);
	}
	/* The nursery still works after sandboxes that could not be made. */
	assert_string_equal(run_with(NULL, 0, "echo on")->output, "on\n");
}

/* A sandbox sees the file that was at the path when it started, for its whole life. */
static void test_replaced_source(void **state)
{
	struct sandbox_bind bind = { scratch_path("changing"), "/data" };
	char source[128];
	struct sandbox *first, *second, *third;

	snprintf(source, sizeof(source), "%s", bind.source);
	bind.source = source;
	scratch_file("changing", "one\n"); /* renames a new file over the path */
	first = start_with(&bind, 1);
	scratch_file("changing", "two\n");
	second = start_with(&bind, 1);
	assert_int_equal(unlink(source), 0);
	assert_has(failure_with(&bind, 1), "No such file");
	assert_int_equal(mkdir(source, 0755), 0);
	scratch_file("changing/x", "three\n");
	third = start_with(&bind, 1);
	assert_string_equal(run_script(first, "cat /data")->output, "one\n");
	assert_string_equal(run_script(second, "cat /data")->output, "two\n");
	assert_string_equal(run_script(third, "cat /data/x")->output, "three\n");
	/* If a bound file is changed in place, the sandbox sees the new text. */
	scratch_file("changing/x", "four\n");
	assert_string_equal(run_script(third, "cat /data/x")->output, "four\n");
	sandbox_close(first);
	sandbox_close(second);
	sandbox_close(third);
}

/* Binds more paths, one after the other, than the nursery can hold at once. */
static void test_many_sources(void **state)
{
	struct sandbox *kept = NULL;

	for (int i = 0; i < 300; i++) {
		char name[32], text[32];
		struct sandbox_bind bind = { .target = "/data/file" };

		snprintf(name, sizeof(name), "many-%d", i);
		snprintf(text, sizeof(text), "%d\n", i);
		bind.source = scratch_file(name, text);
		if (i == 0)
			kept = start_with(&bind, 1);
		else if (i % 20 == 0)
			assert_string_equal(run_with(&bind, 1, "cat /data/file")->output, text);
		else
			sandbox_close(start_with(&bind, 1));
	}
	assert_string_equal(run_script(kept, "cat /data/file")->output, "0\n");
	sandbox_close(kept);
}

static void test_bare(void **state)
{
	const struct sandbox_bind binds[] = { { "/usr", "/usr" }, { "/lib", "/lib" },
		{ "/lib64", "/lib64" }, { scratch_path("data"), "/in" } };
	struct sandbox *sb = start_sandbox(&(struct sandbox_options){
			.role = SANDBOX_PROGRAM, .binds = binds, .n_binds = ARRAY_SIZE(binds) });
	struct program_request request = { .argv = NULL };

	request.argv = (const char *const[]){ "bash", "-c",
		"cat /in/a; echo $PWD; ls -A / /dev /tmp", NULL };
	request.cwd = "/";
	assert_string_equal(program_request(sb, &request)->output,
			"in a\n/\n/:\ndev\nhome\nin\nlib\nlib64\nproc\nrun\ntmp\nusr\n\n"
			"/dev:\nfd\nfull\nnull\nptmx\npts\nrandom\nshm\nstderr\nstdin\nstdout\ntty\n"
			"urandom\nzero\n\n/tmp:\n");
	sandbox_close(sb);
}

/* A sandbox can't read counters of the whole machine: other sandboxes could change them to send it
 * messages. */
static void test_numbers_of_the_machine(void **state)
{
	struct sandbox *sb = start_sandbox(&(struct sandbox_options){ 0 });

	assert_string_equal(run_script(sb, "ls -A /proc/sys/kernel/pty; cat /proc/loadavg | wc -l")
					    ->output,
			"1\n");
	sandbox_close(sb);
	sb = start_sandbox(&(struct sandbox_options){ .role = SANDBOX_GRADER });
	assert_string_equal(run_script(sb, "ls /proc | grep -v '^[0-9]'")->output,
			"self\nthread-self\n");
	sandbox_close(sb);
}

/* owner_hide() hides folders from later sandboxes. A new nursery makes these, and running sandboxes
 * go on. */
static void test_covers(void **state)
{
	static const struct {
		const char *folder, *hidden; /* "": nothing */
		int error;
	} cases[] = {
		{ "/usr/share/dict/../../include", "/usr/include", 0 },
		{ "/usr/share/doc", "/usr/share/doc", 0 },
		{ "/usr/share/doc/bash", "/usr/share/doc", 0 },
		{ "/no/such", "", 0 },
		{ "/root", "", 0 },
		{ "/tmp", "", 0 },
		{ "/usr", "", -EINVAL },
		{ "/usr/bin", "", -EINVAL },
		{ "/", "", -EINVAL },
		{ "/bin", "", -EINVAL },
	};
	struct sandbox *first = start_sandbox(&(struct sandbox_options){ 0 });

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *script = xasprintf("ls %s 2>&1 | head -c 3", cases[i].hidden);
		struct sandbox *sb;

		assert_int_equal(owner_hide(owner, cases[i].folder, &error), cases[i].error);
		assert_int_equal(sandbox_hide_check(cases[i].folder, &error), cases[i].error);
		sb = start_sandbox(&(struct sandbox_options){ 0 });
		if (*cases[i].hidden)
			assert_string_equal(run_script(sb, script)->output, "ls:");
		assert_string_equal(run_script(sb, "ls -d /usr/bin")->output, "/usr/bin\n");
		sandbox_close(sb);
	}
	assert_string_equal(run_script(first, "ls -d /usr/include/stdio.h")->output,
			"/usr/include/stdio.h\n");
	sandbox_close(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_replaced_source),
		cmocka_unit_test(test_many_sources),
		cmocka_unit_test(test_bare),
		cmocka_unit_test(test_numbers_of_the_machine),
		cmocka_unit_test(test_covers),
	};

	return cmocka_run_group_tests(tests, open_with_source, close_owner);
}
