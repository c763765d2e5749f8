/*
 * sqlite/sql_tables.c - small tables: classes and fields, GC roots, threads, frames, local
 * variables, heaps, totals by class.
 */
#include "sqlite/sql_private.h"

/* ---- classes ---- */

/*
 * Sets *no to the class whose class object has the ID in `value`. Returns HDB_END if there is no
 * such class.
 */
static int key_class(struct sql_cursor *c, struct sqlite3_value *key, uint32_t *no,
		     struct hdb_error *err)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	uint32_t ix;
	int r = sql_value_object(c->source, key, &ix, err);

	if (r != HDB_OK)
		return r < 0 ? r : HDB_END;
	if ((r = hdb_object_at(c->db, ix, &facts, err)) != HDB_OK)
		return r < 0 ? r : HDB_END;
	*no = facts.stands_for;
	return *no == HDB_NONE ? HDB_END : HDB_OK;
}

/* Range of class numbers: after `no` and before `end`. */
struct class_range {
	uint32_t no, end;
};

/*
 * Selects all classes, the class with an ID, or all classes from the first class with a name on,
 * because other classes with this name may follow.
 */
static int begin_range(struct sql_cursor *c, struct sqlite3_value *id, struct sqlite3_value *name,
		       struct class_range *range, struct hdb_error *err)
{
	uint32_t no = 0;

	*range = (struct class_range){ UINT32_MAX, hdb_class_count(c->db) };
	if (id) {
		TRY(key_class(c, id, &no, err));
		range->end = no + 1;
	} else if (name) {
		const char *text = (const char *)sqlite3_value_text(name);

		no = text ? hdb_class_named(c->db, text, 0) : HDB_NONE;
		if (no == HDB_NONE)
			return HDB_END;
	}
	range->no = no - 1;
	return HDB_OK;
}

struct classes {
	struct class_range range;
	struct hdb_class class;
};

static int begin_classes(struct sql_cursor *c, struct hdb_error *err)
{
	struct classes *s = c->state;

	return begin_range(c, c->key[0], c->key[1], &s->range, err);
}

static int next_classes(struct sql_cursor *c, struct hdb_error *err)
{
	struct classes *s = c->state;

	do {
		if (++s->range.no >= s->range.end)
			return HDB_END;
		TRY(hdb_class_at(c->db, s->range.no, &s->class, err));
	} while (!s->class.is_real);
	return HDB_OK;
}

enum { CLASSES_SUPER_ID, CLASSES_OBJECTS, CLASSES_SHALLOW, CLASSES_REACHABLE, CLASSES_PACKAGE };

static int column_classes(struct sql_cursor *c, struct sqlite3_context *ctx, int column,
			  struct hdb_error *err)
{
	const struct classes *s = c->state;
	const struct hdb_class *class = &s->class;
	const char *dot;
	const bool is_all = c->source->database.all;
	const struct hdb_class_count *count;
	struct hdb_class super = { .struct_size = sizeof(super) };

	switch (column) {
	case CLASSES_SUPER_ID:
		if (class->super_no == HDB_NONE)
			break;
		TRY(hdb_class_at(c->db, class->super_no, &super, err));
		sqlite3_result_int64(ctx, (sqlite3_int64)super.id);
		break;
	case CLASSES_PACKAGE:
		dot = strrchr(class->name, '.');
		sqlite3_result_text(ctx, class->name, dot ? (int)(dot - class->name) : 0,
				    SQLITE_STATIC);
		break;
	default:
		TRY_ERRORS(sql_need_counts(c->source, !is_all || column == CLASSES_REACHABLE, err));
		count = &c->source->counts[s->range.no];
		sqlite3_result_int64(
			ctx, (sqlite3_int64)(column == CLASSES_SHALLOW ?
						     (is_all ? count->shallow_bytes :
							       count->reachable_shallow_bytes) :
					     column == CLASSES_OBJECTS && is_all ?
						     count->objects :
						     count->reachable_objects));
	}
	return HDB_OK;
}

