/*
 * heapdb/cmd_jfr.c - recordings of Flight Recorder: their events as rows, samples by class, thread
 * or call stack, and the samples of an answer's classes.
 */
#include "heapdb/call_rows.h"
#include "heapdb/cli.h"
#include "jfr/jfr.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Bytes of a stack's text in a row. */
#define STACK_TEXT_MAX 65536u

static const char *const kind_names[JFR_KINDS] = { "old-objects", "allocations", "gc", "cpu" };

/* ---- events ---- */

enum form { TIME, SECONDS, NUMBER, SHARE, TEXT, CLASS, SITE, STACK };

enum {
	OLD = 1 << JFR_OLD_OBJECT,
	ALLOCATION = 1 << JFR_ALLOCATION,
	HEAP = 1 << JFR_HEAP,
	CPU = 1 << JFR_CPU
};

/* A column, which kinds of events have it, where: at the first path that leads to something. */
static const struct field {
	struct hdb_column column;
	unsigned kinds;
	enum form form;
	const char *paths[2];
} fields[] = {
	{ { "time", HDB_TYPE_TEXT, "time", "when it was recorded, UTC" },
	  OLD | ALLOCATION | HEAP | CPU,
	  TIME,
	  { "startTime" } },
	{ { "class", HDB_TYPE_TEXT, "class", "class of the object" },
	  OLD | ALLOCATION,
	  CLASS,
	  { "object.type", "objectClass" } },
	{ { "bytes", HDB_TYPE_BYTES, "bytes",
	    "size of an old object (JDK 21 and later); what is allocated for each sample" },
	  OLD | ALLOCATION,
	  NUMBER,
	  { "objectSize", "weight" } },
	{ { "elements", HDB_TYPE_COUNT, "elements", "of an array" },
	  OLD,
	  NUMBER,
	  { "arrayElements" } },
	{ { "address", HDB_TYPE_ID, "address", "where it was" },
	  OLD,
	  NUMBER,
	  { "object.address" } },
	{ { "allocated", HDB_TYPE_TEXT, "allocated", "when, UTC" },
	  OLD,
	  TIME,
	  { "allocationTime" } },
	{ { "age", HDB_TYPE_DOUBLE, "age (s)", "seconds since then" },
	  OLD,
	  SECONDS,
	  { "objectAge" } },
	{ { "description", HDB_TYPE_TEXT, "description", "what the VM says of the object" },
	  OLD,
	  TEXT,
	  { "object.description" } },
	{ { "root", HDB_TYPE_TEXT, "GC root", "what keeps it, if paths to GC roots were recorded" },
	  OLD,
	  TEXT,
	  { "root.description" } },
	{ { "root_system", HDB_TYPE_TEXT, "root system", "the part of the VM that has the root" },
	  OLD,
	  TEXT,
	  { "root.system" } },
	{ { "root_type", HDB_TYPE_TEXT, "root type", "kind of the root" },
	  OLD,
	  TEXT,
	  { "root.type" } },
	{ { "gc", HDB_TYPE_COUNT, "GC", "number of the collection" }, HEAP, NUMBER, { "gcId" } },
	{ { "when", HDB_TYPE_TEXT, "when", "before or after it" }, HEAP, TEXT, { "when" } },
	{ { "heap_used", HDB_TYPE_BYTES, "heap used", "of an old object: when it was allocated" },
	  OLD | HEAP,
	  NUMBER,
	  { "heapUsed", "lastKnownHeapUsage" } },
	{ { "committed", HDB_TYPE_BYTES, "committed", "memory of the heap" },
	  HEAP,
	  NUMBER,
	  { "heapSpace.committedSize" } },
	{ { "reserved", HDB_TYPE_BYTES, "reserved", "addresses of the heap" },
	  HEAP,
	  NUMBER,
	  { "heapSpace.reservedSize" } },
	{ { "user", HDB_TYPE_PERCENT, "user", "share of the machine's CPU time, in percent" },
	  CPU,
	  SHARE,
	  { "user" } },
	{ { "system", HDB_TYPE_PERCENT, "system", "the same, in the kernel" },
	  CPU,
	  SHARE,
	  { "system" } },
	{ { "thread", HDB_TYPE_TEXT, "thread", "name of the thread" },
	  OLD | ALLOCATION | CPU,
	  TEXT,
	  { "eventThread.javaName", "eventThread.osName" } },
	{ { "thread_id", HDB_TYPE_COUNT, "thread ID", "Java's number of it" },
	  OLD | ALLOCATION | CPU,
	  NUMBER,
	  { "eventThread.javaThreadId" } },
	{ { "site", HDB_TYPE_TEXT, "site", "the frame that allocated" },
	  OLD | ALLOCATION,
	  SITE,
	  { "stackTrace.frames" } },
	{ { "stack", HDB_TYPE_TEXT, "stack", "the frames, innermost first, with \" < \" between" },
	  OLD | ALLOCATION,
	  STACK,
	  { "stackTrace.frames" } },
};

