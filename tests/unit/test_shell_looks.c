/* SPDX-License-Identifier: Apache-2.0 */
#include "processes.h"
#include "sandbox_fixture.h"

#include "base/places.h"
#include "base/str.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

/* An agent that looks around finds an ordinary shell on an ordinary machine, and no trace of the
 * real one. */

static const char *const env[] = { "FOO=a b=c", "PYTHONHASHSEED=7", "EMPTY=", "1BAD=x", "NOVALUE",
	"TERM=vt100", NULL };

static void test_environment(void **state)
{
	static const char expected[] =
			"EMPTY=\n"
			"FOO=a b=c\n"
			"HOME=/home/agent\n"
			"LANG=C.UTF-8\n"
			"LOGNAME=agent\n"
			"PATH=/fumehood/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
			"PWD=/home/agent/workspace\n"
			"PYTHONHASHSEED=7\n"
			"SHELL=/bin/bash\n"
			"SHLVL=1\n"
			"TERM=vt100\n"
			"USER=agent\n"
			"_=/usr/bin/env\n";

	open_session(&(struct sandbox_options){ .env = env });
	assert_string_equal(buf_str(act("env | LC_ALL=C sort")->output), expected);
	/* Variables are the same in a restarted shell. */
	act("export MORE=1; exit");
	assert_string_equal(buf_str(act("env | LC_ALL=C sort")->output), expected);
	assert_string_equal(buf_str(act("cd /; env | grep ^OLD")->output),
			"OLDPWD=/home/agent/workspace\n");
	close_session();
}

static void test_plain_shell(void **state)
{
	static const struct turn turns[] = {
		{ "echo $0 $# $- $? $SHLVL $PPID $SHELLOPTS",
				"bash 0 hBs 0 1 1 braceexpand:hashall:interactive-comments\n" },
		{ "echo $BASH_VERSION | grep -c release; test $$ = $BASHPID && echo same",
				"1\nsame\n" },
		{ "tr '\\0' ' ' </proc/$$/cmdline; cat /proc/$$/comm", NULL, 0, 0, "bash" },
		{ "tr -d '\\0' </proc/1/cmdline; echo; cat /proc/1/comm", "bash\ninit\n" },
		{ "echo $BASH_EXECUTION_STRING$BASH_ARGV0$BASH_SOURCE ${#BASH_LINENO[@]}", NULL, 0,
				0, "bash" },
		{ "declare -F; alias; jobs; trap -p INT; history; dirs -v", " 0  ~/workspace\n" },
		{ "set | grep -ci fumehood", "2\n" }, /* HOSTNAME and PATH contain it */
		{ "f() { echo ${FUNCNAME[@]} ${BASH_LINENO[0]}; }; f", "f 1\n" },
		{ "id", "uid=1000(agent) gid=1000(agent) groups=1000(agent)\n" },
		{ "id -un; whoami; hostname; uname -n; cat /etc/hostname",
				"agent\nagent\nfumehood\nfumehood\nfumehood\n" },
		{ "umask; ulimit -c; pwd; ls -A ~", "0022\n0\n/home/agent/workspace\nworkspace\n" },
		{ "ulimit -n; ulimit -Hn", "2048\n2048\n" },
		{ "stat -c '%U %a' ~ ~/workspace /tmp", "agent 755\nagent 755\nroot 1777\n" },
		{ "getent passwd | cut -d : -f 1,6",
				"root:/root\nagent:/home/agent\nnobody:/nonexistent\n" },
		{ "host='\\h'; echo ${host@P}", "fumehood\n" },
		{ "getent hosts fumehood | tr -s ' '", "127.0.1.1 fumehood\n" },
		{ "grep -E '^(Cap|NoNew|Seccomp:|Groups)' /proc/self/status | tr -s '\\t 0' ' '",
				"Groups: \nCapInh: \nCapPrm: \nCapEff: \nCapBnd: \nCapAmb: \n"
				"NoNewPrivs: 1\nSeccomp: 2\n" },
		{ "python3 -c 'print(6 * 7)'; python -c 'print(1)'", "42\n1\n" },
	};

	PLAY(turns);
}

static void draw(uint32_t seed, char *out, size_t n)
{
	open_session(&(struct sandbox_options){ .random_seed = seed });
	act("echo $RANDOM $RANDOM $RANDOM; exit");
	snprintf(out, n, "%s", buf_str(did->output));
	/* A restarted shell gives the same random numbers. */
	assert_string_equal(buf_str(act("echo $RANDOM $RANDOM $RANDOM")->output), out);
	act("echo $SRANDOM $SRANDOM $SRANDOM");
	close_session();
}

static void test_random_seed(void **state)
{
	char first[64], again[64], other[64];

	draw(7, first, sizeof(first));
	draw(7, again, sizeof(again));
	draw(8, other, sizeof(other));
	assert_string_equal(first, again);
	assert_string_not_equal(first, other);
}

/* Prints all that an agent can read of processes, mounts, names and folders. */
static const char look_around[] =
		"for p in /proc/[0-9]* /proc/self; do\n"
		"\tfor f in cmdline environ comm cgroup maps mountinfo limits status stat; do\n"
		"\t\tcat $p/$f\n"
		"\tdone\n"
		"\tls -l $p/cwd $p/exe $p/root $p/fd $p/ns\n"
		"done\n"
		"set; env; declare -p; mount; df -a; cat /proc/net/* /proc/sys/kernel/{hostname,domainname}\n"
		"ls -laR /home /mnt /run /var /tmp /dev /fumehood /etc/*conf /etc/host*\n"
		"ls -la / /opt /usr /etc; cat /etc/{passwd,group,hosts,hostname,resolv.conf,mtab}\n"
		"find / -maxdepth 3 -not -path '/proc*'; lsns; ps axf; ipcs; id";

