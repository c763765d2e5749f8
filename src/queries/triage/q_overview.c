/*
 * queries/triage/q_overview.c - the overview query: shows a dump on one screen, with one line for
 * each fact about the dump, leak suspect, and finding of triage. It runs the leaks, triage and info
 * queries (with --brief, top and info), and performs no analysis itself.
 */
#include "queries/queries.h"

#include "analysis/properties.h"
#include "analysis/suspects.h"
#include "base/base_text.h"
#include "heap/heap_database.h"
#include "queries/triage/triage.h"
#include "query/coverage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <queries/triage/q_overview.query.h>

/* Maximum number of leaks to list, so that the overview fits on one screen. */
#define OVERVIEW_LEAKS_MAX 5u
/* Maximum number of steps from an object up to a suspect. */
#define STEPS_ABOVE 4096u
/*
 * Minimum size of a listed suspect that is large by design. Smaller suspects at the end of the list
 * are dropped.
 */
#define DESIGN_BYTES_MIN (1u << 20)
#define NAME_MAX_BYTES 512
#define COLUMN_COUNT BASE_COUNT(overview_columns)

/* A row. Strings are copies, indexed by column; NULL for an empty column. */
struct line {
	const char *kind;
	double percent;
	uint64_t retained_bytes, id; /* 0 means unknown */
	uint64_t suspect;            /* rank of the suspect; 0 if the row is not about a suspect */
	/* number of suspects with this sentence, which share the row */
	uint64_t times;
	bool is_by_design;
	char *held_class;    /* class of the held objects, or NULL */
	char *owner, *field; /* class and field that hold these objects, or NULL */
	char *texts[COLUMN_COUNT];
};

struct overview {
	char runtime[200];
	struct base_vec lines; /* struct line */
	size_t current;        /* index of the row for the current rows of leaks */
	uint64_t leak_count;
	bool is_outside_listed;            /* whether leaks lists the owner of direct buffers */
	struct analysis_suspects suspects; /* suspects from the leaks query */
	struct analysis_verdict verdict, current_verdict;
};

/* ---- reading the answers of other queries ---- */

/* Copies a string. Sets *out to NULL for a null cell. The caller frees *out. */
static int copy_of(const struct query *q, const char *column, char **out, struct hdb_error *err)
{
	const struct hdb_value *v = query_cell(q, column);

	*out = NULL;
	if (v->type != HDB_TYPE_TEXT || !v->text_size)
		return HDB_OK;
	TRY(BASE_ALLOC(*out, v->text_size + 1, "a string", err));
	memcpy(*out, v->text, v->text_size);
	return HDB_OK;
}

/* Reads one row of an answer. */
typedef int (*read_row)(struct query *q, const struct query *row, struct hdb_error *err);

/* Runs another query without options, and reads its first rows. A limit of 0 means all rows. */
static int read_query(struct query *q, const char *name, uint64_t limit, read_row read,
		      struct hdb_error *err)
{
	const struct query_sides sides = { .session = &q->session };
	const struct hdb_query_args args = { .struct_size = sizeof(args), .limit = limit };
	struct query *answer = NULL;
	int r = query_open(query_find(name), &sides, &args, &answer, err);

	for (size_t i = 0; r == HDB_OK && i < query_fact_count(answer); i++)
		if (strcmp(query_fact_column(answer, i)->name, "rules_tried") == 0)
			query_fact(q, "rules_tried", query_fact_value(answer, i)->u);
	while (r == HDB_OK && (r = query_next(answer, err)) == HDB_OK)
		r = read(q, answer, err);
	query_close(answer);
	return r < 0 ? r : HDB_OK;
}

/* Columns to copy from the other answer. Findings have only some of these columns. */
static const struct {
	unsigned column;
	const char *name;
} copied[] = {
	{ TEXT, "text" },           { CLASS, "class" },
	{ SIGNATURE, "signature" }, { SHORT_TEXT, "short_text" },
	{ ACTION, "action" },       { TARGET, "target" },
	{ SEVERITY, "severity" },   { SHARE_OF, "share_of" },
};

static int add_line(struct query *q, const struct query *row, const char *kind,
		    struct hdb_error *err)
{
	struct overview *o = q->state;
	struct line *line;
	const struct line empty = { .kind = kind, .times = 1 };
	const bool is_finding = strcmp(kind, "finding") == 0;

