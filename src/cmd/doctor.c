/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "cli/cmd.h"
#include "cli/term.h"
#include "native/machine.h"

#include <stdio.h>

/* fumehood doctor: prints what the checks of this machine find. */

static void doctor_print_finding(const struct machine_check *check, const struct machine_finding *f)
{
	bool colours = term_colours(1);
	const char *mark = f->ok ? "ok" : check->required ? "FAIL" : "less";
	const char *style = f->ok ? TERM_GREEN : check->required ? TERM_RED : TERM_YELLOW;

	printf("%s%-5s%s%-16s %s\n", term_style(colours, style), mark,
			term_style(colours, TERM_RESET), check->name, f->detail);
	if (f->fix[0])
		printf("     %-16s fix: %s\n", "", f->fix);
}

static int doctor_main(struct command_context *ctx)
{
	auto_json json_t *report = json_object();
	json_t *list = json_array();
	bool ok = true;

	for (const struct machine_check *check = machine_checks; check->name; check++) {
		struct machine_finding f = { 0 };

		check->run(&f);
		ok = ok && (f.ok || !check->required);
		json_array_append_new(list,
				json_pack("{s:s, s:b, s:b, s:s, s:s}", "name", check->name, "ok",
						f.ok, "required", check->required, "detail",
						f.detail, "fix", f.fix));
		if (!ctx->json)
			doctor_print_finding(check, &f);
	}
	json_object_set_new(report, "ok", json_boolean(ok));
	json_object_set_new(report, "checks", list);
	if (ctx->json) {
		cmd_print_json(report);
	} else {
		puts(ok ? "This machine can run episodes."
			: "This machine can't run episodes yet.");
	}
	return ok ? CMD_OK : CMD_FAILED;
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "check what this machine can do",
	.about = "Tries each thing that a sandbox needs. FAIL: no episode can run until it is fixed. less: "
		 "episodes run, with the restriction in the line.",
	.run = doctor_main,
};
