/*
 * queries/explain/rules.c - parses rules, finds the classes that they apply to, and builds their
 * sentences.
 */
#include "queries/explain/rules.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/sort.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of entries to read for one object to count its collections. */
#define STEPS_MAX 10000000u

static const char *const verdict_names[] = {
	[EXPLAIN_BY_DESIGN] = "by design",         [EXPLAIN_LARGE] = "large",
	[EXPLAIN_UNBOUNDED] = "unbounded",         [EXPLAIN_LEAK] = "leak",
	[EXPLAIN_MISCONFIGURED] = "misconfigured", [EXPLAIN_STUCK] = "stuck",
	[EXPLAIN_OBSERVED] = "observed",
};

const char *explain_verdict_name(enum explain_verdict verdict)
{
	assert(verdict < BASE_COUNT(verdict_names));
	return verdict_names[verdict];
}

/* ---- reading ---- */

/* Rules text being parsed. */
struct reader {
	const char *file; /* NULL means the compiled-in rules */
	unsigned line;
	struct explain_rule rule; /* current rule; name is NULL if there is none */
	bool is_skipped;          /* whether the heap lacks the current rule's classes */
	uint32_t skipped;         /* number of such rules */
	struct heap *heap;
	struct base_vec *rules, *nodes;
	struct hdb_error *err;
};

static int fail(const struct reader *r, const char *what, const char *which)
{
	return hdb_fail(r->err, HDB_EUSAGE, "%s, line %u: %s%s%s",
			r->file ? r->file : "compiled-in rules", r->line, what, *which ? " " : "",
			which);
}

/* Checks that the current rule is complete, and stores it. */
static int end_rule(struct reader *r)
{
	const struct explain_rule *rule = &r->rule;
	const char *missing = !rule->classes                              ? "class" :
			      !rule->says                                 ? "says" :
			      !rule->advice                               ? "do" :
			      !rule->source                               ? "source" :
			      strstr(rule->advice, "{run}") && !rule->run ? "run" :
									    NULL;

	if (!rule->name)
		return HDB_OK;
	if (missing) {
		r->line = rule->line;
		return fail(r, "the rule lacks a line:", missing);
	}
	TRY(base_vec_push(r->rules, rule, sizeof(*rule), r->err));
	r->rule = (struct explain_rule){ .name = NULL };
	return HDB_OK;
}

static int parse(const struct reader *r, const char *text, uint32_t *out)
{
	struct hdb_error why;
	const int e = base_expression_parse(&explain_grammar, base_word(text), r->nodes, out, &why);

	if (e == HDB_ENOMEM)
		return hdb_fail(r->err, e, "%s", why.message);
	return e == HDB_OK ? HDB_OK : fail(r, why.message, "");
}

static int add_condition(struct reader *r, char *text)
{
	if (r->rule.condition_count == EXPLAIN_PARTS_MAX)
		return fail(r, "too many conditions in a rule (limit 12)", "");
	return parse(r, text, &r->rule.conditions[r->rule.condition_count++]);
}

/* Parses "name = expression". */
static int add_read(struct reader *r, char *text)
{
	char *equals = strstr(text, " = ");
	size_t size;

	if (!equals)
		return fail(r, "expected \"read NAME = EXPRESSION\" instead of", text);
	if (r->rule.read_count == EXPLAIN_PARTS_MAX)
		return fail(r, "too many values in a rule (limit 12)", "");
	size = (size_t)(equals - text);
	while (size && text[size - 1] == ' ')
		size--;
	text[size] = '\0';
	r->rule.reads[r->rule.read_count].name = text;
	return parse(r, equals + 3, &r->rule.reads[r->rule.read_count++].expression);
}

static int set_verdict(struct reader *r, const char *text)
{
	const size_t verdict = BASE_INDEX(verdict_names, text);

	if (verdict < BASE_COUNT(verdict_names)) {
		r->rule.verdict = (enum explain_verdict)verdict;
		return HDB_OK;
	}
	return fail(r,
		    "the verdict must be by design, large, unbounded, leak, misconfigured, "
		    "stuck or observed, not",
		    text);
}

