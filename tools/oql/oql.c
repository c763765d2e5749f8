/*
 * oql/oql.c - runs a statement and returns its rows: columns, cells, limits.
 */
#include "oql/oql.h"
#include "oql/oql_rows.h"

#include "common/unique_names.h"

#include <math.h>

/* Columns of SELECT *. */
enum { STAR_ID, STAR_CLASS, STAR_SHALLOW, STAR_TEXT, STAR_COUNT };

struct oql {
	struct oql_eval eval;
	struct hdb_error own_err; /* used if the caller passes no error */
	char *text;               /* statement, owned */
	struct oql_select *select;
	struct oql_rows *rows;
	bool with_labels;
	bool is_star; /* SELECT *: object columns */
	uint64_t limit, taken, total;
	bool at_end;
	/*
	 * State of the first row. Opening the statement reads this row, because its values
	 * determine the column types.
	 */
	int first; /* HDB_OK if available, HDB_END if there is no row, HDB_NOTFOUND once consumed */
	const struct oql_value *row;
	size_t column_count;
	struct hdb_column *columns; /* owned */
	char **names;               /* owned */
	struct hdb_value *cells;    /* owned */
	struct bytes *texts;        /* strings of cells; owned */
};

static int check_utf8(struct oql_str text, struct hdb_error *err)
{
	uint32_t c;
	size_t n;

	if (text.size > OQL_TEXT_MAX)
		return hdb_fail(err, HDB_ELIMIT, "statement too long (limit %u bytes)",
				OQL_TEXT_MAX);
	for (size_t i = 0; i < text.size; i += n) {
		n = utf8_decode(text.data + i, text.size - i, &c);
		if (!n || !text.data[i])
			return hdb_fail(err, HDB_EUSAGE,
					"byte %zu of the statement is not valid "
					"UTF-8",
					i + 1);
	}
	return HDB_OK;
}

int oql_check(struct oql_str text, struct hdb_error *err)
{
	struct oql_budget budget = { .most_bytes = OQL_MEMORY_DEFAULT };
	struct oql_arena arena = { .budget = &budget };
	struct oql_select *select;
	int r;

	TRY(check_utf8(text, err));
	r = oql_parse(text, &arena, &select, err);
	oql_arena_release(&arena);
	assert(budget.used_bytes == 0);
	return oql_result(r, err);
}

/* ---- columns ---- */

/* Sets the title of a column, without terminal control characters. */
static int title_column(struct oql *oql, size_t no)
{
	const char *name = oql->names[no];
	char *title = oql_take_text(&oql->eval.keep, name, strlen(name), oql->eval.err);

	for (char *c = title; c && *c; c++) {
		const bool is_c1 = (unsigned char)c[0] == 0xc2 && (unsigned char)c[1] < 0xa0;

		if ((unsigned char)*c < ' ' || *c == 0x7f || is_c1)
			*c = ' ';
		if (is_c1)
			c[1] = ' ';
	}
	oql->columns[no].title = title;
	return title ? HDB_OK : HDB_ELIMIT;
}

/* Names the columns as the statement does, and numbers duplicates. */
static int name_columns(struct oql *oql)
{
	const struct oql_str *names = oql->rows->names;

	for (size_t i = 0; i < oql->column_count; i++) {
		oql->names[i] = strndup(names[i].data, names[i].size);
		if (!oql->names[i])
			goto no_memory;
	}
	if (!unique_names(oql->names, oql->column_count))
		goto no_memory;
	for (size_t i = 0; i < oql->column_count; i++) {
		oql->columns[i].name = oql->names[i];
		TRY(title_column(oql, i));
	}
	return HDB_OK;
no_memory:
	return hdb_fail(oql->eval.err, HDB_ENOMEM, "cannot allocate memory for column names");
}

static enum hdb_type type_of(const struct oql *oql, const struct oql_value *v)
{
	switch (v->type) {
	case OQL_V_BOOL:
		return HDB_TYPE_BOOL;
	case OQL_V_BYTE:
	case OQL_V_SHORT:
	case OQL_V_INT:
	case OQL_V_LONG:
		return HDB_TYPE_INT;
	case OQL_V_FLOAT:
	case OQL_V_DOUBLE:
		return HDB_TYPE_DOUBLE;
	case OQL_V_OBJECT:
		return oql->with_labels || hdb_is_string(oql->eval.db, v->ix) ? HDB_TYPE_TEXT :
										HDB_TYPE_ID;
	case OQL_V_REFERENCE:
		return HDB_TYPE_ID;
	default:
		return HDB_TYPE_TEXT;
	}
}

