/*
 * sqlite/sql_refs.c - references: the `refs` table, and functions that follow references from an
 * object.
 */
#include "sqlite/sql_private.h"

#define NAME_SIZE 512

/* Common part of a row. The state of every cursor begins with this part. */
struct row {
	uint32_t from, to; /* the reference; `to` may be HDB_NONE */
	uint32_t step;
	bool is_strong;                /* for paths, whether to follow only strong references */
	struct hdb_object_facts facts; /* facts of the row's object */
};

/* The columns. Columns that `column_row` computes come first, and cells follow. */
enum { OF_NAME, OF_STRENGTH, OF_ROOT };
#define ROW_NAME SQL_COLUMN("name TEXT", OF_NAME)
#define ROW_STRENGTH SQL_COLUMN("strength TEXT", OF_STRENGTH)
#define ROW_ROOT SQL_COLUMN("root TEXT", OF_ROOT)
#define ROW_STEP(name) SQL_COLUMN(name " COUNT", SQL_AT(SQL_U32, struct row, step))
#define ROW_ID SQL_COLUMN("id ID", SQL_AT(SQL_U64, struct row, facts.id))
#define ROW_CLASS SQL_COLUMN("class TEXT", SQL_AT(SQL_CLASS, struct row, facts.class_no))
#define ROW_SHALLOW SQL_COLUMN("shallow BYTES", SQL_AT(SQL_U64, struct row, facts.shallow_bytes))
#define ROW_RETAINED SQL_COLUMN("retained BYTES", SQL_AT(SQL_RETAINED, struct row, facts.ix))
#define ROW_OF SQL_COLUMN("of ID HIDDEN", SQL_ARGUMENT)

/* A list of objects returned by a function of one object. */
struct list {
	struct row row;
	struct hdb_list *list;
	const uint32_t *ixs;
	size_t count, at;
	bool is_backwards; /* whether the list contains referrers */
	bool shows_all;    /* whether to include unreachable objects */
	uint64_t *seen;    /* bit set by object, for lists that may contain duplicates; owned */
};

/* Lists of up to this number of references contain no duplicates, so they need no check. */
#define DISTINCT_MAX 32

static bool was_seen(uint64_t *seen, uint32_t ix)
{
	const uint64_t bit = (uint64_t)1 << (ix & 63);
	const bool was = seen[ix >> 6] & bit;

	seen[ix >> 6] |= bit;
	return was;
}

static int begin_list(struct sql_cursor *c, enum hdb_list_kind kind, uint32_t ix,
		      struct hdb_error *err)
{
	struct list *s = c->state;
	uint64_t length;

	TRY(hdb_list_open(c->db, kind, &s->list, err));
	s->is_backwards = kind == HDB_REFERRERS;
	/* referents of a reachable object are reachable; only its referrers may be unreachable */
	s->shows_all = !s->is_backwards || c->source->database.all;
	s->row.from = s->row.to = ix;
	TRY(hdb_list_begin(s->list, ix, &length, err));
	return kind == HDB_REFERENCES && length > DISTINCT_MAX ?
		       BASE_ALLOC(s->seen, hdb_object_count(c->db) / 64 + 1, "a set of objects",
				  err) :
		       HDB_OK;
}

/* Advances to the next entry of the list. */
static int next_entry(struct sql_cursor *c, struct hdb_error *err)
{
	struct list *s = c->state;
	bool is_shown = true;

	for (;;) {
		assert(s->at <= s->count);
		while (s->at < s->count) {
			const uint32_t ix = s->ixs[s->at++];

			if (s->seen && was_seen(s->seen, ix))
				continue;
			TRY(s->shows_all ? HDB_OK : sql_is_shown(c->source, ix, &is_shown, err));
			if (!is_shown)
				continue;
			*(s->is_backwards ? &s->row.from : &s->row.to) = ix;
			return HDB_OK;
		}
		s->at = 0;
		TRY(hdb_list_next(s->list, &s->ixs, &s->count, err));
		if (!s->count)
			return HDB_END;
	}
}

static void end_list(struct sql_cursor *c)
{
	const struct list *s = c->state;

	hdb_list_close(s->list);
	free(s->seen);
}

/* Returns the root kind of an object, or NULL if the object has a parent. */
static int result_root(struct sqlite3_context *ctx, struct hdb *db, const struct row *row,
		       struct hdb_error *err)
{
	uint64_t first, count;
	uint32_t parent;
	struct hdb_root root = { .struct_size = sizeof(root) };

