/*
 * serve/serve_bundle.c - the page's files, embedded in the program.
 */
#include "serve/serve_bundle.h"

#include "base/table.h"
#include "common/embed.h"
#include "serve/serve.h"

#include <string.h>

#define BUNDLE "tools/serve/bundle/"

EMBED(serve_page_html, BUNDLE "index.html");
EMBED(serve_page_js, BUNDLE "app.js");
EMBED(serve_page_chunk, BUNDLE "chunk.js");
EMBED(serve_page_views, BUNDLE "views.js");
EMBED(serve_page_report, BUNDLE "report.js");
EMBED(serve_page_css, BUNDLE "app.css");
EMBED(serve_page_sw, BUNDLE "sw.js");
EMBED(serve_page_report_hash, BUNDLE "report.js.hash");
EMBED(serve_page_css_hash, BUNDLE "app.css.hash");

static const struct serve_file files[] = {
	{ "/", "text/html; charset=utf-8", serve_page_html, serve_page_html_end },
	{ "/app.js", "text/javascript; charset=utf-8", serve_page_js, serve_page_js_end },
	{ "/chunk.js", "text/javascript; charset=utf-8", serve_page_chunk, serve_page_chunk_end },
	{ "/views.js", "text/javascript; charset=utf-8", serve_page_views, serve_page_views_end },
	{ "/sw.js", "text/javascript; charset=utf-8", serve_page_sw, serve_page_sw_end },
	{ "/app.css", "text/css; charset=utf-8", serve_page_css, serve_page_css_end },
};

/* The script of a report, and hashes for its Content-Security-Policy. */
static const struct serve_file of_reports[] = {
	{ "/report.js", "", serve_page_report, serve_page_report_end },
	{ "/report.js.hash", "", serve_page_report_hash, serve_page_report_hash_end },
	{ "/app.css.hash", "", serve_page_css_hash, serve_page_css_hash_end },
};

static const struct serve_file *find(const struct serve_file *list, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].path, path) == 0)
			return &list[i];
	return NULL;
}

const struct serve_file *serve_bundle_file(const char *path)
{
	return find(files, BASE_COUNT(files), path);
}

const char *serve_page(const char *path, size_t *size)
{
	const struct serve_file *file = serve_bundle_file(path);

	if (!file)
		file = find(of_reports, BASE_COUNT(of_reports), path);
	*size = file ? (size_t)(file->end - file->data) : 0;
	return file ? (const char *)file->data : "";
}
