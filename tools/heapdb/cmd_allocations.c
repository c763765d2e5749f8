/*
 * heapdb/cmd_allocations.c - prints call trees as rows: records of Android's allocation tracker,
 * and native heap allocations of Perfetto traces.
 */
#include "androidfiles/androidfiles.h"
#include "heapdb/call_rows.h"
#include "heapdb/cli.h"

/* ---- rows ---- */

#include <heapdb/cmd_allocations.query.h>

/* The source of rows: nodes of a tree, or dumps. */
struct calls {
	const struct call_tree *tree;
	const struct android_native *native;
	size_t at;
	struct bytes time;
	struct hdb_value cells[ALLOCATION_COLUMNS];
};

static void put_dump(struct calls *c, const struct android_native_dump *dump)
{
	c->time.size = 0;
	c->cells[TIME] = seconds_text(dump->since_1970, &c->time);
	c->cells[TIME].text = c->time.data;
	c->cells[TIME].text_size = c->time.size;
	if (!dump->since_1970)
		c->cells[TIME] = (struct hdb_value){ 0 };
	c->cells[DUMP] = number_value(HDB_TYPE_COUNT, c->at);
	c->cells[PROCESS] = text_value(dump->process);
	c->cells[PID] = number_value(HDB_TYPE_COUNT, dump->pid);
	c->cells[HEAP] = text_value(dump->heap);
	c->cells[SINCE] =
		text_value(dump->flags & ANDROID_DUMP_FROM_STARTUP ? "the start" : "later");
	c->cells[INCOMPLETE] = (struct hdb_value){ 0 };
	if (android_native_incomplete(dump))
		c->cells[INCOMPLETE] = text_value(android_native_incomplete(dump));
}

static int calls_next(void *ctx, struct hdb_error *err)
{
	struct calls *c = ctx;
	const size_t at = c->at++;
	const struct call_node *node;

	(void)err;
	if (c->native && at < c->native->dumps.count) {
		node = &android_dump_at(c->native, at)->sums;
		put_dump(c, android_dump_at(c->native, at));
	} else if (!c->native && at + 1 < c->tree->count) {
		node = &c->tree->nodes[c->tree->order[at]];
		c->cells[LEVEL] = number_value(HDB_TYPE_COUNT, node->level);
		c->cells[NAME] = text_value(node->name);
		c->cells[THREAD] = number_value(HDB_TYPE_COUNT, strtoull(node->name, NULL, 10));
	} else {
		return HDB_END;
	}
	c->cells[COUNT] = number_value(HDB_TYPE_COUNT, node->count);
	c->cells[BYTES] = number_value(HDB_TYPE_BYTES, node->bytes);
	c->cells[ALLOCATIONS] = number_value(HDB_TYPE_COUNT, node->all_count);
	c->cells[DEALLOCATIONS] = number_value(HDB_TYPE_COUNT, node->all_count - node->count);
	c->cells[ALLOCATED] = number_value(HDB_TYPE_BYTES, node->all_bytes);
	c->cells[DEALLOCATED] = number_value(HDB_TYPE_BYTES, node->all_bytes - node->bytes);
	return HDB_OK;
}

static void pick(struct answer *answer, size_t from, size_t to)
{
	while (from <= to)
		answer->picked[answer->picked_count++] = from++;
}

/* Prints the rows, with the columns of the grouping. */
static int print_rows(struct cli *cli, const struct answer *plain, struct calls *calls,
		      enum calls_of of)
{
	const enum calls_by by = (enum calls_by)cli->opt.by;
	const size_t name = of == CALLS_OF_TRACKER && by == CALLS_BY_THREAD ? THREAD : NAME;
	const struct row_source source = {
		.ctx = calls,
		.count = ALLOCATION_COLUMNS,
		.columns = allocation_columns,
		.cells = calls->cells,
		.row_count = calls->native      ? calls->native->dumps.count :
			     calls->tree->count ? calls->tree->count - 1 :
						  0,
		.next = calls_next,
	};
	struct answer answer = *plain;

	answer.source = &source;
	TRY(BASE_ALLOC(answer.picked, ALLOCATION_COLUMNS, "a list of columns", &cli->err));
	if (by == CALLS_BY_STACK)
		pick(&answer, LEVEL, LEVEL);
	if (!calls->native)
		pick(&answer, name, name);
	pick(&answer,
	     of != CALLS_OF_NATIVE_HEAP ? COUNT :
	     calls->native              ? DUMP :
					  ALLOCATIONS,
	     BYTES);
	return print_answer(cli, &answer);
}

int print_calls(struct cli *cli, const struct answer *plain, const struct call_tree *tree,
		enum calls_of of)
{
	struct calls calls = { .tree = tree };

	return print_rows(cli, plain, &calls, of);
}

