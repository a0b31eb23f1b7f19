/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox_fixture.h"

/* Changes the language of the shell, as an agent may do. The next command must be read as usual. */

#define R SESSION_RESTARTED

static void test_redefined_words(void **state)
{
	static const struct turn turns[] = {
		{ "echo() { :; }; builtin() { :; }; eval() { :; }; cd() { :; }; command() { :; }",
				"" },
		{ "printf 'p\\n'; cd /tmp; pwd", "p\n/home/agent/workspace\n" },
		{ "unset -f echo builtin eval cd command; echo e", "e\n" },
		{ "exit() { echo no; }; exit 3", "no\n" },
		{ "unset -f exit; shopt -s expand_aliases; alias ls='printf aliased'", "" },
		{ "ls", "aliased" },
		{ "alias echo=false; alias true=exit", "" },
		{ "echo x", "", 1 },
		{ "unalias -a; enable -n echo printf exit; enable -n pwd", "" },
		{ "echo a; pwd; enable echo exit; echo b", "a\n/home/agent/workspace\nb\n" },
		{ "hash -p /bin/false true; command -v true; hash -r; hash", NULL, 0, 0, "empty" },
		{ "function :: { echo colons; }; ::", "colons\n" },
		{ "LAST_ACTION() { :; }; fumehood() { echo mine; }; fumehood", "mine\n" },
	};

	PLAY(turns);
}

static void test_builtins_of_ours(void **state)
{
	static const struct turn turns[] = {
		/* Use an empty PATH: the usual one could have an installed program `fumehood`. */
		{ "(PATH=/; type fumehood; fumehood 3)", NULL, 127, 0, "command not found" },
		{ "builtin fumehood 3", NULL, 1, 0, "not a shell builtin" },
		{ "enable -d fumehood", NULL, 1, 0, "not a shell builtin" },
		{ "help fumehood", NULL, 1, 0, "no help topics" },
		{ "enable -a | grep -c '^enable $'", "0\n", 1 },
		{ "compgen -b | grep -c fume", "0\n", 1 },
		{ "enable -d echo", NULL, 1, 0, "not dynamically loaded" },
		/* Loading the shell's plugin again, by its descriptor, has no effect. */
		{ "enable -f /proc/self/fd/4 fumehood; fumehood 250; fumehood 3; echo on", NULL, 0,
				0, "on\n" },
		{ "enable -d fumehood; echo on", NULL, 0, 0, "on\n" },
		{ "enable -f /proc/self/fd/4 fumehood && fumehood; echo on", NULL, 0, 0, "on\n" },
		{ "enable -f /usr/lib/bash/basename basename && basename /a/b && enable -d basename",
				"b\n" },
		{ "enable -f /etc/passwd echo", NULL, 1, 0, "cannot open shared object" },
		{ "echo on", "on\n" },
	};

	PLAY(turns);
}