	TRY(base_vec_push(&o->lines, &empty, sizeof(empty), err));
	line = base_vec_at(&o->lines, struct line, o->lines.count - 1);
	line->percent = query_cell(row, "percent")->type == HDB_TYPE_NULL ?
				-1 :
				query_cell(row, "percent")->d;
	line->id = triage_number(row, "id");
	line->retained_bytes = triage_number(row, is_finding ? "bytes" : "retained");
	/* The retained size of a thread is not a measure of the threads that wait for it. */
	if (!is_finding && query_cell_is(row, "verdict", "stuck"))
		line->percent = 0, line->retained_bytes = 0;
	for (size_t i = 0; i < BASE_COUNT(copied); i++)
		if (query_find_shown(row, copied[i].name) != SIZE_MAX)
			TRY(copy_of(row, copied[i].name, &line->texts[copied[i].column], err));
	return HDB_OK;
}

/*
 * Adds a leak as a line such as "LeakyService leaks: the activity thread does not know it; held by
 * LeakyService.all (static)".
 */
static int add_leak(struct query *q, const struct query *row, struct hdb_error *err)
{
	struct overview *o = q->state;
	const struct hdb_value *name = query_cell(row, "label"), *reason = query_cell(row, "text");
	const struct hdb_value *holder = query_cell(row, "via_field");
	const bool is_held = holder->type == HDB_TYPE_TEXT;
	struct line *line;
	size_t room;

	if (o->leak_count++ >= OVERVIEW_LEAKS_MAX)
		return HDB_OK;
	TRY(add_line(q, row, "leak", err));
	line = base_vec_at(&o->lines, struct line, o->lines.count - 1);
	free(line->texts[TEXT]);
	free(line->texts[SHORT_TEXT]);
	line->texts[SHORT_TEXT] = NULL;
	room = name->text_size + reason->text_size + (is_held ? holder->text_size : 0) + 32;
	TRY(BASE_ALLOC(line->texts[TEXT], room, "a string", err));
	(void)snprintf(line->texts[TEXT], room, "%.*s leaks: %.*s%s%.*s", (int)name->text_size,
		       name->text_size ? name->text : "", (int)reason->text_size,
		       reason->text_size ? reason->text : "", is_held ? "; held by " : "",
		       is_held ? (int)holder->text_size : 0, is_held ? holder->text : "");
	return HDB_OK;
}

/* Adds a suspect as a row, or to the row with the same sentence. */
static int add_suspect(struct query *q, const struct query *row, struct hdb_error *err)
{
	struct overview *o = q->state;
	const uint64_t same_as = triage_number(row, "same_as");
	struct line *line;

	for (size_t i = 0; i < o->lines.count && same_as; i++) {
		line = base_vec_at(&o->lines, struct line, i);
		if (line->suspect != same_as)
			continue;
		line->times++;
		line->percent += query_cell(row, "percent")->d;
		line->retained_bytes += triage_number(row, "retained");
		/*
		 * The suspects with this sentence are different objects, so the row names none of
		 * them.
		 */
		line->id = 0;
		o->current = i;
		return HDB_OK;
	}
	o->current = o->lines.count;
	TRY(add_line(q, row, "suspect", err));
	line = base_vec_at(&o->lines, struct line, o->current);
	line->suspect = triage_number(row, "suspect");
	/* A suspect with a verdict is described by its whole sentence. */
	if (query_cell(row, "verdict")->type == HDB_TYPE_TEXT) {
		free(line->texts[SHORT_TEXT]);
		TRY(copy_of(row, "text", &line->texts[SHORT_TEXT], err));
	}
	TRY(copy_of(row, "owner", &line->owner, err));
	TRY(copy_of(row, "field", &line->field, err));
	return copy_of(row, "held_class", &line->held_class, err);
}

/* Sets the suggested command of a row. */
static int set_action(struct line *line, const char *action, const char *target,
		      struct hdb_error *err)
{
	free(line->texts[ACTION]);
	free(line->texts[TARGET]);
	line->texts[TARGET] = target ? strdup(target) : NULL;
	line->texts[ACTION] = strdup(action);
	return line->texts[ACTION] && (!target || line->texts[TARGET]) ?
		       HDB_OK :
		       hdb_fail_memory(err, "a string", strlen(action));
}

/*
 * Finds a command for a suspect in its rows: preferably the command that lists the objects counted
 * in the sentence, except for virtual threads, which have no names. Otherwise, the command for the
 * thread of a local variable, the command of the advice, or the path to the accumulation point.
 */
