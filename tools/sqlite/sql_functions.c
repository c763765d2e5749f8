/*
 * sqlite/sql_functions.c - functions of an object, and aggregates over objects. With several
 * databases, each function accepts the name of a schema as an additional last argument. The default
 * is the first database.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "sqlite/sql_private.h"

#include <pcre2.h>

/* Maximum number of steps that path() shows. */
#define PATH_STEPS 40

/*
 * Returns the source of a call: the source that the last argument names if there are more than
 * `plain` arguments.
 */
static struct sql_source *source_of(struct sqlite3_context *ctx, int argc, sqlite3_value **argv,
				    int plain)
{
	struct sql_source *source = sqlite3_user_data(ctx);
	const char *name;

	if (argc <= plain)
		return source;
	name = (const char *)sqlite3_value_text(argv[plain]);
	source = name ? sql_source_named(source->owner, name) : NULL;
	if (!source)
		sqlite3_result_error(ctx, "no such database", -1);
	return source;
}

/*
 * Sets *ix to the object that the argument identifies. Returns false if there is no such object,
 * and reports failures to SQLite.
 */
static bool object_of(struct sqlite3_context *ctx, struct sql_source *source, sqlite3_value *value,
		      uint32_t *ix)
{
	struct hdb_error err;
	int r;

	sql_no_error(&err);
	r = sql_value_object(source, value, ix, &err);
	if (r < 0)
		sql_function_fail(ctx, source, r, &err);
	return r == HDB_OK;
}

static void end(struct sqlite3_context *ctx, struct sql_source *source, int r,
		struct hdb_error *err)
{
	r = sql_end(source, r, err);
	if (r < 0)
		sql_function_fail(ctx, source, r, err);
}

/*
 * Returns a result for object ix to SQLite. The result is NULL unless the function sets another
 * one. `argv` begins at the second argument.
 */
typedef int (*object_answer)(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
			     sqlite3_value **argv, struct hdb_error *err);

/* Calls a function that takes an object and `more` arguments. */
static void call(struct sqlite3_context *ctx, int argc, sqlite3_value **argv, int more,
		 object_answer answer)
{
	struct sql_source *source = source_of(ctx, argc, argv, more + 1);
	struct hdb_error err;
	uint32_t ix;

	if (!source || !object_of(ctx, source, argv[0], &ix))
		return;
	sql_no_error(&err);
	end(ctx, source, answer(ctx, source, ix, argv + 1, &err), &err);
}

static int answer_text(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
		       sqlite3_value **argv, struct hdb_error *err)
{
	(void)argv;
	return sql_result_text_of(ctx, source, ix, err);
}

static int answer_class(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
			sqlite3_value **argv, struct hdb_error *err)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	(void)argv;
	TRY(hdb_object_at(source->db, ix, &facts, err));
	sql_result_class(ctx, source, facts.class_no);
	return HDB_OK;
}

static int answer_shallow(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
			  sqlite3_value **argv, struct hdb_error *err)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	(void)argv;
	TRY(hdb_object_at(source->db, ix, &facts, err));
	sqlite3_result_int64(ctx, (sqlite3_int64)facts.shallow_bytes);
	return HDB_OK;
}

static int answer_retained(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
			   sqlite3_value **argv, struct hdb_error *err)
{
	(void)argv;
	return sql_result_retained(ctx, source, ix, err);
}

static int answer_dominator(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
			    sqlite3_value **argv, struct hdb_error *err)
{
	uint32_t dominator;

	(void)argv;
	TRY(hdb_dominator_at(source->db, ix, &dominator, err));
	return sql_result_ix(ctx, source, dominator, err);
}

static int answer_field(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
			sqlite3_value **argv, struct hdb_error *err)
{
	const char *path = (const char *)sqlite3_value_text(argv[0]);
	struct hdb_basic value;

	TRY(path ? hdb_path_value(source->db, ix, path, &value, err) : HDB_NOTFOUND);
	sql_result_basic(ctx, &value);
	return HDB_OK;
}

