/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variables and names by which bash looks like a plain shell of the sandbox. bash sets the order
 * of headers: config.h first. */
#include <config.h>

#include "loadables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"
#include "guest/look.h"
#include "inside/places.h"

/* Variables and functions of bash that its installed headers lack. */
extern int want_pending_command, read_from_stdin;

static void look_set(const char *name, const char *value, int attributes)
{
	SHELL_VAR *v = find_variable(name);

	if (v)
		VUNSETATTR(v, att_readonly | att_noassign);
	v = bind_variable(name, (char *)value, 0);
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

/* Sets shell variables in the nursery, once for all shells. bash set some of them at its start. */
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
	FREE(current_host_name); /* shown by \h in a prompt */
	current_host_name = savestring("fumehood");
	look_set_number("UID", GUEST_AGENT_ID, att_readonly | att_integer);
	look_set_number("EUID", GUEST_AGENT_ID, att_readonly | att_integer);
	look_set_number("PPID", 1, att_readonly | att_integer); /* the same in every sandbox */
	look_set_number("SHLVL", 1, att_exported);
	look_set("HOSTNAME", "fumehood", 0);
	unbind_variable("BASH_EXECUTION_STRING");
	unbind_variable("LC_CTYPE"); /* the nursery needs LC_CTYPE; shells have LANG */
	look_set("OLDPWD", NULL, att_exported | att_invisible);
	command_execution_string = NULL;
	want_pending_command = 0; /* makes $- show s, not c: commands come from outside */
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
 * Sets LAST_ACTION to a plain string, even if the agent made it a number, a reference or read-only.
 */
void look_last_action(const char *text)
{
	static char name[] = "LAST_ACTION";
	SHELL_VAR *v = find_variable_noref(name);

	if (v && v->attributes & ~att_invisible)
		unbind_variable_noref(name);
	v = bind_variable(name, (char *)text, 0);
	if (v)
		VUNSETATTR(v, att_exported); /* set -a exports it: too long a text fails exec */
}

/* Sets the command line that /proc shows to that of a plain shell, without a path of the host. */
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