static const struct sql_column class_columns[] = {
	{ "id ID", SQL_KEY | SQL_AT(SQL_U64, struct classes, class.id) },
	{ "name TEXT", SQL_KEY | SQL_AT(SQL_CLASS, struct classes, class.class_no) },
	{ "super TEXT", SQL_AT(SQL_CLASS, struct classes, class.super_no) },
	{ "super_id ID", CLASSES_SUPER_ID },
	{ "loader TEXT", SQL_AT(SQL_STATIC, struct classes, class.loader_name) },
	{ "loader_id ID", SQL_AT(SQL_ID, struct classes, class.loader_id) },
	{ "instance_size BYTES", SQL_AT(SQL_U64, struct classes, class.instance_bytes) },
	{ "fields COUNT", SQL_AT(SQL_U32, struct classes, class.field_count) },
	{ "statics COUNT", SQL_AT(SQL_U32, struct classes, class.static_count) },
	{ "is_array BOOL", SQL_AT(SQL_INT, struct classes, class.is_array) },
	{ "objects COUNT", CLASSES_OBJECTS },
	{ "shallow BYTES", CLASSES_SHALLOW },
	{ "reachable_objects COUNT", CLASSES_REACHABLE },
	{ "package TEXT", CLASSES_PACKAGE },
};

const struct sql_table_def sql_classes = {
	.name = "classes",
	.help = "Classes: sizes, loader, superclass, counts",
	SQL_COLUMNS(class_columns),
	.rows = 1000,
	.state_size = sizeof(struct classes),
	.begin = begin_classes,
	.next = next_classes,
	.column = column_classes,
};

/* ---- totals by class and by kind, for GROUP BY class and GROUP BY kind ---- */

enum { TOTALS_GROUP, TOTALS_OBJECTS, TOTALS_SHALLOW, TOTALS_RETAINED, TOTALS_ARG };

struct totals {
	uint64_t (*sums)[TOTALS_ARG]; /* sums by group and column; owned */
	uint32_t no, count;           /* number of groups, and index of the current group */
	int population;               /* objects to count, as in struct hdb_scan_options */
};

/*
 * Allocates groups and determines which objects count. Returns HDB_END if the tables contain no
 * such objects.
 */
static int begin_groups(struct sql_cursor *c, uint32_t count, struct hdb_error *err)
{
	struct totals *s = c->state;
	const bool is_all = c->source->database.all;
	const bool wants_unreachable = c->key[0] && !sqlite3_value_int(c->key[0]);

	if (wants_unreachable && !is_all)
		return HDB_END;
	s->population = wants_unreachable ? -1 : !is_all || c->key[0];
	s->no = UINT32_MAX;
	s->count = count;
	return BASE_ALLOC(s->sums, (size_t)count + 1, "totals", err);
}

static int begin_class_totals(struct sql_cursor *c, struct hdb_error *err)
{
	struct totals *s = c->state;
	const bool has_retained = c->used >> TOTALS_RETAINED & 1;

	TRY(begin_groups(c, hdb_class_count(c->db), err));
	TRY_ERRORS(sql_need_counts(c->source, s->population != 0, err));
	if (has_retained)
		TRY(sql_need_retained(c->source, err));
	for (uint32_t no = 0; no < s->count; no++) {
		const struct hdb_class_count *t = &c->source->counts[no];
		uint64_t *sums = s->sums[no];

		sums[TOTALS_OBJECTS] = s->population > 0 ? t->reachable_objects : t->objects;
		sums[TOTALS_SHALLOW] =
			s->population > 0 ? t->reachable_shallow_bytes : t->shallow_bytes;
		if (s->population < 0) {
			sums[TOTALS_OBJECTS] -= t->reachable_objects;
			sums[TOTALS_SHALLOW] -= t->reachable_shallow_bytes;
		} else if (has_retained) {
			/* unreachable objects retain nothing */
			sums[TOTALS_RETAINED] = c->source->retained[no];
		}
	}
	return HDB_OK;
}

/* Computes totals by kind in one pass over the heap, without creating rows in SQLite. */
static int begin_kind_totals(struct sql_cursor *c, struct hdb_error *err)
{
	struct totals *s = c->state;
	const bool has_retained = c->used >> TOTALS_RETAINED & 1;
	struct hdb_scan_options opt = { .struct_size = sizeof(opt),
					.columns = has_retained ? HDB_SCAN_RETAINED : 0 };
	struct hdb_scan *scan;
	struct hdb_batch batch = { .struct_size = sizeof(batch) };
	int r;

	TRY(begin_groups(c, 4, err));
	opt.population = s->population;
	TRY(hdb_scan_open(c->db, &opt, &scan, err));
	while ((r = hdb_scan_next(scan, &batch, err)) == HDB_OK)
		for (size_t i = 0; i < batch.count; i++) {
			uint64_t *sums = s->sums[batch.kind[i] & 3];

			sums[TOTALS_OBJECTS]++;
			sums[TOTALS_SHALLOW] += batch.shallow_bytes[i];
			sums[TOTALS_RETAINED] += has_retained ? batch.retained_bytes[i] : 0;
		}
	hdb_scan_close(scan);
	return r < 0 ? r : HDB_OK;
}

