/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_models.h"

#include "base/mem.h"
#include "base/str.h"

#define MODEL_NAME_BYTES_MAX 4096

struct run_models run_models_of(const struct episode *episodes, size_t n)
{
	const struct run_agent *first = NULL; /* agent of the first language model */
	struct run_models m = { .several = false };

	for (size_t i = 0; i < n; i++) {
		const struct run_agent *agent = episodes[i].plan.agent;

		m.models = m.models || !str_eq(episodes[i].plan.model, episodes[0].plan.model);
		if (!agent)
			continue;
		if (!first)
			first = agent;
		m.agents = m.agents || !str_eq(agent->name, first->name);
		m.temperatures = m.temperatures ||
				agent->options.temperature != first->options.temperature;
	}
	m.several = m.models || m.agents || m.temperatures;
	return m;
}

char *run_model_name(const struct run_models *m, const struct episode *e)
{
	const struct run_agent *agent = e->plan.agent;
	auto_buf struct buf out = BUF_INIT(MODEL_NAME_BYTES_MAX);

	if (!m->several)
		return xstrdup("");
	buf_add_str(&out, e->plan.model);
	if (agent && (m->agents || m->temperatures)) {
		buf_printf(&out, " (%s", m->agents ? agent->name : "");
		buf_add_str(&out, m->agents && m->temperatures ? ", " : "");
		if (m->temperatures)
			buf_printf(&out, "t %g", agent->options.temperature);
		buf_add_char(&out, ')');
	}
	return xstrdup(buf_str(&out));
}
