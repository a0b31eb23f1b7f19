/* SPDX-License-Identifier: Apache-2.0 */
#include "aci.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "inside/tools.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * literature_search, parse_pdf_url: commands that ask the web through the environment
 * (env/calls.c). PDFs are untrusted, so they are parsed here in the sandbox.
 */

#define PDFTOTEXT "/usr/bin/pdftotext"
#define PDF_FILE GUEST_HOME "/" GUEST_EDITOR_FOLDER "/paper.pdf"
#define SEARCH_USE "literature_search <search_term> [<num_results>]"
#define PARSE_USE "parse_pdf_url <pdf_url>"
#define RESULTS 20

static int papers_run_search(int argc, char **argv)
{
	auto_buf struct buf answer = BUF_INIT(0);
	auto_free char *text = NULL;
	int64_t n = RESULTS;

	if (argc < 2 || argc > 3 || (argc == 3 && !str_to_i64(argv[2], &n))) {
		fputs("Usage: " SEARCH_USE
		      " (a term of several words in quotes; the number is a whole one)\n",
				stderr);
		return 1;
	}
	text = xasprintf("%lld %s", (long long)n, argv[1]);
	if (!aci_call("papers", text, ACI_CALL_TIMEOUT_S, &answer))
		return 1;
	if (!answer.len)
		puts("No paper was found.");
	fwrite(buf_str(&answer), 1, answer.len, stdout);
	return 0;
}

static int papers_print_text(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execl(PDFTOTEXT, "pdftotext", "-q", "-enc", "UTF-8", PDF_FILE, "-", (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static int papers_run_parse(int argc, char **argv)
{
	auto_buf struct buf answer = BUF_INIT(0);
	struct fh_error err;
	int status;

	if (argc != 2) {
		fputs("Usage: " PARSE_USE "\n", stderr);
		return 1;
	}
	if (!aci_call("document", argv[1], ACI_CALL_TIMEOUT_S, &answer))
		return 1;
	if (!str_starts(buf_str(&answer), "%PDF-")) {
		fputs("what is there is no PDF\n", stderr);
		return 1;
	}
	if (fd_write_file(PDF_FILE, buf_str(&answer), answer.len, 0600, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	status = papers_print_text();
	if (status == 127)
		fputs("pdftotext is not on this machine (Debian's poppler-utils has it): the PDF is "
		      "kept as " PDF_FILE "\n",
				stderr);
	else
		unlink(PDF_FILE);
	if (status && status != 127)
		fputs("the PDF could not be read\n", stderr);
	return status ? 1 : 0;
}

const struct aci_command aci_literature_search = { "literature_search",
	SEARCH_USE ": finds papers that can be read; a line of JSON each", papers_run_search };
const struct aci_command aci_parse_pdf_url = { "parse_pdf_url",
	PARSE_USE ": prints the text of a PDF of the web", papers_run_parse };
