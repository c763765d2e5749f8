/*
 * heapdb/cmd_memory.c - memory: one account of a process, from a running JVM or from saved files,
 * with what a heap dump knows of the memory outside the heap.
 */
#include "capture/capture.h"
#include "common/door_rows.h"
#include "heapdb/cli.h"
#include "heapdb/progress.h"
#include "heapdb/prose.h"
#include "heapdb/render.h"
#include "memory/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a file that tell what it is. */
#define HEAD_BYTES 4096u
#define ADVICE_MAX 3
#define FACTS_MAX (10 + ADVICE_MAX)
/* Details below this part of RSS are listed on request only. */
#define DETAIL_SHARE 100

enum { PART, DETAIL, RESIDENT, COMMITTED, USED, COUNT, ESTIMATED, SHARED, SWAP, COLUMNS };

static const struct hdb_column columns[COLUMNS] = {
	{ "part", HDB_TYPE_TEXT, "part", "Part of the process's memory" },
	{ "detail", HDB_TYPE_TEXT, "detail",
	  "What the memory of the part is. Empty: the whole part, which counts towards RSS." },
	{ "resident", HDB_TYPE_BYTES, "resident", "Pages in memory. The parts add up to RSS." },
	{ "committed", HDB_TYPE_BYTES, "committed",
	  "Accessible memory: mapped with access rights, or allocated. It becomes resident page by "
	  "page, when first used." },
	{ "used", HDB_TYPE_BYTES, "used", "Bytes that the VM uses, garbage included" },
	{ "count", HDB_TYPE_COUNT, "count", "Number of classes, stacks, buffers or files" },
	{ "estimated", HDB_TYPE_BYTES, "estimated",
	  "Part of the resident bytes whose addresses are not known: allocated bytes, all assumed to "
	  "be in memory" },
	{ "shared", HDB_TYPE_BYTES, "shared", "Resident bytes that other processes also use" },
	{ "swap", HDB_TYPE_BYTES, "swap", "Pages swapped out, which RSS does not include" },
};

struct account {
	struct cli *cli;
	struct memory memory;
	struct capture_memory *process; /* NULL: saved files */
	char name[320];                 /* of the process; "": unknown */
	uint64_t buffers;               /* of a dump, that own memory */
	uint64_t limit;                 /* of the cgroup's memory; 0: none, or unknown */
	size_t next;
	struct hdb_value cells[COLUMNS];
	char missing[256], not_listed[80], indented[80];
	char refusal[HDB_ERROR_SIZE]; /* why the VM did not answer */
	char advice[ADVICE_MAX][256];
	struct own_fact facts[FACTS_MAX];
};

/* ---- rows ---- */

static struct hdb_value figure(enum hdb_type type, uint64_t u)
{
	return number_value(u ? type : HDB_TYPE_NULL, u);
}

/* Whether details are indented below their part, instead of a column. */
static bool is_tree(const struct account *a)
{
	return a->cli->opt.format == FORMAT_TABLE && !a->cli->opt.columns;
}

/* Whether people see the row only with --wide. */
static bool is_small(const struct account *a, const struct memory_row *row)
{
	const struct options *opt = &a->cli->opt;

	return opt->format == FORMAT_TABLE && !opt->wide && row->detail[0] &&
	       row->resident < a->memory.rss / DETAIL_SHARE;
}

static size_t count_small(const struct account *a)
{
	size_t count = 0;

	for (size_t i = 0; i < a->memory.row_count; i++)
		count += is_small(a, &a->memory.rows[i]);
	return count;
}