static const struct hdb_column star_columns[STAR_COUNT] = {
	[STAR_ID] = { "id", HDB_TYPE_ID, "id", "the object" },
	[STAR_CLASS] = { "class", HDB_TYPE_TEXT, "class", "its class" },
	[STAR_SHALLOW] = { "shallow", HDB_TYPE_BYTES, "shallow", "Shallow size in bytes" },
	[STAR_TEXT] = { "text", HDB_TYPE_TEXT, "text", "Value as text, if any" },
};

static int make_columns(struct oql *oql)
{
	const size_t width = oql->rows->width;
	const size_t count = oql->is_star ? STAR_COUNT : width;

	assert(width > 0);
	assert(!oql->columns);
	TRY(BASE_ALLOC(oql->columns, count, "columns", oql->eval.err));
	TRY(BASE_ALLOC(oql->names, count, "columns", oql->eval.err));
	TRY(BASE_ALLOC(oql->cells, count, "columns", oql->eval.err));
	TRY(BASE_ALLOC(oql->texts, count, "columns", oql->eval.err));
	oql->column_count = count;
	for (size_t i = 0; i < count; i++)
		oql->texts[i].most = oql->eval.budget.most_bytes;
	if (oql->is_star) {
		memcpy(oql->columns, star_columns, sizeof(star_columns));
		return HDB_OK;
	}
	for (size_t i = 0; i < count; i++) {
		oql->columns[i].type =
			oql->first == HDB_OK ? type_of(oql, &oql->row[i]) : HDB_TYPE_TEXT;
		oql->columns[i].help = "";
	}
	return name_columns(oql);
}

/* ---- opening ---- */

/*
 * Returns whether the word occurs anywhere in the text of the statement. The word may also be part
 * of a string or a comment.
 */
static bool mentions(const char *text, const char *word)
{
	return strstr(text, word) != NULL;
}

/*
 * Builds the dominator or referrer tables that the statement needs, which is faster than a search
 * for each object.
 */
static int build_tables(struct oql *oql)
{
	const enum oql_from_kind from = oql->select->from.kind;
	const bool is_many = from != OQL_FROM_ADDRESSES && from != OQL_FROM_IDS;
	unsigned needs = 0;

	if (is_many && (mentions(oql->text, "etainedHeapSize") || mentions(oql->text, "dominator")))
		needs |= HDB_NEED_DOMINATORS;
	return needs ? hdb_need(oql->eval.db, needs, oql->eval.err) : HDB_OK;
}

/*
 * Sorts as `--sort` does. The argument is the name of a column, preceded by "-" for the reverse
 * order.
 */
static int sort_rows(struct oql *oql, const char *sort)
{
	const bool is_turned = *sort == '-';
	const struct oql_str name = { sort + is_turned, strlen(sort + is_turned) };

	return oql_rows_sort(oql->rows, name, is_turned);
}

static int open_rows(struct oql *oql, const struct oql_options *opt)
{
	TRY(oql_parse((struct oql_str){ oql->text, strlen(oql->text) }, &oql->eval.keep,
		      &oql->select, oql->eval.err));
	TRY(build_tables(oql));
	TRY(oql_rows_open(&oql->eval, oql->select, NULL, &oql->rows));
	if (opt->sort)
		TRY(sort_rows(oql, opt->sort));
	oql->first = oql_rows_next(oql->rows, &oql->row);
	if (oql->first < 0)
		return oql->first;
	oql->at_end = oql->first == HDB_END;
	oql->total = oql->first == HDB_OK;
	oql->is_star =
		oql->rows->are_values && (oql->first != HDB_OK || oql->row[0].type == OQL_V_OBJECT);
	return make_columns(oql);
}

/* Fails because a statement in VisualVM's dialect is run as SQL, which is not available here. */
static int refuse_visualvm(struct oql_str text, struct hdb_error *err)
{
	char *sql = NULL;
	int r = oql_to_sql(text, &sql, err);

	if (r == HDB_OK)
		r = hdb_fail(err, HDB_EUSAGE,
			     "this statement is VisualVM's OQL; the equivalent "
			     "SQL is: %s",
			     sql);
	free(sql);
	return r > 0 ? HDB_OK : r;
}

int oql_open(struct hdb *db, struct oql_str text, const struct oql_options *opt, struct oql **out,
	     struct hdb_error *err)
{
	const struct oql_options none = { 0 };
	struct oql *oql;
	int r;