static int find_action(struct line *line, const struct query *row, struct hdb_error *err)
{
	const struct hdb_value *owner = query_cell(row, "owner");
	char target[NAME_MAX_BYTES];

	if (query_cell_is(row, "kind", "suspect") && query_cell_is(row, "action", "instances") &&
	    query_cell_is(row, "held_class", "java.lang.VirtualThread"))
		return set_action(line, "threads", NULL, err);
	if (line->texts[ACTION])
		return HDB_OK;
	if (query_cell_is(row, "owner_kind", "local variable") && owner->text_size > 2 &&
	    owner->text[0] == '"' && owner->text_size < sizeof(target)) {
		(void)snprintf(target, sizeof(target), "%.*s", (int)owner->text_size - 2,
			       owner->text + 1);
		return set_action(line, "threads", target, err);
	}
	if (query_cell_is(row, "kind", "advice") && query_cell(row, "target")->text_size &&
	    query_cell(row, "action_option")->type == HDB_TYPE_NULL) {
		TRY(copy_of(row, "action", &line->texts[ACTION], err));
		return copy_of(row, "target", &line->texts[TARGET], err);
	}
	if (!query_cell_is(row, "kind", "point"))
		return HDB_OK;
	(void)snprintf(target, sizeof(target), "0x%" PRIx64, triage_number(row, "id"));
	return set_action(line, "path", target, err);
}

static int read_suspect(struct query *q, const struct query *row, struct hdb_error *err)
{
	struct overview *o = q->state;
	struct line *line;

	triage_take_verdict(&o->verdict, &o->current_verdict, row);
	if (query_cell_is(row, "kind", "suspect"))
		TRY(add_suspect(q, row, err));
	if (query_cell_is(row, "kind", "leaking") || query_cell_is(row, "kind", "library"))
		return add_leak(q, row, err);
	if (!o->lines.count)
		return HDB_OK;
	line = base_vec_at(&o->lines, struct line, o->current);
	TRY(find_action(line, row, err));
	if (query_cell_is(row, "kind", "explanation")) {
		line->is_by_design = query_cell_is(row, "verdict", "by design");
		if (!line->texts[EXPLANATION])
			return copy_of(row, "text", &line->texts[EXPLANATION], err);
	}
	return HDB_OK;
}

/* Adds the number of further suspects with the same sentence. */
static int add_times(struct line *line, struct hdb_error *err)
{
	static const unsigned texts[] = { TEXT, SHORT_TEXT };

	for (size_t i = 0; i < BASE_COUNT(texts) && line->times > 1; i++) {
		char **text = &line->texts[texts[i]], *more = NULL;
		const size_t size = *text ? strlen(*text) : 0;
		const bool has_dot = size && (*text)[size - 1] == '.';

		if (!size)
			continue;
		TRY(BASE_ALLOC(more, size + 64, "a string", err));
		(void)snprintf(more, size + 64, "%.*s, and %s more like it%s",
			       (int)(size - has_dot), *text, base_number(line->times - 1).text,
			       has_dot ? "." : "");
		free(*text);
		*text = more;
	}
	return HDB_OK;
}

/* Returns whether a line is about a small object that is large by design. */
static bool is_small_design(const struct line *line)
{
	return line->is_by_design && line->retained_bytes < DESIGN_BYTES_MIN;
}

/* Moves lines about small objects that are large by design to the end, where they are dropped. */
static int order_lines(struct overview *o, struct hdb_error *err)
{
	struct base_vec ordered = { 0 };
	int r = HDB_OK;

	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = 0; r == HDB_OK && i < o->lines.count; i++) {
			struct line *line = base_vec_at(&o->lines, struct line, i);

			if (is_small_design(line) == (pass == 1))
				r = base_vec_push(&ordered, line, sizeof(*line), err);
		}
	if (r != HDB_OK) {
		base_vec_release(&ordered);
		return r;
	}
	base_vec_release(&o->lines);
	o->lines = ordered;
	return HDB_OK;
}

/* Adds a part of the subject of a finding, after a comma if it is not the first. */
static void add_part(struct bytes *to, const struct hdb_value *part, const char *comma)
{
	if (part->type != HDB_TYPE_TEXT || !part->text_size)
		return;
	bytes_string(to, to->size ? comma : "");
	bytes_add(to, part->text, part->text_size);
}

