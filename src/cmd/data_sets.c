/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/data_sets.h"

const char *data_kind(const struct dataset *set)
{
	if (set->make)
		return "made";
	if (!set->store)
		return "shipped";
	for (size_t i = 0; i < set->n_sources; i++)
		if (!set->sources[i].huggingface && !set->sources[i].url)
			return "by hand";
	return set->n_sources ? "fetched" : "by hand";
}

int data_for_each(struct command_context *ctx,
		int (*each)(struct command_context *ctx, const struct dataset *set))
{
	const struct data_options *o = ctx->options;
	int status = CMD_OK;

	for (size_t i = 0; i < ctx->n_args; i++) {
		struct fh_error err = FH_ERROR_INIT;
		struct data_sets sets;
		int one;

		if (data_find(ctx->arena, o->tasks_dir, ctx->args[i], &sets, &err) < 0) {
			one = cmd_refuse_subject(ctx, "data", ctx->args[i], &err);
			status = one > status ? one : status;
			continue;
		}
		for (size_t j = 0; j < sets.n; j++) {
			one = each(ctx, &sets.items[j]);
			status = one > status ? one : status;
		}
	}
	return status;
}