/* A class name or pattern in a rule. */
struct named {
	uint32_t rule;
	bool is_pattern;
	char name[EXPLAIN_VALUE_MAX];
	const uint64_t *below; /* result of heap_below(), or NULL if the name is a pattern */
};

/* Class of rules about suspects. No real class has this name. */
#define OF_SUSPECTS "suspect"

/*
 * Finds the next name in a rule's list of classes, skipping classes that are not in the heap.
 * Returns the rest of the list, or NULL if there is none.
 */
static const char *next_named(struct heap *heap, const char *list, struct named *out)
{
	while (*list) {
		const size_t size = strcspn(list, ", ");

		(void)snprintf(out->name, sizeof(out->name), "%.*s", (int)size, list);
		list += size + strspn(list + size, ", ");
		out->is_pattern = strchr(out->name, '*') != NULL;
		if (out->is_pattern || strcmp(out->name, OF_SUSPECTS) == 0 ||
		    heap_class_by_name(heap, out->name, 0) != HEAP_NONE)
			return list;
	}
	return NULL;
}

static int read_line(struct reader *r, const char *key, char *text)
{
	struct named named;
	const struct {
		const char *key;
		const char **to;
	} texts[] = {
		{ "class", &r->rule.classes },
		{ "says", &r->rule.says },
		{ "do", &r->rule.advice },
		{ "since", &r->rule.since },
		{ "source", &r->rule.source },
		{ "holds", &r->rule.holds },
		{ "run", &r->rule.run },
		{ "also", &r->rule.also },
		{ "consumers", &r->rule.consumers },
		{ "checks", &r->rule.checks },
	};

	if (strcmp(key, "rule") == 0) {
		TRY(end_rule(r));
		r->rule.name = text;
		r->rule.kept = BASE_NO_NODE;
		r->rule.line = r->line;
		r->is_skipped = false;
		return HDB_OK;
	}
	if (r->is_skipped)
		return HDB_OK;
	/*
	 * Skip rules without classes in the heap. Most compiled-in rules are about libraries that
	 * the program does not use.
	 */
	if (!r->file && strcmp(key, "class") == 0 && !next_named(r->heap, text, &named)) {
		r->rule.name = NULL;
		r->is_skipped = true;
		r->skipped++;
		return HDB_OK;
	}
	if (!r->rule.name)
		return fail(r, "expected \"rule NAME\" at the start of a rule, not", key);
	if (strcmp(key, "where") == 0)
		return add_condition(r, text);
	if (strcmp(key, "read") == 0)
		return add_read(r, text);
	if (strcmp(key, "kept") == 0)
		return parse(r, text, &r->rule.kept);
	if (strcmp(key, "verdict") == 0)
		return set_verdict(r, text);
	for (size_t i = 0; i < BASE_COUNT(texts); i++) {
		if (strcmp(texts[i].key, key) == 0) {
			*texts[i].to = text;
			return HDB_OK;
		}
	}
	return fail(r, "unknown line in a rule:", key);
}

/* Parses rules, splitting their text into lines and words in place. */
static int read_rules(struct reader *r, char *text)
{
	char *next = text;

	while (next) {
		char *line = next, *key, *end;

		r->line++;
		next = end = line + strcspn(line, "\n");
		/* an indented line continues the previous line */
		while (*next && (next[1] == ' ' || next[1] == '\t')) {
			const char *more = next + 1 + strspn(next + 1, " \t");
			const size_t size = strcspn(more, "\n");

			next = (char *)more + size;
			*end++ = ' ';
			memmove(end, more, size);
			end += size;
		}
		next = *next ? next + 1 : NULL;
		*end = '\0';
		while (end > line && isspace((unsigned char)end[-1]))
			*--end = '\0';
		if (!*line || *line == '#')
			continue;
		key = line;
		line += strcspn(line, " \t");
		if (*line)
			*line++ = '\0';
		line += strspn(line, " \t");
		if (!*line)
			return fail(r, "nothing follows", key);
		TRY(read_line(r, key, line));
	}
	return end_rule(r);
}

