/* heapdb/gate_budget.c - reads and rewrites the YAML file of `heapdb gate`. */
#include "heapdb/gate.h"

#include "base/outfile.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#include <yaml.h>

/* Margin that --update adds, in percent, if the budget does not specify one. */
#define MARGIN 10
#define CHECKS_MAX 1000u
/* Largest limit. --fail-if takes numbers of up to 18 digits. */
#define LIMIT_MAX 1e17
/* Maximum depth of maps and lists in the file. A budget has three levels. */
#define DEPTH_MAX 16

const char *const gate_words[] = {
	"objects", "shallow", "retained", "growth", "leaks", "new-fingerprints", "secrets", NULL,
};

/* The budget file while it is parsed. */
struct reading {
	struct cli *cli;
	const struct file_text *file;
	struct gate_budget *budget;
	yaml_document_t document;
};

static int wrong(const struct reading *r, const yaml_mark_t *mark, const char *what,
		 const char *found)
{
	return hdb_fail(&r->cli->err, HDB_EUSAGE, "%s:%zu:%zu: %s%s%.200s%s", r->file->name,
			mark->line + 1, mark->column + 1, what, found ? ", found \"" : "",
			found ? found : "", found ? "\"" : "");
}

static int wrong_node(const struct reading *r, const yaml_node_t *node, const char *what)
{
	return wrong(r, &node->start_mark, what,
		     node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL);
}

static const char *text_of(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
}

/*
 * Returns whether the node is text without control characters. A zero byte would hide the rest of
 * the text, and a line feed would begin a line of a build's log.
 */
static bool is_line(const yaml_node_t *node)
{
	const unsigned char *text = node->data.scalar.value;
	size_t i = 0;

	if (node->type != YAML_SCALAR_NODE)
		return false;
	while (i < node->data.scalar.length && text[i] >= ' ' && text[i] != 0x7f)
		i++;
	return i == node->data.scalar.length;
}

/*
 * Converts a number of characters to an offset in bytes. libyaml counts characters, so continuation
 * bytes are skipped.
 */
static size_t offset_of(const struct file_text *file, size_t characters)
{
	size_t at = 0;

	while (at < file->size && (characters || (file->data[at] & 0xc0) == 0x80)) {
		characters -= (file->data[at] & 0xc0) != 0x80;
		at++;
	}
	return at;
}

/* Reads "50 MB", "2.5 %" or "1000". */
static bool read_limit(const char *text, struct gate_check *c)
{
	static const char units[] = "KMGT", digits[] = "0123456789";
	const bool counts = c->measure == GATE_OBJECTS || c->measure >= GATE_LEAKS;
	size_t size = strspn(text, digits);
	const char *end, *unit;

	/* strtod would also read signs, exponents, hexadecimal numbers and NaN */
	if (!size)
		return false;
	if (text[size] == '.' && strspn(text + size + 1, digits))
		size += 1 + strspn(text + size + 1, digits);
	end = text + size;
	c->limit = strtod(text, NULL);
	end += strspn(end, " ");
	c->is_percent = *end == '%';
	if (c->is_percent)
		return end[1] == '\0' && c->limit <= LIMIT_MAX;
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		c->limit *= (double)(UINT64_C(1) << 10 * (unit - units + 1));
		end++;
		end += *end == 'i' && end[1] == 'B';
	}
	if (c->limit > LIMIT_MAX || (counts && c->limit != floor(c->limit)))
		return false;
	/* Only sizes may have a unit: "secrets: <= 1 KB" is a mistake. */
	return !*end || (strcmp(end, "B") == 0 && !counts);
}

/* Reads the parts of "TARGET <= LIMIT", "<= LIMIT" or "none". */
static int read_condition(const struct reading *r, const yaml_node_t *node, struct gate_check *c)
{
	const char *text = text_of(node);
	const char *sign = strstr(text, "<=");
	const bool counts = c->measure >= GATE_LEAKS;
	size_t size;

	if (node->type == YAML_SCALAR_NODE &&
	    (!is_line(node) || node->data.scalar.style > YAML_DOUBLE_QUOTED_SCALAR_STYLE))
		return wrong_node(r, node, "expected a value on one line");
	c->at = offset_of(r->file, node->start_mark.index);
	c->size = offset_of(r->file, node->end_mark.index) - c->at;
	if (counts && strcmp(text, "none") == 0)
		sign = text + strlen(text);
	else if (!sign || !read_limit(sign + 2 + strspn(sign + 2, " "), c))
		return wrong_node(r, node,
				  counts ? "expected none or <= NUMBER" :
				  c->measure == GATE_OBJECTS ?
					   "expected TARGET <= NUMBER, as in com.acme.* <= 1000" :
				  c->measure == GATE_GROWTH ?
					   "expected [TARGET] <= PERCENT % or SIZE, as in <= 5 %" :
					   "expected TARGET <= LIMIT, as in com.acme.* <= 50 MB");
	for (size = (size_t)(sign - text); size && text[size - 1] == ' ';)
		size--;
	if (counts && strcmp(text, "none") == 0)
		size = 0;
	if ((counts && (size || c->is_percent)) || (c->measure < GATE_GROWTH && !size) ||
	    memchr(text, '(', size) || memchr(text, ')', size))
		return wrong_node(r, node,
				  counts ? "this measure takes neither a target nor a percentage" :
					   "expected a class, pattern, loader or object before <=");
	c->target = strndup(text, size);
	return c->target ? HDB_OK : hdb_fail_memory(&r->cli->err, "a check", size);
}

