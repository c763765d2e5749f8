/*
 * query/q_info.c - what is known of the database, the dump and the heap: key by key.
 *
 * With an option it becomes another query: problems, tables, dangling, properties.
 */
#include "query/groups.h"
#include "query/properties.h"
#include "query/queries.h"

#include "heap/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SECTION, KEY, VALUE, NUMBER, HELP };

static const struct hdb_option_spec options[] = {
	{ "sizes", NULL, "only how shallow sizes are computed, with the evidence for it" },
	{ "problems", NULL, "the problems met by the import: the query problems" },
	{ "tables", NULL, "the tables of the database: the query tables" },
	{ "dangling", NULL, "missing objects: the query dangling" },
	{ "properties", NULL, "system properties and environment: the query properties" },
	{ NULL, NULL, NULL },
};

static const struct hdb_column columns[] = {
	{ "section", HDB_TYPE_TEXT, "", "dump, vm, database, sizes, objects, roots or "
	  "tables" },
	{ "key", HDB_TYPE_TEXT, "", "what it is about" },
	{ "value", HDB_TYPE_TEXT, "", "for people" },
	{ "number", HDB_TYPE_COUNT, "", "the same as a number, if it is one" },
	{ "help", HDB_TYPE_TEXT, "", "what it means" },
};

struct row {
	const char *section, *key, *help;
	char *value;         /* owned */
	uint64_t number;
	bool is_number;
};

struct info {
	struct base_vec rows; /* struct row */
	size_t at;
};

/* ---- making rows ---- */

static int add_row(struct info *info, const struct row *row, const char *value,
		   struct hdb_error *err)
{
	/* A byte that is not UTF-8 becomes three. */
	const size_t room = strlen(value) * 3 + 1;
	struct row copy = *row;
	int r;

	copy.value = malloc(room);
	if (!copy.value)
		return hdb_fail_memory(err, "a value", room);
	(void)heap_clean_text(value, strlen(value), copy.value, room);
	r = base_vec_push(&info->rows, &copy, sizeof(copy), err);
	if (r < 0)
		free(copy.value);
	return r;
}

static int add_text(struct info *info, const char *section, const char *key, const char *help,
		    const char *value, struct hdb_error *err)
{
	const struct row row = { .section = section, .key = key, .help = help };

	return add_row(info, &row, value, err);
}

/* 1234567 as "1,234,567". */
static void write_number(uint64_t value, char out[32])
{
	char digits[24];
	const int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	char *p = out;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
}

static int add_number(struct info *info, const char *section, const char *key, const char *help,
		      uint64_t value, struct hdb_error *err)
{
	const struct row row = {
		.section = section, .key = key, .help = help, .number = value, .is_number = true,
	};
	char text[32];

	write_number(value, text);
	return add_row(info, &row, text, err);
}

/* ---- sections ---- */

/* Numbers of the table meta, as they are. */
struct meta_row {
	const char *section, *key, *meta, *help;
};

static int add_meta(struct query *q, struct info *info, const struct meta_row *rows, size_t count,
		    struct hdb_error *err)
{
	int r = HDB_OK;

	for (size_t i = 0; i < count && r == HDB_OK; i++)
		r = add_number(info, rows[i].section, rows[i].key, rows[i].help,
			       store_meta_number(q->heap->store, rows[i].meta, 0), err);
	return r;
}

