/*
 * heapdb/prose_references.c - prints references or referrers of an object by retained size. Objects
 * of the same class that are held by the same field share a row.
 */
#include "heapdb/cli.h"
#include "heapdb/prose.h"
#include "heapdb/prose_groups.h"

enum { NAME, LABEL, STRENGTH, CLASS };

static const struct prose_column columns[] = {
	{ { "name", HDB_TYPE_TEXT, NULL, NULL }, NAME },
	{ { "label", HDB_TYPE_TEXT, NULL, NULL }, LABEL },
	{ { "id", HDB_TYPE_ID, NULL, NULL }, PROSE_ID },
	{ { "shallow", HDB_TYPE_BYTES, NULL, NULL }, PROSE_SHALLOW },
	{ { "retained", HDB_TYPE_BYTES, NULL, NULL }, PROSE_RETAINED },
	{ { "strength", HDB_TYPE_TEXT, NULL, NULL }, STRENGTH },
};

/*
 * Returns the field that holds an object. All elements of an array are treated as the same field.
 */
static struct hdb_value name_of(const struct hdb_rows *rows)
{
	const struct hdb_value *name = rows_value(rows, "name");

	if (!has_value(name) || name->text_size == 0 || name->text[0] != '[')
		return *name;
	return (struct hdb_value){ .type = HDB_TYPE_TEXT, .text = "[x]", .text_size = 3 };
}

static bool add_row(struct prose_groups *all, const struct hdb_rows *rows)
{
	const struct hdb_value *label = rows_value(rows, "label");
	const struct hdb_value *class = rows_value(rows, "class");
	const struct hdb_value *strength = rows_value(rows, "strength");
	const struct hdb_value *retained = rows_value(rows, "retained");
	const struct hdb_value name = name_of(rows);
	struct prose_group *g = prose_groups_find(
		all, prose_hash(prose_hash(prose_hash(0, class), strength), &name));

	if (!g)
		return false;
	if (g->count++ == 0) {
		g->id = rows_value(rows, "id")->u;
		prose_set(&g->text[NAME], &name);
		prose_set(&g->text[LABEL], has_value(label) ? label : class);
		prose_set(&g->text[STRENGTH], strength);
		prose_set(&g->text[CLASS], class);
	}
	g->shallow += rows_value(rows, "shallow")->u;
	g->has_retained |= has_value(retained);
	g->retained += has_value(retained) ? retained->u : 0;
	return true;
}

/*
 * Changes the names of groups of several objects to "12,000 com.acme.Session". Returns whether
 * there is such a group.
 */
static bool count_objects(struct prose_groups *all)
{
	bool is_any = false;

	for (size_t i = 0; i < all->count; i++) {
		struct prose_group *g = &all->items[i];

		if (g->count == 1)
			continue;
		is_any = true;
		g->text[LABEL].size = 0;
		bytes_format(&g->text[LABEL], "%s ", base_number(g->count).text);
		bytes_add(&g->text[LABEL], g->text[CLASS].data, g->text[CLASS].size);
	}
	return is_any;
}

/*
 * Prints suggested commands: one for the largest single object, and one that shows why the object
 * itself is alive.
 */
static void put_next(struct output *out, const struct prose_groups *all, uint64_t id)
{
	const struct prose_group *largest = NULL;

	for (size_t i = 0; i < all->count; i++) {
		const struct prose_group *g = &all->items[i];

		if (g->count == 1 && (!largest || g->retained > largest->retained))
			largest = g;
	}
	output_string(out, "Next:");
	if (largest)
		output_format(out, " heapdb object 0x%" PRIx64 "  ", largest->id);
	output_format(out, " heapdb path 0x%" PRIx64 "\n", id);
}

int prose_references(struct answer *answer, const struct render_style *style, struct output *out)
{
	struct prose_groups all = { .columns = columns, .column_count = BASE_COUNT(columns) };
	const struct hdb_value *id = answer_fact(answer, "id");
	bool is_sum;
	int rc;

	while ((rc = answer_next(answer, out)) == HDB_OK && add_row(&all, answer->rows))
		;
	if (rc != HDB_END) {
		prose_groups_release(&all, out);
		return rc < 0 ? rc :
				hdb_fail(answer->err, HDB_ENOMEM,
					 "cannot allocate memory for references");
	}
	is_sum = count_objects(&all);
	rc = prose_groups_table(answer, &all, style, out);
	if (rc == HDB_OK && is_sum)
		output_string(
			out,
			"Objects of one class that are held by the same field share a row with "
			"the sum of their sizes; --table lists each object.\n");
	if (rc == HDB_OK && has_value(id) && answer->row_count > 0)
		put_next(out, &all, id->u);
	prose_groups_release(&all, out);
	return rc;
}