/*
 * Writes the subject of a finding: "300.0 MiB, kept by ..." for memory outside the heap, "1,985,216
 * java.nio.HeapByteBuffer" for objects of one class, "3,000 collections, 2,100 of them ..." for
 * objects of several classes, and "java.lang.Thread "worker" at Main.run(Main.java:3)" for an
 * OutOfMemoryError.
 */
static void name_subject(const struct line *line, const struct query *row, bool is_out,
			 struct bytes *to)
{
	const struct hdb_value *detail = query_cell(row, "detail");
	const struct hdb_value *class = query_cell(row, "class"), *bytes = query_cell(row, "bytes");
	const bool is_of_class = detail->type == HDB_TYPE_NULL && class->type != HDB_TYPE_NULL;
	const uint64_t count = triage_number(row, "count");

	if (is_out) {
		add_part(to, query_cell(row, "label"), "");
		add_part(to, detail, " ");
		return;
	}
	if (bytes->type != HDB_TYPE_NULL && line->percent < 0) {
		bytes_string(to, base_size(line->retained_bytes).text);
	} else if (count > 1 && !line->id) {
		bytes_string(to, base_number(count).text);
		add_part(to, is_of_class ? class : query_cell(row, "unit"), " ");
	}
	add_part(to, detail, ", ");
}

/*
 * Inserts the subject of a finding after the first sentence of the line's text, following a colon.
 */
static int add_subject(struct line *line, const struct query *row, bool is_out,
		       struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes subject = { 0 };
	const char *text = line->texts[TEXT], *end;
	char *whole = NULL;
	size_t room, size;

	if (!text)
		return HDB_OK;
	name_subject(line, row, is_out, &subject);
	if (subject.failed)
		return hdb_fail_memory(err, "a string", subject.size);
	if (!subject.size)
		return HDB_OK;
	end = strstr(text, ". ");
	size = strlen(text);
	size = end ? (size_t)(end - text) : size - (size && text[size - 1] == '.');
	room = strlen(text) + subject.size + 3;
	TRY(BASE_ALLOC(whole, room, "a string", err));
	(void)snprintf(whole, room, "%.*s: %.*s%s", (int)size, text, (int)subject.size,
		       subject.data, end ? end : "");
	free(line->texts[TEXT]);
	line->texts[TEXT] = whole;
	return HDB_OK;
}

/* Sets *out to whether the object is the suspect, or below it in the dominator tree. */
static int is_below(struct query *q, uint64_t id, uint64_t suspect_id, bool *out,
		    struct hdb_error *err)
{
	uint32_t ix, suspect_ix;

	*out = false;
	TRY_FOUND(heap_find(q->heap, suspect_id, &suspect_ix, err));
	TRY_FOUND(heap_find(q->heap, id, &ix, err));
	for (unsigned step = 0; step < STEPS_ABOVE && ix != suspect_ix; step++) {
		uint32_t above;

		TRY(derive_dominator(q->derive, ix, &above, err));
		if (above == HEAP_NONE || above == ix)
			return HDB_OK;
		ix = above;
	}
	*out = ix == suspect_ix;
	return HDB_OK;
}

/*
 * Sets *out to whether a suspect already explains a finding about a holder: both have about the
 * same share of the heap, and the example is below the suspect or of the class of the held objects.
 * A row for several suspects names no object.
 */
static int is_explained(struct query *q, const struct query *row, bool *out, struct hdb_error *err)
{
	const struct overview *o = q->state;
	const struct hdb_value *percent = query_cell(row, "percent");
	const uint64_t id = triage_number(row, "id");

	*out = false;
	for (size_t i = 0; percent->type != HDB_TYPE_NULL && i < o->lines.count && !*out; i++) {
		const struct line *line = base_vec_at(&o->lines, struct line, i);

		if (!line->texts[EXPLANATION] || percent->d < line->percent * 0.9 ||
		    percent->d > line->percent * 1.1)
			continue;
		if (!id)
			*out = line->held_class && query_cell_is(row, "class", line->held_class);
		else if (line->id)
			TRY(is_below(q, id, line->id, out, err));
		else
			*out = line->times > 1;
	}
	return HDB_OK;
}

