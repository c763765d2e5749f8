/*
 * memory/memory_answer.c - the account as an answer: rows, advice, and hints on how to make it more
 * exact.
 */
#include "memory/memory_private.h"

#include "base/error.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static int row_next(void *ctx, struct hdb_error *err)
{
	struct memory_answer *a = ctx;
	const struct memory_row *row =
		base_vec_next(&a->memory.row_vec, struct memory_row, &a->next);

	(void)err;
	if (!row)
		return HDB_END;
	a->cells[ACCOUNT_PART] = text_value(memory_part_name(row->part));
	a->cells[ACCOUNT_DETAIL] = text_value(row->detail);
	a->cells[ACCOUNT_RESIDENT] = number_value(HDB_TYPE_BYTES, row->resident);
	a->cells[ACCOUNT_SHARED] = known_value(HDB_TYPE_BYTES, row->shared);
	a->cells[ACCOUNT_SWAP] = known_value(HDB_TYPE_BYTES, row->swap);
	a->cells[ACCOUNT_COMMITTED] = number_value(HDB_TYPE_BYTES, row->committed);
	a->cells[ACCOUNT_USED] = known_value(HDB_TYPE_BYTES, row->used);
	a->cells[ACCOUNT_COUNT] = known_value(HDB_TYPE_COUNT, row->count);
	a->cells[ACCOUNT_ESTIMATED] = known_value(HDB_TYPE_BYTES, row->estimated);
	return HDB_OK;
}

/* Returns the row of a part, or a row of zeros. */
static struct memory_row part_of(const struct memory_answer *a, enum memory_part part)
{
	for (size_t i = 0; i < a->memory.row_count; i++)
		if (a->memory.rows[i].part == part && !a->memory.rows[i].detail[0])
			return a->memory.rows[i];
	return (struct memory_row){ .part = part };
}

/* ---- advice ---- */

/* Adds hints on how to make the account more exact. */
static const char *missing_of(struct memory_answer *a)
{
	const struct memory *m = &a->memory;
	const char *said = m->nmt == MEMORY_NMT_OFF ?
				   "Native Memory Tracking is off: start the JVM with "
				   "-XX:NativeMemoryTracking=summary (or detail)" :
			   m->nmt == MEMORY_NMT_UNKNOWN ?
				   "the output of VM.native_memory" :
			   m->nmt == MEMORY_NMT_SUMMARY && !m->has_map ?
				   "addresses, which -XX:NativeMemoryTracking=detail records" :
				   "";

	snprintf(a->missing, sizeof(a->missing), "%s%s%s", said,
		 *said && !m->has_vm_info ? "; " : "",
		 m->has_vm_info ? "" : "the output of VM.info");
	return a->missing;
}

/* Adds advice on parts that exceed a tenth of RSS and 16 MiB. */
static size_t advise(struct memory_answer *a)
{
	static const struct {
		enum memory_part part;
		const char *text;
	} rules[] = {
#define RULE_rule(word, said, nth) .part = word
#define RULE_text(word, said, nth) .text = said
#include <memory/memory_answer.rules.h>
	};
	const struct memory_row heap = part_of(a, MEMORY_HEAP);
	const struct memory_figures *f = &a->memory.figures;
	size_t count = 0;

	if (heap.used && heap.resident / 2 > heap.used && heap.resident - heap.used > 64 << 20)
		snprintf(a->advice[count++], sizeof(a->advice[0]),
			 "Java heap: %s is resident, but only %s is used: reduce -Xmx, "
			 "or set -XX:G1PeriodicGCInterval to return memory",
			 base_size(heap.resident).text, base_size(heap.used).text);
	if (f->netty / 2 > f->netty_pinned && f->netty >= a->memory.rss / 10 &&
	    f->netty >= 16 << 20)
		snprintf(a->advice[count++], sizeof(a->advice[0]),
			 "Netty: only %s of %s in chunks is in use: configure fewer arenas "
			 "(-Dio.netty.allocator.numDirectArenas) or smaller chunks "
			 "(-Dio.netty.allocator.maxOrder)",
			 base_size(f->netty_pinned).text, base_size(f->netty).text);
	for (size_t i = 0; i < BASE_COUNT(rules) && count < ADVICE_MAX; i++) {
		const uint64_t bytes = part_of(a, rules[i].part).resident;

		/*
		 * without NMT, blocks of the VM and of Java cannot be distinguished from other
		 * blocks of malloc
		 */
		if (rules[i].part == MEMORY_USED_MALLOC && a->memory.nmt < MEMORY_NMT_SUMMARY)
			continue;
		if (bytes >= a->memory.rss / 10 && bytes >= 16 << 20)
			snprintf(a->advice[count++], sizeof(a->advice[0]), "%s", rules[i].text);
	}
	return count;
}

