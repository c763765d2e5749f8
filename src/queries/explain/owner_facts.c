/*
 * queries/explain/owner_facts.c - finds evidence about a collection in the objects above it: limits
 * that are not set, counts of added and removed elements, and empty lists of consumers.
 *
 * Libraries use similar names for such fields: maxSize, timeToLive, msgsWritten, consumers. The
 * fields of the nearest application objects, and of the objects with their settings and statistics,
 * are recognised by words in their names. A field and its value are evidence, not a judgement.
 */
#include "queries/explain/suspect_facts.h"

#include "base/base_text.h"
#include "base/error.h"
#include "heap/collections/collections.h"
#include "heap/heap_database.h"
#include "heap/platform_classes.h"
#include "heap/threads.h"
#include "heap/values/values.h"
#include "queries/inspect/inspect.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/*
 * Maximum number of objects to examine above the collection, and of owners whose fields are read.
 */
#define OWNER_CLIMBS 256u
#define OWNERS_MAX 4u
/* Maximum number of fields to read in an owner or an object with its settings. */
#define OWNER_FIELDS 128u
/* Maximum size of a field name. */
#define FIELD_NAME_MAX 64
/*
 * Minimum number of added elements, and minimum size limit, to report. Smaller numbers mean little.
 */
#define FLOW_MIN 100
/* A limit of at least this number of seconds, milliseconds or entries counts as no limit. */
#define LIMIT_NONE INT32_MAX
/* A map with this many times the number of entries that its own field allows exceeds its limit. */
#define EXCEEDED 2

/* Parts of field names, in lower case. */
static const char *const size_words[] = { "maxsize",   "maximumsize", "maxentries", "maxelements",
					  "maxcap",    "limit",       "hwm",        "highwater",
					  "maxweight", "maxpending",  "maxqueue",   "maxmessages",
					  "maxitems",  "maxobj",      NULL };
/* In fields whose names contain these words, as in maximum sizes, 0 means no limit. */
static const char *const life_words[] = { "timetolive", "ttl",         "timetoidle", "maxage",
					  "maxidle",    "maxinactive", "retention",  NULL };
static const char *const other_words[] = {
	"timeout", "expir", "evict", "idletime", "capacity", NULL
};
/* Fields whose names also contain one of these words are not limits: "throttled" contains "ttl". */
static const char *const no_limit_words[] = { "count", "num",     "total",  "last",    "current",
					      "next",  "index",   "unit",   "seq",     "negative",
					      "batch", "connect", "socket", "throttl", NULL };
/*
 * A field whose name contains one of these words, and whose value equals the number of entries, is
 * a limit that was reached.
 */
static const char *const full_words[] = { "max", "limit", "capacity", "bound", NULL };
/* Such a field does not limit the number of entries if its name contains one of these words. */
static const char *const unit_words[] = { "byte",   "maxmb",  "maxkb", "sizemb", "sizekb", "mega",
					  "weight", "maxage", "time",  "second", "mill",   "minute",
					  "hour",   "days",   "idle",  "leng",   "init",   NULL };
/*
 * A field limits the number of entries only if its name consists entirely of these words, as in
 * maxEntries or cacheSizeLimit. A name with any other word, such as maxKeyLength, may limit
 * something else. The first word that fits is taken, so each word precedes its own prefixes.
 */
static const char *const entry_words[] = { "maximum",  "max",    "limit",   "capacity", "bound",
					   "elements", "number", "entries", "items",    "count",
					   "size",     "cache",  "of",      "m",        NULL };
/* Words for the collection itself before a word such as "Config": "cacheConfig", "mapSettings". */
static const char *const entry_names[] = { "cache", "map",   "store",   "queue", "entr",
					   "size",  "limit", "default", "base",  NULL };
static const char *const endless_words[] = { "eternal", "unbounded", "unlimited", "noevict",
					     "noexpir", "nolimit",   "never",     NULL };
static const char *const auto_words[] = { "autoreset", "autoclean", "autopurge", NULL };
static const char *const policy_words[] = { "config", "option", "setting", "policy", "policies",
					    "evict",  "expir",  "stat",    "timing", "metrics",
					    "usage",  "attr",   NULL };
static const char *const in_words[] = { "written",    "sent",      "enqueue", "added",
					"received",   "submitted", "offered", "produced",
					"published",  "created",   "opened",  "inserted",
					"registered", "acquired",  NULL };