static int row_next(void *ctx, struct hdb_error *err)
{
	struct account *a = ctx;
	const struct memory_row *row;

	(void)err;
	while (a->next < a->memory.row_count && is_small(a, &a->memory.rows[a->next]))
		a->next++;
	if (a->next == a->memory.row_count)
		return HDB_END;
	row = &a->memory.rows[a->next++];
	snprintf(a->indented, sizeof(a->indented), "  %s", row->detail);
	a->cells[PART] = text_value(is_tree(a) && row->detail[0] ? a->indented :
								   memory_part_name(row->part));
	a->cells[DETAIL] = text_value(row->detail);
	a->cells[RESIDENT] = number_value(HDB_TYPE_BYTES, row->resident);
	a->cells[SHARED] = figure(HDB_TYPE_BYTES, row->shared);
	a->cells[SWAP] = figure(HDB_TYPE_BYTES, row->swap);
	a->cells[COMMITTED] = number_value(HDB_TYPE_BYTES, row->committed);
	a->cells[USED] = figure(HDB_TYPE_BYTES, row->used);
	a->cells[COUNT] = figure(HDB_TYPE_COUNT, row->count);
	a->cells[ESTIMATED] = figure(HDB_TYPE_BYTES, row->estimated);
	return HDB_OK;
}

/* The row of a part, or one of zeros. */
static struct memory_row part_of(const struct account *a, enum memory_part part)
{
	for (size_t i = 0; i < a->memory.row_count; i++)
		if (a->memory.rows[i].part == part && !a->memory.rows[i].detail[0])
			return a->memory.rows[i];
	return (struct memory_row){ .part = part };
}

/* ---- advice ---- */

/* What would make the account more exact. */
static const char *missing_of(struct account *a)
{
	const struct memory *m = &a->memory;
	const char *said = m->nmt == MEMORY_NMT_OFF ?
				   "Native Memory Tracking is off: start the JVM with "
				   "-XX:NativeMemoryTracking=summary (or detail)" :
			   m->nmt == MEMORY_NMT_UNKNOWN ?
				   "the output of VM.native_memory" :
			   m->nmt == MEMORY_NMT_SUMMARY && !m->has_map ?
				   "addresses: -XX:NativeMemoryTracking=detail has them" :
				   "";

	snprintf(a->missing, sizeof(a->missing), "%s%s%s", said,
		 *said && !m->has_vm_info ? "; " : "",
		 m->has_vm_info ? "" : "the output of VM.info");
	return a->missing;
}

/* Adds advice on parts that are large: beyond a tenth of RSS, and 16 MiB. */
static size_t advise(struct account *a)
{
	static const struct {
		enum memory_part part;
		const char *text;
	} rules[] = {
		{ MEMORY_DIRECT,
		  "direct memory: `heapdb direct-buffers` on a dump names the owners; "
		  "-XX:MaxDirectMemorySize limits it (Netty: "
		  "-Dio.netty.maxDirectMemory)" },
		{ MEMORY_STACKS,
		  "thread stacks: `heapdb threads` on a dump groups the threads; -Xss "
		  "limits each" },
		{ MEMORY_METASPACE, "metaspace: `heapdb loaders` on a dump shows class loaders; "
				    "-XX:MaxMetaspaceSize limits it" },
		{ MEMORY_FREE_MALLOC,
		  "free in malloc: glibc keeps freed memory; MALLOC_ARENA_MAX=2 or "
		  "`jcmd PID System.trim_native_heap` returns it" },
		{ MEMORY_USED_MALLOC, "malloc: native libraries allocate it; a profiler of malloc "
				      "(jemalloc, heapprofd) names the callers" },
		{ MEMORY_CODE, "code cache: -XX:ReservedCodeCacheSize limits it" },
		{ MEMORY_GC, "GC structures: they grow with the heap; another collector, such as "
			     "-XX:+UseSerialGC, needs less" },
	};
	const struct memory_row heap = part_of(a, MEMORY_HEAP);
	size_t count = 0;

	if (heap.used && heap.resident / 2 > heap.used && heap.resident - heap.used > 64 << 20)
		snprintf(a->advice[count++], sizeof(a->advice[0]),
			 "Java heap: %s is resident, but only %s is used: a smaller -Xmx would do, "
			 "or -XX:G1PeriodicGCInterval returns memory",
			 base_size(heap.resident).text, base_size(heap.used).text);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]) && count < ADVICE_MAX; i++) {
		const uint64_t bytes = part_of(a, rules[i].part).resident;

		/* Without NMT, malloc has blocks of the VM and of Java too. */
		if (rules[i].part == MEMORY_USED_MALLOC && a->memory.nmt < MEMORY_NMT_SUMMARY)
			continue;
		if (bytes >= a->memory.rss / 10 && bytes >= 16 << 20)
			snprintf(a->advice[count++], sizeof(a->advice[0]), "%s", rules[i].text);
	}
	return count;
}

