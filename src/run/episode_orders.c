/* SPDX-License-Identifier: Apache-2.0 */
#include "run/episode_inside.h"

#include "agent/agent.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "trajectory/export.h"

#include <stdlib.h>

/* Functions that follow the orders of a person who takes over an episode (takeover.h). */

void episode_open_desk(struct episode *e)
{
	struct episode_inside *in = e->inside;
	auto_free char *dir = in->record.dir ? realpath(in->record.dir, NULL) : NULL;
	auto_free char *record = dir ? path_join(dir, EXPORT_EVENTS) : NULL;
	struct desk_options options = { .record = record, .takes_hints = in->chat != NULL };

	/* A program as the agent takes the whole episode in one step. */
	if (!e->plan.takeover || e->plan.foreign || !record)
		return;
	options.is_human = in->model && model_is_interactive(in->model);
	options.thinks = options.is_human && str_eq(e->plan.model, "human_thought");
	in->desk = desk_open(e->plan.takeover, &options);
}

static int episode_record_order(
		struct episode *e, const struct desk_order *order, struct fh_error *err)
{
	return recorder_order(e->inside->record.recorder,
			&(struct recorder_order){ .kind = desk_order_name(order->kind),
					.step = e->steps + 1,
					.text = order->text,
					.time = order->time },
			err);
}

static int episode_follow(struct episode *e, const struct desk_order *order)
{
	struct episode_inside *in = e->inside;
	int r = episode_record_order(e, order, &e->error);

	if (r < 0 || order->kind != DESK_HINT)
		return r;
	in->hint_bytes += (int64_t)json_text_bytes(order->text);
	return agent_hint(in->agent, order->text, &e->error);
}

int episode_follow_orders(struct episode *e)
{
	struct episode_inside *in = e->inside;
	struct desk_order order;

	while (desk_take(in->desk, &order)) {
		int r;

		if (order.kind == DESK_ACT) {
			desk_order_release(&in->by_hand);
			in->by_hand = order;
			return 1;
		}
		r = episode_follow(e, &order);
		desk_order_release(&order);
		if (r < 0)
			return r;
	}
	return 0;
}

struct model_turn episode_turn_by_hand(const struct episode *e)
{
	struct episode_inside *in = e->inside;
	const struct desk_order *order = &in->by_hand;
	const char *thought = order->thought ? order->thought : "";

	if (!in->agent && !order->thought)
		return (struct model_turn){ .action = order->text };
	free(in->reply_by_hand);
	in->reply_by_hand =
			xasprintf("%s%s```\n%s\n```", thought, *thought ? "\n" : "", order->text);
	return (struct model_turn){
		.action = order->text, .thought = thought, .response = in->reply_by_hand
	};
}

void episode_end_orders(struct episode *e)
{
	struct episode_inside *in = e->inside;
	struct desk_order order;

	if (!in->desk)
		return;
	desk_show(in->desk, DESK_ENDED, e->steps + 1);
	while (desk_take(in->desk, &order)) {
		/* A record that can't be written fails when its end is written. */
		if (order.kind != DESK_ACT)
			episode_record_order(e, &order, NULL);
		desk_order_release(&order);
	}
	in->desk = NULL;
}