static const char *const out_words[] = { "read",     "dequeue",  "removed",   "taken",     "polled",
					 "consumed", "acked",    "destroyed", "deleted",   "closed",
					 "evicted",  "released", "returned",  "delivered", NULL };
static const char *const consumers[] = { "consumers", "subscribers", "receivers", "readers", NULL };

struct field_name {
	char text[FIELD_NAME_MAX], lower[FIELD_NAME_MAX];
};

struct owners {
	const struct session *session;
	struct explain_facts *out;
	const char *class_name; /* class name of the owner, without its package */
	const char *full_name;  /* class name of the owner */
	/* whether the object is the nearest owner, or contains the nearest owner's settings */
	bool is_nearest;
	bool is_itself; /* whether the object is the collection */
	/* whether the object contains settings of something else, such as "cookieConfig" */
	bool is_foreign;
	bool is_within; /* whether one of its fields is a limit that it does not exceed */
	/* counts of added and removed elements in the object being read */
	struct {
		const char *class_name;
		char name[FIELD_NAME_MAX];
		int64_t number;
	} in, taken;
};

static bool has_word(const char *name, const char *const *words)
{
	while (*words && !strstr(name, *words))
		words++;
	return *words != NULL;
}

static void to_lower(const char *from, char *to)
{
	size_t i = 0;

	for (; from[i] && i + 1 < FIELD_NAME_MAX; i++)
		to[i] = (char)tolower((unsigned char)from[i]);
	to[i] = '\0';
}

/* Sets a fact to "FIELD is VALUE", unless a nearer owner has already set it. */
static void say(struct owners *o, enum explain_fact to, const char *field, const char *value)
{
	char text[2 * EXPLAIN_CONTENT_MAX];

	if (o->out->figures[to].kind != BASE_NOTHING)
		return;
	(void)snprintf(text, sizeof(text), "%.90s.%.40s is %.60s", o->class_name, field, value);
	explain_fact_text(o->out, to, text);
}

/* Remembers the largest count of additions, and of removals. */
static void look_at_flow(struct owners *o, const struct field_name *field, int64_t number)
{
	const char *name = field->text, *lower = field->lower;

	if (has_word(lower, in_words) && number >= FLOW_MIN && number > o->in.number) {
		o->in.class_name = o->class_name;
		o->in.number = number;
		(void)snprintf(o->in.name, sizeof(o->in.name), "%s", name);
	} else if (has_word(lower, out_words) && !strstr(lower, "thread") &&
		   !strstr(lower, "ready") &&
		   (number > o->taken.number ||
		    (number == o->taken.number && strlen(name) < strlen(o->taken.name)))) {
		o->taken.number = number;
		(void)snprintf(o->taken.name, sizeof(o->taken.name), "%s", name);
	}
}

/*
 * Reads a number, possibly from an AtomicLong or a counter. Sets *is_found to whether the field
 * contains a number.
 */
static int read_number(struct heap *heap, const struct heap_value *value, int64_t *number,
		       bool *is_found, struct hdb_error *err)
{
	struct heap_value inner = *value;
	uint32_t ix;
	int r = HDB_OK;

	*is_found = false;
	if (value->type == HPROF_OBJECT) {
		TRY_FOUND(value->bits ? heap_find(heap, value->bits, &ix, err) : HDB_NOTFOUND);
		TRY_ERRORS(r = heap_path_value(heap, ix, "value|counter.value|count.value|base",
					       &inner, err));
	}
	*is_found = r == HDB_OK && inner.type != HPROF_OBJECT && inner.type != HPROF_BOOLEAN &&
		    heap_value_number(&inner, number);
	return HDB_OK;
}

/* Returns whether the name of a field, in lower case, says that it limits the number of entries. */
static bool is_entry_limit(const char *lower)
{
	const bool is_limit = has_word(lower, full_words);

	while (*lower) {
		unsigned i = 0;

		while (entry_words[i] &&
		       strncmp(lower, entry_words[i], strlen(entry_words[i])) != 0)
			i++;
		if (!entry_words[i] && *lower != '_')
			return false;
		lower += entry_words[i] ? strlen(entry_words[i]) : 1;
	}
	return is_limit;
}