	TRY(hdb_parent_at(db, row->from, row->is_strong, &parent, err));
	if (parent != HDB_NONE)
		return HDB_OK;
	TRY(hdb_roots_of(db, row->from, &first, &count, err));
	for (uint64_t i = 0; i < count; i++) {
		TRY(hdb_root_at(db, first + i, &root, err));
		if (!root.is_local) {
			sqlite3_result_text(ctx, root.kind, -1, SQLITE_STATIC);
			return HDB_OK;
		}
	}
	sqlite3_result_text(ctx, "none known", -1, SQLITE_STATIC);
	return HDB_OK;
}

static int column_row(struct sql_cursor *c, struct sqlite3_context *ctx, int column,
		      struct hdb_error *err)
{
	const struct row *row = c->state;
	char name[NAME_SIZE];
	unsigned strength;

	switch (column) {
	case OF_NAME:
		if (row->to == HDB_NONE)
			return HDB_OK;
		TRY(hdb_holder(c->db, row->from, row->to, name, sizeof(name), err));
		sql_result_copy(ctx, name);
		return HDB_OK;
	case OF_STRENGTH:
		TRY(hdb_strength(c->db, row->from, row->to, &strength, err));
		sqlite3_result_text(ctx, hdb_strength_name(strength), -1, SQLITE_STATIC);
		return HDB_OK;
	default:
		return result_root(ctx, c->db, row, err);
	}
}

/* ---- functions of one object ---- */

static int begin_of(struct sql_cursor *c, enum hdb_list_kind kind, struct hdb_error *err)
{
	uint32_t ix;

	TRY(sql_value_object(c->source, c->key[0], &ix, err));
	return begin_list(c, kind, ix, err);
}

static int begin_references(struct sql_cursor *c, struct hdb_error *err)
{
	return begin_of(c, HDB_REFERENCES, err);
}

/*
 * Begins the referrers. If the object is unreachable, its referrers are unreachable too. They are
 * shown nevertheless, because the statement names the object.
 */
static int begin_referrers(struct sql_cursor *c, struct hdb_error *err)
{
	struct list *s = c->state;
	bool is_shown = true;

	TRY(begin_of(c, HDB_REFERRERS, err));
	TRY(sql_is_shown(c->source, s->row.to, &is_shown, err));
	s->shows_all |= !is_shown;
	return HDB_OK;
}

static int next_of(struct sql_cursor *c, struct hdb_error *err)
{
	struct list *s = c->state;

	do {
		TRY(next_entry(c, err));
		TRY(hdb_object_at(c->db, s->is_backwards ? s->row.from : s->row.to, &s->row.facts,
				  err));
	} while (!s->row.facts.is_real);
	return HDB_OK;
}

static const struct sql_column of_columns[] = { ROW_ID,       ROW_CLASS,    ROW_NAME, ROW_SHALLOW,
						ROW_RETAINED, ROW_STRENGTH, ROW_OF };

