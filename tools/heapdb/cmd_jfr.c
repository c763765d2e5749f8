/*
 * heapdb/cmd_jfr.c - Flight Recorder files: events as rows, samples by class, thread or call stack,
 * and samples for the classes of an answer.
 */
#include "common/descriptor.h"
#include "heapdb/call_rows.h"
#include "heapdb/cli.h"
#include "heapdb/progress.h"
#include "jfr/jfr.h"

#include <time.h>

/* Maximum size of the text of a stack in a row. */
#define STACK_TEXT_MAX (1u << 20)

static const char *const kind_names[JFR_KINDS] = { "old-objects", "allocations", "gc", "cpu" };

/* ---- events ---- */

enum form { TIME, NUMBER, SHARE, NAME, CLASS, SITE, STACK };

enum {
	OLD = 1 << JFR_OLD_OBJECT,
	NEW = 1 << JFR_ALLOCATION,
	HEAP = 1 << JFR_HEAP,
	CPU = 1 << JFR_CPU
};

#include <heapdb/cmd_jfr.query.h>

/* A column of events: the kinds of events that have the column, and the path of its field. */
static const struct field {
	unsigned kinds;
	enum form form;
	const char *path, *other; /* the first path that resolves is used */
} fields[] = {
	{ OLD | NEW | HEAP | CPU, TIME, "startTime", "" },
	{ OLD | NEW, CLASS, "object.type", "objectClass" },
	{ OLD | NEW, NUMBER, "objectSize", "weight" },
	{ OLD, NUMBER, "arrayElements", "" },
	{ OLD, NUMBER, "object.address", "" },
	{ OLD, TIME, "allocationTime", "" },
	{ OLD, NAME, "object.description", "" },
	{ OLD, NAME, "root.description", "" },
	{ OLD, NAME, "root.type", "" },
	{ HEAP, NUMBER, "gcId", "" },
	{ HEAP, NAME, "when", "" },
	{ OLD | HEAP, NUMBER, "heapUsed", "lastKnownHeapUsage" },
	{ HEAP, NUMBER, "heapSpace.committedSize", "" },
	{ HEAP, NUMBER, "heapSpace.reservedSize", "" },
	{ CPU, SHARE, "user", "" },
	{ CPU, SHARE, "system", "" },
	{ OLD | NEW | CPU, NAME, "eventThread.javaName", "eventThread.osName" },
	{ OLD | NEW | CPU, NUMBER, "eventThread.javaThreadId", "" },
	{ OLD | NEW, SITE, "stackTrace.frames", "" },
	{ OLD | NEW, STACK, "stackTrace.frames", "" },
};
static_assert(BASE_COUNT(fields) == JFR_COLUMNS, "a place for each column");

struct recording {
	struct cli *cli;
	struct file_text file;
	struct jfr *jfr;
	uint64_t counts[JFR_KINDS];
	enum jfr_kind kind; /* kind of the listed events */
	struct hdb_value cells[JFR_COLUMNS];
	struct bytes texts[JFR_COLUMNS];
};

struct hdb_value seconds_text(int64_t ns, struct bytes *text)
{
	const time_t seconds = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
	char buf[64];
	struct tm utc;

	if (!gmtime_r(&seconds, &utc))
		return (struct hdb_value){ 0 };
	strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%S", &utc);
	bytes_format(text, "%s.%09" PRId64 "Z", buf, ns - (int64_t)seconds * 1000000000);
	return (struct hdb_value){ .type = HDB_TYPE_TEXT };
}

/*
 * Returns whether a frame belongs to the JDK. Such frames are skipped, because the application
 * frame that called them is more informative.
 */
static bool is_platform(const struct bytes *text)
{
	return descriptor_is_of_jdk(text->data, text->size);
}

static bool put_stack(struct jfr *jfr, struct jfr_value list, struct bytes *text)
{
	struct jfr_value frame;
	int count = 0;

	for (; count < JFR_FRAMES_MAX && text->size < STACK_TEXT_MAX; count++) {
		if (!jfr_item(jfr, &list, &frame))
			break;
		bytes_add(text, " < ", count ? 3 : 0);
		(void)jfr_frame(jfr, &frame, text);
	}
	return count > 0;
}