static void test_options(void **state)
{
	static const struct turn turns[] = {
		{ "set -n", "" },
		{ "echo read", "read\n" },
		{ "set -o noexec; echo skipped", "" },
		{ "echo read", "read\n" },
		{ "set -t", "" },
		{ "echo read", "read\n" },
		{ "set -x; echo x; set +x", "+ echo x\nx\n+ set +x\n" },
		{ "set -v", "" },
		{ "echo v; set +v", "echo v; set +v\nv\n" },
		{ "set -f; echo *; set +f", "*\n" },
		{ "set -kabhBCEHPT; set -o ignoreeof; set -o history; echo on", "on\n" },
		{ "history | tail -1; fc -l; echo on", NULL, 0, 0, "on\n" },
		{ "set +kabCEHPT; set -o vi; set -o emacs; bind -v", NULL, 0, 0, "" },
		{ "shopt -s $(shopt | cut -f 1 | grep -v restricted)", NULL, 0, 0, "" },
		{ "echo on", "on\n" },
		{ "shopt -u $(shopt | cut -f 1 | grep -v restricted)", NULL, 0, 0, "" },
		{ "echo on", "on\n" },
		{ "set -o posix; echo on; export A=1; cd nowhere", NULL, 1, 0, "on\n" },
		{ "set -m; sleep 2 & fg", "sleep 2\n" },
		{ "sleep 0.1; jobs; set +m; echo on", "on\n" },
		{ "BASH_COMPAT=31; PS4='$(exit 3)'; PROMPT_COMMAND='exit 3'; IFS=x; echo axb",
				"axb\n" },
		{ "GLOBIGNORE='*'; FIGNORE=x; TMOUT=1; POSIXLY_CORRECT=1; echo on", "on\n" },
		{ "BASH_ENV=/etc/passwd ENV=/etc/passwd; LC_ALL=nowhere; LINENO=5; echo on", NULL,
				0, 0, "on\n" },
		{ "umask 777; echo x >/tmp/mask; cat /tmp/mask", NULL, 1, 0, "denied" },
		{ "restricted=1; set -r; cd /", NULL, 1, 0, "restricted" },
		{ "echo on", "on\n" },
		{ "exit", NULL, 0, R },
		{ "cd /; pwd; umask", "/\n0022\n" },
	};

	PLAY(turns);
}

/* A command of several lines is parsed first. If it has a syntax error, nothing of it runs. */
static void test_syntax(void **state)
{
	static const struct turn turns[] = {
		{ "echo one >/tmp/made\necho two\nif then", NULL, 2, SESSION_SYNTAX, "line 3" },
		{ "cat /tmp/made", NULL, 1, 0, "No such file" },
		{ "false", "", 1 },
		{ "echo\n(", NULL, 2, SESSION_SYNTAX, "syntax error" },
		{ "echo $?", "2\n" },
		{ "echo 'unclosed", NULL, 2, SESSION_SYNTAX, "unexpected EOF" },
		{ "echo \"unclosed\nls", NULL, 2, SESSION_SYNTAX, "unexpected EOF" },
		{ "echo $(", NULL, 2, SESSION_SYNTAX, "unexpected EOF" },
		{ "echo `date", NULL, 2, SESSION_SYNTAX, "unexpected EOF" },
		{ "echo ${x", NULL, 2, SESSION_SYNTAX, "unexpected EOF" },
		{ "for i in 1 2; do\necho $i", NULL, 2, SESSION_SYNTAX, "unexpected end of file" },
		{ "f() {\necho f\n}\nf\n", "f\n" },
		{ "f \\", "f\n" },
		{ "case x in x) echo yes ;; esac; }", NULL, 2, SESSION_SYNTAX, "syntax error" },
		{ "echo on; if then", NULL, 2, SESSION_SYNTAX, "syntax error" },
		{ "eval 'if then'; echo on", NULL, 0, 0, "on\n" },
		{ "eval \"echo 'a\"\necho on", NULL, 0, 0, "on\n" },
		{ "source /dev/stdin <<<'echo \"a'\necho on", NULL, 0, 0, "on\n" },
		/* The whole command is parsed before its first line turns on extglob, as with bash
		 * -n. */
		{ "shopt -s extglob\necho !(x)", NULL, 2, SESSION_SYNTAX, "syntax error" },
		{ "shopt -s extglob", "" },
		{ "touch y; echo !(x)", "y\n" },
		{ "x=(\n1\n2\n)\necho ${#x[@]}", "2\n" },
		{ "alias q='echo '\\'; q", NULL, 127, 0, "command not found" },
		{ "echo on", "on\n" },
	};

	PLAY(turns);
}