static int next_totals(struct sql_cursor *c, struct hdb_error *err)
{
	struct totals *s = c->state;

	(void)err;
	do
		if (++s->no >= s->count)
			return HDB_END;
	while (!s->sums[s->no][TOTALS_OBJECTS]);
	return HDB_OK;
}

static int column_totals(struct sql_cursor *c, struct sqlite3_context *ctx, int column,
			 struct hdb_error *err)
{
	const struct totals *s = c->state;

	(void)err;
	if (column != TOTALS_GROUP)
		sqlite3_result_int64(ctx, (sqlite3_int64)s->sums[s->no][column]);
	else if (c->def == &sql_class_totals)
		sql_result_class(ctx, c->source, s->no);
	else
		sqlite3_result_text(ctx, sql_kind_name(s->no), -1, SQLITE_STATIC);
	return HDB_OK;
}

static void end_totals(struct sql_cursor *c)
{
	free(((const struct totals *)c->state)->sums);
}

/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define TOTALS_TABLE(by, guess) \
	static const struct sql_column by##_total_columns[] = { \
		{ #by " TEXT", TOTALS_GROUP }, \
		{ "objects COUNT", TOTALS_OBJECTS }, \
		{ "shallow BYTES", TOTALS_SHALLOW }, \
		{ "retained BYTES", TOTALS_RETAINED }, \
		{ "reachable BOOL HIDDEN", SQL_OPTION } \
	}; \
	const struct sql_table_def sql_##by##_totals = { \
		.name = #by "_totals", \
		.help = "Objects and bytes by " #by, \
		SQL_COLUMNS(by##_total_columns), \
		.rows = guess, \
		.state_size = sizeof(struct totals), \
		.begin = begin_##by##_totals, \
		.next = next_totals, \
		.column = column_totals, \
		.end = end_totals, \
	}
/* NOLINTEND(bugprone-macro-parentheses) */
TOTALS_TABLE(class, 1000);
TOTALS_TABLE(kind, 4);

/* ---- fields ---- */

struct class_fields {
	struct class_range range;
	struct hdb_fields *fields; /* owned */
	size_t count, at;
	struct hdb_field field; /* the current field */
	const char *type;
	int is_static; /* whether the current field is static; instance fields come first */
	struct hdb_class class;
};

static int begin_class_fields(struct sql_cursor *c, struct hdb_error *err)
{
	struct class_fields *s = c->state;

	/* start as if the static fields of a previous class had ended */
	s->is_static = true;
	return begin_range(c, c->key[1], c->key[0], &s->range, err);
}

static int next_class_fields(struct sql_cursor *c, struct hdb_error *err)
{
	struct class_fields *s = c->state;
	int r;

	s->at++;
	while (s->at >= s->count) {
		hdb_fields_free(s->fields);
		s->fields = NULL;
		s->at = s->count = 0;
		if (s->is_static) {
			if (++s->range.no >= s->range.end)
				return HDB_END;
			TRY(hdb_class_at(c->db, s->range.no, &s->class, err));
			r = hdb_class_fields(c->db, s->range.no, &s->fields, &s->count, err);
		} else {
			r = hdb_class_statics(c->db, s->range.no, &s->fields, &s->count, err);
		}
		TRY(r);
		s->is_static = !s->is_static;
	}
	s->field = *hdb_field_at(s->fields, s->at);
	s->type = sql_type_name(s->field.type);
	return HDB_OK;
}

/* Returns the value of a static field. */
static int column_class_fields(struct sql_cursor *c, struct sqlite3_context *ctx, int column,
			       struct hdb_error *err)
{
	const struct class_fields *s = c->state;

	(void)column;
	(void)err;
	if (s->is_static)
		sql_result_basic(ctx, &s->field.value);
	return HDB_OK;
}

static void end_class_fields(struct sql_cursor *c)
{
	struct class_fields *s = c->state;

	hdb_fields_free(s->fields);
}