static bool put_site(struct jfr *jfr, struct jfr_value list, struct bytes *text)
{
	struct jfr_value innermost, frame;
	bool is_there = jfr_item(jfr, &list, &innermost);

	if (!is_there)
		return false;
	(void)jfr_frame(jfr, &innermost, text);
	for (int i = 0; is_there && i < JFR_FRAMES_MAX && is_platform(text); i++) {
		is_there = jfr_item(jfr, &list, &frame);
		text->size = 0;
		(void)jfr_frame(jfr, is_there ? &frame : &innermost, text);
	}
	return true;
}

/* Makes a cell. Text is appended to `text`. */
static struct hdb_value cell_of(struct jfr *jfr, size_t column, const struct jfr_value *value,
				struct bytes *text)
{
	const enum hdb_type type = jfr_columns[column].type;
	bool is_there = true;

	switch (fields[column].form) {
	case TIME:
		return seconds_text(jfr_time(jfr, value), text);
	case SHARE:
		return (struct hdb_value){ .type = type, .d = 100 * (double)jfr_real(jfr, value) };
	case NUMBER: /* negative values mean unknown */
		if (jfr_integer(jfr, value) < 0)
			return (struct hdb_value){ 0 };
		return number_value(type, (uint64_t)jfr_integer(jfr, value));
	case NAME:
		is_there = jfr_text(jfr, value, text);
		break;
	case CLASS:
		is_there = jfr_class(jfr, value, text);
		break;
	case SITE:
		is_there = put_site(jfr, *value, text);
		break;
	case STACK:
		is_there = put_stack(jfr, *value, text);
		break;
	}
	return (struct hdb_value){ .type = is_there ? HDB_TYPE_TEXT : HDB_TYPE_NULL };
}

/* Returns an event's cell in a column. Its text is in r->texts. */
static struct hdb_value event_cell(struct recording *r, const struct jfr_value *event,
				   size_t column)
{
	const struct field *field = &fields[column];
	struct bytes *text = &r->texts[column];
	struct hdb_value cell = { 0 };
	struct jfr_value value;

	text->size = 0;
	if (jfr_find(r->jfr, event, field->path, &value) == HDB_OK ||
	    jfr_find(r->jfr, event, field->other, &value) == HDB_OK)
		cell = cell_of(r->jfr, column, &value, text);
	cell.text = text->data ? text->data : "";
	cell.text_size = text->size;
	return cell;
}

/* Advances to the next event of the selected kind. */
static int next_event(struct recording *r, struct jfr_value *event, struct hdb_error *err)
{
	enum jfr_kind kind;

	do
		TRY(jfr_next(r->jfr, &kind, event, err));
	while (kind != r->kind);
	return HDB_OK;
}

static int row_next(void *ctx, struct hdb_error *err)
{
	struct recording *r = ctx;
	struct jfr_value event;

	TRY(next_event(r, &event, err));
	for (size_t i = 0; i < JFR_COLUMNS; i++) {
		r->cells[i] = (struct hdb_value){ 0 };
		if (fields[i].kinds >> r->kind & 1)
			r->cells[i] = event_cell(r, &event, i);
		if (r->texts[i].failed)
			return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for strings");
	}
	return HDB_OK;
}

static int print_events(struct recording *r, const struct answer *plain)
{
	const struct options *opt = &r->cli->opt;
	const bool has_no_stacks =
		opt->format == FORMAT_TABLE && !opt->wide; /* too long for a table */
	const struct row_source source = {
		.ctx = r,
		.count = JFR_COLUMNS,
		.next = row_next,
		.row_count = r->counts[r->kind],
		.columns = jfr_columns,
		.cells = r->cells,
	};
	struct answer answer = *plain;

	answer.source = &source;
	TRY(BASE_ALLOC(answer.picked, JFR_COLUMNS, "a list of columns", &r->cli->err));
	for (size_t i = 0; i < JFR_COLUMNS; i++)
		if (fields[i].kinds >> r->kind & 1 && !(has_no_stacks && fields[i].form == STACK))
			answer.picked[answer.picked_count++] = i;
	return print_answer(r->cli, &answer);
}

/* ---- samples added up ---- */

/* Returns an event's column as a zero-terminated string, or `none` if the column is empty. */
static const char *text_of(struct recording *r, const struct jfr_value *event, const char *name,
			   const char *none)
{
	size_t i = 0;

	while (strcmp(jfr_columns[i].name, name) != 0)
		i++;
	if (event_cell(r, event, i).type == HDB_TYPE_NULL)
		return none;
	bytes_add(&r->texts[i], "", 1);
	return r->texts[i].failed ? none : r->texts[i].data;
}