static int is_in_leaks(struct query *q, const struct query *row, bool *out, struct hdb_error *err)
{
	const struct overview *o = q->state;
	const enum triage_in_leaks in_leaks = triage_in_leaks(row);

	*out = in_leaks == TRIAGE_IS_SUSPECT ||
	       (in_leaks == TRIAGE_IS_OUTSIDE && o->is_outside_listed) ||
	       (in_leaks == TRIAGE_IS_LEAKING && o->leak_count) ||
	       (in_leaks == TRIAGE_IS_LOADERS && o->suspects.is_loaders_listed);
	if (!*out && (in_leaks == TRIAGE_IS_HOLDER || in_leaks == TRIAGE_IS_LOADERS))
		return is_explained(q, row, out, err);
	return HDB_OK;
}

/*
 * Finds the suspect that is held by the field that a finding about listeners names, "in
 * a.b.Bus.listeners (static)", or NULL. The suspect may name a subclass of a.b.Bus.
 */
static struct line *suspect_of_field(struct query *q, const struct query *row)
{
	const struct overview *o = q->state;
	const struct hdb_value *detail = query_cell(row, "detail");
	char class_name[1024], *field;

	if (!query_cell_is(row, "rule", "listeners-field") || detail->type != HDB_TYPE_TEXT ||
	    detail->text_size < 3)
		return NULL;
	(void)snprintf(class_name, sizeof(class_name), "%.*s", (int)detail->text_size - 3,
		       detail->text + 3);
	class_name[strcspn(class_name, " ")] = '\0';
	field = strrchr(class_name, '.');
	if (!field)
		return NULL;
	*field++ = '\0';
	for (size_t i = 0; i < o->lines.count; i++) {
		struct line *line = base_vec_at(&o->lines, struct line, i);
		uint32_t no;

		if (!line->owner || !line->field || strcmp(line->field, field) != 0)
			continue;
		no = heap_class_by_name(q->heap, line->owner, 0);
		if (no != HEAP_NONE && heap_has_superclass(q->heap, no, class_name))
			return line;
	}
	return NULL;
}

static int read_finding(struct query *q, const struct query *row, struct hdb_error *err)
{
	struct overview *o = q->state;
	struct line *line;
	bool is_out, is_known;

	TRY(is_in_leaks(q, row, &is_known, err));
	if (is_known)
		return HDB_OK;
	line = suspect_of_field(q, row);
	if (line)
		return line->texts[EXPLANATION] ?
			       HDB_OK :
			       BASE_COPY(
				       line->texts[EXPLANATION],
				       "These are listeners: are they registered and never removed?",
				       "a string", err);
	TRY(add_line(q, row, "finding", err));
	line = base_vec_at(&o->lines, struct line, o->lines.count - 1);
	is_out = query_cell_is(row, "rule", "out-of-memory");
	if (is_out && line->texts[TEXT])
		query_fact_text(q, "out_of_memory", line->texts[TEXT]);
	return add_subject(line, row, is_out, err);
}

/*
 * Names the runtime: the Java version or, if unknown, name and version of the VM; Android; for
 * OpenJ9 its description, "JRE 1.8.0 Linux amd64-64 build 20130205_137358 (...)".
 */
static void name_runtime(struct query *q, const struct query *row, const struct hdb_value *value)
{
	struct overview *o = q->state;
	const bool is_named = q->heap->is_android || q->heap->is_phd;
	const char *build = memmem(value->text, value->text_size, " build ", 7);
	size_t used = strlen(o->runtime);

	if (!query_cell_is(row, "section", is_named ? "dump" : "vm") || !value->text_size)
		return;
	if (!is_named && query_cell_is(row, "key", "java"))
		used = 0;
	else if (!query_cell_is(row, "key", is_named ? "runtime" : "name") &&
		 !query_cell_is(row, "key", is_named ? "written by" : "version"))
		return;
	(void)snprintf(o->runtime + used, sizeof(o->runtime) - used, "%s%.*s", used ? " " : "",
		       (int)(build ? (size_t)(build - value->text) : value->text_size),
		       value->text);
	query_fact_text(q, "runtime", o->runtime);
}