static const struct sql_column class_field_columns[] = {
	{ "class TEXT", SQL_KEY | SQL_AT(SQL_CLASS, struct class_fields, range.no) },
	{ "class_id ID", SQL_KEY | SQL_AT(SQL_U64, struct class_fields, class.id) },
	{ "name TEXT", SQL_AT(SQL_TEXT, struct class_fields, field.name) },
	{ "type TEXT", SQL_AT(SQL_STATIC, struct class_fields, type) },
	{ "declared_in TEXT", SQL_AT(SQL_CLASS, struct class_fields, field.declaring_no) },
	{ "is_static BOOL", SQL_AT(SQL_INT, struct class_fields, is_static) },
	{ "value", 0 },
};

const struct sql_table_def sql_class_fields = {
	.name = "class_fields",
	.help = "Fields of classes, with the values of static fields",
	SQL_COLUMNS(class_field_columns),
	.rows = 5000,
	.state_size = sizeof(struct class_fields),
	.begin = begin_class_fields,
	.next = next_class_fields,
	.column = column_class_fields,
	.end = end_class_fields,
};

/* ---- GC roots and local variables ---- */

struct roots {
	uint64_t at, end;
	bool only_locals;
	struct hdb_root root;
	struct hdb_object_facts facts;
};

static int begin_roots(struct sql_cursor *c, struct hdb_error *err)
{
	struct roots *s = c->state;
	uint64_t first = 0, count;
	uint32_t ix;
	int r;

	s->only_locals = c->def == &sql_locals;
	if (c->key[0]) {
		TRY(sql_value_object(c->source, c->key[0], &ix, err));
		r = hdb_roots_of(c->db, ix, &first, &count, err);
	} else {
		r = hdb_root_count(c->db, &count, err);
	}
	TRY(r);
	s->at = first - 1;
	s->end = first + count;
	return HDB_OK;
}

static int next_roots(struct sql_cursor *c, struct hdb_error *err)
{
	struct roots *s = c->state;

	do {
		if (++s->at >= s->end)
			return HDB_END;
		TRY(hdb_root_at(c->db, s->at, &s->root, err));
		TRY(hdb_object_at(c->db, s->root.ix, &s->facts, err));
	} while (!s->facts.is_real || (s->only_locals && !s->root.is_local));
	return HDB_OK;
}

/* Returns the serial number of the root's thread to SQLite, if there is one. */
static int column_roots(struct sql_cursor *c, struct sqlite3_context *ctx, int column,
			struct hdb_error *err)
{
	const struct roots *s = c->state;

	(void)column;
	(void)err;
	if (s->root.thread_serial)
		sqlite3_result_int64(ctx, s->root.thread_serial);
	return HDB_OK;
}

static const struct sql_column root_columns[] = {
	{ "id ID", SQL_KEY | SQL_AT(SQL_U64, struct roots, facts.id) },
	{ "class TEXT", SQL_AT(SQL_CLASS, struct roots, facts.class_no) },
	{ "kind TEXT", SQL_AT(SQL_STATIC, struct roots, root.kind) },
	{ "thread COUNT", 0 },
	{ "depth COUNT", SQL_AT(SQL_U32, struct roots, root.frame_depth) },
	{ "is_local BOOL",
	  SQL_AT(SQL_INT, struct roots, root.is_local) }, /* always true for locals */
};

const struct sql_table_def sql_roots = {
	.name = "roots",
	.help = "GC roots",
	SQL_COLUMNS(root_columns),
	.rows = 5000,
	.state_size = sizeof(struct roots),
	.begin = begin_roots,
	.next = next_roots,
	.column = column_roots,
};

const struct sql_table_def sql_locals = {
	.name = "locals",
	.help = "Local variables of threads",
	.columns = root_columns,
	.column_count = BASE_COUNT(root_columns) - 1,
	.rows = 500,
	.state_size = sizeof(struct roots),
	.begin = begin_roots,
	.next = next_roots,
	.column = column_roots,
};

/* ---- threads and frames ---- */

/* State of the threads table. The rows are the rows of the threads query, without stacks. */
struct thread_rows {
	struct hdb_rows *rows;
};