static int read_check(struct reading *r, const yaml_node_t *name, const yaml_node_t *node)
{
	struct gate_check *c = &r->budget->checks[r->budget->count++];
	yaml_node_pair_t *pair;

	c->line = name->start_mark.line + 1;
	c->column = name->start_mark.column + 1;
	TRY(BASE_COPY(c->name, text_of(name), "a check", &r->cli->err));
	if (!*c->name || !is_line(name))
		return wrong_node(r, name, "expected the name of a check, on one line");
	if (node->type != YAML_MAPPING_NODE)
		return wrong_node(r, node, "expected a measure and its limit, as in retained: ...");
	for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(&r->document, pair->key);
		const yaml_node_t *value = yaml_document_get_node(&r->document, pair->value);
		size_t m = 0;

		while (gate_words[m] && strcmp(gate_words[m], text_of(key)) != 0)
			m++;
		if (!gate_words[m])
			return wrong_node(r, key,
					  "expected objects, shallow, retained, growth, leaks, "
					  "new-fingerprints or secrets");
		if (c->target)
			return wrong_node(r, key, "a check must have only one measure");
		c->measure = (enum gate_measure)m;
		TRY(read_condition(r, value, c));
	}
	return c->target ? HDB_OK : wrong_node(r, name, "the check has no measure");
}