/* ---- the classes to which rules apply ---- */

/*
 * Returns whether a rule applies to a class. A pattern must match the class's own name; a plain
 * name also covers subclasses.
 */
static bool is_about(struct heap *heap, const struct named *named, uint32_t class_no)
{
	return named->is_pattern ? base_glob(named->name, heap_class_name(heap, class_no)) :
	       named->below      ? base_bit_has(named->below, class_no) :
				   heap_has_superclass(heap, class_no, named->name);
}

/* Adds those class names of a rule that are in the heap. */
static int find_named(struct heap *heap, const struct explain_rule *rule, uint32_t rule_no,
		      struct base_vec *out, struct hdb_error *err)
{
	struct named named = { .rule = rule_no };

	for (const char *p = rule->classes; (p = next_named(heap, p, &named)) != NULL;) {
		named.below = named.is_pattern ? NULL : heap_below(heap, named.name);
		TRY(base_vec_push(out, &named, sizeof(named), err));
	}
	return HDB_OK;
}

/* Finds the rules for each class. */
static int find_classes(const struct session *session, struct explain_rules *out,
			struct hdb_error *err)
{
	struct heap *heap = session->heap;
	const uint32_t classes = heap->class_count;
	BASE_SCOPED(base_vec_release) struct base_vec named = { 0 };

	assert(!out->list.count);
	TRY(BASE_ALLOC(out->first, (size_t)classes + 3, "rules by class", err));
	for (uint32_t i = 0; i < out->rules.count; i++)
		TRY(find_named(heap, base_vec_at(&out->rules, struct explain_rule, i), i, &named,
			       err));
	for (uint32_t no = 0; no < classes; no++) {
		uint32_t last = HEAP_NONE;

		out->first[no] = (uint32_t)out->list.count;
		for (size_t i = 0; i < named.count; i++) {
			const struct named *n = base_vec_at(&named, struct named, i);

			if (n->rule == last || !is_about(heap, n, no))
				continue;
			last = n->rule;
			TRY(base_vec_push(&out->list, &last, sizeof(last), err));
		}
	}
	out->first[classes] = (uint32_t)out->list.count;
	for (size_t i = 0; i < named.count; i++) {
		const struct named *n = base_vec_at(&named, struct named, i);

		if (strcmp(n->name, OF_SUSPECTS) == 0)
			TRY(base_vec_push(&out->list, &n->rule, sizeof(n->rule), err));
	}
	out->first[classes + 1] = (uint32_t)out->list.count;
	return HDB_OK;
}

/* Values that every sentence can use, in addition to the values that its rule reads. */
static const struct {
	const char *name, *expression;
} usual[] = {
	{ "class", "class(this)" },           { "retained", "retained(this)" },
	{ "share", "share(this)" },           { "growth", "held(growth)" },
	{ "heaviest", "entry(held(heavy))" },
};
#define USUAL BASE_COUNT(usual)

int explain_rules_open(const struct session *session, const char *file, struct explain_rules *out,
		       struct hdb_error *err)
{
	struct reader users = {
		.file = file, .rules = &out->rules, .nodes = &out->nodes, .err = err
	};
	struct reader own = {
		.heap = session->heap, .rules = &out->rules, .nodes = &out->nodes, .err = err
	};

	*out = (struct explain_rules){ .counts = NULL };
	TRY(BASE_ALLOC(out->counts, 1, "counts of instances", err));
	if (file) {
		TRY(explain_read_text(file, &out->users, err));
		TRY(read_rules(&users, out->users));
	}
	TRY(heap_load_classes(session->heap, err));
	TRY(explain_read_text(NULL, &out->own, err));
	TRY(read_rules(&own, out->own));
	out->tried = out->rules.count + own.skipped;
	for (size_t i = 0; i < USUAL; i++)
		TRY(base_expression_parse(&explain_grammar, base_word(usual[i].expression),
					  &out->nodes, &out->usual[i], err));
	return find_classes(session, out, err);
}

