/*
 * sqlite/sql_object_plan.c - chooses the constraints that an object table uses to skip parts of the
 * heap, and estimates costs.
 */
#include "sqlite/sql_objects.h"

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
		case C_REFERRERS:
			columns |= HDB_SCAN_REFERRERS;
			columns |= shape->source->database.all ? 0 : HDB_SCAN_REACHABLE_REFERRERS;
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

/* Returns the part of idxNum for a constraint, or 0 if the constraint is not used. */
static int part_of(const struct shape *shape, sqlite3_index_info *info, int i)
{
	static const struct {
		int code;
		unsigned char op;
		bool is_text; /* whether other collations than BINARY would change results */
		int part;
	} uses[] = {
		{ -1, SQLITE_INDEX_CONSTRAINT_EQ, false, BY_ROWID },
		{ C_ID, SQLITE_INDEX_CONSTRAINT_EQ, false, BY_ID },
		{ C_ID, SQLITE_INDEX_CONSTRAINT_GT, false, ID_FROM },
		{ C_ID, SQLITE_INDEX_CONSTRAINT_GE, false, ID_FROM },
		{ C_ID, SQLITE_INDEX_CONSTRAINT_LT, false, ID_TO },
		{ C_ID, SQLITE_INDEX_CONSTRAINT_LE, false, ID_TO },
		{ C_CLASS, SQLITE_INDEX_CONSTRAINT_EQ, true, BY_CLASS },
		{ C_CLASS, SQLITE_INDEX_CONSTRAINT_GLOB, false, BY_CLASS_GLOB },
		{ C_CLASS_ID, SQLITE_INDEX_CONSTRAINT_EQ, false, BY_CLASS_ID },
		{ C_KIND, SQLITE_INDEX_CONSTRAINT_EQ, true, BY_KIND },
		{ C_REACHABLE, SQLITE_INDEX_CONSTRAINT_EQ, false, BY_REACHABLE },
		{ C_DOMINATOR, SQLITE_INDEX_CONSTRAINT_EQ, false, BY_DOMINATOR },
		{ C_DOMINATOR, SQLITE_INDEX_CONSTRAINT_ISNULL, false, BY_DOMINATOR },
		{ C_RETAINED, SQLITE_INDEX_CONSTRAINT_GT, false, RETAINED_FROM },
		{ C_RETAINED, SQLITE_INDEX_CONSTRAINT_GE, false, RETAINED_FROM },
		{ C_PATTERN, SQLITE_INDEX_CONSTRAINT_EQ, false, BY_PATTERN },
		{ C_SUB, SQLITE_INDEX_CONSTRAINT_EQ, false, BY_SUB },
	};
	const unsigned char op = info->aConstraint[i].op;
	const int code = column_code(shape, info->aConstraint[i].iColumn);
	size_t no = 0;

	while (no < BASE_COUNT(uses) && (uses[no].code != code || uses[no].op != op))
		no++;
	/*
	 * dominator IS NULL is not used if unreachable objects are shown: such objects have no
	 * dominator either, but are not at the top of the tree
	 */
	if (no == BASE_COUNT(uses) ||
	    (op == SQLITE_INDEX_CONSTRAINT_ISNULL && shape->source->database.all) ||
	    (uses[no].is_text && strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0))
		return 0;
	return uses[no].part;
}

/* Estimates the number of rows in a table. */
static double guess_rows(const struct shape *shape)
{
	const double all = hdb_object_count(shape->source->db);

	if (!shape->classes)
		return all + 1;
	if (shape->source->counts) {
		double rows = 1;

		for (uint32_t no = 0; no < hdb_class_count(shape->source->db); no++)
			if (shape->classes[no])
				rows += (double)shape->source->counts[no].objects;
		return rows;
	}
	return all / 10 + 1;
}

static_assert(MOST_REFERRED < 1 << SCAN_SHIFT, "parts of idxNum do not overlap");

struct plan {
	int parts;
	int at[32]; /* indexed by bit of the plan: the constraint for this part */
	int limit_at;
	int limited; /* number of constraints that SQLite must check again */
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

/* Adds a part to the plan. The value of its constraint becomes the next argument. */
static void use(sqlite3_index_info *info, const struct plan *plan, int part, int *next, bool omit)
{
	const int i = plan->at[__builtin_ctz((unsigned)part)];

	assert(plan->parts & part);
	assert(i >= 0);
	info->aConstraintUsage[i].argvIndex = (*next)++;
	info->aConstraintUsage[i].omit = omit;
	info->idxNum |= part;
}

const struct sql_part sql_parts[SQL_PART_COUNT] = {
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
	{ RETAINED_FROM, "retained>" },
};

/*
 * Returns whether the statement sorts by one column, in an order in which the table can return
 * rows.
 */
static bool orders_by(const struct shape *shape, const sqlite3_index_info *info, int code,
		      bool *descending)
{
	if (info->nOrderBy != 1 || column_code(shape, info->aOrderBy[0].iColumn) != code)
		return false;
	if (code == C_ID && sql_has_negative_ids(shape->source->db))
		return false;
	*descending = info->aOrderBy[0].desc;
	return true;
}

static bool has_argument(const struct shape *shape)
{
	return shape->column_count && shape->columns[shape->column_count - 1] == C_SUB;
}

/*
 * Returns whether the limit is so low, compared with the number of objects, that it pays off to
 * find the largest objects first.
 */
static bool is_short(const struct shape *shape, sqlite3_index_info *info, const struct plan *plan)
{
	sqlite3_value *value = NULL;

	return !shape->classes && !shape->kinds && !has_argument(shape) && plan->limit_at >= 0 &&
	       !plan->limited &&
	       sqlite3_vtab_rhs_value(info, plan->limit_at, &value) == SQLITE_OK && value &&
	       sqlite3_value_type(value) == SQLITE_INTEGER && sqlite3_value_int64(value) >= 0 &&
	       sqlite3_value_int64(value) <= LARGEST_MAX;
}

/* Returns whether an argument of the table depends on a table that SQLite reads later. */
static bool lacks_argument(const struct shape *shape, const sqlite3_index_info *info)
{
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		const int code = column_code(shape, c->iColumn);

		if (!c->usable && c->op == SQLITE_INDEX_CONSTRAINT_EQ &&
		    (code == C_PATTERN || code == C_SUB))
			return true;
	}
	return false;
}

