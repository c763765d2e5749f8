/*
 * queries/database/q_info.c - the info query: all facts about the database, the dump and the heap,
 * as keys and values.
 *
 * With an option, info runs another query instead: problems, tables, dangling or properties.
 */
#include "analysis/properties.h"
#include "heap/heap_database.h"
#include "heap/threads.h"
#include "queries/queries.h"
#include "query/info_rows.h"

#include <time.h>

/* Number of threads between two checks of the cancel flag. */
#define STEP_THREADS 4096u

#include <queries/database/q_info.query.h>

/* ---- sections ---- */

static void add_time(struct query *q)
{
	const uint64_t ms = heap_meta_number(q->heap, "dump.timestamp_ms", 0);
	const time_t seconds = (time_t)(ms / 1000);
	struct tm tm;
	char text[64] = "unknown";

	if (seconds && ms / 1000 < (uint64_t)1 << 40 && gmtime_r(&seconds, &tm))
		(void)strftime(text, sizeof(text),
			       q->heap->is_phd ? "%Y-%m-%dT%H:%M:%S" : "%Y-%m-%dT%H:%M:%SZ", &tm);
	info_text(q, "time",
		  q->heap->is_phd ? "Time when the dump was written, in the VM's time zone" :
				    "Time when the dump was written, UTC",
		  text);
}

static void add_phd(struct query *q)
{
	char text[256];

	info_number(q, "portable heap dump",
		    "Version of the format that the dump was converted "
		    "from",
		    heap_meta_number(q->heap, "dump.phd", 0));
	heap_meta_text(q->heap, "dump.phd_by", text, sizeof(text));
	info_text(q, "written by", "VM that wrote the dump", text);
	info_text(q, "lacks", "Data that portable heap dumps lack",
		  "field names (references are [ref 1], [ref 2], ... without nulls), values, "
		  "contents of arrays and strings, GC roots, strengths of references");
	info_text(q, "GC roots", "Objects that count as GC roots instead",
		  "classes of the boot loader, threads of a javacore, and objects that no other "
		  "object references");
}

static int add_dump(struct query *q, struct hdb_error *err)
{
	static const struct info_meta numbers[] = {
		{ "bytes", "dump.bytes", "Size of the dump file" },
		{ "id size", "dump.id_size", "Size of an ID in bytes" },
		{ "snapshot", "dump.snapshot", "Number of the imported heap dump in the file" },
		{ "snapshots", "dump.snapshot_count", "Number of heap dumps in the file" },
		{ "problems", "problems", "Number of problems in the dump, listed by --problems" },
	};
	static const struct info_meta mapped[] = {
		{ "mapped classes", "names.classes",
		  "Number of classes named by the mapping "
		  "file" },
		{ "mapped fields", "names.fields", "Number of fields named by the mapping file" },
		{ "mapped frames", "names.frames",
		  "Number of stack frames named by the mapping "
		  "file" },
	};
	static const struct info_meta control[] = {
		{ "agent flags", "control.flags",
		  "Flags of the HPROF agent: 1 allocation traces, 2 CPU samples" },
		{ "agent trace depth", "control.trace_depth",
		  "Number of frames that the agent recorded per stack" },
	};
	static const struct info_meta zeroed[] = {
		{ "zeroed from", "zeroed.texts",
		  "Index from which the VM wrote zeros instead of the contents of byte and char "
		  "arrays, including those of strings" },
	};
	char text[4096];

	(void)err;
	heap_meta_text(q->heap, "dump.path", text, sizeof(text));
	info_text(q, "path", "Path of the dump when it was imported", text);
	heap_meta_text(q->heap, "dump.version", text, sizeof(text));
	info_text(q, "version", "Version of the HPROF format", text);
	info_text(q, "runtime", "Kind of VM that wrote the dump",
		  q->heap->is_android ? "Android" :
		  q->heap->is_phd     ? "OpenJ9" :
					"Java");
	if (q->heap->is_phd)
		add_phd(q);
	add_time(q);
	info_meta(q, numbers, BASE_COUNT(numbers));
	(void)snprintf(text, sizeof(text), "%016" PRIx64,
		       heap_meta_number(q->heap, "dump.fingerprint", 0));
	info_text(q, "fingerprint",
		  "Hash of the file's size, beginning, end and samples. It identifies the dump.",
		  text);
	heap_meta_text(q->heap, "import.mapping", text, sizeof(text));
	if (text[0])
		info_text(q, "mapping", "Mapping file that restored the names", text);
	if (text[0])
		info_meta(q, mapped, BASE_COUNT(mapped));
	if (heap_meta_number(q->heap, "zeroed.texts", 0))
		info_meta(q, zeroed, 1);
	if (heap_meta_number(q->heap, "control.flags", UINT64_MAX) != UINT64_MAX)
		info_meta(q, control, BASE_COUNT(control));
	return HDB_OK;
}