void explain_rules_release(struct explain_rules *rules)
{
	base_vec_release(&rules->rules);
	base_vec_release(&rules->nodes);
	base_vec_release(&rules->list);
	for (size_t i = 0; rules->counts && i < EXPLAIN_COUNTS; i++)
		base_vec_release(&rules->counts->referring[i].pairs);
	free(rules->first);
	free(rules->counts);
	free(rules->own);
	free(rules->users);
	*rules = (struct explain_rules){ 0 };
}

/* ---- sentences ---- */

/* A sentence being built. */
struct sentence {
	char *buf;
	size_t size, used;
	bool lacks; /* whether a value in the current brackets is missing */
	/* whether the text is inside brackets; whether all values outside brackets exist */
	bool is_within, is_whole;
};

static void add(struct sentence *s, const char *text, size_t size)
{
	assert(s->used < s->size);
	for (size_t i = 0; i < size && s->used + 1 < s->size; i++)
		s->buf[s->used++] = text[i];
	s->buf[s->used] = '\0';
}

/* Larger sizes are not real and may exceed 64 bits. */
#define BYTES_MAX 1e18

/* Appends the value for {name}, {name:bytes} and so on. */
static void add_value(struct sentence *s, const struct base_value *value, const char *format)
{
	const double n = value->number;
	char text[40];

	if (value->kind == BASE_STRING) {
		add(s, value->text, strlen(value->text));
	} else if (value->kind != BASE_NUMBER) {
		s->lacks |= s->is_within;
		s->is_whole &= s->is_within;
		add(s, "?", 1);
	} else if (strncmp(format, "bytes", 5) == 0) {
		const struct base_number size =
			base_size((uint64_t)(n > 0 ? n < BYTES_MAX ? n : BYTES_MAX : 0));

		if (n > BYTES_MAX)
			add(s, "more than ", strlen("more than "));
		add(s, size.text, strlen(size.text));
	} else {
		if (strncmp(format, "percent", 7) == 0)
			(void)snprintf(text, sizeof(text), "%.1f %%", n);
		else if (strncmp(format, "plain", 5) == 0)
			(void)snprintf(text, sizeof(text), "%.0f", n);
		else if (strncmp(format, "flag", 4) == 0)
			(void)snprintf(text, sizeof(text), n != 0 ? "true" : "false");
		else if (n >= 0 && n < 1e15 && n == (double)(uint64_t)n)
			(void)snprintf(text, sizeof(text), "%s", base_number((uint64_t)n).text);
		else
			(void)snprintf(text, sizeof(text), n >= 1e15 ? "%.3g" : "%.2f", n);
		add(s, text, strlen(text));
	}
}

/* State while a rule is applied to an object. */
struct rule_state {
	struct explain_subject subject;
	const struct explain_rules *rules;
	const struct explain_rule *rule;
	struct explain_values values;
};

/* Finds a value by name: a value that the rule reads, or a value that is always available. */
static int find_value(void *ctx, struct base_word name, struct base_value *out,
		      struct hdb_error *err)
{
	struct rule_state *state = ctx;
	const struct explain_rule *rule = state->rule;

	assert(rule->read_count <= EXPLAIN_PARTS_MAX);
	out->kind = BASE_NOTHING;
	for (unsigned i = 0; i < rule->read_count; i++)
		if (base_is_word(name, rule->reads[i].name))
			return explain_evaluate(&state->subject, rule->reads[i].expression, out,
						err);
	for (unsigned i = 0; i < USUAL; i++)
		if (base_is_word(name, usual[i].name))
			return explain_evaluate(&state->subject, state->rules->usual[i], out, err);
	return HDB_OK;
}

/* Returns the length of the number at the beginning of a text: "9,000". */
static size_t number_size(const char *text)
{
	return isdigit((unsigned char)*text) ? strspn(text, "0123456789,") : 0;
}