/* Uses an order that the statement requests, if the table can return rows in that order. */
static void use_order(const struct shape *shape, sqlite3_index_info *info, const struct plan *plan,
		      int next)
{
	bool descending = false;

	if (orders_by(shape, info, C_ID, &descending) || orders_by(shape, info, -1, &descending)) {
		info->orderByConsumed = 1;
		if (descending)
			info->idxNum |= DESCENDING;
	} else if ((orders_by(shape, info, C_RETAINED, &descending) ||
		    orders_by(shape, info, C_REFERRERS, &descending)) &&
		   descending && is_short(shape, info, plan)) {
		info->orderByConsumed = 1;
		info->idxNum |=
			orders_by(shape, info, C_RETAINED, &descending) ? LARGEST : MOST_REFERRED;
		info->aConstraintUsage[plan->limit_at].argvIndex = next;
	}
}

/* Plans a scan of the heap, in which every part skips some objects. */
static void use_scan(const struct shape *shape, sqlite3_index_info *info, const struct plan *plan)
{
	double rows = guess_rows(shape);
	int next = 1;

	for (size_t p = 0; p < SQL_PART_COUNT; p++) {
		const int part = sql_parts[p].part;

		if (!(plan->parts & part))
			continue;
		use(info, plan, part, &next, part == BY_PATTERN || part == BY_SUB);
		if (part == BY_CLASS &&
		    sqlite3_vtab_in(info, plan->at[__builtin_ctz((unsigned)part)], 1))
			info->idxNum |= BY_CLASS_IN;
		rows = rows / (part == BY_CLASS || part == BY_CLASS_ID ? 50 : 2) + 1;
	}
	info->estimatedRows = (sqlite3_int64)rows;
	info->estimatedCost = rows + hdb_object_count(shape->source->db) / 20.0;
	use_order(shape, info, plan, next);
}

/* Returns the plan for EXPLAIN QUERY PLAN, or NULL if memory is exhausted. */
static char *describe(const sqlite3_index_info *info)
{
	char text[256] = "";

	for (size_t p = 0; p < SQL_PART_COUNT; p++)
		if (info->idxNum & sql_parts[p].part)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s",
				 text[0] ? ", " : "", sql_parts[p].text,
				 sql_parts[p].part == BY_CLASS && info->idxNum & BY_CLASS_IN ?
					 " (IN)" :
					 "");
	return sqlite3_mprintf(
		"%s%s%s",
		info->idxNum & LARGEST       ? "dominator tree, largest first" :
		info->idxNum & MOST_REFERRED ? "referrers index, most referrers first" :
		text[0]                      ? text :
					       "scan",
		info->idxNum & DESCENDING ? ", last first" : "",
		info->orderByConsumed && !(info->idxNum & (LARGEST | MOST_REFERRED)) ?
			", in order of id" :
			"");
}

int sql_objects_plan(const struct sql_table *table, sqlite3_index_info *info)
{
	const struct shape *shape = (const struct shape *)table->def;
	struct plan plan = { 0 };
	int next = 1;

	if (lacks_argument(shape, info))
		return SQLITE_CONSTRAINT;
	find_parts(shape, info, &plan);
	info->idxNum = 0;
	if (plan.parts & (BY_ID | BY_ROWID)) {
		use(info, &plan, plan.parts & BY_ID ? BY_ID : BY_ROWID, &next, false);
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
		info->estimatedRows = 1;
		info->estimatedCost = 1;
	} else if (plan.parts & BY_DOMINATOR) {
		use(info, &plan, BY_DOMINATOR, &next, false);
		info->estimatedRows = 10;
		info->estimatedCost = 20;
	} else {
		use_scan(shape, info, &plan);
	}
	info->idxStr = describe(info);
	if (!info->idxStr)
		return SQLITE_NOMEM;
	info->needToFreeIdxStr = 1;
	info->idxNum |= (int)(scan_columns(shape, info->colUsed) << SCAN_SHIFT);
	return SQLITE_OK;
}
