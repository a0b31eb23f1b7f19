/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets variables and names so that bash looks like a plain shell of the sandbox. bash needs its
 * config.h to be the first header. */
#include <config.h>

#include "loadables.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"
#include "guest/look.h"
#include "inside/places.h"

/* Variables and functions of bash that its installed headers lack. */
extern int want_pending_command, read_from_stdin;

/* bash's bind_variable() copies the value, but its header lacks the const. */
static SHELL_VAR *look_bind(const char *name, const char *value)
{
	return bind_variable(name, (char *)(uintptr_t)value, 0);
}

static void look_set(const char *name, const char *value, int attributes)
{
	SHELL_VAR *v = find_variable(name);

	if (v)
		VUNSETATTR(v, att_readonly | att_noassign);
	v = look_bind(name, value);
	if (v && attributes)
		VSETATTR(v, attributes);
}

static void look_set_number(const char *name, long value, int attributes)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", value);
	look_set(name, text, attributes);
}

static void look_set_environment(const char *const *env)
{
	for (; *env; env++) {
		const char *equal = strchr(*env, '=');
		char name[256];

		if (!equal || (size_t)(equal - *env) >= sizeof(name))
			continue;
		memcpy(name, *env, (size_t)(equal - *env));
		name[equal - *env] = '\0';
		if (legal_identifier(name))
			look_set(name, equal + 1, att_exported);
	}
}

/*
 * Sets shell variables in the nursery. All shells are clones of the nursery and inherit them. bash
 * set some of them itself when it started.
 */
void look_plain(void)
{
	look_set_environment(program_environment);
	look_set("TERM", "dumb", att_exported);
	current_user.uid = current_user.euid = GUEST_AGENT_ID;
	current_user.gid = current_user.egid = GUEST_AGENT_ID;
	FREE(current_user.user_name);
	FREE(current_user.home_dir);
	FREE(current_user.shell);
	current_user.user_name = savestring("agent");
	current_user.home_dir = savestring(GUEST_HOME);
	current_user.shell = savestring("/bin/bash");
	FREE(current_host_name); /* forget the machine's name, which \h in a prompt shows */
	current_host_name = savestring("fumehood");
	look_set_number("UID", GUEST_AGENT_ID, att_readonly | att_integer);
	look_set_number("EUID", GUEST_AGENT_ID, att_readonly | att_integer);
	/* set $PPID to 1, so that it is the same in every sandbox */
	look_set_number("PPID", 1, att_readonly | att_integer);
	look_set_number("SHLVL", 1, att_exported);
	look_set("HOSTNAME", "fumehood", 0);
	unbind_variable("BASH_EXECUTION_STRING");
	/* remove LC_CTYPE, which only the nursery needs: shells have LANG */
	unbind_variable("LC_CTYPE");
	look_set("OLDPWD", NULL, att_exported | att_invisible);
	command_execution_string = NULL;
	/* have $- show s (commands from stdin) instead of c (command as an argument) */
	want_pending_command = 0;
	read_from_stdin = 1;
	remember_args(NULL, 1);
}

void look_new(const struct shell_start *start)
{
	dollar_dollar_pid = getpid();
	look_set_number("RANDOM", (long)start->random_seed, 0);
	look_set_environment(start->env);
	if (chdir(GUEST_WORKSPACE) < 0 && chdir(GUEST_HOME) < 0 && chdir("/") < 0)
		_exit(1);
	set_working_directory(getcwd(NULL, 0));
	look_set("PWD", the_current_working_directory, att_exported);
}

/* Removes the plugin's builtin from bash's table, so that an agent can't find or unload it. */
void look_hide_builtin(void)
{
	for (int i = 0; i < num_shell_builtins; i++) {
		struct builtin *b = &shell_builtins[i];

		if (b->name && strcmp(b->name, "fumehood") == 0) {
			b->flags = 0;
			b->function = NULL;
			b->name = "";
			b->handle = NULL;
		}
	}
}

/*
 * Sets LAST_ACTION, a shell variable, to a plain string. The agent may have made it a number, a
 * reference or read-only.
 */
void look_last_action(const char *text)
{
	static char name[] = "LAST_ACTION";
	SHELL_VAR *v = find_variable_noref(name);

	if (v && v->attributes & ~att_invisible)
		unbind_variable_noref(name);
	v = look_bind(name, text);
	if (v)
		/* Undo an export of this variable by `set -a`: with too long a text no program
		 * could be exec'd. */
		VUNSETATTR(v, att_exported);
}

/*
 * Replaces the command line that /proc shows by that of a plain shell. The real one has a path of
 * the host.
 */
void look_command_line(void)
{
	char stat[PROCESS_STAT_MAX];
	int64_t begin, end;

	if (!process_read_stat(getpid(), stat))
		return;
	begin = process_field(stat, PROCESS_ARGUMENTS_BEGIN);
	end = process_field(stat, PROCESS_ARGUMENTS_END);
	if (begin <= 0 || end <= begin + 5)
		return;
	memset((void *)begin, 0, (size_t)(end - begin));
	memcpy((void *)begin, "bash", 4);
}