/* The columns: X(index, column of the query, column of the table). */
#define THREAD_COLUMNS(X) \
	X(THREADS_ID, "id", "id ID") \
	X(THREADS_SERIAL, "serial", "serial COUNT") \
	X(THREADS_NAME, "thread", "name TEXT") \
	X(THREADS_CLASS, "class", "class TEXT") \
	X(THREADS_FRAMES, "depth", "frames COUNT") \
	X(THREADS_SHALLOW, "shallow", "shallow BYTES") \
	X(THREADS_RETAINED, "id", "retained BYTES") /* looked up by ID */ \
	X(THREADS_STATE, "state", "state TEXT") \
	X(THREADS_PRIORITY, "priority", "priority COUNT") \
	X(THREADS_DAEMON, "daemon", "daemon BOOL") \
	X(THREADS_LOCALS, "locals", "locals COUNT") \
	X(THREADS_TID, "tid", "tid COUNT") \
	X(THREADS_VIRTUAL, "virtual", "virtual BOOL") \
	X(THREADS_CARRIER, "carrier", "carrier ID") \
	X(THREADS_CARRIES, "carries", "carries ID") \
	X(THREADS_STACK, "stack_bytes", "stack_bytes BYTES") \
	X(THREADS_GROUP, "group", "\"group\" TEXT") \
	X(THREADS_PARENT, "parent_group", "parent_group TEXT")

#define NUMBER(number, name, declaration) number,
enum { THREAD_COLUMNS(NUMBER) };
#define OF_QUERY(number, name, declaration) name,
static const char *const query_columns[] = { THREAD_COLUMNS(OF_QUERY) };
#define OF_TABLE(number, name, declaration) SQL_COLUMN(declaration, number),
static const struct sql_column thread_columns[] = { THREAD_COLUMNS(OF_TABLE) };

static int begin_thread_rows(struct sql_cursor *c, struct hdb_error *err)
{
	const struct hdb_option option = { .name = "no-stack" };
	const struct hdb_query_args args = {
		.struct_size = sizeof(args),
		.options = &option,
		.option_count = 1,
	};

	return hdb_query(c->db, "threads", &args, &((struct thread_rows *)c->state)->rows, err);
}

static int next_thread_row(struct sql_cursor *c, struct hdb_error *err)
{
	return hdb_rows_next(((const struct thread_rows *)c->state)->rows, err);
}

static int column_thread_row(struct sql_cursor *c, struct sqlite3_context *ctx, int column,
			     struct hdb_error *err)
{
	const struct hdb_rows *rows = ((const struct thread_rows *)c->state)->rows;
	const struct hdb_value *value =
		hdb_rows_value(rows, hdb_rows_find_column(rows, query_columns[column]));
	uint32_t ix;
	int r;

	if (value->type == HDB_TYPE_NULL || (column == THREADS_NAME && !value->text_size))
		return HDB_OK;
	if (column != THREADS_RETAINED) {
		sql_result_value(ctx, value);
		return HDB_OK;
	}
	r = hdb_find(c->db, value->u, &ix, err);
	return r == HDB_OK ? sql_result_retained(ctx, c->source, ix, err) : r;
}

static void end_thread_rows(struct sql_cursor *c)
{
	hdb_rows_close(((const struct thread_rows *)c->state)->rows);
}

const struct sql_table_def sql_threads = {
	.name = "threads",
	.help = "Threads: state, retained size, frames",
	SQL_COLUMNS(thread_columns),
	.rows = 50,
	.state_size = sizeof(struct thread_rows),
	.begin = begin_thread_rows,
	.next = next_thread_row,
	.column = column_thread_row,
	.end = end_thread_rows,
};

struct threads {
	uint64_t at, end;
	struct hdb_thread thread;
	/* current depth of frames; serial number of the requested thread, or 0 for all threads */
	uint32_t depth, wanted;
	struct hdb_frame frame;
};

static int begin_threads(struct sql_cursor *c, struct hdb_error *err)
{
	struct threads *s = c->state;

	(void)err;
	s->at = UINT64_MAX;
	s->end = hdb_thread_count(c->db);
	return HDB_OK;
}

static int next_threads(struct sql_cursor *c, struct hdb_error *err)
{
	struct threads *s = c->state;

	if (++s->at >= s->end)
		return HDB_END;
	return hdb_thread_at(c->db, s->at, &s->thread, err);
}