/*
 * Returns the tree node of the event's stack, cached with the stack's constant; 0 means no stack.
 */
static int add_stack(struct recording *r, const struct jfr_value *event, struct call_tree *tree,
		     uint32_t *node)
{
	struct jfr_value stack = { 0 };
	char *text, *last;

	assert(fields[JFR_COLUMNS - 1].form == STACK);
	(void)jfr_find(r->jfr, event, "stackTrace", &stack);
	if (stack.memo && *stack.memo) {
		*node = *stack.memo;
		return HDB_OK;
	}
	if (!*text_of(r, event, jfr_columns[JFR_COLUMNS - 1].name, ""))
		return HDB_OK;
	text = r->texts[JFR_COLUMNS - 1].data;
	do { /* start at the outermost frame, which is the last one in the event */
		for (last = text + strlen(text); last > text && strncmp(last, " < ", 3) != 0;)
			last--;
		TRY(call_tree_child(tree, *node, last > text ? last + 3 : text, node,
				    &r->cli->err));
		*last = '\0';
	} while (last > text);
	if (stack.memo)
		*stack.memo = *node;
	return HDB_OK;
}

static int add_sample(struct recording *r, const struct jfr_value *event, enum calls_by by,
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
	if ((jfr_find(r->jfr, event, "weight", &bytes) == HDB_OK ||
	     jfr_find(r->jfr, event, "objectSize", &bytes) == HDB_OK) &&
	    jfr_integer(r->jfr, &bytes) > 0)
		call_tree_add(&tree->nodes[node].bytes, (uint64_t)jfr_integer(r->jfr, &bytes));
	return HDB_OK;
}

static int print_samples(struct recording *r, const struct answer *answer)
{
	BASE_SCOPED(call_tree_release) struct call_tree tree = { 0 };
	struct jfr_value event;
	int rc;

	while ((rc = next_event(r, &event, &r->cli->err)) == HDB_OK)
		TRY(add_sample(r, &event, (enum calls_by)r->cli->opt.by, &tree));
	TRY_ERRORS(rc);
	TRY(call_tree_sum(&tree, &r->cli->err));
	return print_calls(r->cli, answer, &tree, CALLS_OF_RECORDING);
}

/* ---- the command ---- */

/* Opens a recording. The caller must pass *out to recording_release, even after a failure. */
static int recording_open(struct cli *cli, const char *path, struct recording **out)
{
	struct recording *r = *out = calloc(1, sizeof(*r));
	struct jfr_value event;
	enum jfr_kind kind;
	int rc;

	if (!r)
		return hdb_fail(&cli->err, HDB_ENOMEM, "cannot allocate memory for a recording");
	r->cli = cli;
	TRY(cli_read_file(r->cli, path, JFR_SIZE_MAX, &r->file));
	rc = jfr_open(r->file.data, r->file.size, progress_callbacks().cancel, &r->jfr,
		      &r->cli->err);
	while (rc == HDB_OK && (rc = jfr_next(r->jfr, &kind, &event, &r->cli->err)) == HDB_OK)
		r->counts[kind]++;
	return cli_name_file(r->cli, path, rc == HDB_END ? HDB_OK : rc);
}

static void recording_release(struct recording **recording)
{
	struct recording *r = *recording;

	if (!r)
		return;
	jfr_close(r->jfr);
	for (size_t i = 0; i < JFR_COLUMNS; i++)
		bytes_release(&r->texts[i]);
	free(r->file.data);
	free(r);
}

/* Chooses the kind that the user named, or else the first kind that has events. */
static int choose_kind(struct recording *r)
{
	const struct options *opt = &r->cli->opt;
	const char *name = opt->operand_count > 1 ? opt->operands[1] : NULL;
	int kind = 0;

	while (kind < JFR_KINDS && (name ? strcmp(kind_names[kind], name) != 0 : !r->counts[kind]))
		kind++;
	if (name && kind == JFR_KINDS)
		return cli_usage(r->cli,
				 "unknown kind of events \"%s\"; expected old-objects, "
				 "allocations, gc or cpu",
				 name);
	r->kind = kind < JFR_KINDS ? (enum jfr_kind)kind : JFR_OLD_OBJECT;
	if (opt->by > CALLS_BY_SITE)
		return cli_usage(r->cli, "--by must be class, thread, stack or site for a "
					 "recording");
	if (options_given(opt, "by") && r->kind != JFR_OLD_OBJECT && r->kind != JFR_ALLOCATION)
		return cli_usage(r->cli, "--by requires old-objects or allocations");
	return HDB_OK;
}

