/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page_files.h"

#include "src/view/page-api.js.h"
#include "src/view/page-app.js.h"
#include "src/view/page-chart.js.h"
#include "src/view/page-compare.js.h"
#include "src/view/page-conversation.js.h"
#include "src/view/page-diff.js.h"
#include "src/view/page-dom.js.h"
#include "src/view/page-facts.js.h"
#include "src/view/page-files.js.h"
#include "src/view/page-filter.js.h"
#include "src/view/page-find.js.h"
#include "src/view/page-index.html.h"
#include "src/view/page-list.js.h"
#include "src/view/page-plot.js.h"
#include "src/view/page-report.js.h"
#include "src/view/page-run.js.h"
#include "src/view/page-runs.js.h"
#include "src/view/page-step.js.h"
#include "src/view/page-style.css.h"
#include "src/view/page-takeover.js.h"
#include "src/view/page-task.js.h"
#include "src/view/page-text.js.h"
#include "src/view/page-timeline.js.h"
#include "src/view/page-training.js.h"

#include <stddef.h>

#define SCRIPT "text/javascript; charset=utf-8"

const struct page_file page_files[] = {
	{ "", "text/html; charset=utf-8", page_index_html },
	{ "api.js", SCRIPT, page_api_js },
	{ "app.js", SCRIPT, page_app_js },
	{ "chart.js", SCRIPT, page_chart_js },
	{ "compare.js", SCRIPT, page_compare_js },
	{ "conversation.js", SCRIPT, page_conversation_js },
	{ "diff.js", SCRIPT, page_diff_js },
	{ "dom.js", SCRIPT, page_dom_js },
	{ "facts.js", SCRIPT, page_facts_js },
	{ "files.js", SCRIPT, page_files_js },
	{ "filter.js", SCRIPT, page_filter_js },
	{ "find.js", SCRIPT, page_find_js },
	{ "list.js", SCRIPT, page_list_js },
	{ "plot.js", SCRIPT, page_plot_js },
	{ "report.js", SCRIPT, page_report_js },
	{ "run.js", SCRIPT, page_run_js },
	{ "runs.js", SCRIPT, page_runs_js },
	{ "step.js", SCRIPT, page_step_js },
	{ "style.css", "text/css; charset=utf-8", page_style_css },
	{ "takeover.js", SCRIPT, page_takeover_js },
	{ "task.js", SCRIPT, page_task_js },
	{ "text.js", SCRIPT, page_text_js },
	{ "timeline.js", SCRIPT, page_timeline_js },
	{ "training.js", SCRIPT, page_training_js },
	{ NULL, NULL, NULL },
};
