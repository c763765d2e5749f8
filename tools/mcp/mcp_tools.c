/*
 * mcp/mcp_tools.c - the tools: one tool each for the ten most useful queries, and "query" for all
 * others. The options, strings and columns of a tool for a query come from the registry.
 */
#include "mcp_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of options and targets of a call. Hostile calls may name more. */
#define ARGUMENTS_MAX 64

struct tool {
	const char *name;
	const char *query; /* the query that the tool runs, or NULL if none */
	unsigned takes;    /* enum mcp_takes */
	int (*run)(const struct mcp_call *call, const struct tool *tool, json_t **out,
		   struct hdb_error *err);
	const char *title;
	const char *use; /* when to use the tool; precedes the summary of the query */
};

/* ---- reading arguments ---- */

/* Returns whether the value is a string without zero characters. */
static bool is_text(const json_t *value)
{
	return json_is_string(value) &&
	       strlen(json_string_value(value)) == json_string_length(value);
}

/*
 * Returns a string argument, or NULL if the argument is absent. Fails with HDB_EUSAGE for other
 * types.
 */
static int take_text(const json_t *args, const char *name, const char **text, struct hdb_error *err)
{
	const json_t *value = json_object_get(args, name);

	*text = NULL;
	if (!value || json_is_null(value))
		return HDB_OK;
	if (!is_text(value))
		return hdb_fail(err, HDB_EUSAGE, "\"%s\" must be a string", name);
	*text = json_string_value(value);
	return HDB_OK;
}

static int take_number(const json_t *args, const char *name, uint64_t *number,
		       struct hdb_error *err)
{
	const json_t *value = json_object_get(args, name);

	if (!value || json_is_null(value))
		return HDB_OK;
	if (!json_is_integer(value) || json_integer_value(value) < 1)
		return hdb_fail(err, HDB_EUSAGE, "\"%s\" must be a positive integer", name);
	*number = (uint64_t)json_integer_value(value);
	return HDB_OK;
}

int mcp_take_pid(const json_t *args, int *pid, struct hdb_error *err)
{
	const json_t *value = json_object_get(args, "pid");

	if (value && (!json_is_integer(value) || json_integer_value(value) < 1 ||
		      json_integer_value(value) > INT32_MAX))
		return hdb_fail(err, HDB_EUSAGE, "\"pid\" must be a process ID");
	*pid = (int)json_integer_value(value);
	return HDB_OK;
}

int mcp_take_budget(const json_t *args, size_t *bytes, struct hdb_error *err)
{
	uint64_t tokens = MCP_TOKENS_DEFAULT;

	TRY(take_number(args, "max_tokens", &tokens, err));
	if (tokens < MCP_TOKENS_MIN || tokens > MCP_TOKENS_MAX)
		return hdb_fail(err, HDB_EUSAGE, "\"max_tokens\" must be between %d and %d",
				MCP_TOKENS_MIN, MCP_TOKENS_MAX);
	*bytes = tokens * MCP_BYTES_PER_TOKEN;
	return HDB_OK;
}

/* Arguments of a query during a call. */
struct asking {
	const struct mcp_call *call;
	const struct tool *tool;
	const struct hdb_query_spec *spec;
	const json_t *options; /* borrowed */
	const char *targets[ARGUMENTS_MAX];
	size_t target_count;
	struct hdb_option given[ARGUMENTS_MAX];
	size_t given_count;
	char *made[ARGUMENTS_MAX]; /* numbers converted to text, owned */
	size_t made_count;
	struct hdb *before[MCP_BEFORE_MAX];
	size_t before_count;
	struct hdb *db;
	char *shown; /* display name of the database, owned */
	const char *sort;
	struct mcp_page page;
	uint32_t hash; /* hash of the arguments, for cursors */
};

static void release_asking(struct asking *a)
{
	for (size_t i = 0; i < a->made_count; i++)
		free(a->made[i]);
	free(a->shown);
}

/* Calls `add` for a string, or for each string of an array. */
static int take_texts(struct asking *a, const char *name,
		      int (*add)(struct asking *a, const char *text, struct hdb_error *err),
		      struct hdb_error *err)
{
	const json_t *value = json_object_get(a->call->args, name);
	const size_t count = json_is_array(value) ? json_array_size(value) : 1;