#define COLUMNS (sizeof(fields) / sizeof(fields[0]))

struct recording {
	struct cli *cli;
	struct file_text file;
	struct jfr *jfr;
	uint64_t counts[JFR_KINDS];
	enum jfr_kind kind; /* of the rows */
	struct hdb_value cells[COLUMNS];
	struct bytes texts[COLUMNS];
	struct jfr_value frames[JFR_FRAMES_MAX]; /* of one stack, innermost first */
};

static struct hdb_value seconds_text(int64_t ns, struct bytes *text)
{
	const time_t seconds = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
	char buf[64];
	struct tm utc;
	size_t size;

	if (!gmtime_r(&seconds, &utc))
		return (struct hdb_value){ 0 };
	size = strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%S", &utc);
	size += (size_t)snprintf(buf + size, sizeof(buf) - size, ".%09" PRId64 "Z",
				 ns - (int64_t)seconds * 1000000000);
	bytes_add(text, buf, size);
	return (struct hdb_value){ .type = HDB_TYPE_TEXT };
}

static bool put_frames(struct jfr *jfr, struct jfr_value list, bool is_site, struct bytes *text)
{
	struct jfr_value frame;
	int count = 0;

	for (; count < (is_site ? 1 : JFR_FRAMES_MAX) && text->size < STACK_TEXT_MAX; count++) {
		if (!jfr_item(jfr, &list, &frame))
			break;
		bytes_add(text, " < ", count ? 3 : 0);
		(void)jfr_frame(jfr, &frame, text);
	}
	return count > 0;
}

/* The cell of a field; its text, if it is one, is set later. */
static struct hdb_value cell_of(struct jfr *jfr, const struct field *field,
				const struct jfr_value *value, struct bytes *text)
{
	const enum hdb_type type = field->column.type;
	bool is_there = true;

	switch (field->form) {
	case TIME:
		return seconds_text(jfr_time(jfr, value), text);
	case SECONDS:
		return (struct hdb_value){ .type = type, .d = (double)jfr_span(jfr, value) / 1e9 };
	case SHARE:
		return (struct hdb_value){ .type = type, .d = 100 * jfr_real(jfr, value) };
	case NUMBER: /* what is negative means that there is none */
		if (jfr_integer(jfr, value) < 0)
			return (struct hdb_value){ 0 };
		return number_value(type, (uint64_t)jfr_integer(jfr, value));
	case TEXT:
		is_there = jfr_text(jfr, value, text);
		break;
	case CLASS:
		is_there = jfr_class(jfr, value, text);
		break;
	case SITE:
	case STACK:
		is_there = put_frames(jfr, *value, field->form == SITE, text);
		break;
	}
	return (struct hdb_value){ .type = is_there ? HDB_TYPE_TEXT : HDB_TYPE_NULL };
}

static bool find_field(struct jfr *jfr, const struct field *field, const struct jfr_event *event,
		       struct jfr_value *value)
{
	return jfr_find(jfr, &event->value, field->paths[0], value) == HDB_OK ||
	       (field->paths[1] && jfr_find(jfr, &event->value, field->paths[1], value) == HDB_OK);
}

static int fill_row(struct recording *r, const struct jfr_event *event, struct hdb_error *err)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		struct bytes *text = &r->texts[i];
		struct hdb_value *cell = &r->cells[i];
		struct jfr_value value;

		*cell = (struct hdb_value){ 0 };
		text->size = 0;
		if (!(fields[i].kinds >> event->kind & 1) ||
		    !find_field(r->jfr, &fields[i], event, &value))
			continue;
		*cell = cell_of(r->jfr, &fields[i], &value, text);
		cell->text = text->data ? text->data : "";
		cell->text_size = text->size;
		if (text->failed)
			return door_fail(err, HDB_ENOMEM, "no memory for texts");
	}
	return HDB_OK;
}

