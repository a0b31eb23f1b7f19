/* SPDX-License-Identifier: Apache-2.0 */
#include "model/vendor.h"

#include "base/scope.h"
#include "base/str.h"
#include "model/dialects.h"

#include <errno.h>
#include <string.h>

static const struct vendor vendors[] = {
	{ "openai", &dialect_openai, "https://api.openai.com/v1", "OPENAI_BASE_URL",
			"OPENAI_API_KEY" },
	{ "anthropic", &dialect_anthropic, "https://api.anthropic.com", "ANTHROPIC_BASE_URL",
			"ANTHROPIC_API_KEY" },
	{ "azure", &dialect_openai, NULL, "AZURE_API_BASE", "AZURE_API_KEY" },
	{ "cerebras", &dialect_openai, "https://api.cerebras.ai/v1", NULL, "CEREBRAS_API_KEY" },
	{ "deepseek", &dialect_openai, "https://api.deepseek.com/v1", NULL, "DEEPSEEK_API_KEY" },
	{ "fireworks_ai", &dialect_openai, "https://api.fireworks.ai/inference/v1", NULL,
			"FIREWORKS_API_KEY" },
	{ "gemini", &dialect_openai, "https://generativelanguage.googleapis.com/v1beta/openai",
			NULL, "GEMINI_API_KEY" },
	{ "groq", &dialect_openai, "https://api.groq.com/openai/v1", NULL, "GROQ_API_KEY" },
	{ "hosted_vllm", &dialect_openai, NULL, "HOSTED_VLLM_API_BASE", NULL },
	{ "mistral", &dialect_openai, "https://api.mistral.ai/v1", NULL, "MISTRAL_API_KEY" },
	{ "ollama", &dialect_openai, "http://localhost:11434/v1", "OLLAMA_API_BASE", NULL },
	{ "openrouter", &dialect_openai, "https://openrouter.ai/api/v1", NULL,
			"OPENROUTER_API_KEY" },
	{ "together_ai", &dialect_openai, "https://api.together.xyz/v1", NULL, "TOGETHER_API_KEY" },
	{ "xai", &dialect_openai, "https://api.x.ai/v1", NULL, "XAI_API_KEY" },
};

#define OPENAI (&vendors[0])
#define ANTHROPIC (&vendors[1])

static const struct vendor *vendor_named(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++)
		if (strncmp(vendors[i].name, name, n) == 0 && !vendors[i].name[n])
			return &vendors[i];
	return NULL;
}

static bool vendor_is_litellm(const char *spec, size_t n)
{
	return n == strlen("litellm") && str_starts(spec, "litellm");
}

bool vendor_is_spec(const char *spec)
{
	size_t n = strcspn(spec, ":");

	return spec[n] && (vendor_is_litellm(spec, n) || vendor_named(spec, n));
}

bool vendor_has_variable(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++)
		if (str_eq(vendors[i].url_variable, name) || str_eq(vendors[i].key_variable, name))
			return true;
	return false;
}

int vendor_check_provider(const char *spec, struct fh_error *err)
{
	size_t n = strcspn(spec, ":");
	const char *name = spec[n] ? spec + n + 1 : "";
	size_t n_provider = strcspn(name, "/");
	auto_buf struct buf known = BUF_INIT(512);

	if (!vendor_is_litellm(spec, n) || !name[n_provider] || vendor_named(name, n_provider))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++)
		buf_printf(&known, "%s%s", i ? ", " : "", vendors[i].name);
	return error_say(err, EINVAL,
			"'%s': no provider '%.*s' is known; there are: %s (or give the --url of a "
			"server that has '%s')",
			spec, (int)n_provider, name, buf_str(&known), name);
}

int vendor_find(const char *spec, const struct vendor **out, const char **out_model,
		struct fh_error *err)
{
	size_t n = strcspn(spec, ":");
	const struct vendor *vendor;
	const char *model;

	if (!vendor_is_spec(spec))
		return error_say(err, EINVAL,
				"no language model '%s'; they are called openai:NAME, "
				"anthropic:NAME, litellm:NAME or litellm:PROVIDER/NAME",
				spec);
	model = spec + n + 1;
	vendor = vendor_named(spec, n);
	/* After "litellm:" comes "gemini/NAME" or another provider's, "claude-...", or a name of
	 * OpenAI's. */
	if (vendor_is_litellm(spec, n)) {
		n = strcspn(model, "/");
		vendor = model[n] ? vendor_named(model, n) : NULL;
		if (vendor)
			model += n + 1;
		else
			vendor = str_starts(model, "claude") ? ANTHROPIC : OPENAI;
	}
	if (!*model)
		return error_say(err, EINVAL, "'%s' lacks the model's name", spec);
	*out = vendor;
	*out_model = model;
	return 0;
}