static void assert_hidden(const char *text, const char *what, const char *name)
{
	if (name && strlen(name) > 2 && strstr(text, name))
		fail_msg("the %s, '%s', is told: ...%.200s", what, name,
				strstr(text, name) > text + 60 ? strstr(text, name) - 60 : text);
}

static void test_nothing_of_this_machine(void **state)
{
	const struct passwd *user = getpwuid(getuid());
	struct sandbox_options options = { .env = env };
	char cwd[4096];
	const char *text;

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	open_session(&options);
	act(look_around);
	assert_int_equal(did->outcome, SESSION_OK);
	text = buf_str(did->output);
	for (size_t i = 0; i < did->output->len; i++) /* replaces NULs of cmdline and environ */
		if (!did->output->data[i])
			did->output->data[i] = ' ';
	assert_true(strlen(text) > 20000);
	assert_has(text, "/home/agent/workspace");
	assert_hidden(text, "checkout", places_get()->share_dir);
	assert_hidden(text, "plugin", places_get()->guest_plugin);
	assert_hidden(text, "state folder", scratch);
	assert_hidden(text, "working directory", str_eq(cwd, "/") ? NULL : cwd);
	assert_hidden(text, "owner's environment", "secret-of-the-owner");
	if (user && user->pw_uid)
		assert_hidden(text, "user", user->pw_name);
	close_session();
}

/* All sandboxes share the memory of their nursery. It holds no text of the owner or of earlier
 * sandboxes. */
static void test_memory_of_the_shell(void **state)
{
	open_session(&(struct sandbox_options){
			.env = (const char *const[]){ "KEY=key-of-the-first", NULL } });
	act("x=text-of-the-first");
	close_session();
	open_session(&(struct sandbox_options){ 0 });
	act("cat /proc/$$/maps /proc/1/maps /proc/1/environ /proc/$$/environ /proc/1/mem");
	assert_has(buf_str(did->output), "Permission denied");
	act("set; set | grep -c first");
	assert_has(buf_str(did->output), "BASH");
	assert_lacks(buf_str(did->output), "FUMEHOOD_TEST");
	assert_lacks(buf_str(did->output), "of-the-first");
	close_session();
}

/* Whether the writable memory of a process holds a text. */
static bool memory_has(pid_t pid, const char *text)
{
	char path[64], line[512], permissions[8];
	unsigned long from, to;
	bool found = false;
	int memory;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, permissions) != 3 ||
				permissions[1] != 'w' || to - from > 1UL << 30)
			continue;
		char *copy = malloc(to - from);
		ssize_t n = pread(memory, copy, to - from, (off_t)from);

		found = n > 0 && memmem(copy, (size_t)n, text, strlen(text));
		free(copy);
	}
	if (maps)
		fclose(maps);
	close_fd(&memory);
	return found;
}

/* Waits until only the nursery is left. Processes of a closed sandbox end a moment later. */
static void await_no_sandboxes(void)
{
	int64_t deadline = clock_now_ns() + PATIENCE_S * NS_PER_S;
	static struct processes all;

	for (;; wait_a_little()) {
		char name[64] = "fh-nursery";
		size_t i = 0;

		process_descendants(getpid(), &all);
		while (i < all.n && str_eq(name, "fh-nursery"))
			process_parent(all.list[i++], name, sizeof(name));
		if (str_eq(name, "fh-nursery"))
			return;
		if (clock_now_ns() > deadline)
			fail_msg("'%s' is still there", name);
	}
}

/*
 * A shell is forked from the nursery without an exec, so it has the nursery's memory. Builtins that
 * an agent loads can read that.
 */
static void test_memory_of_processes(void **state)
{
	static const char *const env_of_first[] = { "KEY=key-of-the-first", NULL };
	const struct sandbox_bind bind = { scratch_file("of-the-first", "x"), "/data/x" };
	const char *const needles[] = { "key-of-the-first", "text-of-the-first",
		"secret-of-the-owner", bind.source, places_get()->share_dir, places_get()->aci };
	static struct processes processes;
	pid_t first;

	if (getuid() != 0) {
		print_message("skipped: only root may read the memory of such processes\n");
		skip();
	}
	await_no_sandboxes();
	open_session(&(struct sandbox_options){
			.env = env_of_first, .binds = &bind, .n_binds = 1 });
	act("x=text-of-the-first; cat /data/x");
	process_descendants(getpid(), &processes);
	first = process_named(&processes, "bash");
	assert_true(memory_has(first, "key-of-the-first") &&
			memory_has(first, "text-of-the-first"));
	close_session();
	await_no_sandboxes();
	open_session(&(struct sandbox_options){ 0 });
	act("x=second");
	process_descendants(getpid(), &processes);
	assert_true(processes.n >= 3 && process_named(&processes, "bash"));
	for (size_t i = 0; i < processes.n; i++) {
		char name[64] = "";

		process_parent(processes.list[i], name, sizeof(name));
		for (size_t j = 0; j < ARRAY_SIZE(needles); j++)
			if (!str_eq(name, "fh-nursery") &&
					memory_has(processes.list[i], needles[j]))
				fail_msg("'%s' has '%s' in its memory", name, needles[j]);
	}
	close_session();
}

static int open_with_secret(void **state)
{
	setenv("FUMEHOOD_TEST_SECRET", "secret-of-the-owner", 1);
	return open_owner(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_plain_shell),
		cmocka_unit_test(test_random_seed),
		cmocka_unit_test(test_nothing_of_this_machine),
		cmocka_unit_test(test_memory_of_the_shell),
		cmocka_unit_test(test_memory_of_processes),
	};

	return cmocka_run_group_tests(tests, open_with_secret, close_owner);
}