/* Compares a limit of the collection, in one of its own fields, with the number of entries. */
static void look_at_limit(struct owners *o, const struct field_name *field, int64_t number)
{
	const double entries = o->out->figures[EXPLAIN_FACT_entries].number;

	if (!has_word(field->lower, full_words) || has_word(field->lower, unit_words))
		return;
	o->is_within |= (double)number >= entries;
	if (number >= FLOW_MIN && (double)number * EXCEEDED <= entries &&
	    is_entry_limit(field->lower))
		say(o, EXPLAIN_FACT_exceeded, field->text, base_number((uint64_t)number).text);
}

/*
 * Returns whether the name of a field or class, in lower case, is that of settings of something
 * other than the owner and its collection: the part before a word such as "config" is neither in
 * their names nor a word for a collection.
 */
static bool is_foreign(const struct owners *o, const char *lower)
{
	const struct explain_figure *field = &o->out->figures[EXPLAIN_FACT_holder_field];
	char class_lower[FIELD_NAME_MAX], field_lower[FIELD_NAME_MAX] = "";
	char subject[FIELD_NAME_MAX];
	const char *end = NULL;

	lower += strspn(lower, "_");
	for (unsigned i = 0; policy_words[i]; i++) {
		const char *at = strstr(lower, policy_words[i]);

		end = at && (!end || at < end) ? at : end;
	}
	if (!end || end == lower)
		return false;
	to_lower(o->class_name, class_lower);
	if (field->kind == BASE_STRING)
		to_lower(field->text, field_lower);
	(void)snprintf(subject, sizeof(subject), "%.*s", (int)(end - lower), lower);
	return !strstr(class_lower, subject) && !strstr(field_lower, subject) &&
	       !has_word(subject, entry_names);
}

static void look_at_number(struct owners *o, const struct field_name *field, int64_t number)
{
	const char *name = field->text, *lower = field->lower, *per = strstr(name, "Per");
	const bool is_size = has_word(lower, size_words), is_life = has_word(lower, life_words);
	const struct base_number plain = base_number(number < 0 ? 0 : (uint64_t)number);
	const char *text = number < 0 ? "-1" : plain.text;
	const double entries = o->out->figures[EXPLAIN_FACT_entries].number;

	if (o->is_itself)
		look_at_limit(o, field, number);
	while (per && !isupper((unsigned char)per[3]))
		per = strstr(per + 3, "Per");
	/*
	 * "maxMessagesPerWrite" limits a single step, not the number of stored entries;
	 * "maxPermits" is a real limit.
	 */
	if (has_word(lower, no_limit_words) || strncmp(lower, "min", 3) == 0 || per)
		return;
	if (number < 0 || number >= LIMIT_NONE || (number == 0 && (is_size || is_life))) {
		/* A setting of a distant owner may be about something else. */
		if (o->is_nearest && !o->is_foreign &&
		    (is_size || is_life || has_word(lower, other_words)))
			say(o, EXPLAIN_FACT_limit, name, text);
	} else if (is_size && number >= FLOW_MIN && !strstr(lower, "highwater")) {
		say(o, EXPLAIN_FACT_bound, name, text);
	}
	if (number >= FLOW_MIN && has_word(lower, full_words) && (double)number == entries)
		say(o, EXPLAIN_FACT_full, name, text);
	if (number == 0 && strcmp(lower, "requested") == 0)
		say(o, EXPLAIN_FACT_demand, name, text);
	look_at_flow(o, field, number);
}

/* Returns whether the first two components of two class names are equal. */
static bool shares_package(const char *a, const char *b)
{
	for (unsigned dots = 0; *a && *a == *b; a++, b++)
		if (*a == '.' && ++dots == 2)
			return true;
	return !strchr(a, '.') && !strchr(b, '.');
}

/*
 * Examines a reference to a policy, which may have no limit, or to a list of consumers, which may
 * be empty.
 */