static int add_vm(struct query *q, struct hdb_error *err)
{
	BASE_FREED struct analysis_vm_fact *facts = NULL;
	size_t count;

	TRY(analysis_vm_facts(&q->session, &facts, &count, err));
	for (size_t i = 0; i < count; i++) {
		const struct analysis_vm_fact *fact = &facts[i];

		if (fact->number)
			info_number(q, fact->key, fact->help, fact->number);
		else if (fact->value[0])
			info_text(q, fact->key, fact->help, fact->value);
	}
	return HDB_OK;
}

static int add_database(struct query *q, struct hdb_error *err)
{
	const uint64_t bytes = heap_file_bytes(q->heap);
	const uint64_t dump_bytes = heap_meta_number(q->heap, "dump.bytes", 0);
	char text[64];

	(void)err;
	info_text(q, "path", "Path of the heap database", heap_path(q->heap));
	info_number(q, "bytes", "Size of the database file", bytes);
	info_number(q, "format", "Version of the database format", STORE_FORMAT_VERSION);
	heap_meta_text(q->heap, "writer", text, sizeof(text));
	info_text(q, "made by",
		  "heapdb version that imported the dump. --tables lists "
		  "revisions.",
		  text);
	(void)snprintf(text, sizeof(text), "%.2f %%", analysis_percent(bytes, dump_bytes));
	info_text(q, "of the dump", "Size of the database as a share of the dump size", text);
	return HDB_OK;
}

static int add_kind(void *ctx, const struct heap_count *count, struct hdb_error *err)
{
	uint64_t *kinds = ctx;

	(void)err;
	kinds[count->kind] += count->count;
	return HDB_OK;
}

/* Objects that the VM made, not the program. */
struct vm_objects {
	struct heap *heap;
	uint64_t flat, fillers, filler_bytes;
};

static int add_vm_objects(void *ctx, const struct heap_count *count, struct hdb_error *err)
{
	struct vm_objects *a = ctx;

	(void)err;
	if (count->kind == STORE_CLASS)
		return HDB_OK;
	if (count->embedded && count->kind == STORE_INSTANCE)
		a->flat += count->count;
	if (heap_class(a->heap, count->class_no)->flags & STORE_CLASS_FILLER) {
		a->fillers += count->count;
		a->filler_bytes += count->shallow_bytes;
	}
	return HDB_OK;
}

/* Adds flat values and fillers, if the import counted any. */
static int add_special(struct query *q, struct hdb_error *err)
{
	struct vm_objects a = { .heap = q->heap };

	TRY_FOUND(heap_each_count(q->heap, add_vm_objects, &a, err));
	if (a.flat)
		info_number(q, "flat values",
			    "Number of flat values stored inside other objects, whose size "
			    "includes them",
			    a.flat);
	if (a.fillers)
		info_number(q, "fillers",
			    "Number of objects that only fill dead areas of the "
			    "heap",
			    a.fillers);
	if (a.fillers)
		info_number(q, "filler bytes", "Shallow size of the objects in the row",
			    a.filler_bytes);
	return HDB_OK;
}

/* Counts objects by kind. Objects that the dump does not contain are counted separately. */
static int count_kinds(struct query *q, uint64_t kinds[4], uint64_t *invented,
		       struct hdb_error *err)
{
	*invented = 0;
	TRY(heap_load_classes(q->heap, err));
	TRY(heap_count_all(q->heap, q->work, add_kind, kinds, err));
	if (!q->heap->object_count)
		return HDB_OK;
	*invented = heap_invented_count(q->heap);
	kinds[STORE_CLASS] -=
		kinds[STORE_CLASS] < *invented - 1 ? kinds[STORE_CLASS] : *invented - 1;
	return HDB_OK;
}

static int add_reachable(struct query *q, struct hdb_error *err)
{
	struct derive_total total;

	/*
	 * the total is known only if another query has built the table, because info does not build
	 * tables
	 */
	if (!derive_has_whole(q->derive))
		return HDB_OK;
	TRY(analysis_heap_total(&q->session, &total, err));
	info_number(q, "reachable", "Number of reachable objects", total.count);
	info_number(q, "reachable bytes", "Shallow size of the objects in the row",
		    total.shallow_bytes);
	info_number(q, "unreachable", "Unreachable objects", total.unreachable_count);
	info_number(q, "unreachable bytes", "Shallow size of the objects in the row",
		    total.unreachable_bytes);
	return HDB_OK;
}

/*
 * Counts the virtual threads among the threads in the dump, and adds a row only if there are any.
 */