/* Replaces "9,000 of 9,000" with "all 9,000", unless "about" precedes it. "1 of 1" stays. */
static void say_all(char *text)
{
	for (char *p = text, *of; (of = strstr(p, " of ")) != NULL; p = of + 1) {
		char *from = of;
		const size_t size = number_size(of + 4);

		while (from > text && from[-1] != ' ')
			from--;
		if (!size || strncmp(of + 4, "1 ", 2) == 0 || (size_t)(of - from) != size ||
		    strncmp(from, of + 4, size) != 0 ||
		    isdigit((unsigned char)of[4 + size + (of[4 + size] == '.')]) ||
		    (from >= text + 5 && strncmp(from - 5, "bout", 4) == 0))
			continue;
		memcpy(from,
		       from == text || (from >= text + 2 && from[-2] == '.') ? "All " : "all ", 4);
		memmove(from + 4, of + 4, strlen(of + 4) + 1);
		of = from + 3;
	}
}

int explain_write(const char *template, struct explain_values *values, struct base_text to,
		  struct hdb_error *err)
{
	struct sentence s = { .buf = to.buf, .size = to.size, .is_whole = true };
	size_t part = 0;

	s.buf[0] = '\0';
	for (const char *p = template; *p; p++) {
		const char *end = *p == '{' ? strchr(p, '}') : NULL;

		if (*p == '[' || *p == ']') {
			if (*p == ']' && s.lacks)
				s.buf[s.used = part] = '\0';
			part = s.used;
			s.is_within = *p == '[';
			s.lacks = false;
		} else if (end) {
			const size_t size = strcspn(p + 1, ":}");
			struct base_value value = { .kind = BASE_NOTHING };

			/*
			 * {run} stays, because the command line and the page show commands
			 * differently.
			 */
			if (base_is_word((struct base_word){ p + 1, size }, "run")) {
				add(&s, p, (size_t)(end - p) + 1);
			} else {
				TRY(values->find(values->ctx, (struct base_word){ p + 1, size },
						 &value, err));
				add_value(&s, &value, p[1 + size] == ':' ? p + 2 + size : "");
			}
			p = end;
		} else {
			add(&s, p, 1);
		}
	}
	assert(s.used < s.size);
	say_all(s.buf);
	values->is_whole = s.is_whole;
	return HDB_OK;
}

/*
 * Describes the objects that the object holds. The first value in the description is the number of
 * held objects.
 */
static int write_holds(struct rule_state *state, struct explain_answer *out, struct hdb_error *err)
{
	const char *holds = state->rule->holds, *name = holds ? strchr(holds, '{') : NULL;
	struct base_value value = { .kind = BASE_NOTHING };

	out->holds[0] = '\0';
	if (!name)
		return HDB_OK;
	TRY(find_value(state, (struct base_word){ name + 1, strcspn(name + 1, ":}") }, &value,
		       err));
	if (value.kind != BASE_NUMBER || value.number < 1 || value.number > 1e18)
		return HDB_OK;
	out->held = (uint64_t)value.number;
	return explain_write(holds, &state->values, BASE_TEXT(out->holds), err);
}

/* ---- explaining ---- */

/* Returns HDB_OK if all conditions of a rule are true, and otherwise HDB_NOTFOUND. */
static int fits(struct explain_subject *subject, const struct explain_rule *rule,
		struct hdb_error *err)
{
	assert(rule->condition_count <= EXPLAIN_PARTS_MAX);
	for (unsigned i = 0; i < rule->condition_count; i++) {
		struct base_value value = { .kind = BASE_NOTHING };

		TRY(explain_evaluate(subject, rule->conditions[i], &value, err));
		if (!base_value_is_true(&value))
			return HDB_NOTFOUND;
	}
	return HDB_OK;
}

/* Appends a sentence to a text, unless it would become too long. */
static int append_sentence(const char *template, struct explain_values *values, struct base_text to,
			   struct hdb_error *err)
{
	const size_t used = strlen(to.buf);
	char more[EXPLAIN_SENTENCE_MAX];

	TRY(explain_write(template, values, BASE_TEXT(more), err));
	more[0] = (char)toupper((unsigned char)more[0]);
	if (used + 1 + strlen(more) < to.size)
		(void)snprintf(to.buf + used, to.size - used, " %s", more);
	return HDB_OK;
}