static int answer_element(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
			  sqlite3_value **argv, struct hdb_error *err)
{
	const sqlite3_int64 no = sqlite3_value_int64(argv[0]);
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	struct hdb_basic value;
	uint64_t bits;
	struct hdb_slice slice = { .struct_size = sizeof(slice), .room = 1, .bits = &bits };

	TRY(hdb_object_at(source->db, ix, &facts, err));
	if (no < 0 || (uint64_t)no >= facts.length)
		return HDB_OK;
	slice.from = (uint64_t)no;
	TRY(hdb_elements(source->db, ix, &slice, err));
	if (slice.count) {
		hdb_basic_of(slice.type, bits, &value);
		sql_result_basic(ctx, &value);
	}
	return HDB_OK;
}

/* The classes of one database that match a name or pattern. */
struct marks {
	const struct sql_source *source;
	uint8_t by_class[];
};

/*
 * Returns the classes that the second argument names, or NULL if a failure was reported. SQLite
 * caches the classes between rows.
 */
static const struct marks *marks_of(struct sqlite3_context *ctx, struct sql_source *source,
				    const char *name, struct hdb_error *err)
{
	struct marks *marks = sqlite3_get_auxdata(ctx, 1);
	int r;

	/* the row may refer to a different database than the previous row */
	if (marks && marks->source == source)
		return marks;
	marks = sqlite3_malloc64(sizeof(*marks) + hdb_class_count(source->db) + 1);
	if (!marks) {
		sqlite3_result_error_nomem(ctx);
		return NULL;
	}
	memset(marks, 0, sizeof(*marks) + hdb_class_count(source->db) + 1);
	marks->source = source;
	r = hdb_classes_like(source->db, name, 1, marks->by_class, err);
	if (r < 0) {
		sql_function_fail(ctx, source, r, err);
		sqlite3_free(marks);
		return NULL;
	}
	sqlite3_set_auxdata(ctx, 1, marks, sqlite3_free);
	/* SQLite may have freed the classes instead of caching them */
	return sqlite3_get_auxdata(ctx, 1);
}

static int answer_is_instance(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
			      sqlite3_value **argv, struct hdb_error *err)
{
	const char *name = (const char *)sqlite3_value_text(argv[0]);
	const struct marks *marks = name ? marks_of(ctx, source, name, err) : NULL;
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	if (!marks)
		return HDB_OK;
	TRY(hdb_object_at(source->db, ix, &facts, err));
	sqlite3_result_int(ctx, marks->by_class[facts.class_no] != 0);
	return HDB_OK;
}

/* Path from an object to its root. A ring buffer keeps the last PATH_STEPS steps. */
struct root_path {
	uint32_t steps[PATH_STEPS];
	size_t count; /* length of the whole path */
};

static int find_path(struct sql_source *source, uint32_t ix, struct root_path *path,
		     struct hdb_error *err)
{
	uint32_t parent = HDB_NONE;

	for (; ix != HDB_NONE && path->count <= hdb_object_count(source->db); ix = parent) {
		TRY(hdb_parent_at(source->db, ix, 1, &parent, err));
		path->steps[path->count++ % PATH_STEPS] = ix;
	}
	return HDB_OK;
}

/* Writes "thread object: ". A local variable is shown only if nothing else refers to the object. */
static int write_root(struct sql_source *source, uint32_t ix, sqlite3_str *out,
		      struct hdb_error *err)
{
	uint64_t first, count;
	struct hdb_root root = { .struct_size = sizeof(root) };

	TRY(hdb_roots_of(source->db, ix, &first, &count, err));
	for (uint64_t i = 0; i < count; i++) {
		TRY(hdb_root_at(source->db, first + i, &root, err));
		if (root.is_local && i + 1 < count)
			continue;
		sqlite3_str_appendf(out, "%s: ", root.kind);
		break;
	}
	return HDB_OK;
}