static int add_virtual_threads(struct query *q, struct hdb_error *err)
{
	uint64_t count = 0;

	for (uint64_t no = 0; no < heap_thread_count(q->heap); no++) {
		struct heap_object object;
		struct store_thread thread;

		TRY(heap_thread(q->heap, no, &thread, err));
		if (thread.ix == STORE_NONE)
			continue;
		TRY(heap_object(q->heap, thread.ix, &object, err));
		count += heap_has_superclass(q->heap, object.class_no, "java.lang.VirtualThread");
		if (no % STEP_THREADS == 0)
			TRY(base_step(q->work, no, err));
	}
	if (count)
		info_number(q, "virtual threads", "Number of threads that are virtual", count);
	return HDB_OK;
}

static int add_objects(struct query *q, struct hdb_error *err)
{
	static const struct info_meta numbers[] = {
		{ "classes", "classes", "Number of class records, including invented classes" },
		{ "references", "references",
		  "Number of stored references, except references from objects to their classes" },
		{ "dangling references", "references.dangling",
		  "Number of references to missing objects, listed by --dangling" },
	};
	static const char *const names[] = {
		"instances",
		"object arrays",
		"primitive arrays",
		"class objects",
	};
	uint64_t kinds[4] = { 0 }, invented;

	TRY(count_kinds(q, kinds, &invented, err));
	info_number(q, "objects", "Number of objects in the dump, of all kinds",
		    q->heap->object_count - invented);
	for (unsigned k = 0; k < 4; k++)
		info_number(q, names[k], "Number of objects of this kind", kinds[k]);
	info_number(q, "invented",
		    "Number of objects that the dump lacks but refers to, such as the boot loader "
		    "and classes",
		    invented);
	TRY(add_special(q, err));
	info_meta(q, numbers, BASE_COUNT(numbers));
	TRY(add_reachable(q, err));
	if (heap_record_count(q->heap, STORE_HEAPS))
		info_number(q, "heaps", "Android heaps", heap_record_count(q->heap, STORE_HEAPS));
	info_number(q, "threads", "Number of threads in the dump",
		    heap_record_count(q->heap, STORE_THREADS));
	return add_virtual_threads(q, err);
}

static int add_roots(struct query *q, struct hdb_error *err)
{
	uint64_t kinds[256] = { 0 }, invented = 0;

	TRY(heap_load_roots(q->heap, err));
	for (uint64_t i = 0; i < q->heap->roots.count; i++) {
		if (q->heap->roots.records[i].is_invented)
			invented++;
		else
			kinds[q->heap->roots.records[i].kind]++;
	}

	info_number(q, "roots", "Number of root records that refer to objects in the dump",
		    q->heap->roots.count - invented);
	for (unsigned k = 0; k < 256; k++)
		if (kinds[k])
			info_number(q, heap_root_name((uint8_t)k),
				    "Number of root records of this kind", kinds[k]);

	if (invented)
		info_number(
			q, "invented",
			"Number of boot loader classes that count as roots because the dump has "
			"no sticky class roots",
			invented);
	return HDB_OK;
}

static int add_tables(struct query *q, struct hdb_error *err)
{
	char list[512] = "";
	struct store_table_info table;
	size_t used = 0;

	(void)err;
	for (unsigned t = STORE_REFERRERS; t < STORE_ANSWERS; t++)
		if (store_table_name(t) && used < sizeof(list) &&
		    heap_table_info(q->heap, (enum store_table)t, &table, NULL) == HDB_OK)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used ? ", " : "", store_table_name(t));
	info_text(q, "derived",
		  "Number of derived tables built so far. --tables lists all "
		  "tables.",
		  used ? list : "none");
	return HDB_OK;
}

/* ---- the query ---- */

static int open_info(struct query *q, struct hdb_error *err)
{
	static const struct {
		const char *name;
		int (*add)(struct query *q, struct hdb_error *err);
	} sections[] = {
		{ "dump", add_dump },     { "vm", add_vm },           { "database", add_database },
		{ "sizes", info_sizes },  { "objects", add_objects }, { "roots", add_roots },
		{ "tables", add_tables },
	};

	if (query_option(q, "problems"))
		return query_become(q, &query_problems, err);
	if (query_option(q, "tables"))
		return query_become(q, &query_tables, err);
	if (query_option(q, "dangling"))
		return query_become(q, &query_dangling, err);
	if (query_option(q, "properties"))
		return query_become(q, &query_properties, err);
	if (query_option(q, "sizes"))
		return query_become(q, &query_sizes, err);
	for (size_t s = 0; s < BASE_COUNT(sections); s++) {
		info_section(q, sections[s].name);
		TRY(sections[s].add(q, err));
	}
	info_end(q);
	return HDB_OK;
}

QUERY_DEFINE(info, .open = open_info, .row = info_row, .close = info_close,
	     .state_size = sizeof(struct info_rows));