static int next_event(struct recording *r, struct jfr_event *event, struct hdb_error *err)
{
	do
		TRY(jfr_next(r->jfr, event, err));
	while (event->kind != r->kind);
	return HDB_OK;
}

static int row_next(void *ctx, struct hdb_error *err)
{
	struct recording *r = ctx;
	struct jfr_event event;

	TRY(next_event(r, &event, err));
	return fill_row(r, &event, err);
}

static const struct hdb_column *row_column(void *ctx, size_t column)
{
	(void)ctx;
	return &fields[column].column;
}

static const struct hdb_value *row_value(void *ctx, size_t column)
{
	return &((struct recording *)ctx)->cells[column];
}

static int print_events(struct recording *r, const struct answer *plain)
{
	const struct options *opt = &r->cli->opt;
	const bool has_no_stacks = opt->format == FORMAT_TABLE && !opt->wide; /* too long */
	const struct row_source source = {
		.ctx = r,
		.count = COLUMNS,
		.next = row_next,
		.row_count = r->counts[r->kind],
		.column = row_column,
		.value = row_value,
	};
	struct answer answer = *plain;

	answer.source = &source;
	answer.picked = calloc(COLUMNS, sizeof(answer.picked[0]));
	if (!answer.picked)
		return door_fail(&r->cli->err, HDB_ENOMEM, "no memory for a list of columns");
	for (size_t i = 0; i < COLUMNS; i++)
		if (fields[i].kinds >> r->kind & 1 && !(has_no_stacks && fields[i].form == STACK))
			answer.picked[answer.picked_count++] = i;
	return print_answer(r->cli, &answer);
}

/* ---- samples added up ---- */

/* What a field of the event is as a text, in r->texts[0], with its zero; `none` if it has none. */
static const char *text_of(struct recording *r, const struct jfr_event *event, const char *name,
			   const char *none)
{
	struct bytes *text = &r->texts[0];
	struct jfr_value value;
	size_t i = 0;

	while (strcmp(fields[i].column.name, name) != 0)
		i++;
	text->size = 0;
	if (!find_field(r->jfr, &fields[i], event, &value) ||
	    cell_of(r->jfr, &fields[i], &value, text).type == HDB_TYPE_NULL)
		return none;
	bytes_add(text, "", 1);
	return text->failed ? none : text->data;
}

/* The node of the event's stack, which its constant remembers; 0: it has none. */
static int add_stack(struct recording *r, const struct jfr_event *event, struct call_tree *tree,
		     uint32_t *node)
{
	struct jfr_value stack, list;
	size_t count = 0;

	if (jfr_find(r->jfr, &event->value, "stackTrace", &stack) != HDB_OK)
		return HDB_OK;
	if (stack.memo && *stack.memo) {
		*node = *stack.memo;
		return HDB_OK;
	}
	if (jfr_find(r->jfr, &stack, "frames", &list) != HDB_OK)
		return HDB_OK;
	while (count < JFR_FRAMES_MAX && jfr_item(r->jfr, &list, &r->frames[count]))
		count++;
	while (count-- > 0) {
		struct bytes *text = &r->texts[0];

		text->size = 0;
		(void)jfr_frame(r->jfr, &r->frames[count], text);
		bytes_add(text, "", 1);
		if (text->failed)
			return door_fail(&r->cli->err, HDB_ENOMEM, "no memory for texts");
		TRY(call_tree_child(tree, *node, text->data, node, &r->cli->err));
	}
	if (stack.memo)
		*stack.memo = *node;
	return HDB_OK;
}

static int add_sample(struct recording *r, const struct jfr_event *event, enum calls_by by,
		      struct call_tree *tree)
{
	struct hdb_error *err = &r->cli->err;
	struct jfr_value bytes;
	uint32_t node = 0;