/* Removes the field of the entries that retains the most, if a sentence already names it. */
static void forget_field(struct explain_facts *facts, const char *says)
{
	struct explain_figure *field = &facts->figures[EXPLAIN_FACT_field];

	if (field->kind != BASE_STRING || !strstr(says, field->text))
		return;
	field->kind = BASE_NOTHING;
	facts->figures[EXPLAIN_FACT_field_percent].kind = BASE_NOTHING;
}

/*
 * Applies the first matching rule for a class. If this rule has a line `also`, appends the
 * sentences of the next matching rule that has neither a line `also` nor a command.
 */
static int explain_by(const struct explain_rules *rules, struct explain_subject about,
		      uint32_t class_no, struct explain_answer *out, struct hdb_error *err)
{
	struct rule_state state = { .subject = about,
				    .rules = rules,
				    .values = { find_value, &state, false } };
	const struct explain_rule *all = rules->rules.data, *rule;
	const uint32_t *list = rules->list.data;
	struct base_value kept = { .kind = BASE_NOTHING }, counted;
	bool is_found = false;
	int r;

	assert(class_no <= about.session->heap->class_count);
	state.subject.nodes = &rules->nodes;
	state.subject.start_no = HEAP_NONE;
	state.subject.whole_bytes = rules->whole_bytes;
	state.subject.counts = rules->counts;
	state.subject.steps = STEPS_MAX;
	for (uint32_t i = rules->first[class_no]; i < rules->first[class_no + 1]; i++) {
		assert(list[i] < rules->rules.count);
		state.rule = rule = &all[list[i]];
		TRY_ERRORS(r = fits(&state.subject, rule, err));
		if (r != HDB_OK ||
		    (is_found && (rule->also || rule->run || rule->verdict == EXPLAIN_BY_DESIGN)))
			continue;
		if (is_found) {
			TRY(append_sentence(rule->says, &state.values, BASE_TEXT(out->says), err));
			return append_sentence(rule->advice, &state.values, BASE_TEXT(out->advice),
					       err);
		}
		/*
		 * If the rule reads a value named "about", reading it replaces estimates with
		 * counts.
		 */
		if (about.facts)
			TRY(find_value(&state, base_word("about"), &counted, err));
		out->rule = rule;
		out->ix = about.ix;
		out->members =
			about.facts && about.facts->figures[EXPLAIN_FACT_is_nested].number < 1 ?
				about.facts->figures[EXPLAIN_FACT_members].number :
				0;
		TRY(derive_retained(about.session->derive, about.ix, &out->retained_bytes, err));
		TRY(explain_write(rule->says, &state.values, BASE_TEXT(out->says), err));
		/* A sentence about a suspect may begin with "about ". */
		if (about.facts)
			out->says[0] = (char)toupper((unsigned char)out->says[0]);
		TRY(write_holds(&state, out, err));
		if (rule->kept != BASE_NO_NODE)
			TRY(explain_evaluate(&state.subject, rule->kept, &kept, err));
		out->kept_ix = kept.kind == BASE_OBJECT ? kept.object : about.ix;
		out->lacks_kept = rule->kept != BASE_NO_NODE && kept.kind != BASE_OBJECT;
		TRY(explain_write(rule->advice, &state.values, BASE_TEXT(out->advice), err));
		is_found = true;
		if (!rule->also)
			break;
		if (about.facts)
			forget_field(about.facts, out->says);
	}
	return is_found ? HDB_OK : HDB_NOTFOUND;
}

int explain_object(const struct session *session, const struct explain_rules *rules, uint32_t ix,
		   struct explain_answer *out, struct hdb_error *err)
{
	struct heap_object object;

	TRY(heap_object(session->heap, ix, &object, err));
	if (object.kind != STORE_INSTANCE && object.kind != STORE_OBJECT_ARRAY)
		return HDB_NOTFOUND;
	return explain_by(rules, (struct explain_subject){ .session = session, .ix = ix },
			  object.class_no, out, err);
}

int explain_suspect(const struct session *session, const struct explain_rules *rules,
		    const struct analysis_suspect *suspect, struct explain_answer *out,
		    struct hdb_error *err)
{
	uint32_t ix = suspect->point_ix == HEAP_NONE ? suspect->ix : suspect->point_ix;
	struct explain_facts facts;