/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define OF_TABLE(variable, text, about, function) \
	const struct sql_table_def variable = { \
		.name = text, \
		.help = about, \
		SQL_COLUMNS(of_columns), \
		.rows = 10, \
		.state_size = sizeof(struct list), \
		.begin = function, \
		.next = next_of, \
		.column = column_row, \
		.end = end_list, \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

OF_TABLE(sql_references, "references", "References of an object", begin_references);
OF_TABLE(sql_outbound, "outbound", "Same as references", begin_references);
OF_TABLE(sql_referrers, "referrers", "Referrers of an object", begin_referrers);
OF_TABLE(sql_inbound, "inbound", "Same as referrers", begin_referrers);

/* ---- refs ---- */

/*
 * State of the `refs` table. Its rows are references from fields, static fields and elements. They
 * are read from the records of one source, of the referrers of a target, or of the objects of a
 * scan.
 */
struct refs {
	const struct hdb_reference *now;
	uint64_t source_id;
	struct hdb_references *reader;
	bool is_lent;    /* whether to return the reader to the source's cache */
	bool is_open;    /* whether the references of an object are being read */
	uint32_t target; /* required target; HDB_NONE means any */
	/*
	 * the sources: a scan of all objects, a scan of the classes with the name, or the list of
	 * referrers
	 */
	struct hdb_scan *scan;
	struct hdb_batch batch;
	uint8_t *marks; /* owned */
	struct hdb_list *list;
	const uint32_t *ixs;
	size_t count, at; /* size of the batch or list, and position in it */
};

/*
 * Takes a reader from the source's cache, or opens one. A cached reader already knows which classes
 * to read.
 */
static int lend_reader(struct sql_cursor *c, struct hdb_error *err)
{
	struct sql_source *source = c->source;
	struct refs *s = c->state;

	s->is_lent = true;
	if (source->reader_count) {
		s->reader = source->readers[--source->reader_count];
		return HDB_OK;
	}
	return hdb_references_open(c->db, NULL, &s->reader, err);
}

static void end_refs(struct sql_cursor *c)
{
	struct sql_source *source = c->source;
	struct refs *s = c->state;

	if (s->is_lent && s->reader && source->reader_count < SQL_READERS)
		source->readers[source->reader_count++] = s->reader;
	else
		hdb_references_close(s->reader);
	hdb_scan_close(s->scan);
	hdb_list_close(s->list);
	free(s->marks);
}

static int begin_scan(struct sql_cursor *c, struct hdb_error *err)
{
	const char *name = c->key[2] ? (const char *)sqlite3_value_text(c->key[2]) : NULL;
	struct hdb_scan_options opt = {
		.struct_size = sizeof(opt),
		.columns = HDB_SCAN_ID,
		.kinds = 1u << HDB_KIND_INSTANCE | 1u << HDB_KIND_OBJECT_ARRAY |
			 1u << HDB_KIND_CLASS,
		.population = sql_population(c->source),
	};
	struct refs *s = c->state;

	if (c->key[2] && !name)
		return HDB_END;
	if (!name) {
		TRY(lend_reader(c, err));
	} else {
		TRY(hdb_references_open(c->db, name, &s->reader, err));
		TRY(BASE_ALLOC(s->marks, (size_t)hdb_class_count(c->db) + 1, "classes", err));
		TRY(hdb_references_classes(s->reader, s->marks, err));
		opt.classes = s->marks;
	}
	return hdb_scan_open(c->db, &opt, &s->scan, err);
}

static int begin_source(struct sql_cursor *c, uint32_t source, struct hdb_error *err)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	struct refs *s = c->state;
	bool is_shown;

	TRY(sql_is_shown(c->source, source, &is_shown, err));
	if (!is_shown)
		return HDB_END;
	TRY(hdb_object_at(c->db, source, &facts, err));
	s->source_id = facts.id;
	s->is_open = true;
	TRY(lend_reader(c, err));
	return hdb_references_begin(s->reader, source, s->target, err);
}

static int begin_refs(struct sql_cursor *c, struct hdb_error *err)
{
	struct refs *s = c->state;
	uint32_t source;

	s->target = HDB_NONE;
	if (c->key[1])
		TRY(sql_value_object(c->source, c->key[1], &s->target, err));
	if (c->key[0]) {
		TRY(sql_value_object(c->source, c->key[0], &source, err));
		return begin_source(c, source, err);
	}
	if (!c->key[1])
		return begin_scan(c, err);
	TRY(lend_reader(c, err));
	TRY(hdb_list_open(c->db, HDB_REFERRERS, &s->list, err));
	return hdb_list_begin(s->list, s->target, NULL, err);
}

/* Advances to the next source of the scan. */
static int scan_source(struct sql_cursor *c, uint32_t *ix, struct hdb_error *err)
{
	struct refs *s = c->state;

	if (s->at == s->batch.count) {
		if (base_flag_is_set(c->source->cancel))
			return hdb_fail(err, HDB_EINTR, "interrupted");
		s->at = s->batch.count = 0;
		TRY(hdb_scan_next(s->scan, &s->batch, err));
	}
	*ix = s->batch.ix[s->at];
	s->source_id = s->batch.id[s->at++];
	return HDB_OK;
}

/* Advances to the next visible referrer. */
static int list_source(struct sql_cursor *c, uint32_t *ix, struct hdb_error *err)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	struct refs *s = c->state;
	bool is_shown;

	do {
		if (s->at == s->count) {
			s->at = 0;
			TRY(hdb_list_next(s->list, &s->ixs, &s->count, err));
			if (!s->count)
				return HDB_END;
		}
		*ix = s->ixs[s->at++];
		TRY(sql_is_shown(c->source, *ix, &is_shown, err));
	} while (!is_shown);
	TRY(hdb_object_at(c->db, *ix, &facts, err));
	s->source_id = facts.id;
	return HDB_OK;
}