	TRY(check_utf8(text, err));
	TRY(refuse_visualvm(text, err));
	opt = opt ? opt : &none;
	TRY(BASE_ALLOC(oql, 1, "a statement", err));
	oql->text = strndup(text.data, text.size);
	oql->limit = opt->limit;
	oql->with_labels = opt->with_labels;
	oql->eval.db = db;
	oql->eval.text = oql->text;
	oql->eval.err = err ? err : &oql->own_err;
	oql->eval.progress = opt->progress;
	oql->eval.budget.most_bytes = opt->memory_bytes ? opt->memory_bytes : OQL_MEMORY_DEFAULT;
	oql->eval.keep.budget = &oql->eval.budget;
	if (!oql->text)
		r = hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a statement");
	else
		r = oql_result(open_rows(oql, opt), oql->eval.err);
	if (r < 0) {
		oql_close(oql);
		return r;
	}
	*out = oql;
	return HDB_OK;
}

void oql_close(struct oql *oql)
{
	struct oql_eval *ev;

	if (!oql)
		return;
	ev = &oql->eval;
	oql_rows_close(oql->rows);
	for (size_t i = 0; i < oql->column_count; i++) {
		bytes_release(&oql->texts[i]);
		free(oql->names[i]);
	}
	for (uint32_t no = 0; ev->classes && no < hdb_class_count(ev->db); no++) {
		hdb_fields_free(ev->classes[no].fields[0]);
		hdb_fields_free(ev->classes[no].fields[1]);
	}
	for (size_t i = 0; i < 3; i++)
		hdb_list_close(ev->lists[i]);
	hdb_references_close(ev->references);
	oql_patterns_release(ev->patterns);
	oql_in_sets_release(ev->in_sets);
	oql_arena_release(&ev->keep);
	free(ev->classes);
	base_ranks_release(&ev->reachable);
	if (ev->work.threads)
		base_work_release(&ev->work);
	free(oql->columns);
	free(oql->names);
	free(oql->cells);
	free(oql->texts);
	free(oql->text);
	free(oql);
}

/* ---- rows ---- */

size_t oql_column_count(const struct oql *oql)
{
	return oql->column_count;
}

const struct hdb_column *oql_column(const struct oql *oql, size_t column)
{
	assert(column <= oql->column_count);
	return &oql->columns[column];
}

static int text_cell(struct oql *oql, size_t no)
{
	struct bytes *text = &oql->texts[no];

	oql->cells[no] = (struct hdb_value){
		.type = HDB_TYPE_TEXT,
		.text = text->data ? text->data : "",
		.text_size = text->size,
	};
	return oql_text_check(text, oql->eval.err);
}

/*
 * Formats an object in human-readable form: "java.util.HashMap @ 0x12c4", "java.lang.String @
 * 0x12d0 its text".
 */
static int label_cell(struct oql *oql, size_t no, const struct oql_value *v)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	TRY(hdb_object_at(oql->eval.db, v->ix, &facts, oql->eval.err));
	TRY(facts.kind == HDB_KIND_INSTANCE ?
		    oql_put_label(&oql->eval, v->ix, &oql->texts[no]) :
		    oql_put_technical(&oql->eval, v->ix, &oql->texts[no]));
	return text_cell(oql, no);
}

/* Formats an object for programs: a string as its text, and any other object as its ID. */
static int object_cell(struct oql *oql, size_t no, const struct oql_value *v)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	bool has;

	TRY_ERRORS(oql_put_string(&oql->eval, v->ix, &oql->texts[no], &has));
	if (has)
		return text_cell(oql, no);
	TRY(hdb_object_at(oql->eval.db, v->ix, &facts, oql->eval.err));
	oql->cells[no] = (struct hdb_value){ .type = HDB_TYPE_ID, .u = facts.id };
	return HDB_OK;
}

/* Converts a float to the double with the same decimal representation. */
static double printed(const struct oql_value *v)
{
	struct bytes text = { 0 };
	double d = v->d;

	if (v->type != OQL_V_FLOAT || !isfinite(d))
		return d;
	oql_put_double(&text, d, true);
	bytes_add(&text, "", 1);
	if (!text.failed)
		d = strtod(text.data, NULL);
	bytes_release(&text);
	return d;
}