	if (!value || json_is_null(value))
		return HDB_OK;
	for (size_t i = 0; i < count; i++) {
		const json_t *text = json_is_array(value) ? json_array_get(value, i) : value;

		if (!is_text(text))
			return hdb_fail(err, HDB_EUSAGE,
					"\"%s\" must be a string or an array of strings", name);
		TRY_ERRORS(add(a, json_string_value(text), err));
	}
	return HDB_OK;
}

static int add_target(struct asking *a, const char *text, struct hdb_error *err)
{
	if (a->target_count == ARGUMENTS_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too many targets (limit %d)", ARGUMENTS_MAX);
	a->targets[a->target_count++] = text;
	return HDB_OK;
}

static int add_before(struct asking *a, const char *text, struct hdb_error *err)
{
	struct hdb *db = NULL;

	if (a->before_count == MCP_BEFORE_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too many earlier databases (limit %d)",
				MCP_BEFORE_MAX);
	TRY(mcp_files_open(a->call->files, text, &db, NULL, err));
	for (size_t i = 0; i <= a->before_count; i++) {
		if (db == (i == a->before_count ? a->db : a->before[i]))
			return hdb_fail(err, HDB_EUSAGE, "\"%s\" is compared with itself", text);
	}
	a->before[a->before_count++] = db;
	return HDB_OK;
}

static int add_option(struct asking *a, const char *name, const char *value, struct hdb_error *err)
{
	if (a->given_count == ARGUMENTS_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too many options (limit %d)", ARGUMENTS_MAX);
	a->given[a->given_count++] = (struct hdb_option){ name, value };
	return HDB_OK;
}

static int add_number(struct asking *a, const char *name, const json_t *value,
		      struct hdb_error *err)
{
	char text[64];

	if (a->made_count == ARGUMENTS_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too many options (limit %d)", ARGUMENTS_MAX);
	if (json_is_integer(value))
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else
		snprintf(text, sizeof(text), "%.15g", json_real_value(value));
	TRY(BASE_COPY(a->made[a->made_count], text, "an option", err));
	return add_option(a, name, a->made[a->made_count++], err);
}

/* Adds a value of an option. Arrays are added element by element. */
static int add_value(struct asking *a, const struct hdb_option_spec *option, const json_t *value,
		     struct hdb_error *err)
{
	if (json_is_null(value) || json_is_false(value))
		return HDB_OK;
	if (!option->argument)
		return json_is_true(value) ? add_option(a, option->name, NULL, err) :
					     hdb_fail(err, HDB_EUSAGE,
						      "\"%s\" must be true or false", option->name);
	if (json_is_number(value))
		return add_number(a, option->name, value, err);
	if (!is_text(value))
		return hdb_fail(err, HDB_EUSAGE, "\"%s\" takes %s", option->name, option->argument);
	return add_option(a, option->name, json_string_value(value), err);
}

/* Fails with HDB_EUSAGE for an unknown argument or option. The message lists the valid ones. */
static int refuse_name(const struct hdb_query_spec *spec, unsigned takes, const char *name,
		       struct hdb_error *err)
{
	json_auto_t *schema = mcp_schema_of(spec, takes);
	BASE_SCOPED(bytes_release) struct bytes names = { 0 };
	const char *key;
	json_t *value;

	json_object_foreach(json_object_get(schema, "properties"), key, value)
	{
		if (takes || strcmp(key, "target") != 0)
			bytes_format(&names, "%s%s", names.size ? ", " : "", key);
	}
	return hdb_fail(err, HDB_EUSAGE, "unknown %s \"%.60s\"; expected one of: %.*s",
			takes ? "argument" : "option", name, names.size ? (int)names.size : 4,
			names.size ? names.data : "none");
}

static int take_option(struct asking *a, const char *name, const json_t *value,
		       struct hdb_error *err)
{
	const struct hdb_option_spec *option = mcp_find_option(a->spec, name);

	if (!option)
		return refuse_name(a->spec, 0, name, err);
	if (!json_is_array(value))
		return add_value(a, option, value, err);
	for (size_t i = 0; i < json_array_size(value); i++)
		TRY(add_value(a, option, json_array_get(value, i), err));
	return HDB_OK;
}

/*
 * Returns whether this is an argument of the tool itself. Options of the tool's query take
 * precedence.
 */
static bool is_common(unsigned takes, const char *name)
{
	json_auto_t *schema = mcp_schema_of(NULL, takes);

	return json_object_get(json_object_get(schema, "properties"), name) ||
	       ((takes & MCP_TAKES_ROWS) && strcmp(name, "target") == 0);
}

/*
 * Reads options. For the tool "query", options are in an object; for other tools, they are among
 * the arguments.
 */
static int take_options(struct asking *a, struct hdb_error *err)
{
	const bool is_apart = a->tool->takes & MCP_TAKES_OPTIONS;
	json_t *options = json_object_get(a->call->args, "options");
	const char *name;
	json_t *value;
	int r = HDB_OK;

	json_object_foreach(a->call->args, name, value)
	{
		if (!is_apart && mcp_find_option(a->spec, name))
			r = take_option(a, name, value, err);
		else if (is_apart && mcp_find_option(a->spec, name))
			r = hdb_fail(err, HDB_EUSAGE,
				     "\"%s\" is an option of the query: pass this option in "
				     "\"options\"",
				     name);
		else if (!is_common(a->tool->takes, name))
			r = refuse_name(is_apart ? NULL : a->spec, a->tool->takes, name, err);
		TRY(r);
	}
	if (!is_apart || !options || json_is_null(options))
		return HDB_OK;
	if (!json_is_object(options))
		return hdb_fail(err, HDB_EUSAGE, "\"options\" must be an object");
	json_object_foreach(options, name, value)
	{
		TRY(take_option(a, name, value, err));
	}
	return HDB_OK;
}

/* ---- cursors, which contain the next row and a hash of the request ---- */

/*
 * Returns a hash (FNV-1a) of the arguments as JSON, by which cursors of other requests are
 * recognised and rejected.
 */
static uint32_t hash_of(const struct asking *a)
{
	static const char *const others[] = { "cursor", "limit", "max_tokens" };
	json_t *question = json_copy(a->call->args);
	uint32_t hash = 2166136261U;
	char *text;

	for (size_t i = 0; i < BASE_COUNT(others); i++)
		json_object_del(question, others[i]);
	json_object_set_new(question, "tool", json_string(a->tool->name));
	text = json_dumps(question, JSON_SORT_KEYS | JSON_COMPACT);
	for (const char *c = text; c && *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619U;
	free(text);
	json_decref(question);
	return hash;
}

static int take_cursor(struct asking *a, struct hdb_error *err)
{
	const char *text;
	uint64_t offset;
	uint32_t hash;
	int end = 0, r;

	a->hash = hash_of(a);
	if ((r = take_text(a->call->args, "cursor", &text, err)) < 0 || !text)
		return r;
	if (sscanf(text, "%" SCNu64 "-%" SCNx32 "%n", &offset, &hash, &end) != 2 || text[end])
		return hdb_fail(err, HDB_EUSAGE, "\"%.40s\" is not a cursor", text);
	if (hash != a->hash)
		return hdb_fail(err, HDB_EUSAGE,
				"the cursor belongs to a different question; repeat the question "
				"that returned it");
	a->page.offset = offset;
	return HDB_OK;
}

static void put_cursor(const struct asking *a, json_t *answer)
{
	if (!a->page.next)
		return;
	json_object_set_new(answer, "next_cursor",
			    json_sprintf("%" PRIu64 "-%08" PRIx32, a->page.next, a->hash));
}

/* ---- tools that are queries ---- */

static int take_name(struct asking *a, struct hdb_error *err)
{
	const char *name = a->tool->query;
	int r;

	if (!name && (r = take_text(a->call->args, "name", &name, err)) < 0)
		return r;
	if (!name)
		return hdb_fail(err, HDB_EUSAGE, "missing \"name\" of a query");
	a->spec = hdb_query_named(name);
	if (!a->spec)
		return hdb_fail(err, HDB_NOTFOUND,
				"unknown query \"%.60s\"; the \"explain\" tool lists all queries",
				name);
	return HDB_OK;
}

static int take_rows(struct asking *a, struct hdb_error *err)
{
	const json_t *args = a->call->args;
	const bool is_apart = a->tool->takes & MCP_TAKES_OPTIONS;
	int r;

	TRY(take_text(args, "sort", &a->sort, err));
	if ((is_apart || !mcp_find_option(a->spec, "limit")) &&
	    (r = take_number(args, "limit", &a->page.limit, err)) < 0)
		return r;
	if (is_apart || !mcp_find_option(a->spec, "columns")) {
		a->page.columns = json_object_get(args, "columns");
		if (json_is_null(a->page.columns))
			a->page.columns = NULL;
		if (a->page.columns && !json_is_array(a->page.columns))
			return hdb_fail(err, HDB_EUSAGE, "\"columns\" must be an array of names");
	}
	TRY(mcp_take_budget(args, &a->page.budget_bytes, err));
	return take_cursor(a, err);
}

static int take_database(struct asking *a, struct hdb_error *err)
{
	const char *name;

	TRY(take_text(a->call->args, "db", &name, err));
	return mcp_files_open(a->call->files, name, &a->db, &a->shown, err);
}

static int run_query(const struct mcp_call *call, const struct tool *tool, json_t **out,
		     struct hdb_error *err)
{
	BASE_SCOPED(release_asking) struct asking a = { .call = call, .tool = tool };
	struct mcp_question question = { .cancel = call->cancel };

	TRY(take_name(&a, err));
	TRY(take_options(&a, err));
	TRY(take_texts(&a, "target", add_target, err));
	TRY(take_rows(&a, err));
	if (!a.target_count && *a.spec->targets && *a.spec->targets != '[')
		return hdb_fail(err, HDB_EUSAGE, "expected a \"target\": %s", a.spec->targets);
	TRY(take_database(&a, err));
	TRY(take_texts(&a, "before", add_before, err));
	if (tool->query && (tool->takes & MCP_TAKES_BEFORE) && !a.before_count)
		return hdb_fail(err, HDB_EUSAGE, "missing \"before\" (an earlier database)");
	/* subtract the size of the database's name from the budget */
	a.page.budget_bytes -= strlen(a.shown) < MCP_TOKENS_MIN ? strlen(a.shown) : MCP_TOKENS_MIN;
	question.spec = a.spec;
	question.args = (struct hdb_query_args){
		.struct_size = sizeof(struct hdb_query_args),
		.targets = a.targets,
		.target_count = a.target_count,
		.options = a.given,
		.option_count = a.given_count,
		.sort = a.sort,
		.before = a.before,
		.before_count = a.before_count,
	};
	TRY(mcp_answer(a.db, &question, &a.page, out, err));
	json_object_set_new(*out, "db", json_string(a.shown));
	put_cursor(&a, *out);
	return HDB_OK;
}

/* ---- open, overview, explain ---- */

static int check_names(const struct mcp_call *call, const struct tool *tool, struct hdb_error *err)
{
	const char *name;
	json_t *value;

	json_object_foreach(call->args, name, value)
	{
		if (!is_common(tool->takes, name))
			return refuse_name(NULL, tool->takes, name, err);
	}
	return HDB_OK;
}

int mcp_begin(const struct mcp_call *call, const struct tool *tool, const char *name,
	      const char **text, struct hdb_error *err)
{
	const int r = check_names(call, tool, err);

	return r < 0 ? r : take_text(call->args, name, text, err);
}

static void put_health(json_t *answer, const struct hdb *db)
{
	struct hdb_health health = { .struct_size = sizeof(health) };

	hdb_health(db, &health);
	if (health.stale)
		json_object_set_new(answer, "stale", json_string(health.stale));
	if (health.redacted)
		json_object_set_new(answer, "redacted", json_string(health.redacted));
	if (health.incomplete)
		json_object_set_new(answer, "incomplete", json_string(health.incomplete));
}

static int run_open(const struct mcp_call *call, const struct tool *tool, json_t **out,
		    struct hdb_error *err)
{
	BASE_SCOPED(release_asking) struct asking a = { .call = call, .tool = tool };
	const char *name;

	TRY(mcp_begin(call, tool, "db", &name, err));
	if (!name) {
		json_t *list = mcp_files_list(call->files);

		*out = json_pack("{s:o}", "databases", list);
		if (json_array_size(list) == MCP_LIST_MAX)
			json_object_set_new(*out, "note", json_string("list may be incomplete"));
		return HDB_OK;
	}
	TRY(take_database(&a, err));
	*out = json_pack("{s:s, s:b}", "db", a.shown, "opened", 1);
	put_health(*out, a.db);
	return HDB_OK;
}

/* Parts of the overview: queries with which most investigations begin. */
static const struct part {
	const char *title, *query;
	struct hdb_option option; /* NULL name: none */
	uint64_t limit;           /* number of rows; 0 means as many as fit */
	bool without_facts;
	const char *columns[12]; /* terminated by NULL; if empty, all columns */
} parts[] = {
	{ "findings",
	  "triage",
	  { NULL, NULL },
	  0,
	  false,
	  { "severity", "rule", "count", "unit", "bytes", "percent", "id", "label", "text",
	    "detail", "advice", NULL } },
	{ "leak suspects",
	  "leaks",
	  { "brief", NULL },
	  0,
	  false,
	  { "suspect", "kind", "id", "class", "via_field", "retained", "percent", "text", "action",
	    "target", NULL } },
	{ "biggest objects", "top", { NULL, NULL }, 8, true, { NULL } },
	{ "biggest classes", "top", { "by", "class" }, 10, true, { NULL } },
	{ "dump", "info", { NULL, NULL }, 0, true, { "section", "key", "value" } },
};
#define PART_COUNT BASE_COUNT(parts)

static int answer_part(const struct asking *a, const struct part *part, size_t budget_bytes,
		       json_t **out, struct hdb_error *err)
{
	struct mcp_page page = {
		.budget_bytes = budget_bytes,
		.limit = part->limit,
		.without_facts = part->without_facts,
	};
	const struct mcp_question question = {
		.spec = hdb_query_named(part->query),
		.args = { .options = &part->option, .option_count = part->option.name != NULL },
		.cancel = a->call->cancel,
	};

	json_auto_t *columns = NULL;

	if (!question.spec)
		return HDB_OK;
	for (size_t i = 0; part->columns[i]; i++) {
		if (!columns)
			columns = json_array();
		json_array_append_new(columns, json_string(part->columns[i]));
	}
	page.columns = columns;
	return mcp_answer(a->db, &question, &page, out, err);
}

static int run_overview(const struct mcp_call *call, const struct tool *tool, json_t **out,
			struct hdb_error *err)
{
	BASE_SCOPED(release_asking) struct asking a = { .call = call, .tool = tool };
	json_auto_t *all = json_object();
	size_t budget;
	int r;

	TRY(check_names(call, tool, err));
	TRY(mcp_take_budget(call->args, &budget, err));
	TRY(take_database(&a, err));
	json_object_set_new(all, "db", json_string(a.shown));
	put_health(all, a.db);
	for (size_t i = 0; i < PART_COUNT; i++) {
		const size_t used = mcp_size(all) + PART_COUNT * 24;
		const size_t left = used < budget ? budget - used : 0;
		json_t *part = NULL;

		/*
		 * the first part gets about a third of the budget, and later parts get shares of
		 * the rest
		 */
		r = answer_part(&a, &parts[i], 2 * left / (PART_COUNT - i + 1), &part, err);
		/*
		 * if the budget has no room for a part, its name tells the client which query to
		 * run
		 */
		if (r == HDB_ELIMIT) {
			part = json_string("omitted because of max_tokens");
			r = HDB_OK;
		}
		/* if the dump is missing, continue with the parts that do not need the dump */
		if (r == HDB_ECHANGED) {
			part = json_string(err->message);
			r = HDB_OK;
		}
		TRY(r);
		if (part)
			json_object_set_new(all, parts[i].title, part);
	}
	*out = json_incref(all);
	return HDB_OK;
}

static int run_statement(const struct mcp_call *call, const struct tool *tool, json_t **out,
			 struct hdb_error *err)
{
	BASE_SCOPED(release_asking) struct asking a = { .call = call, .tool = tool };
	struct mcp_statement statement = { .is_sql = tool->takes & MCP_TAKES_ALL,
					   .cancel = call->cancel };
	const json_t *all = json_object_get(call->args, "all");

	TRY(mcp_begin(call, tool, "statement", &statement.text, err));
	if (!statement.text || (all && !json_is_boolean(all)))
		return hdb_fail(err, HDB_EUSAGE,
				!statement.text ? "expected a \"statement\"" :
						  "\"all\" must be true or false");
	TRY(take_number(call->args, "limit", &a.page.limit, err));
	TRY(mcp_take_budget(call->args, &a.page.budget_bytes, err));
	TRY(take_database(&a, err));
	statement.db = a.db;
	statement.all = json_is_true(all);
	return mcp_answer_statement(&statement, &a.page, out, err);
}

static int run_explain(const struct mcp_call *call, const struct tool *tool, json_t **out,
		       struct hdb_error *err)
{
	BASE_SCOPED(release_asking) struct asking a = { .call = call, .tool = tool };
	const char *name;

	TRY(mcp_begin(call, tool, "name", &name, err));
	if (!name) {
		*out = mcp_schema_queries();
		return HDB_OK;
	}
	TRY(take_name(&a, err));
	*out = mcp_schema_explain(a.spec);
	return HDB_OK;
}

/* ---- the tools ---- */

#define TAKES_QUESTION (MCP_TAKES_DB | MCP_TAKES_ROWS | MCP_TAKES_BUDGET)
#define TAKES_STATEMENT (MCP_TAKES_DB | MCP_TAKES_BUDGET | MCP_TAKES_STATEMENT)
#define TAKES_ANY (MCP_TAKES_NAME | MCP_TAKES_OPTIONS | MCP_TAKES_BEFORE)

#define RULE_rule(word, text, nth) .name = text
#define RULE_query(word, text, nth) .query = text
#define RULE_takes(arguments, text, nth) .takes = arguments
#define RULE_run(function, text, nth) .run = function
#define RULE_title(word, text, nth) .title = text
#define RULE_use(word, text, nth) .use = text
static const struct tool tools[] = {
#include <mcp/mcp_tools.rules.h>
};
#define TOOL_COUNT BASE_COUNT(tools)

/*
 * Returns whether the tool is available: that is, this build includes its query or language, and,
 * if it requires consent, the user can be asked.
 */
static bool is_there(const struct mcp_options *options, const struct tool *tool, bool can_ask)
{
	if (tool->takes & (MCP_TAKES_DUMP | MCP_TAKES_PID))
		return can_ask || (tool->takes & MCP_TAKES_DUMP ? options->allow_import :
								  options->allow_capture);
#ifndef HAVE_SQLITE
	if (tool->takes & MCP_TAKES_ALL)
		return false;
#endif
	return !tool->query || hdb_query_named(tool->query);
}

static const struct tool *find_tool(const struct mcp_options *options, const char *name,
				    bool can_ask)
{
	for (size_t i = 0; i < TOOL_COUNT; i++) {
		if (strcmp(tools[i].name, name) == 0 && is_there(options, &tools[i], can_ask))
			return &tools[i];
	}
	return NULL;
}

bool mcp_tool_exists(const struct mcp_options *options, const char *name, bool can_ask)
{
	return find_tool(options, name, can_ask) != NULL;
}

static json_t *describe(const struct tool *tool)
{
	const struct hdb_query_spec *spec = tool->query ? hdb_query_named(tool->query) : NULL;
	const int reads = !(tool->takes & (MCP_TAKES_DUMP | MCP_TAKES_PID));
	char text[2048];
	int used;

	used = snprintf(text, sizeof(text), "%s", tool->use);
	if (spec)
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 " Query \"%s\": %s. Columns:", spec->name, spec->summary);
	for (size_t i = 0; spec && i < spec->column_count && (size_t)used < sizeof(text) - 100; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, "%s %.60s", i ? "," : "",
				 hdb_query_column(spec, i)->name);
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:{s:b, s:b, s:b, s:b}}", "name", tool->name,
			 "title", tool->title, "description", text, "inputSchema",
			 mcp_schema_of(spec, tool->takes), "outputSchema",
			 mcp_schema_output(tool->takes), "annotations", "readOnlyHint", reads,
			 "destructiveHint", 0, "idempotentHint", reads, "openWorldHint", 0);
}

json_t *mcp_tools_list(const struct mcp_options *options, bool can_ask)
{
	json_t *list = json_array();

	for (size_t i = 0; i < TOOL_COUNT; i++) {
		if (is_there(options, &tools[i], can_ask))
			json_array_append_new(list, describe(&tools[i]));
	}
	return list;
}

int mcp_tool_call(const struct mcp_call *call, json_t **out, struct hdb_error *err)
{
	const struct tool *tool = find_tool(call->files->options, call->name, true);

	*out = NULL;
	call->files->call++;
	if (!tool)
		return hdb_fail(err, HDB_NOTFOUND, "unknown tool \"%.60s\"", call->name);
	TRY(tool->run(call, tool, out, err));
	return *out ? HDB_OK : hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for an answer");
}