	if (by == CALLS_BY_STACK)
		TRY(add_stack(r, event, tree, &node));
	if (node == 0)
		TRY(call_tree_child(
			tree, 0,
			by == CALLS_BY_CLASS  ? text_of(r, event, "class", "(no class)") :
			by == CALLS_BY_THREAD ? text_of(r, event, "thread", "(no thread)") :
			by == CALLS_BY_SITE   ? text_of(r, event, "site", "(no call stack)") :
						"(no call stack)",
			&node, err));
	tree->nodes[node].count++;
	if ((jfr_find(r->jfr, &event->value, "weight", &bytes) == HDB_OK ||
	     jfr_find(r->jfr, &event->value, "objectSize", &bytes) == HDB_OK) &&
	    jfr_integer(r->jfr, &bytes) > 0)
		call_tree_add(&tree->nodes[node].bytes, (uint64_t)jfr_integer(r->jfr, &bytes));
	return HDB_OK;
}

static int print_samples(struct recording *r, const struct answer *answer)
{
	struct call_tree tree = { 0 };
	struct jfr_event event;
	int rc;

	while ((rc = next_event(r, &event, &r->cli->err)) == HDB_OK)
		if ((rc = add_sample(r, &event, (enum calls_by)r->cli->opt.by, &tree)) != HDB_OK)
			goto out;
	if (rc == HDB_END && (rc = call_tree_sum(&tree, &r->cli->err)) == HDB_OK)
		rc = print_calls(r->cli, answer, &tree, false);
out:
	call_tree_release(&tree);
	return rc;
}

/* ---- the command ---- */

static int recording_open(struct recording *r, const char *path)
{
	struct jfr_event event;
	int rc;

	TRY(cli_read_file(r->cli, path, JFR_SIZE_MAX, &r->file));
	rc = jfr_open(r->file.data, r->file.size, &r->jfr, &r->cli->err);
	while (rc == HDB_OK && (rc = jfr_next(r->jfr, &event, &r->cli->err)) == HDB_OK)
		r->counts[event.kind]++;
	return cli_name_file(r->cli, path, rc == HDB_END ? HDB_OK : rc);
}

static void recording_release(struct recording *r)
{
	jfr_close(r->jfr);
	for (size_t i = 0; i < COLUMNS; i++)
		bytes_release(&r->texts[i]);
	free(r->file.data);
	free(r);
}

/* Those that are named, or else the first that there are. */
static int choose_kind(struct recording *r)
{
	const struct options *opt = &r->cli->opt;
	int kind = 0;

	if (opt->operand_count < 2) {
		while (kind < JFR_KINDS - 1 && r->counts[kind] == 0)
			kind++;
		r->kind = r->counts[kind] ? (enum jfr_kind)kind : JFR_OLD_OBJECT;
	} else {
		while (kind < JFR_KINDS && strcmp(kind_names[kind], opt->operands[1]) != 0)
			kind++;
		if (kind == JFR_KINDS)
			return door_fail(&r->cli->err, HDB_EUSAGE,
					 "no events \"%s\"; there are: old-objects, allocations, "
					 "gc, cpu",
					 opt->operands[1]);
		r->kind = (enum jfr_kind)kind;
	}
	if (options_given(opt, "by") && r->kind != JFR_OLD_OBJECT && r->kind != JFR_ALLOCATION)
		return door_fail(&r->cli->err, HDB_EUSAGE,
				 "--by is for old-objects and allocations");
	return HDB_OK;
}

int cmd_jfr(struct cli *cli)
{
	struct options *opt = &cli->opt;
	struct recording *r;
	int rc;

	if (opt->operand_count < 1 || opt->operand_count > 2)
		return door_fail(&cli->err, HDB_EUSAGE,
				 "expected a recording, and which of its events");
	if (!opt->has_limit && opt->format == FORMAT_TABLE)
		opt->limit = OPTIONS_LIMIT_DEFAULT;
	r = calloc(1, sizeof(*r));
	if (!r)
		return door_fail(&cli->err, HDB_ENOMEM, "no memory for a recording");
	r->cli = cli;
	if ((rc = recording_open(r, opt->operands[0])) == HDB_OK &&
	    (rc = choose_kind(r)) == HDB_OK) {
		const struct own_fact facts[] = {
			text_fact("events", "events", kind_names[r->kind]),
			number_fact("old_objects", "old objects", HDB_TYPE_COUNT,
				    r->counts[JFR_OLD_OBJECT]),
			number_fact("allocations", "allocations", HDB_TYPE_COUNT,
				    r->counts[JFR_ALLOCATION]),
			number_fact("heap_summaries", "heap summaries", HDB_TYPE_COUNT,
				    r->counts[JFR_HEAP]),
			number_fact("cpu_loads", "CPU loads", HDB_TYPE_COUNT, r->counts[JFR_CPU]),
			number_fact("chunks", "chunks", HDB_TYPE_COUNT, jfr_chunks(r->jfr)),
		};
		const struct answer answer = { .name = "jfr",
					       .facts = facts,
					       .fact_count = sizeof(facts) / sizeof(facts[0]),
					       .limit = opt->limit };

		jfr_rewind(r->jfr);
		rc = options_given(opt, "by") ? print_samples(r, &answer) :
						print_events(r, &answer);
	}
	recording_release(r);
	return rc;
}