static int look_at_object(struct owners *o, const struct field_name *field, uint64_t bits,
			  uint32_t *policy_ix, struct hdb_error *err)
{
	const char *name = field->text, *lower = field->lower;
	struct heap *heap = o->session->heap;
	const bool is_policy = has_word(lower, policy_words);
	struct heap_collection c;
	char class_lower[FIELD_NAME_MAX];
	struct heap_object object;
	uint64_t budget = 1;
	uint32_t ix;

	*policy_ix = HEAP_NONE;
	TRY_FOUND(bits ? heap_find(heap, bits, &ix, err) : HDB_NOTFOUND);
	TRY(heap_object(heap, ix, &object, err));
	o->is_foreign = false;
	if (has_word(lower, consumers)) {
		TRY_FOUND(heap_collection_open(heap, ix, &c, err));
		if (!c.has_size)
			TRY_FOUND(heap_collection_count(heap, &c, &budget, err));
		if (!c.size)
			say(o, EXPLAIN_FACT_unattended, name, "empty");
		return HDB_OK;
	}
	if (object.kind != STORE_INSTANCE || !is_policy ||
	    heap_is_platform_class(heap_class_name(heap, object.class_no)))
		return HDB_OK;
	to_lower(explain_short_class(heap, object.class_no), class_lower);
	o->is_foreign = is_foreign(o, lower) ||
			(is_foreign(o, class_lower) &&
			 !shares_package(o->full_name, heap_class_name(heap, object.class_no)));
	if (has_word(class_lower, endless_words) && !o->is_foreign)
		say(o, EXPLAIN_FACT_limit, name, explain_short_class(heap, object.class_no));
	*policy_ix = ix;
	return HDB_OK;
}

/* Examines the fields of an owner, or of an object with its settings. */
static int look_at(struct owners *o, uint32_t ix, bool is_owner, struct hdb_error *err)
{
	struct heap *heap = o->session->heap;
	struct heap_fields fields;
	uint32_t policy_ix;

	TRY_FOUND(heap_fields_begin(heap, ix, &fields, err));
	for (unsigned i = 0; i < OWNER_FIELDS; i++) {
		struct field_name name;
		int64_t number = 0;
		bool is_number;

		TRY_FOUND(heap_fields_next(&fields, err));
		TRY(heap_text(heap, fields.field.name_text, name.text, sizeof(name.text), err));
		to_lower(name.text, name.lower);
		if (fields.value.type == HPROF_BOOLEAN) {
			if (fields.value.bits ? has_word(name.lower, endless_words) :
						has_word(name.lower, auto_words))
				say(o, EXPLAIN_FACT_limit, name.text,
				    fields.value.bits ? "true" : "false");
			continue;
		}
		TRY(read_number(heap, &fields.value, &number, &is_number, err));
		if (is_number) {
			look_at_number(o, &name, number);
			continue;
		}
		if (fields.value.type != HPROF_OBJECT || !is_owner)
			continue;
		TRY(look_at_object(o, &name, fields.value.bits, &policy_ix, err));
		if (policy_ix != HEAP_NONE) {
			const char *above = o->class_name;

			o->class_name = inspect_simple_name(heap_class_name_of(heap, policy_ix));
			TRY(look_at(o, policy_ix, false, err));
			o->is_foreign = false;
			o->class_name = above;
		}
	}
	return HDB_OK;
}

/*
 * Reports the counts if there are far more additions than removals and if the counts may refer to
 * these entries.
 */
static void set_flow(struct owners *o)
{
	const struct explain_figure *entries = &o->out->figures[EXPLAIN_FACT_entries];
	char text[2 * EXPLAIN_CONTENT_MAX];

	if (!o->in.name[0] || o->taken.number < 0 || o->taken.number > o->in.number / 10 ||
	    (entries->kind == BASE_NUMBER && (double)o->in.number < entries->number) ||
	    o->out->figures[EXPLAIN_FACT_flow].kind != BASE_NOTHING)
		return;
	(void)snprintf(text, sizeof(text), "%.40s.%.40s is %s, and %.40s is %s", o->in.class_name,
		       o->in.name, base_number((uint64_t)o->in.number).text, o->taken.name,
		       base_number((uint64_t)o->taken.number).text);
	explain_fact_text(o->out, EXPLAIN_FACT_flow, text);
}

/* Names the nearest owner and, if known, the field through which it holds the collection. */
static void set_owner(struct owners *o, bool is_largest)
{
	const struct explain_figure *field = &o->out->figures[EXPLAIN_FACT_holder_field];
	const bool has_field = is_largest && field->kind == BASE_STRING;
	const bool is_nested = has_field && o->out->figures[EXPLAIN_FACT_is_nested].number > 0;
	char text[EXPLAIN_CONTENT_MAX];

	(void)snprintf(text, sizeof(text), "%s%.90s%s%.50s", is_nested ? "one entry of " : "",
		       has_field ? o->out->figures[EXPLAIN_FACT_holder_class].text : o->class_name,
		       has_field ? "." : "", has_field ? field->text : "");
	explain_fact_text(o->out, EXPLAIN_FACT_owner, text);
}

