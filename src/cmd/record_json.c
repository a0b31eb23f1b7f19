/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/record_json.h"

#include "task/find.h"

void record_json_put(struct pyjson_writer *w, const char *path, const struct exported *e)
{
	const char *variant = pyjson_string(pyjson_get(e->open, "variant"));
	const char *status = pyjson_string(e->traj->info.exit_status);

	pyjson_put_text(w, "run", path);
	pyjson_put_text(w, "task", pyjson_string(pyjson_get(e->open, "task")));
	pyjson_put_text(w, "variant", variant ? task_variant_name(variant) : NULL);
	pyjson_put_text(w, "model", pyjson_string(pyjson_get(e->open, "model")));
	/* A run that was cut, or goes on, has an empty status. */
	pyjson_put_text(w, "exit_status", status && *status ? status : NULL);
}