static void test_here_documents(void **state)
{
	static const struct turn turns[] = {
		{ "cat <<X\nhello\nX", "hello\n" },
		{ "cat <<X\nhello", NULL, 0, 0, "hello" },
		{ "cat <<X", NULL, 0, 0, "delimited by end-of-file" },
		{ "cat <<'X' >/tmp/f\n$HOME `date`\n\tX\nX\ncat /tmp/f", "$HOME `date`\n\tX\n" },
		{ "cat <<-X\n\t$((1+1))\n\tX\necho after", "2\nafter\n" },
		{ "cat <<A; cat <<B\na\nA\nb\nB", "a\nb\n" },
		{ "python3 - <<'EOF'\nprint('from python')\nEOF", "from python\n" },
		{ "cat <<<\"$(echo string)\"", "string\n" },
		{ "bash <<'X'\nread x\nline\necho $x\nX", "line\n" },
		{ "read x <<X\nvalue\nX\necho $x", "value\n" },
	};

	PLAY(turns);
}

static void test_empty(void **state)
{
	static const struct turn turns[] = {
		{ "", "" },
		{ "false", "", 1 },
		{ "", "" },
		{ "   ", "" },
		{ "\n\n", "" },
		{ "# only a comment", "" },
		{ "\t# one\n# and another\n", "" },
		{ "false # with a comment", "", 1 },
		{ ":\r", NULL, 127, 0, "command not found" },
		{ "\x01", NULL, 127, 0, "command not found" },
		{ "echo \xff\xfe", "\xff\xfe\n" },
		{ "echo \xc3\xa9", "\xc3\xa9\n" },
	};

	PLAY(turns);
}

static void test_status_carries(void **state)
{
	static const struct turn turns[] = {
		{ "(exit 42)", "", 42 },
		{ "echo $? ${PIPESTATUS[0]}", "42 42\n" },
		{ "true | false | (exit 3)", "", 3 },
		{ "echo ${PIPESTATUS[@]}", "0 1 3\n" },
		{ "set -o pipefail; false | true", "", 1 },
		{ "! true", "", 1 },
		{ "echo hello world", "hello world\n" },
		{ "echo \"$_\"", "world\n" },
		{ "sleep 0 & wait $!; echo $?", "0\n" },
		{ "test \"$!\" -gt 1", "" },
		{ "bash -c 'kill -9 $$' 2>/dev/null; echo $?", NULL, 0, 0, "137\n" },
		{ "echo \"$LAST_ACTION\" | cut -c 1-9", "bash -c '\n" },
	};

	PLAY(turns);
}

#define OURS                                                                                       \
	"PWD OLDPWD HOME PATH USER LOGNAME SHELL LANG TERM LAST_ACTION UID EUID SHLVL RANDOM "     \
	"HOSTNAME BASHPID IFS PPID"

static void test_variables(void **state)
{
	static const struct turn turns[] = {
		{ "readonly " OURS, "" },
		{ "echo \"$LAST_ACTION\"", "readonly " OURS "\n" },
		{ "echo \"$LAST_ACTION\"", "echo \"$LAST_ACTION\"\n" },
		{ "cd /tmp", NULL, 1, 0, "readonly" },
		{ "pwd", "/tmp\n" },
		{ "exit", "", 0, R },
		{ "unset PATH HOME PWD OLDPWD LAST_ACTION USER SHELL IFS RANDOM SHLVL BASH BASHPID",
				"" },
		{ "echo \"$PATH$HOME$PWD\"; cd; pwd", NULL, 0, 0, "HOME not set" },
		{ "ls", NULL, 127, 0, "No such file" },
		{ "/bin/echo on", "on\n" },
		{ "exit", "", 0, R },
		{ "echo $HOME $PATH", NULL, 0, 0, "/home/agent /fumehood/bin:" },
		{ "declare -n PWD=LAST_ACTION LAST_ACTION=RANDOM; cd /tmp; cd /", NULL, 0, 0, "" },
		{ "declare -i LAST_ACTION; declare -u LAST_ACTION; declare -a LAST_ACTION", NULL, 0,
				0, "" },
		{ "/bin/echo on; declare -p LAST_ACTION | cut -c 1-26",
				"on\ndeclare -- LAST_ACTION=\"de\n" },
		{ "exit", NULL, 0, R },
		{ "readonly -A LAST_ACTION; export LAST_ACTION", "" },
		{ "set -a; x=1", "" },
		{ "env | grep -c LAST_ACTION", "0\n", 1 },
		{ "f() { local LAST_ACTION=mine; echo $LAST_ACTION; }; f", "mine\n" },
		{ "LAST_ACTION=(a b c); echo ${#LAST_ACTION[@]}", "3\n" },
		{ "LD_PRELOAD=/nowhere.so LD_LIBRARY_PATH=/nowhere; cd /; echo on", "on\n" },
		{ "echo $((RANDOM < 32768)) $UID $EUID $$ $BASHPID", NULL, 0, 0, "1 1000 1000" },
		{ "UID=0", NULL, 1, 0, "readonly" },
	};

	PLAY(turns);
}