	if (suspect->ix == HEAP_NONE) {
		if (!suspect->members.count)
			return HDB_NOTFOUND;
		ix = *base_vec_at(&suspect->members, uint32_t, 0);
	}
	TRY(explain_facts_find(session, suspect, &facts, err));
	TRY(explain_by(rules,
		       (struct explain_subject){ .session = session, .ix = ix, .facts = &facts },
		       session->heap->class_count, out, err));
	out->retained_bytes = suspect->retained_bytes;
	return HDB_OK;
}

int explain_chain(const struct session *session, const struct explain_rules *rules,
		  uint32_t from_ix, struct explain_answer *out, struct hdb_error *err)
{
	uint32_t ix = from_ix, dominator;

	for (unsigned steps = 0; steps < EXPLAIN_OWNERS_MAX && ix != HEAP_NONE; steps++) {
		const int r = explain_object(session, rules, ix, out, err);

		if (r != HDB_NOTFOUND)
			return r;
		TRY(derive_dominator(session->derive, ix, &dominator, err));
		if (dominator == ix)
			break;
		ix = dominator;
	}
	return HDB_NOTFOUND;
}

/* ---- all objects to which rules may apply ---- */

/* Which objects of a class are candidates. */
enum wanted { WANTED_NOTHING, WANTED_LARGE, WANTED_ALL };

struct candidates {
	const struct session *session;
	uint8_t *wanted; /* indexed by class number */
	uint64_t least_bytes;
	struct base_vec *out;
};

/*
 * Returns which objects of a class are candidates. If a rule for the class finds faults, all
 * objects of the class are candidates.
 */
static enum wanted wanted_of(const struct explain_rules *rules, uint32_t class_no, bool is_any)
{
	enum wanted wanted = WANTED_NOTHING;

	for (uint32_t i = rules->first[class_no]; i < rules->first[class_no + 1]; i++) {
		const struct explain_rule *rule =
			base_vec_at(&rules->rules, struct explain_rule,
				    *base_vec_at(&rules->list, uint32_t, i));

		if (explain_is_fault(rule))
			return WANTED_ALL;
		if (is_any || rule->verdict == EXPLAIN_UNBOUNDED)
			wanted = WANTED_LARGE;
	}
	return wanted;
}

static int add_candidates(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	const struct candidates *c = ctx;

	for (uint32_t i = 0; i < block->count; i++) {
		struct explain_candidate candidate = { .ix = block->first_ix + i };
		const uint8_t wanted = c->wanted[block->class_no[i]];

		if (block->kind[i] == STORE_CLASS || wanted == WANTED_NOTHING)
			continue;
		TRY(derive_retained(c->session->derive, candidate.ix, &candidate.retained_bytes,
				    err));
		if (candidate.retained_bytes &&
		    (wanted == WANTED_ALL || candidate.retained_bytes >= c->least_bytes))
			TRY(base_vec_push(c->out, &candidate, sizeof(candidate), err));
	}
	return HDB_OK;
}

/* Sorts candidates by retained size, largest first. */
BASE_ORDER(compare_candidates, struct explain_candidate, BASE_DOWN(retained_bytes), BASE_UP(ix))

int explain_candidates(const struct session *session, const struct explain_rules *rules,
		       struct explain_choice choice, struct base_vec *out, struct hdb_error *err)
{
	struct heap *heap = session->heap;
	BASE_FREED uint8_t *wanted = NULL;
	struct candidates c = { session, NULL, choice.least_bytes, out };

	TRY(BASE_ALLOC(wanted, (size_t)heap->class_count + 1, "classes of rules", err));
	c.wanted = wanted;
	for (uint32_t no = 0; no < heap->class_count; no++)
		c.wanted[no] = (uint8_t)wanted_of(rules, no, !choice.of_faults);
	TRY(heap_each_block_of(heap, &(struct heap_pass){ session->work, wanted }, add_candidates,
			       &c, err));
	base_vec_sort(out, sizeof(struct explain_candidate), compare_candidates);
	return HDB_OK;
}