/* Makes the facts. Returns their number. */
static size_t make_facts(struct account *a, size_t small)
{
	static const char *const keys[ADVICE_MAX] = { "next", "next_2", "next_3" };
	static const char *const nmt[] = { "unknown", "off", "summary", "detail" };
	const struct memory *m = &a->memory;
	const uint64_t rest = part_of(a, MEMORY_REST).resident;
	const uint64_t missing = a->buffers - m->buffer_count;
	const size_t advice = advise(a);
	size_t count = 0;

	a->facts[count++] = text_fact("process", "process", a->name);
	a->facts[count++] = number_fact("rss", "RSS", HDB_TYPE_BYTES, m->rss);
	a->facts[count++] = number_fact("limit", "memory limit of the cgroup",
					figure(HDB_TYPE_BYTES, a->limit).type, a->limit);
	a->facts[count++] =
		number_fact("swap", "swap", figure(HDB_TYPE_BYTES, m->swap).type, m->swap);
	a->facts[count++] = number_fact("huge_pages", "huge pages, not in RSS",
					figure(HDB_TYPE_BYTES, m->hugetlb).type, m->hugetlb);
	a->facts[count++] = text_fact("nmt", "Native Memory Tracking", nmt[m->nmt]);
	a->facts[count++] = (struct own_fact){
		{ "explained", HDB_TYPE_PERCENT, "explained (%)", NULL },
		{ .type = HDB_TYPE_PERCENT,
		  .d = m->rss ? 100.0 * (double)(m->rss - rest) / (double)m->rss : 100.0 },
	};
	a->facts[count++] =
		number_fact("not_in_process", "buffers of the dump that are not in the process",
			    figure(HDB_TYPE_COUNT, missing).type, missing);
	a->facts[count++] = text_fact("missing", "missing", missing_of(a));
	if (small)
		snprintf(a->not_listed, sizeof(a->not_listed),
			 "%zu details below 1 %% of RSS; --wide lists them", small);
	a->facts[count++] = text_fact("not_listed", "not listed", a->not_listed);
	for (size_t i = 0; i < advice; i++)
		a->facts[count++] = text_fact(keys[i], "next", a->advice[i]);
	assert(count <= FACTS_MAX);
	return count;
}

static int print(struct account *a)
{
	const size_t small = count_small(a);
	const struct row_source source = {
		.ctx = a,
		.count = COLUMNS,
		.columns = columns,
		.cells = a->cells,
		.row_count = a->memory.row_count - small,
		.next = row_next,
	};
	struct answer answer = {
		.name = "memory",
		.source = &source,
		.facts = a->facts,
		.fact_count = make_facts(a, small),
		.limit = a->cli->opt.limit,
	};

	if (is_tree(a)) {
		TRY(BASE_ALLOC(answer.picked, COLUMNS, "a list of columns", &a->cli->err));
		for (size_t i = 0; i < COLUMNS; i++)
			if (i != DETAIL)
				answer.picked[answer.picked_count++] = i;
	}
	return print_answer(a->cli, &answer);
}

/* ---- a heap dump ---- */