/* ---- samples of an answer's classes ---- */

/* Whether a frame is the JDK's: who calls it decided to allocate. */
static bool is_platform(const char *frame)
{
	static const char *const packages[] = { "java.", "javax.", "jdk.", "sun.", "com.sun." };

	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
		if (strncmp(frame, packages[i], strlen(packages[i])) == 0)
			return true;
	return false;
}

/* Puts the innermost frame that is not the JDK's, or else the innermost, in r->texts[0]. */
static void find_site(struct recording *r, const struct jfr_event *event)
{
	struct bytes *text = &r->texts[0];
	struct jfr_value list, frame;

	(void)text_of(r, event, "site", "");
	if (jfr_find(r->jfr, &event->value, "stackTrace.frames", &list) != HDB_OK)
		return;
	for (int i = 0; i < JFR_FRAMES_MAX && jfr_item(r->jfr, &list, &frame); i++) {
		struct bytes *one = &r->texts[1];

		one->size = 0;
		(void)jfr_frame(r->jfr, &frame, one);
		bytes_add(one, "", 1);
		if (one->failed || is_platform(one->data))
			continue;
		text->size = 0;
		bytes_add(text, one->data, one->size);
		return;
	}
}

/* Classes, and below each the places that allocate. */
static int add_class(struct recording *r, const struct jfr_event *event, struct call_tree *tree)
{
	uint32_t node = 0;

	TRY(call_tree_child(tree, 0, text_of(r, event, "class", "(no class)"), &node,
			    &r->cli->err));
	find_site(r, event);
	if (r->texts[0].size > 0 && !r->texts[0].failed)
		TRY(call_tree_child(tree, node, r->texts[0].data, &node, &r->cli->err));
	tree->nodes[node].count++;
	return HDB_OK;
}

/* The place in tree->order of a class; SIZE_MAX: it has no samples. */
static size_t place_of(const struct call_tree *tree, const struct hdb_value *class_name)
{
	for (size_t i = 0; i + 1 < tree->count; i++) {
		const struct call_node *node = &tree->nodes[tree->order[i]];

		if (node->parent == 0 && strlen(node->name) == class_name->text_size &&
		    memcmp(node->name, class_name->text, class_name->text_size) == 0)
			return i;
	}
	return SIZE_MAX;
}

/* Says how many of the row's objects were sampled, and where most of them were allocated. */
static void say(struct sampled *s, const struct call_tree *tree, size_t place)
{
	const struct call_node *node = &tree->nodes[tree->order[place]], *site = NULL;
	const char *dot = strrchr(node->name, '.'), *name = dot ? dot + 1 : node->name;
	const char *were = node->count == 1 ? "was" : "were";
	char count[OUTPUT_NUMBER_SIZE], part[OUTPUT_NUMBER_SIZE + 1] = "";
	int size;

	if (place + 2 < tree->count && tree->nodes[tree->order[place + 1]].parent != 0)
		site = &tree->nodes[tree->order[place + 1]];
	count[format_thousands(count, hdb_rows_value(s->rows, s->objects)->u, false)] = '\0';
	if (tree == &s->live)
		size = snprintf(s->sentence, sizeof(s->sentence),
				"of %s %.200s %" PRIu64 " %s sampled", count, name, node->count,
				were);
	else
		size = snprintf(s->sentence, sizeof(s->sentence),
				"%" PRIu64 " %s of %.200s %s sampled", node->count,
				node->count == 1 ? "allocation" : "allocations", name, were);
	if (site && site->count < node->count)
		snprintf(part, sizeof(part), "%" PRIu64 " ", site->count);
	else if (node->count > 1)
		snprintf(part, sizeof(part), "all ");
	if (site)
		snprintf(s->sentence + size, sizeof(s->sentence) - (size_t)size,
			 ", %sallocated at %.700s", part, site->name);
}

