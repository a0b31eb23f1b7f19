/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/args_yaml.h"

#include "base/fd.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"

#include <inttypes.h>
#include <string.h>

#define ARGS_BYTES_MAX (1024 * 1024)

/* A JSON string is a YAML scalar too, whatever it holds. */
static void add_text(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, "%s: ", key);
	if (value)
		str_add_json(out, value, strlen(value));
	else
		buf_add_str(out, "null");
	buf_add_char(out, '\n');
}

static void add_double(struct buf *out, const char *key, double value)
{
	buf_printf(out, "%s: ", key);
	str_add_double(out, value);
	buf_add_char(out, '\n');
}

int args_yaml_write(const char *dir, const struct run_args *args, struct fh_error *err)
{
	auto_free char *path = path_join(dir, "args.yaml");
	auto_buf struct buf out = BUF_INIT(ARGS_BYTES_MAX);

	buf_add_str(&out, "agent:\n");
	add_text(&out, "  agent_config", args->name->agent_config);
	add_text(&out, "  agent_config_path", args->agent_config_path);
	buf_add_str(&out, "  model:\n");
	add_text(&out, "    model_name", args->model);
	add_double(&out, "    per_instance_cost_limit", args->name->cost_limit);
	add_double(&out, "    temperature", args->name->temperature);
	add_double(&out, "    top_p", args->name->top_p);
	buf_add_str(&out, "environment:\n");
	buf_printf(&out, "  max_steps: %d\n", args->max_steps);
	add_text(&out, "  reward", args->reward);
	buf_printf(&out, "  seed: %" PRIu64 "\n", args->seed);
	add_text(&out, "  task", args->name->task);
	add_text(&out, "suffix", args->name->suffix ? args->name->suffix : "");
	return fd_write_file(path, buf_str(&out), out.len, 0666, err);
}