/* An error within nested functions leaves none of their local variables in the shell. */
static void test_scopes(void **state)
{
	static const struct turn turns[] = {
		{ "x=0; f() { local x=1; echo ${y!}; }; g() { local x=2; f; echo no; }; g", NULL, 1,
				0, "bad substitution" },
		{ "echo $x; local z", NULL, 1, 0, "0\n" },
		{ "f() { local x=1; while :; do :; done; }; g", "", 130, SESSION_TIMEOUT,
				.timeout_ms = 200 },
		{ "echo $x; local z", NULL, 1, 0, "0\n" },
		{ "f() { (exit 3); return; }; f", "", 3 },
		{ "f() { f2() { exit 3; }; f2; }; f", "", 3, R },
	};

	PLAY(turns);
}

static void test_constructs(void **state)
{
	static const struct turn turns[] = {
		{ "diff <(echo a) <(echo b)", "1c1\n< a\n---\n> b\n", 1 },
		{ "echo x > >(cat); wait $!", "x\n" },
		{ "coproc cat; echo hi >&${COPROC[1]}; read -u ${COPROC[0]} l; echo $l; "
		  "kill $COPROC_PID; wait",
				NULL, 0, 0, "hi\n" },
		{ "select x in a b; do echo $x; done", "1) a\n2) b\n#? \n", 1 },
		{ "read x; echo \"$?$x\"; read -t 1 x; echo $?; cat", "1\n1\n" },
		{ "mapfile -t x </etc/passwd; echo ${#x[@]}", "3\n" },
		{ "tty", "not a tty\n", 1 },
		{ "test -t 0 || test -t 1 || test -t 2", "", 1 },
		{ "cat /dev/tty", NULL, 1, 0, "No such device" },
		{ "stty size", NULL, 1, 0, "Inappropriate" },
		{ "python3 -ISc 'import os, sys; print(sys.stdin.isatty(), sys.stdout.isatty())'",
				"False False\n" },
		{ "echo a >/dev/stdout; echo b >/dev/stderr; echo c >/dev/fd/1; cat </dev/stdin",
				"a\nb\nc\n" },
		{ "time true", NULL, 0, 0, "real" },
		{ "for ((i = 0; i < 3; i++)); do echo -n $i; done; echo", "012\n" },
		{ "[[ abc =~ b(.) ]] && echo ${BASH_REMATCH[1]}", "c\n" },
		{ "shopt -s lastpipe; echo a | read x; echo $x", "a\n" },
		{ "eval \"$(printf 'eval %.0s' {1..200})true\"; echo $?", "0\n" },
		{ "caller; dirs; pushd /tmp >/dev/null; popd", "~/workspace\n~/workspace\n" },
		{ "ulimit -c; ulimit -c 1 && ulimit -c", "0\n0\n" },
		{ "exec 3<>/dev/tcp/127.0.0.1/1", NULL, 1, 0, "refused" },
		{ "echo on", "on\n" },
	};

	PLAY(turns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_redefined_words),
		cmocka_unit_test(test_builtins_of_ours),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_syntax),
		cmocka_unit_test(test_here_documents),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_status_carries),
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_scopes),
		cmocka_unit_test(test_constructs),
	};

	return cmocka_run_group_tests(tests, open_owner, close_owner);
}