static int print(struct recording *r)
{
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
				       .fact_count = BASE_COUNT(facts),
				       .limit = r->cli->opt.limit };

	jfr_rewind(r->jfr);
	return options_given(&r->cli->opt, "by") ? print_samples(r, &answer) :
						   print_events(r, &answer);
}

int cmd_jfr(struct cli *cli)
{
	struct options *opt = &cli->opt;
	BASE_SCOPED(recording_release) struct recording *r = NULL;

	if (opt->operand_count < 1 || opt->operand_count > 2)
		return cli_usage(cli, "expected a recording and one of old-objects, "
				      "allocations, gc and cpu");
	if (!opt->has_limit && opt->format == FORMAT_TABLE)
		opt->limit = OPTIONS_LIMIT_DEFAULT;
	TRY(recording_open(cli, opt->operands[0], &r));
	TRY(choose_kind(r));
	return print(r);
}

/* ---- samples of an answer's classes ---- */

/* Adds up samples of old objects by class, and within each class by allocating frame. */
static int add_classes(struct recording *r, struct call_tree *tree)
{
	struct jfr_value event;
	int rc;

	jfr_rewind(r->jfr);
	r->kind = JFR_OLD_OBJECT;
	while ((rc = next_event(r, &event, &r->cli->err)) == HDB_OK) {
		uint32_t node = 0;

		TRY(call_tree_child(tree, 0, text_of(r, &event, "class", "(no class)"), &node,
				    &r->cli->err));
		TRY(call_tree_child(tree, node, text_of(r, &event, "site", "(no call stack)"),
				    &node, &r->cli->err));
		tree->nodes[node].count++;
	}
	TRY_ERRORS(rc);
	return call_tree_sum(tree, &r->cli->err);
}

/*
 * Formats the sentence that states how many objects of the class were sampled, and where most were
 * allocated.
 */
static void say(struct sampled *s, const struct call_node *node, const struct call_node *site)
{
	const char *dot = strrchr(node->name, '.');
	char part[OUTPUT_NUMBER_SIZE + 1] = "";

	if (site->count < node->count)
		snprintf(part, sizeof(part), "%" PRIu64 " ", site->count);
	else if (node->count > 1)
		snprintf(part, sizeof(part), "all ");
	snprintf(s->sentence, sizeof(s->sentence),
		 "%" PRIu64 " of %s %.200s objects %s sampled, %sallocated at %.700s", node->count,
		 base_number(hdb_rows_value(s->rows, s->objects)->u).text,
		 dot ? dot + 1 : node->name, node->count == 1 ? "was" : "were", part, site->name);
	s->value = text_value(s->sentence);
}

void sampled_match_row(struct sampled *s)
{
	const struct call_tree *t = &s->tree;
	const struct hdb_value *class_name = hdb_rows_value(s->rows, s->class_name);
	const uint64_t suspect = hdb_rows_value(s->rows, s->suspect)->u;

	s->value = (struct hdb_value){ 0 };
	if (class_name->type != HDB_TYPE_TEXT || suspect == s->last_suspect ||
	    hdb_rows_value(s->rows, s->objects)->type == HDB_TYPE_NULL ||
	    hdb_rows_value(s->rows, s->text)->type != HDB_TYPE_NULL)
		return;
	for (size_t i = 0; i + 1 < t->count; i++) {
		const struct call_node *node = &t->nodes[t->order[i]];

		if (node->parent != 0 || strlen(node->name) != class_name->text_size ||
		    memcmp(node->name, class_name->text, class_name->text_size) != 0)
			continue;
		say(s, node, &t->nodes[t->order[i + 1]]);
		s->last_suspect = suspect;
		break;
	}
}

int sampled_open(struct cli *cli, const char *path, struct hdb_rows *rows, struct sampled *out)
{
	BASE_SCOPED(recording_release) struct recording *r = NULL;

	*out = (struct sampled){
		.rows = rows,
		.class_name = hdb_rows_find_column(rows, "class"),
		.objects = hdb_rows_find_column(rows, "objects"),
		.suspect = hdb_rows_find_column(rows, "suspect"),
		.text = hdb_rows_find_column(rows, "text"),
	};
	TRY(recording_open(cli, path, &r));
	return add_classes(r, &out->tree);
}