static int next_refs(struct sql_cursor *c, struct hdb_error *err)
{
	struct refs *s = c->state;
	uint32_t ix = 0;
	int r;

	for (;;) {
		r = s->is_open ? hdb_references_next(s->reader, &s->now, err) : HDB_END;
		if (r != HDB_END)
			return r;
		if (!s->scan && !s->list)
			return HDB_END;
		TRY(s->scan ? scan_source(c, &ix, err) : list_source(c, &ix, err));
		TRY(hdb_references_begin(s->reader, ix, s->target, err));
		s->is_open = true;
	}
}

enum { REFS_TARGET, REFS_NAME, REFS_STRENGTH };

static int column_refs(struct sql_cursor *c, struct sqlite3_context *ctx, int column,
		       struct hdb_error *err)
{
	const struct hdb_reference *now = ((const struct refs *)c->state)->now;
	char text[24];
	char *at = text + sizeof(text);
	uint64_t left = now->element;

	(void)err;
	if (column == REFS_TARGET) {
		sqlite3_result_int64(ctx, (sqlite3_int64)now->to_id);
		return HDB_OK;
	}
	if (column == REFS_STRENGTH) {
		sqlite3_result_text(ctx, hdb_strength_name(now->strength), -1, SQLITE_STATIC);
		return HDB_OK;
	}
	if (now->name) {
		sqlite3_result_text(ctx, now->name, -1, SQLITE_STATIC);
		return HDB_OK;
	}
	*--at = ']';
	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	*--at = '[';
	sqlite3_result_text(ctx, at, (int)(text + sizeof(text) - at), SQLITE_TRANSIENT);
	return HDB_OK;
}

static const struct sql_column ref_columns[] = {
	{ "source ID", SQL_KEY | SQL_AT(SQL_U64, struct refs, source_id) },
	{ "target ID", SQL_KEY | REFS_TARGET },
	{ "name TEXT", SQL_KEY | REFS_NAME },
	{ "strength TEXT", REFS_STRENGTH },
};

const struct sql_table_def sql_refs = {
	.name = "refs",
	.help = "All references: source, target, field name",
	SQL_COLUMNS(ref_columns),
	.narrowing_key = 1 << 2,
	.rows = 1e7,
	.state_size = sizeof(struct refs),
	.begin = begin_refs,
	.next = next_refs,
	.column = column_refs,
	.end = end_refs,
};

/* ---- dominated ---- */

static int begin_dominated(struct sql_cursor *c, struct hdb_error *err)
{
	uint32_t ix = HDB_NONE;

	/* NULL and 0 select the top level: objects without a dominator */
	if (sqlite3_value_type(c->key[0]) != SQLITE_NULL &&
	    (sqlite3_value_type(c->key[0]) != SQLITE_INTEGER || sqlite3_value_int64(c->key[0])))
		TRY(sql_value_object(c->source, c->key[0], &ix, err));
	return begin_list(c, HDB_DOMINATED, ix, err);
}

static const struct sql_column dominated_columns[] = { ROW_ID, ROW_CLASS, ROW_SHALLOW, ROW_RETAINED,
						       ROW_OF };

const struct sql_table_def sql_dominated = {
	.name = "dominated",
	.help = "Objects that an object immediately dominates",
	SQL_COLUMNS(dominated_columns),
	.rows = 10,
	.state_size = sizeof(struct list),
	.begin = begin_dominated,
	.next = next_of,
	.column = column_row,
	.end = end_list,
};

/* ---- reachable_from ---- */

struct reachable {
	struct row row; /* the depth of a row is row.step */
	struct hdb_list *list;
	uint64_t *seen;        /* bit set by object; owned */
	struct base_vec queue; /* uint32_t, in order of discovery */
	size_t at;
	size_t level_end; /* index in the queue where the current depth ends */
};

static int reach(struct reachable *s, uint32_t ix, struct hdb_error *err)
{
	if (was_seen(s->seen, ix))
		return HDB_OK;
	return base_vec_push(&s->queue, &ix, sizeof(ix), err);
}