static int add_time(struct query *q, struct info *info, struct hdb_error *err)
{
	const uint64_t ms = store_meta_number(q->heap->store, "dump.timestamp_ms", 0);
	const time_t seconds = (time_t)(ms / 1000);
	struct tm tm;
	char text[64] = "unknown";

	if (ms / 1000 < (uint64_t)1 << 40 && gmtime_r(&seconds, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return add_text(info, "dump", "time", "when the dump was written, UTC", text, err);
}

static int add_dump(struct query *q, struct info *info, struct hdb_error *err)
{
	static const struct meta_row numbers[] = {
		{ "dump", "bytes", "dump.bytes", "size of the file" },
		{ "dump", "id size", "dump.id_size", "bytes of an identifier" },
		{ "dump", "snapshot", "dump.snapshot", "which heap dump of the file was imported" },
		{ "dump", "snapshots", "dump.snapshot_count", "heap dumps in the file" },
		{ "dump", "problems", "problems", "what is wrong with it: --problems lists them" },
	};
	static const struct meta_row control[] = {
		{ "dump", "agent flags", "control.flags", "of the HPROF agent: 1 allocation traces, "
		  "2 CPU samples" },
		{ "dump", "agent trace depth", "control.trace_depth", "frames that it kept" },
	};
	char text[4096];
	int r;

	store_meta_text(q->heap->store, "dump.path", text, sizeof(text));
	r = add_text(info, "dump", "path", "where the dump was at import", text, err);
	store_meta_text(q->heap->store, "dump.version", text, sizeof(text));
	if (r == HDB_OK)
		r = add_text(info, "dump", "version", "of the HPROF format", text, err);
	if (r == HDB_OK)
		r = add_text(info, "dump", "runtime", "what wrote it", q->heap->is_android ?
			     "Android" : "Java", err);
	if (r == HDB_OK)
		r = add_time(q, info, err);
	if (r == HDB_OK)
		r = add_meta(q, info, numbers, sizeof(numbers) / sizeof(numbers[0]), err);
	if (r == HDB_OK && store_meta_number(q->heap->store, "control.flags", UINT64_MAX) != UINT64_MAX)
		r = add_meta(q, info, control, sizeof(control) / sizeof(control[0]), err);
	return r;
}

static int add_vm(struct query *q, struct info *info, struct hdb_error *err)
{
	struct query_vm_fact *facts = NULL;
	size_t count;
	int r = query_vm_facts(q, &facts, &count, err);

	for (size_t i = 0; r == HDB_OK && i < count; i++)
		if (facts[i].value[0])
			r = add_text(info, "vm", facts[i].key, facts[i].help, facts[i].value, err);
	free(facts);
	return r;
}

static int add_database(struct query *q, struct info *info, struct hdb_error *err)
{
	const uint64_t bytes = store_file_bytes(q->heap->store);
	const uint64_t dump_bytes = store_meta_number(q->heap->store, "dump.bytes", 0);
	char text[64];
	int r = add_text(info, "database", "path", "of the heap database",
			 store_path(q->heap->store), err);

	if (r == HDB_OK)
		r = add_number(info, "database", "bytes", "size of the file", bytes, err);
	if (r == HDB_OK)
		r = add_number(info, "database", "format", "version of the database's format",
			       STORE_FORMAT_VERSION, err);
	(void)snprintf(text, sizeof(text), "%.1f %%", query_percent(bytes, dump_bytes));
	return r == HDB_OK ? add_text(info, "database", "of the dump", "the database's size as a "
				      "share of the dump's", text, err) : r;
}

static int add_sizes(struct query *q, struct info *info, struct hdb_error *err)
{
	static const char *const models[] = { "vm", "mat", "dump" };
	static const struct meta_row numbers[] = {
		{ "sizes", "header", "sizes.header_bytes", "bytes of an instance's header" },
		{ "sizes", "reference", "sizes.reference_bytes", "bytes of a reference" },
		{ "sizes", "alignment", "sizes.align_bytes", "sizes are multiples of it" },
		{ "sizes", "array header", "sizes.array_header_bytes", "bytes, object arrays" },
		{ "sizes", "primitive array header", "sizes.primitive_header_bytes",
		  "bytes, arrays of elements up to 4 bytes" },
		{ "sizes", "wide array header", "sizes.wide_header_bytes",
		  "bytes, arrays of long and double" },
	};
	const unsigned model = (unsigned)q->heap->layout.model;
	char text[1024];
	int r = add_text(info, "sizes", "model", "how shallow sizes are computed: vm, mat or dump",
			 model < 3 ? models[model] : "?", err);

	if (r == HDB_OK)
		r = add_meta(q, info, numbers, sizeof(numbers) / sizeof(numbers[0]), err);
	store_meta_text(q->heap->store, "sizes.evidence", text, sizeof(text));
	return r == HDB_OK ? add_text(info, "sizes", "evidence", "what the dump says for it", text,
				      err) : r;
}

/* Counts objects by kind in one pass; what the dump lacks is counted apart. */
static int count_kinds(struct query *q, uint64_t kinds[4], uint64_t *invented,
		       struct hdb_error *err)
{
	struct heap_block *block = malloc(sizeof(*block));
	int r = block ? heap_load_classes(q->heap, err) :
		hdb_fail_memory(err, "a block of objects", sizeof(*block));

	*invented = 0;
	for (uint32_t b = 0; b < heap_block_count(q->heap) && r == HDB_OK; b++) {
		r = heap_read_block(q->heap, b, block, err);
		for (uint32_t i = 0; r == HDB_OK && i < block->count; i++)
			kinds[block->kind[i]]++;
		if (r == HDB_OK)
			r = base_step(q->work, block->first_ix, err);
	}
	free(block);
	if (r < 0 || !q->heap->object_count)
		return r;
	*invented = 1;
	kinds[STORE_INSTANCE] -= kinds[STORE_INSTANCE] != 0;
	for (uint32_t no = 0; no < q->heap->class_count; no++) {
		if (!(heap_class(q->heap, no)->flags & STORE_CLASS_INVENTED))
			continue;
		kinds[STORE_CLASS] -= kinds[STORE_CLASS] != 0;
		(*invented)++;
	}
	return r;
}

static int add_reachable(struct query *q, struct info *info, struct hdb_error *err)
{
	struct derive_total total;
	int r;

	/* Known only once something has needed it; info builds nothing. */
	if (!derive_has(q->derive, STORE_TOTALS))
		return HDB_OK;
	r = query_heap_total(q, &total, err);
	if (r == HDB_OK)
		r = add_number(info, "objects", "reachable", "objects that a root reaches",
			       total.count, err);
	if (r == HDB_OK)
		r = add_number(info, "objects", "reachable bytes", "their shallow sizes",
			       total.shallow_bytes, err);
	if (r == HDB_OK)
		r = add_number(info, "objects", "unreachable", "objects that no root reaches",
			       total.unreachable_count, err);
	return r == HDB_OK ? add_number(info, "objects", "unreachable bytes", "their shallow sizes",
					total.unreachable_bytes, err) : r;
}

static int add_objects(struct query *q, struct info *info, struct hdb_error *err)
{
	static const struct meta_row numbers[] = {
		{ "objects", "classes", "classes", "class records, invented ones included" },
		{ "objects", "references", "references", "stored references, without the one to the "
		  "object's class" },
		{ "objects", "dangling references", "references.dangling",
		  "to objects that are not in the dump: --dangling lists them" },
	};
	static const char *const names[] = {
		"instances", "object arrays", "primitive arrays", "class objects",
	};
	uint64_t kinds[4] = { 0 }, invented;
	int r = count_kinds(q, kinds, &invented, err);

	if (r == HDB_OK)
		r = add_number(info, "objects", "objects", "in the dump, of all kinds",
			       q->heap->object_count - invented, err);
	for (unsigned k = 0; k < 4 && r == HDB_OK; k++)
		r = add_number(info, "objects", names[k], "of those", kinds[k], err);
	if (r == HDB_OK)
		r = add_number(info, "objects", "invented", "that the dump lacks but refers to: the "
			       "boot loader's stand-in, classes", invented, err);
	if (r == HDB_OK)
		r = add_meta(q, info, numbers, sizeof(numbers) / sizeof(numbers[0]), err);
	if (r == HDB_OK)
		r = add_reachable(q, info, err);
	if (r == HDB_OK && store_record_count(q->heap->store, STORE_HEAPS))
		r = add_number(info, "objects", "heaps", "Android's heaps",
			       store_record_count(q->heap->store, STORE_HEAPS), err);
	if (r == HDB_OK)
		r = add_number(info, "objects", "threads", "threads that the dump names",
			       store_record_count(q->heap->store, STORE_THREADS), err);
	return r;
}

static int add_roots(struct query *q, struct info *info, struct hdb_error *err)
{
	uint64_t kinds[256] = { 0 }, invented = 0;
	int r = heap_load_roots(q->heap, err);

	for (uint64_t i = 0; i < q->heap->root_count && r == HDB_OK; i++) {
		if (q->heap->roots[i].is_invented)
			invented++;
		else
			kinds[q->heap->roots[i].kind]++;
	}
	if (r == HDB_OK)
		r = add_number(info, "roots", "roots", "root records on objects of the dump",
			       q->heap->root_count - invented, err);
	for (unsigned k = 0; k < 256 && r == HDB_OK; k++)
		if (kinds[k])
			r = add_number(info, "roots", heap_root_name((uint8_t)k), "of those",
				       kinds[k], err);
	if (r == HDB_OK && invented)
		r = add_number(info, "roots", "invented", "classes of the boot loader that are taken "
			       "as roots, since the dump has no sticky class", invented, err);
	return r;
}

static int add_tables(struct query *q, struct info *info, struct hdb_error *err)
{
	char list[512] = "";
	struct store_table_info table;
	size_t used = 0;

	for (unsigned t = STORE_REFERRERS; t < STORE_TABLE_END; t++)
		if (store_table_name(t) && used < sizeof(list) &&
		    store_table_info(q->heap->store, (enum store_table)t, &table, NULL) == HDB_OK)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used ? ", " : "", store_table_name(t));
	return add_text(info, "tables", "derived", "tables that were built so far: --tables lists "
			"all", used ? list : "none", err);
}

/* ---- the query ---- */

static int open_info(struct query *q, struct hdb_error *err)
{
	int (*const sections[])(struct query *, struct info *, struct hdb_error *) = {
		add_dump, add_vm, add_database, add_sizes, add_objects, add_roots, add_tables,
	};
	struct info *info;
	int r = query_targets(q, 0, 0, err);

	if (r < 0)
		return r;
	if (query_option(q, "problems"))
		return query_become(q, &query_problems, err);
	if (query_option(q, "tables"))
		return query_become(q, &query_tables, err);
	if (query_option(q, "dangling"))
		return query_become(q, &query_dangling, err);
	if (query_option(q, "properties"))
		return query_become(q, &query_properties, err);
	info = q->state = calloc(1, sizeof(*info));
	if (!info)
		return hdb_fail_memory(err, "what is known", sizeof(*info));
	if (query_option(q, "sizes"))
		r = add_sizes(q, info, err);
	for (size_t s = 0; !query_option(q, "sizes") && r == HDB_OK &&
	     s < sizeof(sections) / sizeof(sections[0]); s++)
		r = sections[s](q, info, err);
	q->total = info->rows.count;
	return r;
}

static int next_info(struct query *q, struct hdb_error *err)
{
	struct info *info = q->state;
	const struct row *row;

	(void)err;
	if (info->at == info->rows.count)
		return HDB_END;
	row = base_vec_at(&info->rows, struct row, info->at++);
	query_lend_text(q, SECTION, row->section, strlen(row->section));
	query_lend_text(q, KEY, row->key, strlen(row->key));
	query_lend_text(q, VALUE, row->value, strlen(row->value));
	if (row->is_number)
		query_set(q, NUMBER, row->number);
	query_lend_text(q, HELP, row->help, strlen(row->help));
	return HDB_OK;
}

static void close_info(struct query *q)
{
	struct info *info = q->state;

	for (size_t i = 0; info && i < info->rows.count; i++)
		free(base_vec_at(&info->rows, struct row, i)->value);
	if (info)
		base_vec_release(&info->rows);
	free(info);
}

const struct query_def query_info = {
	.spec = {
		.name = "info", .targets = "",
		.summary = "what is known of the database, the dump and the heap",
		.options = options,
		.columns = columns, .column_count = sizeof(columns) / sizeof(columns[0]),
		.is_query = 0,
	},
	.open = open_info, .next = next_info, .close = close_info,
};
