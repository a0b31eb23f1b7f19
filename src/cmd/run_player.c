/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_player.h"

#include "base/mem.h"
#include "base/str.h"

#define PLAYER_BYTES_MAX 4096

struct run_players run_players_of(const struct episode *episodes, size_t n)
{
	const struct run_agent *first = NULL; /* agent of the first language model */
	struct run_players p = { .several = false };

	for (size_t i = 0; i < n; i++) {
		const struct run_agent *agent = episodes[i].plan.agent;

		p.models = p.models || !str_eq(episodes[i].plan.model, episodes[0].plan.model);
		if (!agent)
			continue;
		if (!first)
			first = agent;
		p.agents = p.agents || !str_eq(agent->name, first->name);
		p.temperatures = p.temperatures ||
				agent->options.temperature != first->options.temperature;
	}
	p.several = p.models || p.agents || p.temperatures;
	return p;
}

char *run_player(const struct run_players *p, const struct episode *e)
{
	const struct run_agent *agent = e->plan.agent;
	auto_buf struct buf out = BUF_INIT(PLAYER_BYTES_MAX);

	if (!p->several)
		return xstrdup("");
	buf_add_str(&out, e->plan.model);
	if (agent && (p->agents || p->temperatures)) {
		buf_printf(&out, " (%s", p->agents ? agent->name : "");
		buf_add_str(&out, p->agents && p->temperatures ? ", " : "");
		if (p->temperatures)
			buf_printf(&out, "t %g", agent->options.temperature);
		buf_add_char(&out, ')');
	}
	return xstrdup(buf_str(&out));
}
