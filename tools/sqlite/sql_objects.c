/*
 * sqlite/sql_objects.c - tables of objects: objects, arrays, strings, instances(pattern), and every
 * class under its name.
 *
 * One module: they differ in which classes and kinds they have, and in their columns. What a
 * constraint says is handed to the scan of the library, so that parts of the heap that cannot have
 * such objects are not looked at.
 */
#include "sqlite/sql_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a column is; fields of a class come after these. */
enum column {
	C_ID,
	C_CLASS,
	C_KIND,
	C_SHALLOW,
	C_RETAINED,
	C_DOMINATOR,
	C_REACHABLE,
	C_LENGTH,
	C_CLASS_ID,
	C_HEAP,
	C_OFFSET,
	C_TEXT,
	C_TYPE,    /* of a primitive array's elements */
	C_PATTERN, /* instances(): the argument */
	C_SUB,     /* instances(): with subclasses; argument */
	C_FIELD
};

static const char *const declared[] = {
	[C_ID] = "id ID",
	[C_CLASS] = "class TEXT",
	[C_KIND] = "kind TEXT",
	[C_SHALLOW] = "shallow BYTES",
	[C_RETAINED] = "retained BYTES",
	[C_DOMINATOR] = "dominator ID",
	[C_REACHABLE] = "reachable BOOL",
	[C_LENGTH] = "length COUNT",
	[C_CLASS_ID] = "class_id ID",
	[C_HEAP] = "heap TEXT",
	[C_OFFSET] = "file_offset COUNT",
	[C_TEXT] = "text TEXT",
	[C_TYPE] = "element_type TEXT",
	[C_PATTERN] = "pattern TEXT HIDDEN",
	[C_SUB] = "subclasses BOOL HIDDEN",
};

/* Fields that a class with more has no columns for: SQLite allows 2,000. */
#define COLUMNS_MAX 1900
/* Classes of one name, one a class loader, whose fields are read. */
#define BASES_MAX 64

/* A table. Also what a module has, from which tables are made when they are named. */
struct shape {
	struct sql_source *source;
	char *name;   /* owned */
	int *columns; /* enum column, C_FIELD + number of a field */
	size_t column_count;
	unsigned kinds;   /* 1 << enum hdb_object_kind; 0: all */
	uint8_t *classes; /* by class number; NULL: all; owned */
	bool with_sub;
	/* class tables */
	uint32_t bases[BASES_MAX]; /* the classes of the name */
	uint32_t base_count;
	struct hdb_field *fields[BASES_MAX]; /* of each; owned */
	const struct hdb_field **field_of;   /* [column of the table][base]; owned */
	char *declaration;                   /* owned */
};

struct objects_table {
	struct sqlite3_vtab base;
	const struct shape *shape;
	struct sql_source *source;
};

/* Rows that are taken from the dominator tree's top, largest first; more are sorted by SQLite. */
#define LARGEST_MAX 100000

/* Parts of idxNum. */
enum {
	BY_ID = 1,
	BY_CLASS = 2,
	BY_CLASS_IN = 4,
	BY_CLASS_GLOB = 8,
	BY_KIND = 16,
	BY_REACHABLE = 32,
	BY_DOMINATOR = 64,
	BY_ROWID = 128,
	BY_PATTERN = 256,
	BY_SUB = 512,
	DESCENDING = 1024,
	ID_FROM = 1 << 11, /* id >= or > */
	ID_TO = 1 << 12,   /* id <= or < */
	LARGEST = 1 << 13, /* ORDER BY retained DESC LIMIT: the dominator tree from its top */
	BY_CLASS_ID = 1 << 14,
	SCAN_SHIFT = 20 /* enum hdb_scan_column from here on */
};

/* A part of the dominator tree's top, in a heap by retained size. */
struct top {
	uint64_t retained;
	uint32_t ix;
	uint32_t rest; /* list that has its next sibling, as a number in lists */
};

struct objects_cursor {
	struct sqlite3_vtab_cursor base;
	struct sql_source *source;
	struct hdb *db;
	const struct shape *shape;
	struct hdb_scan *scan;
	struct hdb_batch batch;
	size_t at;
	bool at_end;
	/* objects that are not scanned: one, or a list */
	bool is_single;
	struct hdb_list *list;
	const uint32_t *list_ixs;
	size_t list_count, list_at;
	uint32_t ix;                   /* the current object */
	struct hdb_object_facts facts; /* of it, if it was not scanned */
	uint8_t *marks;                /* classes that are asked for; owned */
	unsigned kinds;
	int population;
	uint32_t rest_of; /* when looking for one: from, to */
	uint32_t from_ix, end_ix;
	/* the largest first */
	struct top *tops;
	size_t top_count, top_room;
	uint64_t wanted;
};

/* ---- shapes ---- */

static void free_shape(void *p)
{
	struct shape *s = p;

	if (!s)
		return;
	for (uint32_t b = 0; b < s->base_count; b++)
		hdb_fields_free(s->fields[b]);
	free(s->field_of);
	free(s->classes);
	free(s->columns);
	free(s->name);
	free(s->declaration);
	free(s);
}

static struct shape *new_shape(struct sql_source *source, const char *name)
{
	struct shape *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->source = source;
	s->name = strdup(name);
	if (!s->name) {
		free_shape(s);
		return NULL;
	}
	return s;
}

/* A text that grows. */
struct growing {
	char *data;
	size_t size, room;
	bool failed;
};

static void grow(struct growing *g, const char *text)
{
	const size_t size = strlen(text);

	if (g->failed)
		return;
	if (g->size + size + 1 > g->room) {
		const size_t room = (g->size + size + 1) * 2;
		char *data = realloc(g->data, room);

		if (!data) {
			g->failed = true;
			return;
		}
		g->data = data;
		g->room = room;
	}
	memcpy(g->data + g->size, text, size + 1);
	g->size += size;
}

/* An identifier in quotes, with a comma before it unless it is the first. */
static void grow_column(struct growing *g, const char *name, const char *type)
{
	char *text = sqlite3_mprintf("%s\"%w\" %s", g->size ? ", " : "", name, type);

	if (text)
		grow(g, text);
	else
		g->failed = true;
	sqlite3_free(text);
}

static void declare(struct growing *g, struct shape *s, enum column column, bool is_hidden)
{
	if (!s->columns)
		s->columns = calloc(COLUMNS_MAX + 32, sizeof(*s->columns));
	if (!s->columns) {
		g->failed = true;
		return;
	}
	if (g->size)
		grow(g, ", ");
	grow(g, declared[column]);
	if (is_hidden && column < C_PATTERN)
		grow(g, " HIDDEN");
	s->columns[s->column_count++] = (int)column;
}