static int begin_frames(struct sql_cursor *c, struct hdb_error *err)
{
	struct threads *s = c->state;

	if (c->key[0]) {
		const sqlite3_int64 serial = sqlite3_value_int64(c->key[0]);

		if (serial <= 0 || serial > UINT32_MAX)
			return HDB_END;
		s->wanted = (uint32_t)serial;
	}
	return begin_threads(c, err);
}

static int next_frames(struct sql_cursor *c, struct hdb_error *err)
{
	struct threads *s = c->state;
	int r;

	s->depth++;
	for (;;) {
		if (s->at != UINT64_MAX && s->depth < s->thread.frame_count &&
		    (!s->wanted || s->wanted == s->thread.serial)) {
			r = hdb_frame_at(c->db, s->thread.trace_serial, s->depth, &s->frame, err);
			if (r <= 0)
				return r;
			s->depth++; /* the frame is not in the dump */
			continue;
		}
		TRY(next_threads(c, err));
		s->depth = 0;
	}
}

enum { FRAMES_SOURCE, FRAMES_LINE, FRAMES_TEXT };

static void result_frame(struct sqlite3_context *ctx, const struct hdb_frame *f)
{
	char text[3400];

	if (f->line == -3)
		snprintf(text, sizeof(text), "%s.%s(Native Method)", f->class_name, f->method);
	else if (!f->source[0])
		snprintf(text, sizeof(text), "%s.%s(Unknown Source)", f->class_name, f->method);
	else if (f->line > 0)
		snprintf(text, sizeof(text), "%s.%s(%s:%d)", f->class_name, f->method, f->source,
			 f->line);
	else
		snprintf(text, sizeof(text), "%s.%s(%s)", f->class_name, f->method, f->source);
	sql_result_copy(ctx, text);
}

static int column_frames(struct sql_cursor *c, struct sqlite3_context *ctx, int column,
			 struct hdb_error *err)
{
	const struct hdb_frame *f = &((const struct threads *)c->state)->frame;

	(void)err;
	if (column == FRAMES_TEXT)
		result_frame(ctx, f);
	else if (column == FRAMES_SOURCE && f->source[0])
		sql_result_copy(ctx, f->source);
	else if (column == FRAMES_LINE && f->line > 0)
		sqlite3_result_int(ctx, f->line);
	return HDB_OK;
}

static const struct sql_column frame_columns[] = {
	{ "thread COUNT", SQL_KEY | SQL_AT(SQL_U32, struct threads, thread.serial) },
	{ "thread_id ID", SQL_AT(SQL_OBJECT, struct threads, thread.ix) },
	{ "depth COUNT", SQL_AT(SQL_U32, struct threads, depth) },
	{ "class TEXT", SQL_AT(SQL_CHARS, struct threads, frame.class_name) },
	{ "method TEXT", SQL_AT(SQL_CHARS, struct threads, frame.method) },
	{ "signature TEXT", SQL_AT(SQL_CHARS, struct threads, frame.signature) },
	{ "source TEXT", FRAMES_SOURCE },
	{ "line COUNT", FRAMES_LINE },
	{ "frame TEXT", FRAMES_TEXT },
};

const struct sql_table_def sql_frames = {
	.name = "frames",
	.help = "Frames of stacks",
	SQL_COLUMNS(frame_columns),
	.rows = 500,
	.state_size = sizeof(struct threads),
	.begin = begin_frames,
	.next = next_frames,
	.column = column_frames,
};

/* ---- Android's heaps ---- */

static int next_heaps(struct sql_cursor *c, struct hdb_error *err)
{
	(void)err;
	return (uint64_t)c->row_no <= hdb_heap_count(c->db) ? HDB_OK : HDB_END;
}

static int column_heaps(struct sql_cursor *c, struct sqlite3_context *ctx, int column,
			struct hdb_error *err)
{
	const uint32_t no = (uint32_t)c->row_no - 1;
	char name[256];

	if (column == 0) {
		sqlite3_result_int64(ctx, no);
		return HDB_OK;
	}
	TRY(hdb_heap_name(c->db, no, name, sizeof(name), err));
	sql_result_copy(ctx, name);
	return HDB_OK;
}

static const struct sql_column heap_columns[] = { { "no COUNT", 0 }, { "name TEXT", 1 } };

const struct sql_table_def sql_heaps = {
	.name = "heaps",
	.help = "Android heaps",
	SQL_COLUMNS(heap_columns),
	.rows = 4,
	.next = next_heaps,
	.column = column_heaps,
};
