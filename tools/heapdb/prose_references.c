/*
 * heapdb/prose_references.c - references or referrers of an object by retained size; those of one
 * class by the same field are one row.
 */
#include "heapdb/cli.h"
#include "heapdb/prose.h"

#include <stdlib.h>
#include <string.h>

enum { NAME, LABEL, ID, SHALLOW, RETAINED, STRENGTH, COLUMNS };

static const struct hdb_column columns[COLUMNS] = {
	[NAME] = { "name", HDB_TYPE_TEXT, NULL, NULL },
	[LABEL] = { "label", HDB_TYPE_TEXT, NULL, NULL },
	[ID] = { "id", HDB_TYPE_ID, NULL, NULL },
	[SHALLOW] = { "shallow", HDB_TYPE_BYTES, NULL, NULL },
	[RETAINED] = { "retained", HDB_TYPE_BYTES, NULL, NULL },
	[STRENGTH] = { "strength", HDB_TYPE_TEXT, NULL, NULL },
};

/* Objects of one class that refer, or are referred to, in the same way. */
struct group {
	struct bytes name, class, strength;
	struct bytes label; /* of a single object; of several "12,000 com.acme.Session" */
	uint64_t objects, shallow, retained, id;
};

struct groups {
	struct group *items; /* owned */
	size_t count, room;
};

static bool is_text(const struct bytes *have, const struct hdb_value *value)
{
	const size_t size = has_value(value) ? value->text_size : 0;

	return have->size == size && (size == 0 || memcmp(have->data, value->text, size) == 0);
}

static void set_text(struct bytes *to, const struct hdb_value *value)
{
	if (has_value(value))
		bytes_add(to, value->text, value->text_size);
}

static uint64_t number_of(const struct hdb_rows *rows, const char *column)
{
	const struct hdb_value *value = rows_value(rows, column);

	return has_value(value) ? value->u : 0;
}

/* How an object is held; of an array which element does not matter. */
static struct hdb_value name_of(const struct hdb_rows *rows)
{
	const struct hdb_value *name = rows_value(rows, "name");
	static const char element[] = "[x]";

	if (!has_value(name) || name->text_size == 0 || name->text[0] != '[')
		return *name;
	return (struct hdb_value){ .type = HDB_TYPE_TEXT, .text = element, .text_size = 3 };
}

/* The group of the row, a new one if there is none; NULL where memory is short. */
static struct group *group_of(struct groups *all, const struct hdb_rows *rows,
			      const struct hdb_value *name)
{
	const struct hdb_value *class = rows_value(rows, "class");

	for (size_t i = 0; i < all->count; i++)
		if (is_text(&all->items[i].class, class) && is_text(&all->items[i].name, name) &&
		    is_text(&all->items[i].strength, rows_value(rows, "strength")))
			return &all->items[i];
	if (all->count == all->room) {
		const size_t room = all->room ? 2 * all->room : 64;
		struct group *items = realloc(all->items, room * sizeof(*items));

		if (!items)
			return NULL;
		all->items = items;
		all->room = room;
	}
	all->items[all->count] = (struct group){ .id = number_of(rows, "id") };
	set_text(&all->items[all->count].name, name);
	set_text(&all->items[all->count].class, class);
	set_text(&all->items[all->count].label, rows_value(rows, "label"));
	set_text(&all->items[all->count].strength, rows_value(rows, "strength"));
	return &all->items[all->count++];
}

static int collect(struct answer *answer, struct groups *all, struct output *out)
{
	int rc;

	while ((rc = answer_next(answer, out)) == HDB_OK) {
		const struct hdb_value name = name_of(answer->rows);
		struct group *g = group_of(all, answer->rows, &name);

		if (!g)
			return cli_fail(answer->err, HDB_ENOMEM, "no memory for references");
		g->objects++;
		g->shallow += number_of(answer->rows, "shallow");
		g->retained += number_of(answer->rows, "retained");
	}
	return rc == HDB_END ? HDB_OK : rc;
}

static int compare(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->retained != y->retained)
		return x->retained > y->retained ? -1 : 1;
	if (x->shallow != y->shallow)
		return x->shallow > y->shallow ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void set_row(const void *ctx, size_t no, struct hdb_value *row)
{
	const struct group *g = &((const struct groups *)ctx)->items[no];

	row[NAME] = prose_text(&g->name);
	row[LABEL] = prose_text(g->label.size ? &g->label : &g->class);
	row[SHALLOW] = (struct hdb_value){ .type = HDB_TYPE_BYTES, .u = g->shallow };
	row[RETAINED] = (struct hdb_value){ .type = HDB_TYPE_BYTES, .u = g->retained };
	row[STRENGTH] = prose_text(&g->strength);
	row[ID] = (struct hdb_value){ .type = g->objects == 1 ? HDB_TYPE_ID : HDB_TYPE_NULL,
				      .u = g->id };
}

/* "12,000 com.acme.Session": what several objects are called. Whether there are several. */
static bool count_objects(struct groups *all)
{
	char number[OUTPUT_NUMBER_SIZE];
	bool is_any = false;

	for (size_t i = 0; i < all->count; i++) {
		struct group *g = &all->items[i];

		if (g->objects == 1)
			continue;
		is_any = true;
		g->label.size = 0;
		bytes_add(&g->label, number, format_thousands(number, g->objects, false));
		bytes_add(&g->label, " ", 1);
		bytes_add(&g->label, g->class.data ? g->class.data : "", g->class.size);
	}
	return is_any;
}

int prose_references(struct answer *answer, const struct render_style *style, struct output *out)
{
	struct groups all = { 0 };
	bool is_sum;
	int rc = collect(answer, &all, out);

	is_sum = count_objects(&all);
	if (rc == HDB_OK && all.count > 0)
		qsort(all.items, all.count, sizeof(all.items[0]), compare);
	if (rc == HDB_OK)
		rc = prose_table(answer,
				 &(struct prose_rows){ columns, COLUMNS, all.count, &all, set_row },
				 style, out);
	for (size_t i = 0; i < all.count; i++) {
		struct group *g = &all.items[i];

		output_release(out, &g->name);
		output_release(out, &g->class);
		output_release(out, &g->strength);
		output_release(out, &g->label);
	}
	free(all.items);
	if (rc == HDB_OK && is_sum)
		output_string(out, "Objects of one class that are held alike are one row, with the "
				   "sum of what each retains; --table shows each.\n");
	return rc;
}