static int read_info(struct query *q, const struct query *row, struct hdb_error *err)
{
	static const struct {
		const char *section, *key, *fact;
		bool is_number;
	} kept[] = {
		{ "vm", "collector", "collector", false },
		{ "vm", "max heap", "max_heap", true },
		{ "objects", "reachable", "heap_objects", true },
		{ "objects", "reachable bytes", "heap_shallow", true },
		{ "objects", "threads", "threads", true },
		{ "objects", "virtual threads", "virtual_threads", true },
	};
	const struct hdb_value *value = query_cell(row, "value");

	(void)err;
	for (size_t i = 0; i < BASE_COUNT(kept); i++) {
		if (!query_cell_is(row, "section", kept[i].section) ||
		    !query_cell_is(row, "key", kept[i].key))
			continue;
		if (kept[i].is_number)
			query_fact(q, kept[i].fact, triage_number(row, "number"));
		else
			query_fact_text_n(q, kept[i].fact, value->text, value->text_size);
	}
	if (query_cell_is(row, "section", "dump") && query_cell_is(row, "key", "path"))
		query_fact_text_n(q, "dump", value->text, value->text_size);
	name_runtime(q, row, value);
	return HDB_OK;
}

static int read_largest(struct query *q, const struct query *row, struct hdb_error *err)
{
	const struct overview *o = q->state;
	char **texts;

	TRY(add_line(q, row, "object", err));
	texts = base_vec_at(&o->lines, struct line, 0)->texts;
	TRY(copy_of(row, "label", &texts[TEXT], err));
	return copy_of(row, "label", &texts[SHORT_TEXT], err);
}

/* Shows the facts that are known as soon as the dominator tree exists. */
static int open_brief(struct query *q, struct hdb_error *err)
{
	struct analysis_limit limit = { 0 };

	TRY(read_query(q, "top", 1, read_largest, err));
	TRY(analysis_limit_find(&q->session, &limit, err));
	if (limit.is_out_of_memory)
		query_fact_text(q, "out_of_memory", limit.frame);
	return HDB_OK;
}

static int open_whole(struct query *q, struct hdb_error *err)
{
	struct overview *o = q->state;

	/*
	 * Share the suspects between the leaks and triage queries, so that they are found only
	 * once.
	 */
	q->session.left = &o->suspects;
	TRY(read_query(q, "leaks", 0, read_suspect, err));
	triage_take_verdict(&o->verdict, &o->current_verdict, NULL);
	o->suspects.verdict = o->verdict;
	o->is_outside_listed = o->suspects.is_outside_listed;
	if (o->leak_count)
		query_fact(q, "leaks", o->leak_count);
	return read_query(q, "triage", 0, read_finding, err);
}

static int open_overview(struct query *q, struct hdb_error *err)
{
	const struct overview *o = q->state;
	struct analysis_cut hidden = { 0, ANALYSIS_NOT_COUNTED, ANALYSIS_NOT_COUNTED };

	TRY(query_option(q, "brief") ? open_brief(q, err) : open_whole(q, err));
	TRY(read_query(q, "info", 0, read_info, err));
	query_fact_text(q, "database", heap_path(q->heap));
	for (size_t i = 0; i < o->lines.count; i++)
		TRY(add_times(base_vec_at(&o->lines, struct line, i), err));
	TRY(order_lines(q->state, err));
	for (q->total = o->lines.count; q->total > 1; q->total--) {
		if (!is_small_design(base_vec_at(&o->lines, struct line, q->total - 1)))
			break;
	}
	hidden.rows = o->lines.count - q->total;
	query_cut(q, &hidden, "small objects that are large by design");
	return HDB_OK;
}

static int line_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct overview *o = q->state;
	const struct line *line = base_vec_at(&o->lines, struct line, no);

	(void)err;
	query_set_text(q, KIND, line->kind);
	if (line->percent >= 0)
		query_set_double(q, PERCENT, line->percent);
	if (line->retained_bytes)
		query_set(q, RETAINED, line->retained_bytes);
	if (line->id)
		query_set(q, ID, line->id);
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		/* Objects that are large by design need no action. */
		if (line->texts[i] && (!line->is_by_design || (i != ACTION && i != TARGET)))
			query_set_text(q, i, line->texts[i]);
	return HDB_OK;
}

static void close_overview(struct query *q)
{
	struct overview *o = q->state;

	for (size_t i = 0; i < o->lines.count; i++) {
		free(base_vec_at(&o->lines, struct line, i)->held_class);
		free(base_vec_at(&o->lines, struct line, i)->owner);
		free(base_vec_at(&o->lines, struct line, i)->field);
		for (size_t k = 0; k < COLUMN_COUNT; k++)
			free(base_vec_at(&o->lines, struct line, i)->texts[k]);
	}
	base_vec_release(&o->lines);
	analysis_suspects_release(&o->suspects);
}

QUERY_DEFINE(overview, .state_size = sizeof(struct overview), .open = open_overview,
	     .row = line_row, .close = close_overview);
