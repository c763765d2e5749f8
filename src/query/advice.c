/* query/advice.c - converts the query that a rule recommends to cells and a command. */
#include "query/advice.h"

#include <stdio.h>
#include <string.h>

#define MARK "{run}"
#define TEXT_MAX_BYTES 1200

/* Parts of a recommended query such as "roots --kind JNI global". Sizes may be 0. */
struct run {
	const char *query, *target, *option, *value;
	size_t query_size, target_size, option_size;
};

static struct run parts_of(const char *text)
{
	struct run run = { .query = text, .query_size = strcspn(text, " ") };
	const char *option = strstr(text, " --");

	run.option = option ? option + 3 : "";
	run.option_size = strcspn(run.option, " ");
	run.value = run.option + run.option_size + (run.option[run.option_size] == ' ');
	run.target = text + run.query_size + (text[run.query_size] == ' ');
	run.target_size = option ? (size_t)(option - text) : strlen(text);
	run.target_size -= run.target_size > run.query_size ? run.query_size + 1 : run.query_size;
	return run;
}

static bool is_target(const struct run *run, const char *word)
{
	return run->target_size == strlen(word) && memcmp(run->target, word, run->target_size) == 0;
}

int query_action_find(struct heap *heap, const char *text, struct query_subject subject,
		      struct query_action *out, struct hdb_error *err)
{
	const char *class_name =
		subject.class_no == HEAP_NONE ? "" : heap_class_name(heap, subject.class_no);
	struct run run;
	uint64_t id;

	*out = (struct query_action){ .query = "" };
	if (!text)
		return HDB_OK;
	run = parts_of(text);
	/* A user's rule may contain any text, but no query has a name this long. */
	if (run.query_size >= sizeof(out->query) || run.target_size >= sizeof(out->target))
		return HDB_OK;
	if (is_target(&run, "object") && subject.ix != HEAP_NONE) {
		TRY(heap_id(heap, subject.ix, &id, err));
		(void)snprintf(out->target, sizeof(out->target), "0x%" PRIx64, id);
	} else if (is_target(&run, "object") || is_target(&run, "class")) {
		/* A truncated class name could be the name of another class. */
		if (!class_name[0] || strlen(class_name) >= sizeof(out->target))
			return HDB_OK;
		(void)snprintf(out->target, sizeof(out->target), "%s", class_name);
	} else {
		(void)snprintf(out->target, sizeof(out->target), "%.*s", (int)run.target_size,
			       run.target);
	}
	(void)snprintf(out->query, sizeof(out->query), "%.*s", (int)run.query_size, run.query);
	/* A rule about an object was applied to a class, so recommend the list of its instances. */
	if (is_target(&run, "object") && subject.ix == HEAP_NONE)
		(void)snprintf(out->query, sizeof(out->query), "instances");
	if (run.option_size)
		(void)snprintf(out->option, sizeof(out->option), "%.*s=%s", (int)run.option_size,
			       run.option, run.value[0] ? run.value : "1");
	return HDB_OK;
}

void query_advice_text(const char *words, const char *text, struct base_text to)
{
	const char *mark = strstr(words, MARK);
	struct run run;
	bool is_named, is_quoted;

	if (!mark || !text) {
		(void)snprintf(to.buf, to.size, "%s", words);
		return;
	}
	run = parts_of(text);
	is_named = run.target_size && !is_target(&run, "object") && !is_target(&run, "class");
	is_quoted = strchr(run.value, ' ') != NULL;
	(void)snprintf(to.buf, to.size, "%.*sheapdb %.*s%s%.*s%s%.*s%s%s%s%s%s",
		       (int)(mark - words), words, (int)run.query_size, run.query,
		       is_named ? " " : "", is_named ? (int)run.target_size : 0, run.target,
		       run.option_size ? " --" : "", (int)run.option_size, run.option,
		       run.value[0] ? " " : "", is_quoted ? "\"" : "", run.value,
		       is_quoted ? "\"" : "", mark + sizeof(MARK) - 1);
}

void query_set_advice(struct query *q, const struct query_advice_columns *c, const char *words,
		      const struct query_action *action, const char *run)
{
	char text[TEXT_MAX_BYTES];

	query_advice_text(words, run, BASE_TEXT(text));
	query_set_text(q, c->text, text);
	query_set_text(q, c->words, words);
	if (action->query[0])
		query_set_text(q, c->action, action->query);
	if (action->query[0] && action->target[0])
		query_set_text(q, c->target, action->target);
	if (action->query[0] && action->option[0])
		query_set_text(q, c->option, action->option);
}
