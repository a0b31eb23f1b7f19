/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/run_dir.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MAX 1000000 /* limit of runs' numbers: each is less */

char *run_dir_default(void)
{
	struct passwd user;
	struct passwd *found = NULL;
	char strings[16384];
	auto_free char *name = NULL;

	if (getpwuid_r(geteuid(), &user, strings, sizeof(strings), &found) != 0 || !found)
		return xasprintf("trajectories/%u", geteuid());
	name = run_dir_part(found->pw_name);
	return xasprintf("trajectories/%s", name);
}

char *run_dir_part(const char *text)
{
	char *part = xstrdup(text);

	for (char *p = part; *p; p++) {
		if (*p == ':' || *p == '/' || *p == '\\' || (unsigned char)*p <= ' ' || *p == 0x7f)
			*p = '-';
	}
	/* a name must not begin with a dot: it would be hidden, or be "." or ".." */
	if (*part == '.')
		*part = '-';
	return part;
}

static char *run_dir_stem(const struct run_name *name)
{
	auto_free char *model = run_dir_part(name->model);
	auto_free char *task = run_dir_part(name->task);
	auto_free char *agent = run_dir_part(name->agent_config ? name->agent_config : "default");
	auto_free char *suffix = run_dir_part(name->suffix ? name->suffix : "");

	return xasprintf("%s__%s__%s__t-%.2f__p-%.2f__c-%.2f__install-0%s%s", model, task, agent,
			name->temperature, name->top_p, name->cost_limit, *suffix ? "__" : "",
			suffix);
}

char *run_dir_path(const char *out, const struct run_name *name, int number)
{
	auto_free char *base = run_dir_stem(name);

	return xasprintf("%s/%s_run_%d", out, base, number);
}

int run_dir_make(const char *out, const struct run_name *name, char **out_path, int *out_number,
		struct fh_error *err)
{
	auto_free char *base = run_dir_stem(name);
	int r;

	if (strlen(base) + sizeof("_run_1000000") > NAME_MAX)
		return error_say(err, ENAMETOOLONG,
				"the name of the run's folder is too long: '%s_run_0'", base);
	r = path_mkdirs(out, 0777, err);
	if (r < 0)
		return r;
	for (int i = 0; i < RUNS_MAX; i++) {
		auto_free char *path = run_dir_path(out, name, i);

		if (mkdir(path, 0777) == 0) {
			*out_path = take_ptr(path);
			*out_number = i;
			return 0;
		}
		if (errno != EEXIST)
			return error_set(err, errno, "create folder '%s'", path);
	}
	return error_say(err, EEXIST, "'%s' holds %d runs of '%s', the most: choose another folder",
			out, RUNS_MAX, base);
}

static int run_dir_compare_numbers(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

size_t run_dir_numbers(const char *out, const struct run_name *name, int **out_numbers)
{
	auto_free char *base = run_dir_stem(name);
	auto_free char *prefix = xasprintf("%s_run_", base);
	DIR *dir = opendir(out);
	struct dirent *entry;
	int *numbers = NULL;
	int64_t number;
	size_t n = 0;

	while (dir && (entry = readdir(dir))) {
		if (!str_starts(entry->d_name, prefix) ||
				!str_to_i64(entry->d_name + strlen(prefix), &number) ||
				number < 0 || number >= RUNS_MAX)
			continue;
		numbers = xrealloc(numbers, n + 1, sizeof(*numbers));
		numbers[n++] = (int)number;
	}
	if (dir)
		closedir(dir);
	if (n)
		qsort(numbers, n, sizeof(*numbers), run_dir_compare_numbers);
	*out_numbers = numbers;
	return n;
}

char *run_dir_log(const char *dir)
{
	time_t now = time(NULL);
	char stamp[32];
	struct tm utc;

	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", gmtime_r(&now, &utc));
	return xasprintf("%s/run-%s.log", dir, stamp);
}

/* Name of a task for files, a heap string. */
static char *run_dir_task_part(const char *task, const char *variant)
{
	auto_free char *id = xasprintf("%s%s%s", task, *variant ? "-" : "", variant);

	return run_dir_part(id);
}

char *run_dir_traj_name(const char *task, const char *variant)
{
	auto_free char *part = run_dir_task_part(task, variant);

	return xasprintf("%s.traj", part);
}

char *run_dir_policy_traj_name(
		const char *task, const char *variant, int64_t policy_step, const char *time)
{
	auto_free char *part = run_dir_task_part(task, variant);
	char digits[sizeof("20260131120000")];
	size_t n = 0;

	for (; *time && n < sizeof(digits) - 1; time++)
		if (*time >= '0' && *time <= '9')
			digits[n++] = *time;
	digits[n] = '\0';
	return xasprintf("%s_pi%" PRId64 "_%.8s_%s.traj", part, policy_step, digits,
			n > 8 ? digits + 8 : "");
}

/* Text of a member; "" if it is missing or no string. */
static const char *run_dir_text_of(const struct pyjson *event, const char *name)
{
	const char *text = pyjson_string(pyjson_get(event, name));

	return text ? text : "";
}

char *run_dir_recorded_traj_name(const struct pyjson *open)
{
	const char *task = run_dir_text_of(open, "task"),
		   *variant = run_dir_text_of(open, "variant");
	int64_t step;

	if (!pyjson_i64(pyjson_get(open, "policy_step"), &step))
		return run_dir_traj_name(task, variant);
	return run_dir_policy_traj_name(task, variant, step, run_dir_text_of(open, "time"));
}