/*
 * Sets *out to whether the field that leads to the largest collection may belong to an owner: an
 * object or, if ix is HEAP_NONE, a class.
 */
static int has_field(const struct owners *o, uint32_t ix, bool *out, struct hdb_error *err)
{
	const struct explain_figure *field = &o->out->figures[EXPLAIN_FACT_holder_field];
	struct heap_value value;

	*out = true;
	if (ix == HEAP_NONE || field->kind != BASE_STRING)
		return HDB_OK;
	*out = false;
	TRY_FOUND(heap_path_value(o->session->heap, ix, field->text, &value, err));
	*out = true;
	return HDB_OK;
}

/*
 * Reads an owner: an object or, at the end of the path, a class. The class name of a queue or
 * policy may imply that the queue or policy has no limit.
 */
static int read_owner(struct owners *o, uint32_t ix, uint32_t class_no, struct hdb_error *err)
{
	char lower[FIELD_NAME_MAX], text[EXPLAIN_CONTENT_MAX];

	o->class_name = explain_short_class(o->session->heap, class_no);
	o->full_name = heap_class_name(o->session->heap, class_no);
	o->in.name[0] = o->taken.name[0] = '\0';
	o->in.number = 0;
	o->taken.number = -1;
	if (ix == HEAP_NONE)
		return HDB_OK;
	TRY(look_at(o, ix, true, err));
	if (o->is_within)
		o->out->figures[EXPLAIN_FACT_exceeded].kind = BASE_NOTHING;
	set_flow(o);
	to_lower(o->class_name, lower);
	if (!has_word(lower, endless_words) ||
	    o->out->figures[EXPLAIN_FACT_limit].kind != BASE_NOTHING)
		return HDB_OK;
	(void)snprintf(text, sizeof(text), "its class is %.90s", o->class_name);
	explain_fact_text(o->out, EXPLAIN_FACT_limit, text);
	return HDB_OK;
}

int explain_owner_facts(const struct session *session, uint32_t ix, bool is_largest,
			struct explain_facts *out, struct hdb_error *err)
{
	struct heap *heap = session->heap;
	struct owners o = { .session = session, .out = out };
	unsigned owners = 0;
	bool is_holder, is_set = false, is_named = false;

	for (unsigned i = 0; i < OWNER_CLIMBS && owners < OWNERS_MAX; i++) {
		const struct heap_collection_rule *rule;
		struct heap_object object;
		uint32_t above, class_no;
		bool is_class;

		assert(ix < heap->object_count);
		TRY(heap_object(heap, ix, &object, err));
		if (heap_is_thread(heap, ix))
			return HDB_OK;
		class_no = object.class_no;
		is_class = object.kind == STORE_CLASS;
		if (is_class)
			TRY_FOUND(heap_class_of_object(heap, ix, &class_no, err));
		rule = is_class ? NULL : heap_collection_rule(heap, class_no);
		/* Skip queues of libraries, like queues of the platform. */
		if ((is_class || object.kind == STORE_INSTANCE) &&
		    !(rule && rule->kind == HEAP_QUEUE) &&
		    !heap_is_platform_class(heap_class_name(heap, class_no))) {
			o.is_nearest = !owners;
			o.is_itself = !i && rule;
			TRY(read_owner(&o, is_class ? HEAP_NONE : ix, class_no, err));
			/* Objects of a library may be nearer than the owner of the field. */
			TRY(has_field(&o, is_class ? HEAP_NONE : ix, &is_holder, err));
			owners++;
			/* a collection is not the owner of itself */
			if (i || !rule) {
				if (!is_set || (is_largest && is_holder && !is_named))
					set_owner(&o, is_largest && is_holder);
				is_named |= is_holder;
				is_set = true;
			}
		}
		if (is_class)
			return HDB_OK;
		TRY_FOUND(derive_reach(session->derive, true, ix, &above, err));
		if (above == HEAP_NONE || above == ix)
			return HDB_OK;
		ix = above;
	}
	return HDB_OK;
}