static const char *simple_name(const char *class_name)
{
	const char *dot = strrchr(class_name, '.');

	return dot ? dot + 1 : class_name;
}

/* Names that are taken, by hash: classes may have thousands of fields. */
struct taken {
	char **names;
	size_t room;
};

static size_t hash_name(const char *name)
{
	size_t hash = 14695981039346656037u;

	for (; *name; name++)
		hash = (hash ^ (size_t)(*name >= 'A' && *name <= 'Z' ? *name | 0x20 : *name)) *
		       1099511628211u;
	return hash;
}

/* Whether nobody had the name; it is taken now. The table has room for all. */
static bool take_name(struct taken *t, const char *name)
{
	size_t at = hash_name(name) & (t->room - 1);

	for (; t->names[at]; at = (at + 1) & (t->room - 1))
		if (sqlite3_stricmp(t->names[at], name) == 0)
			return false;
	t->names[at] = strdup(name);
	return t->names[at] != NULL;
}

/* The column of a field: its name, Super.field where that is taken, then more. */
static void add_field(struct growing *g, struct shape *s, struct taken *taken,
		      const struct hdb_field *field, size_t no)
{
	const char *class_name = hdb_class_name(s->source->db, field->declaring_no);
	const char *type = field->type == HDB_BASIC_OBJECT  ? "ID" :
			   field->type == HDB_BASIC_BOOLEAN ? "BOOLEAN" :
			   field->type == HDB_BASIC_FLOAT || field->type == HDB_BASIC_DOUBLE ?
							      "DOUBLE" :
							      "INT";
	char *name = sqlite3_mprintf("%s", field->name);

	for (unsigned attempt = 1; name && !take_name(taken, name); attempt++) {
		sqlite3_free(name);
		name = attempt == 1 ?
			       sqlite3_mprintf("%s.%s", simple_name(class_name), field->name) :
		       attempt == 2 ? sqlite3_mprintf("%s.%s", class_name, field->name) :
				      sqlite3_mprintf("%s.%s#%u", class_name, field->name, attempt);
		if (attempt > 1000)
			break;
	}
	if (!name) {
		g->failed = true;
		return;
	}
	grow_column(g, name, type);
	sqlite3_free(name);
	if (s->columns)
		s->columns[s->column_count++] = C_FIELD + (int)no;
}

static int add_fields(struct growing *g, struct shape *s, struct hdb_error *err)
{
	struct hdb *db = s->source->db;
	struct taken taken = { .room = 8192 };
	size_t counts[BASES_MAX] = { 0 };
	int r = HDB_OK;

	taken.names = calloc(taken.room, sizeof(*taken.names));
	s->field_of =
		calloc((size_t)(COLUMNS_MAX + 32) * (s->base_count + 1), sizeof(*s->field_of));
	if (!taken.names || !s->field_of)
		r = sql_fail(err, HDB_ENOMEM, "no memory for a table");
	for (int i = 0; r == HDB_OK && i < C_PATTERN; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(declared[i], " "), declared[i]);
		if (i == C_ID || i == C_SHALLOW || i == C_RETAINED || i == C_DOMINATOR ||
		    (i == C_LENGTH && s->column_count > 4))
			take_name(&taken, name);
	}
	for (uint32_t b = 0; r == HDB_OK && b < s->base_count; b++)
		r = hdb_class_fields(db, s->bases[b], &s->fields[b], &counts[b], err);
	for (size_t f = 0; r == HDB_OK && f < counts[0] && s->column_count < COLUMNS_MAX; f++) {
		s->field_of[s->column_count * s->base_count] = &s->fields[0][f];
		/* The same field in classes of the same name that other loaders have. */
		for (uint32_t b = 1; b < s->base_count; b++)
			for (size_t o = 0; o < counts[b]; o++)
				if (strcmp(s->fields[b][o].name, s->fields[0][f].name) == 0 &&
				    s->fields[b][o].type == s->fields[0][f].type) {
					s->field_of[s->column_count * s->base_count + b] =
						&s->fields[b][o];
					break;
				}
		add_field(g, s, &taken, &s->fields[0][f], f);
	}
	for (size_t i = 0; taken.names && i < taken.room; i++)
		free(taken.names[i]);
	free(taken.names);
	return r;
}

/* A hidden column, unless a field has its name. */
static void declare_hidden(struct growing *g, struct shape *s, enum column column)
{
	char name[40];
	char *have;

	snprintf(name, sizeof(name), "\"%.*s\"", (int)strcspn(declared[column], " "),
		 declared[column]);
	for (have = g->data; have && *have; have++)
		if (sqlite3_strnicmp(have, name, (int)strlen(name)) == 0)
			return;
	declare(g, s, column, true);
}

/* The table of a class, with its fields. */
static int class_shape(struct sql_source *source, const char *name, bool with_sub,
		       struct shape **out, struct hdb_error *err)
{
	const uint32_t n = hdb_class_count(source->db);
	char *plain = strdup(name);
	struct growing g = { 0 };
	struct shape *s = new_shape(source, name);
	struct hdb_class class;
	uint32_t count = 0;
	int r = s && plain ? HDB_OK : sql_fail(err, HDB_ENOMEM, "no memory for a table");

	if (r == HDB_OK && plain && with_sub)
		plain[strlen(plain) - 1] = '\0';
	if (r == HDB_OK) {
		s->with_sub = with_sub;
		s->classes = calloc((size_t)n + 1, 1);
		if (!s->classes)
			r = sql_fail(err, HDB_ENOMEM, "no memory for a table");
	}
	if (r == HDB_OK)
		r = hdb_classes_like(source->db, "", 0, s->classes, &count, err);
	for (uint32_t no = 0; r == HDB_OK && plain && no < n; no++)
		if (strcmp(hdb_class_name(source->db, no), plain) == 0 && s->base_count < BASES_MAX)
			s->bases[s->base_count++] = no;
	if (r == HDB_OK && !s->base_count)
		r = HDB_NOTFOUND;
	/* Subclasses of all of them. */
	for (uint32_t no = 0; r == HDB_OK && no < n; no++)
		for (uint32_t b = 0; b < s->base_count && !s->classes[no]; b++)
			s->classes[no] =
				with_sub ? (uint8_t)hdb_is_subclass(source->db, no, s->bases[b]) :
					   no == s->bases[b];
	if (r == HDB_OK)
		r = hdb_class_at(source->db, s->bases[0], &class, err);
	if (r == HDB_OK) {
		declare(&g, s, C_ID, false);
		if (with_sub)
			declare(&g, s, C_CLASS, false);
		declare(&g, s, C_SHALLOW, false);
		declare(&g, s, C_RETAINED, false);
		declare(&g, s, C_DOMINATOR, false);
		if (class.is_array)
			declare(&g, s, C_LENGTH, false);
		r = add_fields(&g, s, err);
	}
	if (r == HDB_OK) {
		if (!with_sub)
			declare_hidden(&g, s, C_CLASS);
		declare_hidden(&g, s, C_REACHABLE);
		declare_hidden(&g, s, C_KIND);
		declare_hidden(&g, s, C_TEXT);
		declare_hidden(&g, s, C_CLASS_ID);
	}
	if (r == HDB_OK && g.failed)
		r = sql_fail(err, HDB_ENOMEM, "no memory for a table");
	if (r == HDB_OK) {
		s->declaration = g.data;
		*out = s;
	} else {
		free(g.data);
		free_shape(s);
	}
	free(plain);
	return r;
}