/* Takes the memory of a buffer, by the names of query direct-buffers. */
static int take_buffer(struct account *a, struct hdb_rows *rows)
{
	static const struct {
		const char *kind, *detail;
		enum memory_part part;
	} kinds[] = {
		{ "direct", "direct buffers", MEMORY_DIRECT },
		{ "segment", "memory segments", MEMORY_DIRECT },
		{ "native", "buffers of native code", MEMORY_DIRECT },
		{ "mapped", "mapped buffers", MEMORY_FILES },
	};
	const char *holder = hdb_rows_text(rows, hdb_rows_find_column(rows, "holder"));
	const uint64_t capacity = hdb_rows_u64(rows, hdb_rows_find_column(rows, "capacity"));
	const bool is_netty = holder && strstr(holder, "netty.buffer.");

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!rows_is(rows, "kind", kinds[i].kind) || !capacity)
			continue;
		a->buffers++;
		return memory_add_buffer(
			&a->memory,
			memory_for(kinds[i].part, is_netty && kinds[i].part == MEMORY_DIRECT ?
							  "Netty" :
							  kinds[i].detail),
			hdb_rows_u64(rows, hdb_rows_find_column(rows, "address")), capacity,
			&a->cli->err);
	}
	return HDB_OK;
}

static int ask_dump(struct account *a, const char *name)
{
	static const struct hdb_option all = { "all", NULL };
	const struct hdb_query_args args = { .struct_size = sizeof(args),
					     .options = &all,
					     .option_count = 1 };
	struct cli *cli = a->cli;
	DOOR_ROWS *rows = NULL;
	int rc;

	if (cli->db)
		return cli_usage(cli, "expected one dump or database, found two");
	TRY(locate_named(cli, name, &cli->db_path, &cli->dump_path));
	TRY(cli_open(cli, cli->db_path, cli->dump_path, 1, &cli->db));
	cli_report_health(cli, cli->db, NULL);
	TRY(hdb_query(cli->db, "direct-buffers", &args, &rows, &cli->err));
	while ((rc = hdb_rows_next(rows, &cli->err)) == HDB_OK)
		TRY(take_buffer(a, rows));
	return rc == HDB_END ? HDB_OK : rc;
}

/* ---- a running JVM ---- */

static int add_text(struct account *a, enum memory_kind kind, char *text)
{
	return memory_add(&a->memory, kind, text, strlen(text), &a->cli->err);
}

/* Asks the VM; an answer that it cannot give is left out. */
static int ask(struct account *a, int pid, enum capture_question question, enum memory_kind kind)
{
	const struct capture_options options = { .timeout_s = a->cli->opt.timeout,
						 .cancel = progress_callbacks().cancel };
	BASE_FREED char *text = NULL;
	struct hdb_error err = { 0 };
	const int rc = capture_vm_ask(pid, question, &options, &text, NULL, &err);

	if (rc == HDB_EINTR || rc == HDB_ENOMEM) {
		a->cli->err = err;
		return rc;
	}
	if (rc != HDB_OK && question == CAPTURE_NMT_DETAIL)
		snprintf(a->refusal, sizeof(a->refusal), "%s", err.message);
	return rc == HDB_OK ? add_text(a, kind, text) : HDB_NOTFOUND;
}

static int ask_vm(struct account *a, int pid)
{
	const struct memory *m = &a->memory;
	int rc = ask(a, pid, CAPTURE_NMT_DETAIL, MEMORY_NMT);

	if (rc != HDB_OK)
		return rc < 0 ? rc : HDB_OK;
	if (m->nmt == MEMORY_NMT_UNKNOWN)
		TRY_ERRORS(ask(a, pid, CAPTURE_NMT_SUMMARY, MEMORY_NMT));
	TRY_ERRORS(ask(a, pid, CAPTURE_VM_INFO, MEMORY_VM_INFO));
	if (m->nmt == MEMORY_NMT_SUMMARY)
		TRY_ERRORS(ask(a, pid, CAPTURE_SYSTEM_MAP, MEMORY_MAP));
	rc = ask(a, pid, CAPTURE_NATIVE_HEAP_INFO, MEMORY_MALLOC);
	return rc < 0 ? rc : HDB_OK;
}