static int write_class(struct sql_source *source, uint32_t ix, sqlite3_str *out,
		       struct hdb_error *err)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	TRY(hdb_object_at(source->db, ix, &facts, err));
	if (facts.kind == HDB_KIND_CLASS)
		sqlite3_str_appendf(out, "class %s", hdb_class_name(source->db, facts.stands_for));
	else
		sqlite3_str_appendf(out, "%s", hdb_class_name(source->db, facts.class_no));
	return HDB_OK;
}

/* Writes "thread object: java.lang.Thread.threadLocals > ...", from the GC root to the object. */
static int write_path(struct sql_source *source, uint32_t ix, sqlite3_str *out,
		      struct hdb_error *err)
{
	struct root_path path = { .count = 0 };
	char name[512];
	size_t left_out;
	int r = find_path(source, ix, &path, err);

	if (r != HDB_OK || !path.count)
		return r;
	left_out = path.count > PATH_STEPS ? path.count - PATH_STEPS : 0;
	TRY(write_root(source, path.steps[(path.count - 1) % PATH_STEPS], out, err));
	for (size_t i = path.count - 1;; i--) {
		const uint32_t from = path.steps[i % PATH_STEPS];

		assert(i >= left_out);
		TRY(write_class(source, from, out, err));
		if (i == left_out)
			break;
		TRY(hdb_holder(source->db, from, path.steps[(i - 1) % PATH_STEPS], name,
			       sizeof(name), err));
		sqlite3_str_appendf(out, "%s%s > ", name[0] == '[' ? "" : " . ", name);
	}
	if (left_out)
		sqlite3_str_appendf(out, " > ... (%llu more)", (unsigned long long)left_out);
	return HDB_OK;
}

static int answer_path(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
		       sqlite3_value **argv, struct hdb_error *err)
{
	sqlite3_str *out = sqlite3_str_new(source->sqlite);
	const int r = write_path(source, ix, out, err);

	(void)argv;
	if (r != HDB_OK) {
		sqlite3_free(sqlite3_str_finish(out));
		return r;
	}
	sqlite3_result_text(ctx, sqlite3_str_finish(out), -1, sqlite3_free);
	return HDB_OK;
}