static int shape_of(struct sql_source *source, const char *name, struct shape **out,
		    struct hdb_error *err)
{
	const size_t size = strlen(name);
	int r = class_shape(source, name, false, out, err);

	if (r == HDB_NOTFOUND && size > 1 && name[size - 1] == '+')
		r = class_shape(source, name, true, out, err);
	return r;
}

/* A class that was announced gets its columns. */
static int fill_shape(struct shape *s, struct hdb_error *err)
{
	struct shape *made;
	int r = shape_of(s->source, s->name, &made, err);

	if (r == HDB_NOTFOUND)
		return sql_fail(err, HDB_EBUG, "there is no class %.200s", s->name);
	if (r < 0)
		return r;
	free(made->name);
	made->name = s->name;
	*s = *made;
	free(made);
	return HDB_OK;
}

/* ---- the module's methods ---- */

static int connect_objects(sqlite3 *sqlite, void *aux, int argc, const char *const *argv,
			   sqlite3_vtab **out, char **message)
{
	struct shape *shape = aux;
	struct hdb_error err = { 0 };
	struct objects_table *table;
	int rc;

	(void)argc;
	(void)argv;
	if (!shape->declaration && fill_shape(shape, &err) < 0) {
		*message = sqlite3_mprintf("%s", err.message);
		return SQLITE_ERROR;
	}
	rc = sql_declare(shape->source, sqlite, shape->declaration);
	if (rc != SQLITE_OK)
		return rc;
	table = sqlite3_malloc64(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	memset(table, 0, sizeof(*table));
	table->shape = shape;
	table->source = shape->source;
	*out = &table->base;
	return SQLITE_OK;
}

static int disconnect_objects(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

static unsigned scan_columns(const struct shape *shape, sqlite3_uint64 used)
{
	unsigned columns = 0;

	for (size_t i = 0; i < shape->column_count; i++) {
		if (!(used >> (i < 63 ? i : 63) & 1))
			continue;
		switch (shape->columns[i]) {
		case C_ID:
			columns |= HDB_SCAN_ID;
			break;
		case C_REACHABLE:
			columns |= HDB_SCAN_REACHABLE;
			break;
		case C_RETAINED:
			columns |= HDB_SCAN_RETAINED;
			break;
		case C_DOMINATOR:
			columns |= HDB_SCAN_DOMINATOR;
			break;
		case C_OFFSET:
			columns |= HDB_SCAN_OFFSET;
			break;
		default:
			if (shape->columns[i] >= C_FIELD)
				columns |= HDB_SCAN_FIELDS;
			break;
		}
	}
	return columns;
}

static int column_code(const struct shape *shape, int column)
{
	if (column < 0)
		return -1;
	return (size_t)column < shape->column_count ? shape->columns[column] : -2;
}

/* What a constraint is for this module: a part of idxNum; 0: nothing. */
static int part_of(const struct shape *shape, sqlite3_index_info *info, int i)
{
	const struct sqlite3_index_constraint *c = &info->aConstraint[i];
	const int code = column_code(shape, c->iColumn);
	const bool is_eq = c->op == SQLITE_INDEX_CONSTRAINT_EQ;

	switch (code) {
	case -1:
		return is_eq ? BY_ROWID : 0;
	case C_ID:
		if (is_eq)
			return BY_ID;
		if (c->op == SQLITE_INDEX_CONSTRAINT_GT || c->op == SQLITE_INDEX_CONSTRAINT_GE)
			return ID_FROM;
		if (c->op == SQLITE_INDEX_CONSTRAINT_LT || c->op == SQLITE_INDEX_CONSTRAINT_LE)
			return ID_TO;
		return 0;
	case C_CLASS:
		if (is_eq && strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0)
			return BY_CLASS;
		return c->op == SQLITE_INDEX_CONSTRAINT_GLOB ? BY_CLASS_GLOB : 0;
	case C_CLASS_ID:
		return is_eq ? BY_CLASS_ID : 0;
	case C_KIND:
		return is_eq && strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0 ? BY_KIND :
											 0;
	case C_REACHABLE:
		return is_eq ? BY_REACHABLE : 0;
	case C_DOMINATOR:
		return is_eq ? BY_DOMINATOR : 0;
	case C_PATTERN:
		return is_eq ? BY_PATTERN : 0;
	case C_SUB:
		return is_eq ? BY_SUB : 0;
	default:
		return 0;
	}
}

/* How many objects a table may have, for the planner. */
static double guess_rows(const struct shape *shape)
{
	const double all = hdb_object_count(shape->source->db);

	if (!shape->classes)
		return all + 1;
	if (shape->source->totals) {
		double rows = 1;

		for (uint32_t no = 0; no < hdb_class_count(shape->source->db); no++)
			if (shape->classes[no])
				rows += (double)shape->source->totals[no + 1].count;
		return rows;
	}
	return all / 10 + 1;
}

struct plan {
	int parts;
	int at[32]; /* constraint by bit of the part */
	int limit_at;
	int limited; /* constraints that SQLite still looks at */
};

static void find_parts(const struct shape *shape, sqlite3_index_info *info, struct plan *plan)
{
	memset(plan->at, 0xff, sizeof(plan->at));
	plan->limit_at = -1;
	for (int i = 0; i < info->nConstraint; i++) {
		int part;

		if (info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_LIMIT) {
			if (info->aConstraint[i].usable)
				plan->limit_at = i;
			continue;
		}
		if (info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_OFFSET) {
			plan->limited = 1;
			continue;
		}
		part = info->aConstraint[i].usable ? part_of(shape, info, i) : 0;
		plan->limited = 1;
		if (!part || plan->parts & part)
			continue;
		plan->parts |= part;
		plan->at[__builtin_ctz((unsigned)part)] = i;
	}
}

/* Takes a part; its value comes next. */
static void use(sqlite3_index_info *info, const struct plan *plan, int part, int *next, bool omit)
{
	const int i = plan->at[__builtin_ctz((unsigned)part)];

	info->aConstraintUsage[i].argvIndex = (*next)++;
	info->aConstraintUsage[i].omit = omit;
	info->idxNum |= part;
}

static const struct {
	int part;
	const char *text;
} part_names[] = {
	{ BY_ID, "id=" },
	{ BY_ROWID, "rowid=" },
	{ BY_DOMINATOR, "dominator=" },
	{ BY_PATTERN, "pattern" },
	{ BY_SUB, "subclasses" },
	{ BY_CLASS, "class=" },
	{ BY_CLASS_GLOB, "class GLOB" },
	{ BY_CLASS_ID, "class_id=" },
	{ BY_KIND, "kind=" },
	{ BY_REACHABLE, "reachable=" },
	{ ID_FROM, "id>" },
	{ ID_TO, "id<" },
};
#define PART_COUNT (sizeof(part_names) / sizeof(part_names[0]))

static bool orders_by(const struct shape *shape, const sqlite3_index_info *info, int code,
		      bool *descending)
{
	if (info->nOrderBy != 1 || column_code(shape, info->aOrderBy[0].iColumn) != code)
		return false;
	*descending = info->aOrderBy[0].desc;
	return true;
}

/* Whether so few rows are asked for that they are taken from the top of the dominator tree. */
static bool is_short(sqlite3_index_info *info, const struct plan *plan)
{
	sqlite3_value *value = NULL;

	return plan->limit_at >= 0 && !plan->limited &&
	       sqlite3_vtab_rhs_value(info, plan->limit_at, &value) == SQLITE_OK && value &&
	       sqlite3_value_type(value) == SQLITE_INTEGER && sqlite3_value_int64(value) >= 0 &&
	       sqlite3_value_int64(value) <= LARGEST_MAX;
}

static bool has_argument(const struct shape *shape)
{
	return shape->column_count && shape->columns[shape->column_count - 1] == C_SUB;
}

static int best_objects(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct objects_table *table = (const struct objects_table *)vtab;
	const struct shape *shape = table->shape;
	double rows = guess_rows(shape);
	struct plan plan = { 0 };
	bool descending = false;
	int next = 1;
	char text[256] = "";

	for (int i = 0; i < info->nConstraint; i++)
		if (!info->aConstraint[i].usable &&
		    info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
		    (column_code(shape, info->aConstraint[i].iColumn) == C_PATTERN ||
		     column_code(shape, info->aConstraint[i].iColumn) == C_SUB))
			return SQLITE_CONSTRAINT;
	find_parts(shape, info, &plan);
	info->idxNum = 0;
	if (plan.parts & BY_ID || plan.parts & BY_ROWID) {
		use(info, &plan, plan.parts & BY_ID ? BY_ID : BY_ROWID, &next, false);
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
		info->estimatedRows = 1;
		info->estimatedCost = 1;
	} else if (plan.parts & BY_DOMINATOR) {
		use(info, &plan, BY_DOMINATOR, &next, false);
		info->estimatedRows = 10;
		info->estimatedCost = 20;
	} else {
		for (size_t p = 2; p < PART_COUNT; p++) {
			const int part = part_names[p].part;
			int at;

			if (!(plan.parts & part))
				continue;
			if (part == BY_DOMINATOR)
				continue;
			at = plan.at[__builtin_ctz((unsigned)part)];
			use(info, &plan, part, &next, part == BY_PATTERN || part == BY_SUB);
			if (part == BY_CLASS && sqlite3_vtab_in(info, at, 1))
				info->idxNum |= BY_CLASS_IN;
			if (part == BY_CLASS || part == BY_CLASS_ID)
				rows = rows / 50 + 1;
			else
				rows = rows / 2 + 1;
		}
		info->estimatedRows = (sqlite3_int64)rows;
		info->estimatedCost = rows + hdb_object_count(shape->source->db) / 20.0;
		if (orders_by(shape, info, C_ID, &descending) ||
		    orders_by(shape, info, -1, &descending)) {
			info->orderByConsumed = 1;
			if (descending)
				info->idxNum |= DESCENDING;
		} else if (orders_by(shape, info, C_RETAINED, &descending) && descending &&
			   is_short(info, &plan) && !shape->classes && !shape->kinds &&
			   !has_argument(shape)) {
			info->orderByConsumed = 1;
			info->idxNum |= LARGEST;
			info->aConstraintUsage[plan.limit_at].argvIndex = next++;
		}
	}
	for (size_t p = 0; p < PART_COUNT; p++)
		if (info->idxNum & part_names[p].part)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s",
				 text[0] ? ", " : "", part_names[p].text,
				 part_names[p].part == BY_CLASS && info->idxNum & BY_CLASS_IN ?
					 " (IN)" :
					 "");
	info->idxStr = sqlite3_mprintf(
		"%s%s%s",
		info->idxNum & LARGEST ? "dominator tree, largest first" :
		text[0]                ? text :
					 "scan",
		info->idxNum & DESCENDING ? ", last first" : "",
		info->orderByConsumed && !(info->idxNum & LARGEST) ? ", in order of id" : "");
	if (!info->idxStr)
		return SQLITE_NOMEM;
	info->needToFreeIdxStr = 1;
	info->idxNum |= (int)(scan_columns(shape, info->colUsed) << SCAN_SHIFT);
	return SQLITE_OK;
}

static int open_objects(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	const struct objects_table *table = (const struct objects_table *)vtab;
	struct objects_cursor *c = sqlite3_malloc64(sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	memset(c, 0, sizeof(*c));
	c->source = table->source;
	c->db = table->source->db;
	c->shape = table->shape;
	*out = &c->base;
	return SQLITE_OK;
}

static void end_objects(struct objects_cursor *c)
{
	hdb_scan_close(c->scan);
	hdb_list_close(c->list);
	free(c->marks);
	free(c->tops);
	c->scan = NULL;
	c->list = NULL;
	c->marks = NULL;
	c->tops = NULL;
	c->top_count = c->top_room = 0;
	c->is_single = false;
	c->at = 0;
	c->batch.count = 0;
	c->list_count = c->list_at = 0;
}

static int close_objects(sqlite3_vtab_cursor *cursor)
{
	end_objects((struct objects_cursor *)cursor);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

/* ---- the largest first ---- */

static bool is_larger(const struct top *a, const struct top *b)
{
	return a->retained > b->retained || (a->retained == b->retained && a->ix < b->ix);
}

static int push_top(struct objects_cursor *c, struct top top, struct hdb_error *err)
{
	size_t at = c->top_count;

	if (at == c->top_room) {
		const size_t room = at ? at * 2 : 1024;
		struct top *tops = realloc(c->tops, room * sizeof(*tops));

		if (!tops)
			return sql_fail(err, HDB_ENOMEM, "no memory for %zu objects", room);
		c->tops = tops;
		c->top_room = room;
	}
	c->top_count++;
	while (at > 0 && is_larger(&top, &c->tops[(at - 1) / 2])) {
		c->tops[at] = c->tops[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	c->tops[at] = top;
	return HDB_OK;
}

static struct top pop_top(struct objects_cursor *c)
{
	const struct top first = c->tops[0], last = c->tops[--c->top_count];
	size_t at = 0;

	for (;;) {
		size_t child = at * 2 + 1;

		if (child >= c->top_count)
			break;
		if (child + 1 < c->top_count && is_larger(&c->tops[child + 1], &c->tops[child]))
			child++;
		if (!is_larger(&c->tops[child], &last))
			break;
		c->tops[at] = c->tops[child];
		at = child;
	}
	if (c->top_count)
		c->tops[at] = last;
	return first;
}

/* What an object dominates goes in: as many as are asked for, for they come largest first. */
static int push_children(struct objects_cursor *c, uint32_t ix, struct hdb_error *err)
{
	uint64_t pushed = 0;
	const uint32_t *ixs;
	size_t count = 0;
	int r = hdb_list_begin(c->list, ix, NULL, err);

	do {
		if (r == HDB_OK)
			r = hdb_list_next(c->list, &ixs, &count, err);
		for (size_t i = 0; r == HDB_OK && i < count && pushed < c->wanted; i++) {
			struct hdb_object_facts facts = { 0 };
			struct top top = { .ix = ixs[i] };

			r = hdb_object_at(c->db, top.ix, &facts, err);
			if (r == HDB_OK)
				r = hdb_retained_at(c->db, top.ix, &top.retained, err);
			if (r == HDB_OK)
				r = push_top(c, top, err);
			pushed += facts.is_real != 0;
		}
	} while (r == HDB_OK && count && pushed < c->wanted);
	return r;
}

/* ---- stepping ---- */

/* Not `= { 0 }`: a kilobyte for each cell. */
static void clear(struct hdb_error *err)
{
	err->code = HDB_OK;
	err->message[0] = '\0';
}

static int take_ix(struct objects_cursor *c, uint32_t ix, struct hdb_error *err)
{
	c->ix = ix;
	return hdb_object_at(c->db, ix, &c->facts, err);
}

/* Whether an object that was not scanned belongs to the table. */
static bool is_member(const struct objects_cursor *c)
{
	const struct shape *s = c->shape;

	return c->facts.is_real && (!s->classes || s->classes[c->facts.class_no]) &&
	       (!s->kinds || s->kinds >> c->facts.kind & 1);
}

/* What retains nothing comes last. */
static int begin_unreachable(struct objects_cursor *c, struct hdb_error *err)
{
	const struct hdb_scan_options opt = {
		.columns = HDB_SCAN_ID | HDB_SCAN_RETAINED | HDB_SCAN_DOMINATOR |
			   HDB_SCAN_REACHABLE | HDB_SCAN_OFFSET,
		.population = -1,
	};
	const int r = hdb_scan_open(c->db, &opt, &c->scan, err);

	c->at = 0;
	return r == HDB_OK ? hdb_scan_next(c->scan, &c->batch, err) : r;
}

static int next_largest(struct objects_cursor *c, struct hdb_error *err)
{
	int r = HDB_OK;

	do {
		struct top top;

		if (!c->top_count)
			return begin_unreachable(c, err);
		top = pop_top(c);
		r = take_ix(c, top.ix, err);
		if (r == HDB_OK && c->facts.is_real && c->wanted)
			c->wanted--;
		if (r == HDB_OK)
			r = push_children(c, top.ix, err);
	} while (r == HDB_OK && !c->facts.is_real);
	return r;
}

static int next_of_list(struct objects_cursor *c, struct hdb_error *err)
{
	int r = HDB_OK;

	do {
		if (c->list_at == c->list_count) {
			r = hdb_list_next(c->list, &c->list_ixs, &c->list_count, err);
			c->list_at = 0;
			if (r < 0)
				return r;
			if (!c->list_count)
				return HDB_END;
		}
		r = take_ix(c, c->list_ixs[c->list_at++], err);
	} while (r == HDB_OK && !is_member(c));
	return r;
}

static int step(struct objects_cursor *c)
{
	struct hdb_error err;
	int r = HDB_OK;

	clear(&err);
	if (c->scan) {
		if (++c->at < c->batch.count)
			return SQLITE_OK;
		c->at = 0;
		r = hdb_scan_next(c->scan, &c->batch, &err);
	} else if (c->source->cancel && *c->source->cancel) {
		r = sql_fail(&err, HDB_EINTR, "interrupted");
	} else if (c->is_single) {
		r = HDB_END;
	} else if (c->tops) {
		r = next_largest(c, &err);
	} else if (c->list) {
		r = next_of_list(c, &err);
	} else {
		r = HDB_END;
	}
	c->at_end = r != HDB_OK;
	return r < 0 ? sql_vtab_fail(c->base.pVtab, c->source, r, &err) : SQLITE_OK;
}

/* The first object whose ID is at least `id`, by halving. */
static int first_from(struct objects_cursor *c, uint64_t id, uint32_t *ix, struct hdb_error *err)
{
	uint32_t low = 0, high = hdb_object_count(c->db);
	int r = HDB_OK;

	while (low < high && r == HDB_OK) {
		const uint32_t mid = low + (high - low) / 2;
		struct hdb_object_facts facts = { 0 };

		r = hdb_object_at(c->db, mid, &facts, err);
		if (r == HDB_OK && facts.id < id)
			low = mid + 1;
		else
			high = mid;
	}
	*ix = low;
	return r;
}

static bool need_marks(struct objects_cursor *c)
{
	if (!c->marks)
		c->marks = calloc((size_t)hdb_class_count(c->db) + 1, 1);
	return c->marks != NULL;
}

/* Keeps in `marks` what is asked for by this constraint and by those before it. */
static int narrow(struct objects_cursor *c, uint8_t *found)
{
	const uint32_t n = hdb_class_count(c->db);
	const bool is_first = !c->marks;

	if (!need_marks(c))
		return HDB_ENOMEM;
	for (uint32_t no = 0; no < n; no++)
		c->marks[no] = found[no] && (is_first || c->marks[no]);
	return HDB_OK;
}

static int mark_value(struct objects_cursor *c, sqlite3_value *value, int is_glob, uint8_t *marks,
		      struct hdb_error *err)
{
	const char *text = (const char *)sqlite3_value_text(value);
	uint32_t count = 0;

	return text ? sql_mark_classes(c->source, text, is_glob, marks, &count, err) : HDB_OK;
}

/* A constraint on classes. */
static int by_class(struct objects_cursor *c, int part, int index, sqlite3_value *value,
		    sqlite3_value *sub, struct hdb_error *err)
{
	uint8_t *found = calloc((size_t)hdb_class_count(c->db) + 1, 1);
	uint32_t count = 0, ix;
	int r = HDB_OK;

	if (!found)
		return sql_fail(err, HDB_ENOMEM, "no memory for classes");
	if (part == BY_CLASS && index & BY_CLASS_IN) {
		sqlite3_value *one;
		int rc = sqlite3_vtab_in_first(value, &one);

		for (; rc == SQLITE_OK && one && r == HDB_OK;
		     rc = sqlite3_vtab_in_next(value, &one))
			r = mark_value(c, one, 0, found, err);
	} else if (part == BY_CLASS || part == BY_CLASS_GLOB) {
		r = mark_value(c, value, part == BY_CLASS_GLOB, found, err);
	} else if (part == BY_CLASS_ID) {
		struct hdb_object_facts facts = { 0 };

		r = sql_value_object(c->source, value, &ix, err);
		if (r == HDB_OK)
			r = hdb_object_at(c->db, ix, &facts, err);
		if (r == HDB_OK && facts.stands_for != HDB_NONE)
			found[facts.stands_for] = 1;
		r = r < 0 ? r : HDB_OK;
	} else if (part == BY_PATTERN && sqlite3_value_text(value)) {
		const char *pattern = (const char *)sqlite3_value_text(value);

		r = hdb_classes_like(c->db, pattern, !sub || sqlite3_value_int(sub), found, &count,
				     err);
		if (r == HDB_OK && !count)
			r = sql_fail(err, HDB_NOTFOUND, "no class matches %s", pattern);
		/* Not found: the question is wrong. */
		if (r == HDB_NOTFOUND)
			r = HDB_EUSAGE;
	}
	if (r == HDB_OK)
		r = narrow(c, found);
	free(found);
	return r;
}

static unsigned kind_named(const char *name)
{
	for (unsigned k = 0; name && k < 4; k++)
		if (strcmp(name, sql_kind_name(k)) == 0)
			return 1u << k;
	return 0;
}

static int begin_one(struct objects_cursor *c, int index, sqlite3_value *value,
		     struct hdb_error *err)
{
	int r;

	c->is_single = true;
	if (index & BY_ROWID) {
		const sqlite3_int64 ix = sqlite3_value_int64(value);

		if (sqlite3_value_type(value) != SQLITE_INTEGER || ix < 0 ||
		    ix >= hdb_object_count(c->db))
			return HDB_END;
		c->ix = (uint32_t)ix;
		r = HDB_OK;
	} else {
		if (sqlite3_value_type(value) != SQLITE_INTEGER)
			return HDB_END;
		r = sql_value_object(c->source, value, &c->ix, err);
	}
	if (r == HDB_OK)
		r = take_ix(c, c->ix, err);
	return r == HDB_OK && !is_member(c) ? HDB_END : r;
}

static int begin_scan(struct objects_cursor *c, int index, struct hdb_error *err)
{
	struct hdb_scan_options opt = {
		.columns = (unsigned)index >> SCAN_SHIFT,
		.classes = c->marks ? c->marks : c->shape->classes,
		.kinds = c->kinds,
		.population = c->population,
		.from_ix = c->from_ix,
		.end_ix = c->end_ix,
		.descending = (index & DESCENDING) != 0,
	};
	int r;

	/* A constraint and the table itself both say which classes. */
	for (uint32_t no = 0; c->marks && c->shape->classes && no < hdb_class_count(c->db); no++)
		c->marks[no] &= c->shape->classes[no] != 0;
	if (c->from_ix && c->from_ix >= hdb_object_count(c->db))
		return HDB_END;
	r = hdb_scan_open(c->db, &opt, &c->scan, err);
	if (r == HDB_OK)
		r = hdb_scan_next(c->scan, &c->batch, err);
	c->at = 0;
	return r;
}

static int read_parts(struct objects_cursor *c, int index, int argc, sqlite3_value **argv,
		      struct hdb_error *err)
{
	sqlite3_value *values[PART_COUNT] = { NULL };
	int at = 0, r = HDB_OK;

	for (size_t p = 2; p < PART_COUNT; p++)
		if (index & part_names[p].part && at < argc)
			values[p] = argv[at++];
	for (size_t p = 2; p < PART_COUNT && r == HDB_OK; p++) {
		const int part = part_names[p].part;
		sqlite3_value *value = values[p];

		if (!value)
			continue;
		switch (part) {
		case BY_PATTERN:
			r = by_class(c, part, index, value, values[4], err);
			break;
		case BY_CLASS:
		case BY_CLASS_GLOB:
		case BY_CLASS_ID:
			r = by_class(c, part, index, value, NULL, err);
			break;
		case BY_KIND:
			c->kinds &= kind_named((const char *)sqlite3_value_text(value));
			if (!c->kinds)
				return HDB_END;
			break;
		case BY_REACHABLE:
			if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER ||
			    sqlite3_value_int64(value) >> 1)
				return HDB_END;
			c->population = sqlite3_value_int64(value) ? 1 : -1;
			break;
		case ID_FROM:
			if (sqlite3_value_type(value) == SQLITE_INTEGER &&
			    sqlite3_value_int64(value) > 0)
				r = first_from(c, (uint64_t)sqlite3_value_int64(value), &c->from_ix,
					       err);
			break;
		case ID_TO:
			if (sqlite3_value_type(value) == SQLITE_INTEGER &&
			    sqlite3_value_int64(value) > 0 &&
			    sqlite3_value_int64(value) < INT64_MAX)
				r = first_from(c, (uint64_t)sqlite3_value_int64(value) + 1,
					       &c->end_ix, err);
			else if (sqlite3_value_type(value) == SQLITE_INTEGER &&
				 sqlite3_value_int64(value) <= 0)
				c->end_ix = 0;
			if (r == HDB_OK && c->end_ix <= c->from_ix &&
			    sqlite3_value_int64(value) > 0)
				return HDB_END;
			break;
		default:
			break;
		}
	}
	return r;
}

static int filter_objects(sqlite3_vtab_cursor *cursor, int index, const char *text, int argc,
			  sqlite3_value **argv)
{
	struct objects_cursor *c = (struct objects_cursor *)cursor;
	struct hdb_error err = { 0 };
	int r;

	(void)text;
	end_objects(c);
	c->kinds = c->shape->kinds ? c->shape->kinds : 15;
	c->population = 0;
	c->from_ix = c->end_ix = 0;
	if (index & (BY_ID | BY_ROWID)) {
		r = begin_one(c, index, argv[0], &err);
	} else if (index & BY_DOMINATOR) {
		uint32_t ix;

		r = sql_value_object(c->source, argv[0], &ix, &err);
		if (r == HDB_OK)
			r = hdb_list_open(c->db, HDB_DOMINATED, &c->list, &err);
		if (r == HDB_OK)
			r = hdb_list_begin(c->list, ix, NULL, &err);
		if (r == HDB_OK)
			r = next_of_list(c, &err);
	} else if (index & LARGEST && argc) {
		c->wanted = (uint64_t)sqlite3_value_int64(argv[0]) + 1;
		r = hdb_list_open(c->db, HDB_DOMINATED, &c->list, &err);
		if (r == HDB_OK)
			r = push_children(c, HDB_NONE, &err);
		if (r == HDB_OK)
			r = next_largest(c, &err);
	} else {
		r = read_parts(c, index, argc, argv, &err);
		if (r == HDB_OK)
			r = begin_scan(c, index, &err);
	}
	c->at_end = r != HDB_OK;
	return r < 0 ? sql_vtab_fail(cursor->pVtab, c->source, r, &err) : SQLITE_OK;
}

static int next_object(sqlite3_vtab_cursor *cursor)
{
	return step((struct objects_cursor *)cursor);
}

static int is_at_end(sqlite3_vtab_cursor *cursor)
{
	return ((struct objects_cursor *)cursor)->at_end;
}

/* ---- columns ---- */

static int result_field(struct objects_cursor *c, sqlite3_context *ctx, int column, uint32_t ix,
			uint32_t class_no, struct hdb_error *err)
{
	const struct shape *s = c->shape;
	const struct hdb_field *field;
	struct hdb_basic value;
	uint32_t base = 0;
	int r;

	while (s->base_count > 1 && base + 1 < s->base_count &&
	       !hdb_is_subclass(c->db, class_no, s->bases[base]))
		base++;
	field = s->field_of[(size_t)column * s->base_count + base];
	if (!field)
		return HDB_OK;
	r = c->scan ? hdb_scan_field(c->scan, c->at, field, &value, err) :
		      hdb_field_value(c->db, ix, field, &value, err);
	if (r == HDB_OK)
		sql_result_basic(ctx, &value);
	return r < 0 ? r : HDB_OK;
}

static int result_heap(struct objects_cursor *c, sqlite3_context *ctx, uint32_t ix,
		       struct hdb_error *err)
{
	struct hdb_object_facts facts = { 0 };
	char name[256];
	int r = hdb_object_at(c->db, ix, &facts, err);

	if (r < 0 || facts.heap_no == HDB_NONE)
		return r;
	r = hdb_heap_name(c->db, facts.heap_no, name, sizeof(name), err);
	if (r == HDB_OK)
		sql_result_copy(ctx, name);
	return r;
}

/* What costs more than looking into the batch, of object ix. */
static int result_more(struct objects_cursor *c, sqlite3_context *ctx, int column, uint32_t ix,
		       uint32_t class_no, struct hdb_error *err)
{
	const int code = c->shape->columns[column];
	struct hdb_class class;
	uint64_t bytes;
	uint32_t other;
	int reachable, r = HDB_OK;

	switch (code) {
	case C_RETAINED:
		r = hdb_need(c->db, HDB_NEED_DOMINATORS, err);
		if (r == HDB_OK)
			r = hdb_retained_at(c->db, ix, &bytes, err);
		if (r == HDB_OK)
			sqlite3_result_int64(ctx, (sqlite3_int64)bytes);
		break;
	case C_DOMINATOR:
		r = hdb_dominator_at(c->db, ix, &other, err);
		if (r == HDB_OK)
			r = sql_result_ix(ctx, c->source, other, err);
		break;
	case C_REACHABLE:
		r = hdb_reachable_at(c->db, ix, &reachable, err);
		sqlite3_result_int(ctx, reachable);
		break;
	case C_CLASS_ID:
		r = hdb_class_at(c->db, class_no, &class, err);
		if (r == HDB_OK)
			sqlite3_result_int64(ctx, (sqlite3_int64) class.id);
		break;
	case C_HEAP:
		r = result_heap(c, ctx, ix, err);
		break;
	case C_OFFSET: {
		struct hdb_object_info info;
		struct hdb_object_facts facts = { 0 };

		r = hdb_object_at(c->db, ix, &facts, err);
		if (r == HDB_OK)
			r = hdb_object(c->db, facts.id, &info, err);
		if (r == HDB_OK && info.file_offset)
			sqlite3_result_int64(ctx, (sqlite3_int64)info.file_offset);
		break;
	}
	case C_TEXT:
		r = sql_result_text_of(ctx, c->source, ix, err);
		break;
	default:
		if (code >= C_FIELD)
			r = result_field(c, ctx, column, ix, class_no, err);
	}
	return r < 0 ? r : HDB_OK;
}

/* An element type by the class: "int[]". */
static void result_type(struct objects_cursor *c, sqlite3_context *ctx, uint32_t class_no)
{
	const char *name = hdb_class_name(c->db, class_no);
	const size_t size = strlen(name);

	if (size > 2 && strcmp(name + size - 2, "[]") == 0)
		sqlite3_result_text(ctx, name, (int)size - 2, SQLITE_STATIC);
}

static int column_scanned(struct objects_cursor *c, sqlite3_context *ctx, int number,
			  struct hdb_error *err)
{
	const struct hdb_batch *b = &c->batch;
	const size_t i = c->at;

	switch (c->shape->columns[number]) {
	case C_ID:
		if (b->id)
			sqlite3_result_int64(ctx, (sqlite3_int64)b->id[i]);
		return HDB_OK;
	case C_CLASS:
		sql_result_class(ctx, c->source, b->class_no[i]);
		return HDB_OK;
	case C_KIND:
		sqlite3_result_text(ctx, sql_kind_name(b->kind[i]), -1, SQLITE_STATIC);
		return HDB_OK;
	case C_SHALLOW:
		sqlite3_result_int64(ctx, (sqlite3_int64)b->shallow_bytes[i]);
		return HDB_OK;
	case C_LENGTH:
		if (b->kind[i] == HDB_KIND_OBJECT_ARRAY || b->kind[i] == HDB_KIND_PRIMITIVE_ARRAY)
			sqlite3_result_int64(ctx, (sqlite3_int64)b->length[i]);
		return HDB_OK;
	case C_TYPE:
		result_type(c, ctx, b->class_no[i]);
		return HDB_OK;
	case C_RETAINED:
		if (!b->retained_bytes)
			break;
		sqlite3_result_int64(ctx, (sqlite3_int64)b->retained_bytes[i]);
		return HDB_OK;
	case C_DOMINATOR:
		if (!b->dominator)
			break;
		if (b->dominator[i] == b->ix[i])
			return HDB_OK;
		return sql_result_ix(ctx, c->source, b->dominator[i], err);
	case C_REACHABLE:
		if (!b->reachable)
			break;
		sqlite3_result_int(ctx, b->reachable[i]);
		return HDB_OK;
	case C_OFFSET:
		if (!b->file_offset)
			break;
		if (b->file_offset[i])
			sqlite3_result_int64(ctx, (sqlite3_int64)b->file_offset[i]);
		return HDB_OK;
	default:
		break;
	}
	return result_more(c, ctx, number, b->ix[i], b->class_no[i], err);
}

static int column_single(struct objects_cursor *c, sqlite3_context *ctx, int number,
			 struct hdb_error *err)
{
	const struct hdb_object_facts *f = &c->facts;

	switch (c->shape->columns[number]) {
	case C_ID:
		sqlite3_result_int64(ctx, (sqlite3_int64)f->id);
		return HDB_OK;
	case C_CLASS:
		sql_result_class(ctx, c->source, f->class_no);
		return HDB_OK;
	case C_KIND:
		sqlite3_result_text(ctx, sql_kind_name(f->kind), -1, SQLITE_STATIC);
		return HDB_OK;
	case C_SHALLOW:
		sqlite3_result_int64(ctx, (sqlite3_int64)f->shallow_bytes);
		return HDB_OK;
	case C_LENGTH:
		if (f->kind == HDB_KIND_OBJECT_ARRAY || f->kind == HDB_KIND_PRIMITIVE_ARRAY)
			sqlite3_result_int64(ctx, (sqlite3_int64)f->length);
		return HDB_OK;
	case C_TYPE:
		result_type(c, ctx, f->class_no);
		return HDB_OK;
	default:
		return result_more(c, ctx, number, c->ix, f->class_no, err);
	}
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int number)
{
	struct objects_cursor *c = (struct objects_cursor *)cursor;
	struct hdb_error err;
	int r;

	clear(&err);
	if ((size_t)number >= c->shape->column_count)
		return SQLITE_OK;
	r = c->scan ? column_scanned(c, ctx, number, &err) : column_single(c, ctx, number, &err);
	return r < 0 ? sql_vtab_fail(cursor->pVtab, c->source, r, &err) : SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
	struct objects_cursor *c = (struct objects_cursor *)cursor;

	*out = c->scan ? c->batch.ix[c->at] : c->ix;
	return SQLITE_OK;
}

static const struct sqlite3_module module = {
	.iVersion = 0,
	.xCreate = connect_objects,
	.xConnect = connect_objects,
	.xBestIndex = best_objects,
	.xDisconnect = disconnect_objects,
	.xDestroy = disconnect_objects,
	.xOpen = open_objects,
	.xClose = close_objects,
	.xFilter = filter_objects,
	.xNext = next_object,
	.xEof = is_at_end,
	.xColumn = column,
	.xRowid = row_id,
};

/* ---- registration ---- */

static int add_shape(struct sql_source *source, struct shape *s)
{
	return sql_make_table(source, s->name, &module, s, free_shape);
}

/* A table of objects with these columns; ended by -1. Hidden ones after the first -1, too. */
static int add_plain(struct sql_source *source, const char *name, const int *columns,
		     unsigned kinds, const char *class_name)
{
	struct shape *s = new_shape(source, name);
	struct growing g = { 0 };
	uint32_t count = 0;

	if (!s)
		return SQLITE_NOMEM;
	for (; *columns >= 0; columns++)
		declare(&g, s, (enum column) * columns, false);
	s->kinds = kinds;
	s->declaration = g.data;
	if (class_name) {
		s->classes = calloc((size_t)hdb_class_count(source->db) + 1, 1);
		if (!s->classes)
			g.failed = true;
		else
			(void)sql_mark_classes(source, class_name, 0, s->classes, &count, NULL);
	}
	if (g.failed) {
		free_shape(s);
		return SQLITE_NOMEM;
	}
	return add_shape(source, s);
}

int sql_register_objects(struct sql_source *source)
{
	static const int objects[] = { C_ID,       C_CLASS,     C_KIND,   C_SHALLOW,
				       C_RETAINED, C_DOMINATOR, C_LENGTH, C_REACHABLE,
				       C_CLASS_ID, C_HEAP,      C_OFFSET, -1 };
	static const int instances[] = { C_ID,        C_CLASS,  C_KIND,      C_SHALLOW,  C_RETAINED,
					 C_DOMINATOR, C_LENGTH, C_REACHABLE, C_CLASS_ID, C_TEXT,
					 C_PATTERN,   C_SUB,    -1 };
	static const int arrays[] = { C_ID,       C_CLASS,     C_TYPE,      C_LENGTH, C_SHALLOW,
				      C_RETAINED, C_DOMINATOR, C_REACHABLE, C_KIND,   -1 };
	static const int strings[] = { C_ID,        C_TEXT,      C_SHALLOW, C_RETAINED,
				       C_DOMINATOR, C_REACHABLE, -1 };
	const unsigned array_kinds = 1u << HDB_KIND_OBJECT_ARRAY | 1u << HDB_KIND_PRIMITIVE_ARRAY;
	int rc = add_plain(source, "objects", objects, 0, NULL);

	if (rc == SQLITE_OK)
		rc = add_plain(source, "instances", instances, 0, NULL);
	if (rc == SQLITE_OK)
		rc = add_plain(source, "arrays", arrays, array_kinds, NULL);
	if (rc == SQLITE_OK)
		rc = add_plain(source, "strings", strings, 1u << HDB_KIND_INSTANCE,
			       "java.lang.String");
	return rc;
}

static int add_class(struct sql_source *source, struct shape *shape, struct hdb_error *err)
{
	const int rc = add_shape(source, shape);

	return rc == SQLITE_OK ? HDB_OK :
				 sql_fail(err, rc == SQLITE_NOMEM ? HDB_ENOMEM : HDB_EBUG,
					  "the table of a class cannot be made: %s",
					  sqlite3_errmsg(source->sqlite));
}

int sql_define_class(struct sql_source *source, const char *name, struct hdb_error *err)
{
	struct shape *shape = NULL;
	const int r = shape_of(source, name, &shape, err);

	return r == HDB_OK ? add_class(source, shape, err) : r;
}

int sql_announce_class(struct sql_source *source, const char *name, struct hdb_error *err)
{
	struct shape *shape = new_shape(source, name);

	return shape ? add_class(source, shape, err) :
		       sql_fail(err, HDB_ENOMEM, "no memory for a table");
}