static int make_cell(struct oql *oql, size_t no, const struct oql_value *v)
{
	struct hdb_value *cell = &oql->cells[no];

	assert(no < oql->column_count);
	*cell = (struct hdb_value){ 0 };
	oql->texts[no].size = 0;
	if (v->type == OQL_V_NULL)
		return HDB_OK;
	if (v->type == OQL_V_OBJECT)
		return oql->with_labels ? label_cell(oql, no, v) : object_cell(oql, no, v);
	cell->type = type_of(oql, v);
	switch (cell->type) {
	case HDB_TYPE_BOOL:
		cell->u = v->i != 0;
		return HDB_OK;
	case HDB_TYPE_INT:
		cell->i = v->i;
		return HDB_OK;
	case HDB_TYPE_DOUBLE:
		cell->d = printed(v);
		return HDB_OK;
	case HDB_TYPE_ID:
		cell->u = (uint64_t)v->i;
		return HDB_OK;
	default:
		break;
	}
	TRY(oql_put_value(&oql->eval, v, false, &oql->texts[no]));
	return text_cell(oql, no);
}

static int star_cells(struct oql *oql, const struct oql_value *v)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	const char *name;
	bool has = false;

	assert(oql->column_count == STAR_COUNT);
	memset(oql->cells, 0, STAR_COUNT * sizeof(oql->cells[0]));
	oql->texts[STAR_TEXT].size = 0;
	if (v->type != OQL_V_OBJECT) /* the list in FROM may also contain other values */
		return make_cell(oql, STAR_TEXT, v);
	TRY(hdb_object_at(oql->eval.db, v->ix, &facts, oql->eval.err));
	name = hdb_class_name(oql->eval.db, facts.class_no);
	oql->cells[STAR_ID] = (struct hdb_value){ .type = HDB_TYPE_ID, .u = facts.id };
	oql->cells[STAR_CLASS] = (struct hdb_value){ .type = HDB_TYPE_TEXT,
						     .text = name,
						     .text_size = strlen(name) };
	oql->cells[STAR_SHALLOW] =
		(struct hdb_value){ .type = HDB_TYPE_BYTES, .u = facts.shallow_bytes };
	if (facts.kind == HDB_KIND_CLASS) {
		bytes_string(&oql->texts[STAR_TEXT],
			     hdb_class_name(oql->eval.db, facts.stands_for));
		has = true;
	} else {
		TRY(oql_display(&oql->eval, v->ix, &oql->texts[STAR_TEXT], &has));
	}
	return has ? text_cell(oql, STAR_TEXT) : HDB_OK;
}

static int make_all(struct oql *oql)
{
	if (oql->is_star)
		return star_cells(oql, &oql->row[0]);
	for (size_t i = 0; i < oql->column_count; i++)
		TRY(make_cell(oql, i, &oql->row[i]));
	return HDB_OK;
}

/* Advances to the next row without computing its cells. */
static int step(struct oql *oql)
{
	int r = oql->first;

	oql->first = HDB_NOTFOUND;
	if (r == HDB_NOTFOUND && !oql->at_end) {
		r = oql_rows_next(oql->rows, &oql->row);
		oql->total += r == HDB_OK;
	}
	oql->at_end |= r != HDB_OK;
	return r == HDB_NOTFOUND ? HDB_END : r;
}

int oql_next(struct oql *oql, struct hdb_error *err)
{
	int r;

	oql->eval.err = err ? err : &oql->own_err;
	if (oql->limit && oql->taken == oql->limit)
		return HDB_END;
	if ((r = oql_result(step(oql), oql->eval.err)) != HDB_OK)
		return r < 0 || hdb_failed(oql->eval.db, oql->eval.err) == HDB_OK ?
			       r :
			       oql->eval.err->code;
	oql->taken++;
	assert(oql->taken <= oql->total);
	TRY_ERRORS(oql_result(make_all(oql), oql->eval.err));
	return hdb_failed(oql->eval.db, oql->eval.err);
}

const struct hdb_value *oql_value(const struct oql *oql, size_t column)
{
	assert(column <= oql->column_count);
	return &oql->cells[column];
}

int oql_total(struct oql *oql, uint64_t *total, struct hdb_error *err)
{
	int r = HDB_OK;

	oql->eval.err = err ? err : &oql->own_err;
	while (!oql->at_end) /* a failure also sets at_end */
		r = step(oql);
	*total = oql->total;
	return r < 0 ? oql_result(r, oql->eval.err) : HDB_OK;
}

uint64_t oql_empty_cells(const struct oql *oql, const char **first)
{
	*first = oql->eval.first_empty;
	return oql->eval.empty_cells;
}