static int read_process(struct account *a, int pid)
{
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	struct memory_figures *f = &a->memory.figures;
	struct capture_meters meters;

	/* First, since another process may have the PID when the VM has answered. */
	TRY(capture_memory_open(pid, &a->process, &a->cli->err));
	TRY(capture_measure(pid, &meters, &a->cli->err));
	snprintf(a->name, sizeof(a->name), "JVM %d%s%s%s", pid, meters.main_class[0] ? " (" : "",
		 meters.main_class, meters.main_class[0] ? ")" : "");
	a->limit = meters.has_limit ? meters.limit : 0;
	if (meters.cannot_attach)
		snprintf(a->refusal, sizeof(a->refusal),
			 "process %d was started with -XX:+DisableAttachMechanism", pid);
	else
		TRY(ask_vm(a, pid));
	f->heap_used = f->heap_used ? f->heap_used : meters.heap_used;
	f->metaspace_used = f->metaspace_used ? f->metaspace_used : meters.metaspace;
	/* Its maximum, to which G1 adds some bytes on JDK 17. */
	f->heap_reserved =
		f->heap_reserved ? f->heap_reserved : meters.heap_max & ~(uint64_t)0xffff;
	f->classes = f->classes ? f->classes : meters.classes;
	TRY(capture_memory_smaps(a->process, MEMORY_TEXT_MAX, &text, &a->cli->err));
	if (a->refusal[0])
		cli_notice(a->cli, "%s; the account has only what /proc tells", a->refusal);
	return memory_add(&a->memory, MEMORY_SMAPS, text.data, text.size, &a->cli->err);
}

/* ---- files ---- */

static int read_file(struct account *a, const char *path)
{
	BASE_SCOPED(file_text_release) struct file_text file = { 0 };
	struct cli *cli = a->cli;
	enum memory_kind kind;

	if (locate_is_heap(path))
		return ask_dump(a, path);
	TRY(cli_read_file(cli, path, MEMORY_TEXT_MAX, &file));
	kind = memory_kind_of(file.data, file.size);
	if (kind == MEMORY_UNKNOWN && strstr(file.data, "Applications Memory Usage"))
		return hdb_fail(&cli->err, HDB_EFORMAT,
				"%s: `heapdb meminfo` reads Android's meminfo", path);
	if (kind == MEMORY_UNKNOWN)
		return hdb_fail(&cli->err, HDB_EFORMAT,
				"%s: expected /proc/PID/smaps, output of jcmd (VM.native_memory, "
				"VM.info, System.map, System.native_heap_info), hs_err_pidN.log, a "
				"dump or a database",
				path);
	return cli_name_file(cli, path,
			     memory_add(&a->memory, kind, file.data, file.size, &cli->err));
}

static void release(struct account *a)
{
	memory_release(&a->memory);
	capture_memory_close(a->process);
}

int cmd_memory(struct cli *cli)
{
	BASE_SCOPED(release) struct account a = { .cli = cli };
	const struct options *opt = &cli->opt;
	const int pid = opt->operand_count ? options_pid(opt->operands[0]) : 0;

	if (!opt->operand_count)
		return cli_usage(cli,
				 "expected the PID of a JVM, or files; `heapdb capture` lists the "
				 "JVMs of this machine");
	for (size_t i = pid ? 1 : 0; i < opt->operand_count; i++)
		TRY(read_file(&a, opt->operands[i]));
	if (pid)
		TRY(read_process(&a, pid));
	TRY(memory_account(&a.memory, a.process ? capture_memory_pages : NULL, a.process,
			   &cli->err));
	return print(&a);
}