static int begin_reachable(struct sql_cursor *c, struct hdb_error *err)
{
	struct reachable *s = c->state;
	uint32_t ix;

	TRY(sql_value_object(c->source, c->key[0], &ix, err));
	TRY(BASE_ALLOC(s->seen, hdb_object_count(c->db) / 64 + 1, "a set of objects", err));
	TRY(hdb_list_open(c->db, HDB_REFERENCES, &s->list, err));
	TRY(reach(s, ix, err));
	s->level_end = 1;
	return HDB_OK;
}

/* Adds the referents of the current object, including its class. */
static int expand(struct sql_cursor *c, struct reachable *s, struct hdb_error *err)
{
	struct hdb_class class = { .struct_size = sizeof(class) };
	const uint32_t *ixs;
	size_t count = 0;

	TRY(hdb_class_at(c->db, s->row.facts.class_no, &class, err));
	if (class.is_real)
		TRY(reach(s, class.object_ix, err));
	TRY(hdb_list_begin(s->list, s->row.facts.ix, NULL, err));
	do {
		TRY(hdb_list_next(s->list, &ixs, &count, err));
		for (size_t i = 0; i < count; i++)
			TRY(reach(s, ixs[i], err));
	} while (count);
	return HDB_OK;
}

static int next_reachable(struct sql_cursor *c, struct hdb_error *err)
{
	struct reachable *s = c->state;

	do {
		assert(s->at <= s->queue.count);
		assert(s->level_end <= s->queue.count);
		if (s->at == s->queue.count)
			return HDB_END;
		if (s->at == s->level_end) {
			s->level_end = s->queue.count;
			s->row.step++;
		}
		TRY(hdb_object_at(c->db, *base_vec_at(&s->queue, uint32_t, s->at++), &s->row.facts,
				  err));
		TRY(expand(c, s, err));
	} while (!s->row.facts.is_real);
	return HDB_OK;
}

static void end_reachable(struct sql_cursor *c)
{
	struct reachable *s = c->state;

	hdb_list_close(s->list);
	free(s->seen);
	base_vec_release(&s->queue);
}

static const struct sql_column reachable_columns[] = { ROW_ID,       ROW_CLASS,         ROW_SHALLOW,
						       ROW_RETAINED, ROW_STEP("depth"), ROW_OF };

const struct sql_table_def sql_reachable_from = {
	.name = "reachable_from",
	.help = "Objects reachable from an object, with their depth",
	SQL_COLUMNS(reachable_columns),
	.rows = 10000,
	.state_size = sizeof(struct reachable),
	.begin = begin_reachable,
	.next = next_reachable,
	.column = column_row,
	.end = end_reachable,
};

/* ---- path_to_root ---- */

/* Begins a path: row.from is the current object, row.to the previous one. */
static int begin_path(struct sql_cursor *c, struct hdb_error *err)
{
	struct row *row = c->state;
	uint32_t parent;

	row->to = HDB_NONE;
	row->is_strong = !c->key[1] || !sqlite3_value_int(c->key[1]);
	row->step = UINT32_MAX;
	TRY(sql_value_object(c->source, c->key[0], &row->from, err));
	/* there are no rows if there is no path */
	return hdb_parent_at(c->db, row->from, row->is_strong, &parent, err);
}

static int next_path(struct sql_cursor *c, struct hdb_error *err)
{
	struct row *row = c->state;
	uint32_t parent;
	int r;

	if (row->step != UINT32_MAX) {
		r = hdb_parent_at(c->db, row->from, row->is_strong, &parent, err);
		if (r != HDB_OK || parent == HDB_NONE || row->step >= hdb_object_count(c->db))
			return r < 0 ? r : HDB_END;
		row->to = row->from;
		row->from = parent;
	}
	row->step++;
	return hdb_object_at(c->db, row->from, &row->facts, err);
}

static const struct sql_column path_columns[] = {
	ROW_STEP("step"), ROW_ID,      ROW_CLASS,
	ROW_NAME,         ROW_SHALLOW, ROW_RETAINED,
	ROW_ROOT,         ROW_OF,      { "weak_too BOOL HIDDEN", SQL_OPTION }
};

const struct sql_table_def sql_path_to_root = {
	.name = "path_to_root",
	.help = "Shortest path from an object to a GC root",
	SQL_COLUMNS(path_columns),
	.rows = 20,
	.state_size = sizeof(struct row),
	.begin = begin_path,
	.next = next_path,
	.column = column_row,
};