#define FUNCTION(name, more) \
	static void do_##name(struct sqlite3_context *ctx, int argc, sqlite3_value **argv) \
	{ \
		call(ctx, argc, argv, more, answer_##name); \
	}
FUNCTION(text, 0)
FUNCTION(class, 0)
FUNCTION(shallow, 0)
FUNCTION(retained, 0)
FUNCTION(dominator, 0)
FUNCTION(path, 0)
FUNCTION(field, 1)
FUNCTION(element, 1)
FUNCTION(is_instance, 1)

/*
 * Implements hex(): "0x12c4" for an integer; for other values, the result of SQLite's own function.
 */
static void do_hex(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	static const char digits[] = "0123456789ABCDEF";
	const unsigned char *data;
	char text[24], *out;
	int size;

	(void)argc;
	if (sqlite3_value_type(argv[0]) == SQLITE_INTEGER) {
		snprintf(text, sizeof(text), "0x%" PRIx64, (uint64_t)sqlite3_value_int64(argv[0]));
		sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
		return;
	}
	data = sqlite3_value_blob(argv[0]);
	size = sqlite3_value_bytes(argv[0]);
	out = sqlite3_malloc64((sqlite3_uint64)size * 2 + 1);
	if (!out) {
		sqlite3_result_error_nomem(ctx);
		return;
	}
	for (int i = 0; i < size; i++) {
		out[2 * i] = digits[data[i] >> 4];
		out[2 * i + 1] = digits[data[i] & 15];
	}
	sqlite3_result_text64(ctx, out, (sqlite3_uint64)size * 2, sqlite3_free, SQLITE_UTF8);
}

/*
 * Limits of the memory of a match, and of the number of steps from one position of the string, so
 * that every match ends. `.*` takes as many steps as the longest text has characters.
 */
#define MATCH_STEPS 20000000
#define MATCH_MEMORY_KIB 65536

static void free_pattern(void *code)
{
	pcre2_code_free(code);
}

/*
 * Returns the pattern of the first argument, or NULL if a failure was reported. SQLite caches the
 * pattern between rows.
 */
static pcre2_code *pattern_of(struct sqlite3_context *ctx, sqlite3_value *value)
{
	pcre2_code *code = sqlite3_get_auxdata(ctx, 0);
	const unsigned char *text = sqlite3_value_text(value);
	PCRE2_UCHAR message[120];
	PCRE2_SIZE at;
	char *full;
	int error;

	if (code || !text)
		return code;
	code = pcre2_compile(text, (PCRE2_SIZE)sqlite3_value_bytes(value),
			     PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT, &error, &at,
			     NULL);
	if (!code) {
		pcre2_get_error_message(error, message, sizeof(message));
		full = sqlite3_mprintf("invalid regular expression at character %llu: %s",
				       (unsigned long long)at + 1, (char *)message);
		sqlite3_result_error(ctx, full ? full : "invalid regular expression", -1);
		sqlite3_free(full);
		return NULL;
	}
	(void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
	sqlite3_set_auxdata(ctx, 0, code, free_pattern);
	return sqlite3_get_auxdata(ctx, 0);
}

/*
 * Checks the cancel flag during a match. The limit of steps applies to each starting position, so a
 * match in a long text can take much longer.
 */
static int on_callout(pcre2_callout_block *block, void *ctx)
{
	const base_flag *cancel = ctx;

	(void)block;
	return base_flag_is_set(cancel) ? PCRE2_ERROR_CALLOUT : 0;
}

/*
 * Implements text REGEXP pattern, that is regexp(pattern, text): returns whether part of the text
 * matches.
 */
static void do_regexp(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const unsigned char *text = sqlite3_value_text(argv[1]);
	pcre2_code *code = pattern_of(ctx, argv[0]);
	pcre2_match_data *data;
	pcre2_match_context *limits;
	int found;

	(void)argc;
	if (!text || !code)
		return;
	data = pcre2_match_data_create(1, NULL);
	limits = pcre2_match_context_create(NULL);
	if (data && limits) {
		pcre2_set_match_limit(limits, MATCH_STEPS);
		pcre2_set_heap_limit(limits, MATCH_MEMORY_KIB);
		pcre2_set_callout(limits, on_callout, sqlite3_user_data(ctx));
		found = pcre2_match(code, text, (PCRE2_SIZE)sqlite3_value_bytes(argv[1]), 0, 0,
				    data, limits);
		if (found >= 0 || found == PCRE2_ERROR_NOMATCH)
			sqlite3_result_int(ctx, found >= 0);
		else if (found == PCRE2_ERROR_CALLOUT)
			sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
		else
			sqlite3_result_error(ctx, "the regular expression takes too many steps",
					     -1);
	} else {
		sqlite3_result_error_nomem(ctx);
	}
	pcre2_match_data_free(data);
	pcre2_match_context_free(limits);
}

/* ---- aggregates ---- */

/* Objects of a group. */
struct members {
	struct sql_source *source;
	struct base_vec ixs; /* uint32_t */
	/* whether memory was exhausted */
	bool has_failed;
};

static void step_members(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct members *m = sqlite3_aggregate_context(ctx, sizeof(*m));
	struct sql_source *source = source_of(ctx, argc, argv, 1);
	uint32_t ix;

	if (!m) {
		sqlite3_result_error_nomem(ctx);
		return;
	}
	if (!source || m->has_failed || !object_of(ctx, source, argv[0], &ix))
		return;
	m->source = source;
	if (base_vec_push(&m->ixs, &ix, sizeof(ix), NULL) < 0) {
		m->has_failed = true;
		sqlite3_result_error_nomem(ctx);
	}
}

static int result_retained_set(struct sqlite3_context *ctx, const struct members *m,
			       struct hdb_error *err)
{
	uint64_t bytes = 0;

	TRY(sql_retained_of(m->source, m->ixs.data, m->ixs.count, &bytes, err));
	sqlite3_result_int64(ctx, (sqlite3_int64)bytes);
	return HDB_OK;
}

/*
 * Ends an aggregate over a set. Returns its result to SQLite unless the set is empty or a member
 * failed.
 */
static void end_members(struct sqlite3_context *ctx,
			int (*result)(struct sqlite3_context *ctx, const struct members *m,
				      struct hdb_error *err))
{
	struct members *m = sqlite3_aggregate_context(ctx, 0);
	struct hdb_error err = { 0 };

	if (!m)
		return;
	if (!m->has_failed && m->ixs.count)
		end(ctx, m->source, result(ctx, m, &err), &err);
	base_vec_release(&m->ixs);
}

static void end_retained_set(struct sqlite3_context *ctx)
{
	end_members(ctx, result_retained_set);
}

/*
 * The chain of dominators of the first member, and the positions at which the chains of other
 * members join this chain.
 */
struct chain {
	struct base_vec ixs; /* uint32_t */
	/*
	 * indexed by object: 1 + the object's index in the chain. If the object is not in the
	 * chain, 1 + the index of its first dominator in the chain; 0 if unknown; owned
	 */
	uint32_t *places;
};

/* Numbers an object's chain of dominators. Returns HDB_NOTFOUND if the object is unreachable. */
static int number_chain(struct sql_source *source, uint32_t ix, struct chain *chain,
			struct hdb_error *err)
{
	uint32_t up;

	for (uint32_t at = ix; at != HDB_NONE && !chain->places[at]; at = up) {
		TRY(hdb_dominator_at(source->db, at, &up, err));
		TRY(base_vec_push(&chain->ixs, &at, sizeof(at), err));
		chain->places[at] = (uint32_t)chain->ixs.count;
	}
	return HDB_OK;
}

/*
 * Finds the position at which an object's chain of dominators joins the numbered chain. The
 * position is HDB_NONE if the chains do not meet. Stores the position for all objects on the way.
 * Returns HDB_NOTFOUND if the object is unreachable.
 */
static int join_chain(struct sql_source *source, uint32_t ix, struct chain *chain,
		      uint32_t *joined_at, struct hdb_error *err)
{
	uint32_t left = hdb_object_count(source->db), at, up;

	*joined_at = HDB_NONE;
	for (at = ix; at != HDB_NONE && !chain->places[at]; at = up, left--) {
		/* the first path has been numbered, so only another path can contain a cycle */
		if (!left)
			return hdb_fail(err, HDB_ECORRUPT,
					"the database is damaged: dominators form a cycle");
		TRY(hdb_dominator_at(source->db, at, &up, err));
	}
	if (at == HDB_NONE)
		return HDB_OK;
	*joined_at = chain->places[at] - 1;
	assert(*joined_at < chain->ixs.count);
	for (at = ix; !chain->places[at]; at = up) {
		TRY(hdb_dominator_at(source->db, at, &up, err));
		chain->places[at] = *joined_at + 1;
	}
	return HDB_OK;
}

static void release_chain(struct chain *chain)
{
	base_vec_release(&chain->ixs);
	free(chain->places);
}

/*
 * Finds the nearest object that dominates all members, or is itself a member. The dominators of the
 * first member are numbered. From each other member, the search goes up to the first numbered
 * object and stores its number in the objects in between, so that it takes no path twice. Returns
 * HDB_NOTFOUND if a member is unreachable, because such a member has no dominator.
 */
static int common_dominator(const struct members *m, uint32_t *out, struct hdb_error *err)
{
	/* unused pages of the array take no memory */
	BASE_SCOPED(release_chain)
	struct chain chain = { .places = NULL };
	const uint32_t *members = m->ixs.data;
	uint32_t place = 0, joined_at;

	assert(m->ixs.count > 0);
	*out = HDB_NONE;
	TRY(BASE_ALLOC(chain.places, hdb_object_count(m->source->db), "a chain of dominators",
		       err));
	TRY(number_chain(m->source, members[0], &chain, err));
	for (size_t i = 1; i < m->ixs.count; i++) {
		TRY(join_chain(m->source, members[i], &chain, &joined_at, err));
		if (joined_at == HDB_NONE)
			return HDB_OK;
		place = joined_at > place ? joined_at : place;
	}
	assert(place < chain.ixs.count);
	*out = *base_vec_at(&chain.ixs, uint32_t, place);
	return HDB_OK;
}

static int result_common_dominator(struct sqlite3_context *ctx, const struct members *m,
				   struct hdb_error *err)
{
	uint32_t ix;

	TRY_ERRORS(common_dominator(m, &ix, err));
	return sql_result_ix(ctx, m->source, ix, err);
}

static void end_common_dominator(struct sqlite3_context *ctx)
{
	end_members(ctx, result_common_dominator);
}

int sql_register_plain(struct sqlite3 *sqlite, const base_flag *cancel)
{
	const int rc =
		sqlite3_create_function_v2(sqlite, "regexp", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
					   (void *)(uintptr_t)cancel, do_regexp, NULL, NULL, NULL);

	return rc != SQLITE_OK ? rc :
				 sqlite3_create_function_v2(sqlite, "hex", 1,
							    SQLITE_UTF8 | SQLITE_DETERMINISTIC,
							    NULL, do_hex, NULL, NULL, NULL);
}

/* The functions. Each is also registered with one more argument, the name of a schema. */
static const struct {
	const char *name;
	int args;
	void (*call)(struct sqlite3_context *ctx, int argc, sqlite3_value **argv);
} functions[] = {
	{ "text", 1, do_text },
	{ "class_of", 1, do_class },
	{ "shallow", 1, do_shallow },
	{ "retained", 1, do_retained },
	{ "dominator", 1, do_dominator },
	{ "field", 2, do_field },
	{ "element", 2, do_element },
	{ "path", 1, do_path },
	{ "is_instance", 2, do_is_instance },
};

static const struct {
	const char *name;
	void (*end)(struct sqlite3_context *ctx);
} aggregates[] = {
	{ "retained_set", end_retained_set },
	{ "common_dominator", end_common_dominator },
};

bool sql_is_function(const char *name)
{
	bool is_one = false;

	for (size_t i = 0; i < BASE_COUNT(functions); i++)
		is_one |= sqlite3_stricmp(functions[i].name, name) == 0;
	for (size_t i = 0; i < BASE_COUNT(aggregates); i++)
		is_one |= sqlite3_stricmp(aggregates[i].name, name) == 0;
	return is_one;
}

int sql_register_functions(struct sql_source *source)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
	sqlite3 *db = source->sqlite;

	for (size_t i = 0; i < 2 * BASE_COUNT(functions); i++)
		TRY(sqlite3_create_function_v2(db, functions[i / 2].name,
					       functions[i / 2].args + (int)(i % 2), flags, source,
					       functions[i / 2].call, NULL, NULL, NULL));
	for (size_t i = 0; i < 2 * BASE_COUNT(aggregates); i++)
		TRY(sqlite3_create_function_v2(db, aggregates[i / 2].name, 1 + (int)(i % 2), flags,
					       source, NULL, step_members, aggregates[i / 2].end,
					       NULL));
	return SQLITE_OK;
}