static int read_checks(struct reading *r, const yaml_node_t *node)
{
	size_t count;

	if (node->type != YAML_MAPPING_NODE)
		return wrong_node(r, node, "expected names of checks");
	count = (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
	if (!count || count > CHECKS_MAX || r->budget->checks)
		return wrong_node(r, node, "expected a single list of 1 to 1000 checks");
	TRY(BASE_ALLOC(r->budget->checks, count, "checks", &r->cli->err));
	for (size_t i = 0; i < count; i++) {
		const yaml_node_pair_t *pair = &node->data.mapping.pairs.start[i];

		TRY(read_check(r, yaml_document_get_node(&r->document, pair->key),
			       yaml_document_get_node(&r->document, pair->value)));
		for (size_t k = 0; k < i; k++)
			if (strcmp(r->budget->checks[k].name, r->budget->checks[i].name) == 0)
				return wrong_node(r,
						  yaml_document_get_node(&r->document, pair->key),
						  "two checks have this name");
	}
	return HDB_OK;
}

static int read_top(struct reading *r)
{
	const yaml_node_t *root = yaml_document_get_root_node(&r->document);
	const yaml_node_pair_t *pair;
	bool has_margin = false;

	if (!root || root->type != YAML_MAPPING_NODE)
		return hdb_fail(&r->cli->err, HDB_EUSAGE, "%s:1:1: expected \"checks:\"",
				r->file->name);
	for (pair = root->data.mapping.pairs.start; pair < root->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(&r->document, pair->key);
		const yaml_node_t *value = yaml_document_get_node(&r->document, pair->value);
		struct gate_check margin = { .measure = GATE_GROWTH };

		if (strcmp(text_of(key), "checks") == 0) {
			TRY(read_checks(r, value));
		} else if (strcmp(text_of(key), "margin") != 0) {
			return wrong_node(r, key, "expected checks or margin");
		} else if (has_margin) {
			return wrong_node(r, key, "expected a single margin");
		} else {
			has_margin = true;
			if (!read_limit(text_of(value), &margin) || !margin.is_percent)
				return wrong_node(r, value, "expected a percentage, as in 10 %");
			r->budget->margin = margin.limit;
		}
	}
	return r->budget->checks ? HDB_OK : wrong_node(r, root, "expected \"checks:\"");
}

static int start_parser(struct reading *r, yaml_parser_t *parser)
{
	if (!yaml_parser_initialize(parser))
		return hdb_fail_memory(&r->cli->err, "a budget", 0);
	yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(parser, (const unsigned char *)r->file->data, r->file->size);
	return HDB_OK;
}

/*
 * Rejects a deeply nested file before libyaml loads it, because loading takes time quadratic in the
 * depth. Rejects a file with several documents, because yaml_parser_load reads only the first.
 */
static int check_events(struct reading *r)
{
	yaml_parser_t parser;
	yaml_event_t event;
	bool is_last = false;
	int depth = 0, documents = 0, rc = start_parser(r, &parser);

	TRY(rc);
	while (rc == HDB_OK && !is_last && yaml_parser_parse(&parser, &event)) {
		depth += event.type == YAML_MAPPING_START_EVENT ||
			 event.type == YAML_SEQUENCE_START_EVENT;
		depth -= event.type == YAML_MAPPING_END_EVENT ||
			 event.type == YAML_SEQUENCE_END_EVENT;
		documents += event.type == YAML_DOCUMENT_START_EVENT;
		is_last = event.type == YAML_STREAM_END_EVENT;
		if (depth > DEPTH_MAX)
			rc = wrong(r, &event.start_mark, "maps and lists are nested too deeply",
				   NULL);
		else if (documents > 1)
			rc = wrong(r, &event.start_mark, "expected a single document", NULL);
		yaml_event_delete(&event);
	}
	if (rc == HDB_OK && !is_last)
		rc = wrong(r, &parser.problem_mark, parser.problem ? parser.problem : "no YAML",
			   NULL);
	yaml_parser_delete(&parser);
	return rc;
}

int gate_read(struct cli *cli, const struct file_text *file, struct gate_budget *budget)
{
	struct reading r = { .cli = cli, .file = file, .budget = budget };
	yaml_parser_t parser;
	int rc;

	*budget = (struct gate_budget){ .path = file->name, .margin = MARGIN };
	TRY(check_events(&r));
	TRY(start_parser(&r, &parser));
	if (yaml_parser_load(&parser, &r.document)) {
		rc = read_top(&r);
		yaml_document_delete(&r.document);
	} else {
		rc = wrong(&r, &parser.problem_mark, parser.problem ? parser.problem : "no YAML",
			   NULL);
	}
	yaml_parser_delete(&parser);
	return rc;
}

void gate_release(struct gate_budget *budget)
{
	for (size_t i = 0; i < budget->count; i++) {
		free(budget->checks[i].name);
		free(budget->checks[i].target);
	}
	free(budget->checks);
}

/* ---- rewriting ---- */

/*
 * Writes a limit that allows the value plus the margin. Rounds up, in a unit that is easy to read.
 */
static void new_limit(const struct gate_check *c, double margin, char *buf, size_t size)
{
	static const char *const units[] = { "", " KB", " MB" };
	/* numbers of leaks and secrets are exact, so they get no margin */
	double value =
		(c->value > 0 ? c->value : 0) * (1 + (c->measure >= GATE_LEAKS ? 0 : margin / 100));
	unsigned unit = 0;

	if (c->is_percent) {
		(void)snprintf(buf, size, "<= %.1f %%", ceil(value * 10) / 10);
		return;
	}
	for (; gate_is_size(c) && unit < 2 && value >= 10240; unit++)
		value /= 1024;
	if (c->measure >= GATE_LEAKS && c->value <= 0)
		(void)snprintf(buf, size, "none");
	else
		(void)snprintf(buf, size, "<= %.0f%s", ceil(value), units[unit]);
}

/*
 * Returns the offset of the limit: the last "<=" or "none". Text before the limit, such as a quote,
 * an anchor or escapes in the target, does not change.
 */
static size_t limit_at(const struct file_text *file, const struct gate_check *c)
{
	const char *words[] = { "<=", "none" };

	for (size_t w = 0; w < 2; w++)
		for (size_t at = c->at + c->size; at-- > c->at;)
			if (strncmp(file->data + at, words[w], strlen(words[w])) == 0)
				return at;
	return c->at + c->size;
}

int gate_update(struct cli *cli, const struct file_text *file, const struct gate_budget *budget)
{
	struct base_outfile_options options = { .packing = BASE_PLAIN, .force = true };
	/* a symbolic link remains a link */
	BASE_FREED char *path = realpath(file->name, NULL);
	struct base_outfile *out = NULL;
	struct stat st;
	size_t done = 0;
	int rc;

	if (!path || stat(path, &st) < 0)
		return hdb_fail_errno(&cli->err, errno, "%s", file->name);
	options.mode = st.st_mode & 0777;
	TRY(base_outfile_create(path, &options, &out, &cli->err));
	rc = HDB_OK;
	for (size_t i = 0; rc == HDB_OK && i < budget->count; i++) {
		const struct gate_check *c = &budget->checks[i];
		const size_t end = c->at + c->size, from = limit_at(file, c);
		char limit[64];

		/*
		 * the limit of a YAML alias belongs to another check, which has already been
		 * updated
		 */
		if (c->at < done || c->is_unknown || isinf(c->value))
			continue;
		new_limit(c, budget->margin, limit, sizeof(limit));
		if (from == end)
			rc = hdb_fail(&cli->err, HDB_EUSAGE,
				      "%s:%zu: cannot update a limit that is written with escapes",
				      file->name, c->line);
		if (rc == HDB_OK)
			rc = base_outfile_write(out, file->data + done, from - done, &cli->err);
		if (rc == HDB_OK)
			rc = base_outfile_write(out, limit, strlen(limit), &cli->err);
		/* keep the closing quote */
		done = end - (file->data[end - 1] == '"' || file->data[end - 1] == '\'');
	}
	if (rc == HDB_OK)
		rc = base_outfile_write(out, file->data + done, file->size - done, &cli->err);
	if (rc != HDB_OK) {
		base_outfile_abort(out);
		return rc;
	}
	TRY(base_outfile_finish(out, NULL, &cli->err));
	cli_notice(cli, "%s: the limits are updated", file->name);
	return HDB_OK;
}