/* ---- the allocation tracker ---- */

static int print_allocations(struct cli *cli, const struct android_allocations *list,
			     const struct call_tree *tree)
{
	const struct own_fact facts[] = {
		number_fact("objects", "objects", HDB_TYPE_COUNT, list->count),
		number_fact("bytes", "bytes", HDB_TYPE_BYTES, list->bytes),
		number_fact("threads", "threads", HDB_TYPE_COUNT, list->threads),
		number_fact("classes", "classes", HDB_TYPE_COUNT, list->classes),
	};
	const struct answer answer = { .name = "allocations",
				       .facts = facts,
				       .fact_count = BASE_COUNT(facts),
				       .limit = cli->opt.limit };

	return print_calls(cli, &answer, tree, CALLS_OF_TRACKER);
}

static int tracker(struct cli *cli, const struct file_text *file)
{
	BASE_SCOPED(android_allocations_release) struct android_allocations list = { 0 };
	BASE_SCOPED(call_tree_release) struct call_tree tree = { 0 };
	const struct options *opt = &cli->opt;

	if (opt->by > CALLS_BY_SITE || opt->snapshot)
		return hdb_fail(&cli->err, HDB_EUSAGE,
				"--by module, --by dump and --snapshot require a Perfetto trace "
				"with native heaps");
	TRY(cli_name_file(cli, opt->operands[0],
			  android_allocations_read((const uint8_t *)file->data, file->size, &list,
						   &cli->err)));
	TRY(android_allocations_group(&list, (enum android_allocations_by)opt->by, &tree,
				      &cli->err));
	return print_allocations(cli, &list, &tree);
}

/* ---- native heaps ---- */

static int print_native(struct cli *cli, const struct android_native *native,
			const struct call_tree *tree)
{
	struct calls calls = { .tree = tree,
			       .native = cli->opt.by == CALLS_BY_DUMP ? native : NULL };
	uint64_t interval = 0, broken = 0;
	const char *why = NULL;
	struct own_fact facts[5];
	struct answer answer;
	size_t count = 0;
	int rc;

	for (size_t i = 0; i < native->dumps.count; i++) {
		const struct android_native_dump *dump = android_dump_at(native, i);

		if (cli->opt.snapshot && cli->opt.snapshot != i + 1)
			continue;
		interval = dump->interval > interval ? dump->interval : interval;
		broken += android_native_incomplete(dump) != NULL;
		why = why ? why : android_native_incomplete(dump);
	}
	facts[count++] = number_fact("dumps", "dumps", HDB_TYPE_COUNT, native->dumps.count);
	facts[count++] = number_fact("heaps", "heaps", HDB_TYPE_COUNT, native->heaps);
	if (interval)
		facts[count++] = number_fact("sampling_interval", "sampling interval",
					     HDB_TYPE_BYTES, interval);
	facts[count++] =
		number_fact("incomplete_dumps", "incomplete dumps", HDB_TYPE_COUNT, broken);
	if (why)
		facts[count++] = text_fact("incomplete", "incomplete", why);
	answer = (struct answer){
		.name = "allocations", .facts = facts, .fact_count = count, .limit = cli->opt.limit
	};
	rc = print_rows(cli, &answer, &calls, CALLS_OF_NATIVE_HEAP);
	bytes_release(&calls.time);
	return rc;
}

int cmd_allocations(struct cli *cli)
{
	BASE_SCOPED(android_native_release) struct android_native native = { 0 };
	BASE_SCOPED(file_text_release) struct file_text file = { 0 };
	BASE_SCOPED(call_tree_release) struct call_tree tree = { 0 };
	struct options *opt = &cli->opt;
	int rc;

	if (opt->operand_count != 1)
		return hdb_fail(&cli->err, HDB_EUSAGE, "expected one file");
	if (!opt->has_limit && opt->format == FORMAT_TABLE)
		opt->limit = OPTIONS_LIMIT_DEFAULT;
	TRY(cli_read_file(cli, opt->operands[0], ANDROID_FILE_MAX, &file));
	rc = android_native_read((const uint8_t *)file.data, file.size, &native, &cli->err);
	if (rc == HDB_NOTFOUND)
		return tracker(cli, &file);
	TRY(cli_name_file(cli, opt->operands[0], rc));
	if (!options_given(opt, "by"))
		opt->by = CALLS_BY_SITE;
	if (opt->by < CALLS_BY_STACK)
		return hdb_fail(&cli->err, HDB_EUSAGE,
				"a native heap profile supports only --by stack|site|module|dump");
	TRY(android_native_group(&native, opt->snapshot,
				 opt->by == CALLS_BY_DUMP ? ANDROID_BY_STACK :
							    (enum android_allocations_by)opt->by,
				 &tree, &cli->err));
	return print_native(cli, &native, &tree);
}
