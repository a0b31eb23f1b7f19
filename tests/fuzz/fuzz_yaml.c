/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/config.h"
#include "base/scope.h"
#include "base/str.h"
#include "run/sweep.h"
#include "config/schema.h"
#include "config/yaml.h"
#include "task/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Fuzzes the reader of YAML files. An accepted file prints as YAML that parses and prints the
 * same. The same holds for each struct that a file, or a part of it, can describe.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define PRINTED_BYTES_MAX (64 * 1024 * 1024)

static void check(bool ok, const char *what, const char *text)
{
	if (ok)
		return;
	fprintf(stderr, "%s:\n%s\n", what, text);
	abort();
}

static const struct node *read_back(struct arena *a, const struct buf *text)
{
	struct fh_error err = FH_ERROR_INIT;
	const struct node *root = NULL;

	if (yaml_parse(a, "printed", buf_str(text), text->len, &root, &err) < 0)
		check(false, err.message, buf_str(text));
	return root;
}

/* Whether printed YAML is small enough to be read back. Printing can make a file larger than the
 * limit. */
static bool comes_back(const struct buf *text)
{
	return !text->truncated && text->len <= YAML_FILE_BYTES_MAX;
}

static void check_nodes(struct arena *a, const struct node *root)
{
	auto_buf struct buf once = BUF_INIT(PRINTED_BYTES_MAX);
	auto_buf struct buf twice = BUF_INIT(PRINTED_BYTES_MAX);

	node_print(&once, root, 0);
	if (!comes_back(&once))
		return;
	node_print(&twice, read_back(a, &once), 0);
	check(str_eq(buf_str(&once), buf_str(&twice)), "prints otherwise", buf_str(&once));
}

static void check_schema(struct arena *a, const struct schema *schema, const struct node *root)
{
	auto_buf struct buf once = BUF_INIT(PRINTED_BYTES_MAX);
	auto_buf struct buf twice = BUF_INIT(PRINTED_BYTES_MAX);
	struct warnings warnings = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	void *value = arena_alloc(a, schema->size);

	schema_read(a, schema, root, NULL, value, &err);
	if (schema_read(a, schema, root, &warnings, value, &err) < 0)
		return;
	schema_print(&once, schema, value);
	if (!comes_back(&once))
		return;
	if (schema_read(a, schema, read_back(a, &once), NULL, value, &err) < 0)
		check(false, err.message, buf_str(&once));
	schema_print(&twice, schema, value);
	check(str_eq(buf_str(&once), buf_str(&twice)), "reads otherwise", buf_str(&once));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_arena struct arena a = ARENA_INIT;
	struct fh_error err = FH_ERROR_INIT;
	const struct schema *schemas[SCHEMAS_MAX];
	size_t n_schemas = schema_all(&task_schema, schemas, 0);
	const struct node *root = NULL;

	n_schemas = schema_all(&dataset_schema, schemas, n_schemas);
	n_schemas = schema_all(&agent_schema, schemas, n_schemas);
	n_schemas = schema_all(&sweep_schema, schemas, n_schemas);
	if (yaml_parse(&a, "input", (const char *)data, n, &root, &err) < 0) {
		check(err.code < 0 && str_starts(err.message, "input:"), "no error", err.message);
		return 0;
	}
	check(root->n_nodes <= YAML_NODES_MAX + 1 && root->height <= YAML_DEPTH_MAX, "too large",
			"");
	check_nodes(&a, root);
	check_nodes(&a, node_overlay(&a, root, root));
	for (size_t i = 0; i < n_schemas; i++)
		check_schema(&a, schemas[i], root);
	return 0;
}