static struct own_fact percent_fact(const char *name, const char *title, uint64_t part,
				    uint64_t whole)
{
	return (struct own_fact){
		{ name, HDB_TYPE_PERCENT, title, NULL },
		{ .type = HDB_TYPE_PERCENT,
		  .d = whole ? 100.0 * (double)part / (double)whole : 100.0 },
	};
}

/* Makes the facts. */
static void make_facts(struct memory_answer *a)
{
	static const char *const keys[ADVICE_MAX] = { "next", "next_2", "next_3" };
	static const char *const nmt[] = { "unknown", "off", "summary", "detail" };
	const struct memory *m = &a->memory;
	const uint64_t rest = part_of(a, MEMORY_REST).resident;
	const uint64_t missing = a->buffers - m->buffer_count;
	const size_t advice = advise(a);
	struct own_fact *facts = a->answer.facts;
	size_t count = 0;

	facts[count++] = text_fact("process", "process", a->name);
	facts[count++] = number_fact("rss", "RSS", HDB_TYPE_BYTES, m->rss);
	facts[count++] =
		known_fact("limit", "memory limit of the cgroup", HDB_TYPE_BYTES, a->limit);
	facts[count++] = known_fact("swap", "swap", HDB_TYPE_BYTES, m->swap);
	facts[count++] =
		known_fact("huge_pages", "huge pages, not in RSS", HDB_TYPE_BYTES, m->hugetlb);
	facts[count++] = text_fact("nmt", "Native Memory Tracking", nmt[m->nmt]);
	facts[count++] = percent_fact("explained", "explained (%)", m->rss - rest, m->rss);
	if (m->figures.netty)
		facts[count++] = percent_fact("netty_pinned", "Netty chunks in use (%)",
					      m->figures.netty_pinned, m->figures.netty);
	facts[count++] = known_fact("not_in_process",
				    "buffers in the dump outside the mappings of the process",
				    HDB_TYPE_COUNT, missing);
	facts[count++] = text_fact("missing", "missing", missing_of(a));
	facts[count++] = text_fact("not_listed", "not listed", NULL);
	for (size_t i = 0; i < advice; i++)
		facts[count++] = text_fact(keys[i], "next", a->advice[i]);
	assert(count <= OWN_FACTS_MAX);
	a->answer.fact_count = count;
}

/* ---- the answer ---- */

int memory_answer_new(struct memory_answer **out, struct hdb_error *err)
{
	return BASE_ALLOC(*out, 1, "an account", err);
}

void memory_answer_free(struct memory_answer *a)
{
	if (!a)
		return;
	memory_release(&a->memory);
	capture_memory_close(a->process);
	free(a);
}

const struct memory *memory_answer_of(const struct memory_answer *a)
{
	return &a->memory;
}

int memory_answer_add_text(struct memory_answer *a, char *text, size_t size, struct hdb_error *err)
{
	const enum memory_kind kind = memory_kind_of(text, size);

	if (kind == MEMORY_UNKNOWN && strstr(text, "Applications Memory Usage"))
		return hdb_fail(
			err, HDB_EFORMAT,
			"this is the output of Android's dumpsys meminfo; use `heapdb meminfo`");
	if (kind == MEMORY_UNKNOWN)
		return hdb_fail(err, HDB_EFORMAT,
				"expected /proc/PID/smaps, output of jcmd (VM.native_memory, "
				"VM.info, System.map, System.native_heap_info), hs_err_pidN.log, a "
				"dump or a database");
	return memory_add(&a->memory, kind, text, size, err);
}

int memory_answer_make(struct memory_answer *a, const struct own_answer **out,
		       struct hdb_error *err)
{
	TRY(memory_account(&a->memory, a->process ? capture_memory_pages : NULL, a->process, err));
	a->answer.name = "memory";
	a->answer.source = (struct row_source){
		.ctx = a,
		.count = ACCOUNT_COLUMNS,
		.columns = account_columns,
		.cells = a->cells,
		.row_count = a->memory.row_count,
		.next = row_next,
	};
	make_facts(a);
	*out = &a->answer;
	return HDB_OK;
}