static int sampled_next(void *ctx, struct hdb_error *err)
{
	struct sampled *s = ctx;
	const struct hdb_value *class_name;
	const struct call_tree *tree = &s->live;
	size_t place;

	s->value = (struct hdb_value){ 0 };
	TRY(hdb_rows_next(s->rows, err));
	class_name = hdb_rows_value(s->rows, s->class_name);
	if (class_name->type != HDB_TYPE_TEXT ||
	    hdb_rows_value(s->rows, s->objects)->type == HDB_TYPE_NULL ||
	    hdb_rows_value(s->rows, s->text)->type != HDB_TYPE_NULL)
		return HDB_OK;
	place = place_of(tree, class_name);
	if (place == SIZE_MAX)
		place = place_of(tree = &s->allocated, class_name);
	if (place != SIZE_MAX) {
		uint64_t *told = &s->told[tree == &s->live ? place : s->live.count + place];
		const uint64_t suspect = hdb_rows_value(s->rows, s->suspect)->u;

		if (*told == suspect) /* of the class, in another list of the same suspect */
			return HDB_OK;
		*told = suspect;
		say(s, tree, place);
		s->value = text_value(s->sentence);
	}
	return HDB_OK;
}

static const struct hdb_column *sampled_column(void *ctx, size_t column)
{
	return hdb_rows_column(((struct sampled *)ctx)->rows, column);
}

static const struct hdb_value *sampled_value(void *ctx, size_t column)
{
	struct sampled *s = ctx;

	return column == s->text && s->value.type != HDB_TYPE_NULL ?
		       &s->value :
		       hdb_rows_value(s->rows, column);
}

static int sampled_total(void *ctx, uint64_t *total, struct hdb_error *err)
{
	return hdb_rows_total(((struct sampled *)ctx)->rows, total, err);
}

static int add_classes(struct recording *r, struct sampled *s)
{
	struct jfr_event event;
	int rc;

	jfr_rewind(r->jfr);
	while ((rc = jfr_next(r->jfr, &event, &r->cli->err)) == HDB_OK) {
		if (event.kind == JFR_OLD_OBJECT)
			TRY(add_class(r, &event, &s->live));
		else if (event.kind == JFR_ALLOCATION)
			TRY(add_class(r, &event, &s->allocated));
	}
	TRY_ERRORS(rc);
	TRY(call_tree_sum(&s->live, &r->cli->err));
	TRY(call_tree_sum(&s->allocated, &r->cli->err));
	s->told = calloc(s->live.count + s->allocated.count + 1, sizeof(*s->told));
	return s->told ? HDB_OK : door_fail(&r->cli->err, HDB_ENOMEM, "no memory for classes");
}

int sampled_open(struct cli *cli, const char *path, struct hdb_rows *rows, struct sampled *out)
{
	struct recording *r = calloc(1, sizeof(*r));
	int rc;

	*out = (struct sampled){
		.source = { .ctx = out,
			    .count = hdb_rows_column_count(rows),
			    .next = sampled_next,
			    .column = sampled_column,
			    .value = sampled_value,
			    .total = sampled_total },
		.rows = rows,
		.class_name = hdb_rows_find_column(rows, "class"),
		.objects = hdb_rows_find_column(rows, "objects"),
		.suspect = hdb_rows_find_column(rows, "suspect"),
		.text = hdb_rows_find_column(rows, "text"),
	};
	if (!r)
		return door_fail(&cli->err, HDB_ENOMEM, "no memory for a recording");
	r->cli = cli;
	if ((rc = recording_open(r, path)) == HDB_OK)
		rc = add_classes(r, out);
	recording_release(r);
	return rc;
}

void sampled_release(struct sampled *sampled)
{
	call_tree_release(&sampled->live);
	call_tree_release(&sampled->allocated);
	free(sampled->told);
}
