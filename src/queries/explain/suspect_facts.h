/*
 * queries/explain/suspect_facts.h - measures figures about the objects that a leak suspect holds,
 * regardless of their classes: free slots, equal contents, cleared references, equal keys and so
 * on.
 *
 * Unless stated otherwise, percentages refer to the bytes of all visited objects. Rules of the
 * class "suspect" read these figures with held(NAME), so a new cause needs only code that measures
 * it. All figures of a suspect come from one walk over the objects that it dominates, from the top
 * down. The walk visits a limited number of objects, and only an evenly spaced sample of very long
 * lists of children. Figures based on a sample are estimates, and are rounded. A rule that is about
 * to report an estimate calls about(NAME), which counts all objects unless there are very many. If
 * the figure is still an estimate, about(NAME) returns "about ".
 */
#ifndef QUERIES_EXPLAIN_SUSPECT_FACTS_H
#define QUERIES_EXPLAIN_SUSPECT_FACTS_H

#include "analysis/session.h"
#include "analysis/suspects.h"
#include "base/expression.h"

/*
 * Minimum retained size of a suspect that is measured. A sentence about a smaller suspect would not
 * be useful.
 */
#define FACTS_BYTES_MIN (256u << 10)

/* Names and meanings of the figures. */
#define EXPLAIN_FACTS(X) \
	X(bytes)        /* shallow size of all objects in the walk */ \
	X(free_percent) /* percentage of bytes in unused slots of containers and arrays */ \
	X(rooms)     /* number of containers and arrays of the class with the most unused slots */ \
	X(room_kind) /* string: that class */ \
	X(room_places)      /* average number of their slots */ \
	X(room_used)        /* average number of their used slots */ \
	X(big_kind)         /* string: class of the container with the most unused slots */ \
	X(big_places)       /* its slots */ \
	X(big_used)         /* its used slots */ \
	X(big_free)         /* bytes of its unused slots */ \
	X(empties)          /* collections without elements */ \
	X(empty_kind)       /* string: the most frequent class */ \
	X(empty_percent)    /* their shallow size */ \
	X(small)            /* number of maps and sets with few elements */ \
	X(small_kind)       /* string: the most frequent class */ \
	X(small_used)       /* average number of their elements */ \
	X(plumbing_percent) /* collections, their tables and nodes */ \
	X(near)             /* number of number arrays that differ little from another array */ \
	X(near_kind)        /* string: the most frequent class */ \
	X(near_percent)     /* their size */ \
	X(local_percent)    /* percentage retained by values of thread-locals */ \
	X(direct)           /* direct and mapped buffers */ \
	X(direct_bytes)     /* size of the memory of these buffers outside the heap */ \
	X(equals)           /* number of strings or arrays that are equal to another one */ \
	X(equal_percent)    /* percentage of bytes that sharing them would save */ \
	X(most_equal) /* string: the content that takes the most memory, as "text" or byte[800] */ \
	X(most_count) /* number of objects with this content; missing for a sample */ \
	X(slack)      /* number of large number arrays of which at most a quarter is not 0 */ \
	X(slack_kind) /* string: the most frequent class */ \
	X(slack_length)  /* average number of their elements */ \
	X(slack_percent) /* their zeros */ \
	X(zeros)         /* number of large arrays that contain only zeros */ \
	X(zero_percent)  /* their size */ \
	X(zero_kind)     /* string: byte[8000] */ \
	X(boxes)         /* boxed numbers */ \
	X(box_kind)      /* string: the most frequent class */ \
	X(box_percent)   /* their shallow size */ \
	X(errors)        /* exceptions */ \
	X(error_kind)    /* string: the most frequent class */ \
	X(error_percent) /* retained size of the exceptions */ \
	X(suppressed)    /* largest number of exceptions suppressed by one exception */ \
	X(futures) /* number of CompletableFutures, except those that only wait for another one */ \
	X(open_futures)   /* CompletableFutures that are not completed */ \
	X(dependents)     /* number of CompletableFutures that only wait for another one */ \
	X(waited)         /* number of CompletableFutures for which an action is waiting */ \
	X(tasks)          /* FutureTasks and TimerTasks */ \
	X(cancelled)      /* tasks that are cancelled */ \
	X(done)           /* tasks that have run */ \
	X(periodic)       /* tasks that run repeatedly */ \
	X(queued)         /* number of tasks without a scheduled time that have not started */ \
	X(references)     /* weak, soft and phantom references */ \
	X(reference_kind) /* string: the most frequent class */ \
	X(enqueued)       /* references in a queue */ \
	X(cleared)        /* number of references without a referent that are not in a queue */ \
	X(soft_percent)   /* retained size of soft references */ \
	X(views)        /* number of views that are the only holders of a larger list or array */ \
	X(view_kind)    /* string: the most frequent class */ \
	X(view_percent) /* percentage of elements that the views do not show */ \
	X(entries)      /* entries of the largest collection */ \
	X(entries_kind) /* string: its class */ \
	X(value_kind)   /* string: class of the collection's values, with the package */ \
	X(members)     /* number of objects in a group, or of entries in the largest collection */ \
	X(member_kind) /* string: class of the members, or of the values, with the package */ \
	X(collection)  /* object: the collection itself */ \
	X(is_queue)    /* 1 if the collection is an unbounded queue between threads */ \
	X(is_deque)    /* 1 if the collection is another list that is used at its ends */ \
	X(key_percent) /* percentage of application-class keys that equal another key */ \
	X(key_kind)    /* string: that class */ \
	X(repeated_percent) /* percentage of these keys that are the object of another key */ \
	X(changed_percent)  /* percentage of keys whose hash code changed after insertion */ \
	X(changed_kind)     /* string: class of these keys */ \
	X(part_of)          /* string: feature shared by most entries, a prefix or a field */ \
	X(part)             /* string: value shared by these entries */ \
	X(part_percent)     /* percentage of entries */ \
	X(part_kinds)       /* number of different values */ \
	X(key_form) /* string: "the form F" of most keys, with "*" for words that contain digits */ \
	X(key_form_percent) /* percentage of entries */ \
	X(oldest_key)    /* string: age of the oldest key, if keys are dates up to the present */ \
	X(key_noun)      /* string: "keys", or "elements" for lists, if there is an oldest key */ \
	X(version_field) /* string: field of the values whose number nearly always differs */ \
	X(first_version) /* lowest of these version numbers */ \
	X(last_version)  /* the highest */ \
	X(self_percent)  /* percentage of entries that are their own value and unused elsewhere */ \
	X(expiry_field)  /* string: field that contains the expiry time of a value */ \
	X(expired_percent)  /* percentage of values that have expired */ \
	X(expired_age)      /* string: time since the first value expired, such as "3 days" */ \
	X(use_field)        /* string: field that contains the time of a value's last use */ \
	X(unused_percent)   /* percentage of values that were last used more than a day ago */ \
	X(unused_age)       /* string: time since the last use of the least recently used value */ \
	X(begin_field)      /* string: field that contains the creation time of a value */ \
	X(begun_percent)    /* percentage of values with a creation time in the past */ \
	X(begun_age)        /* string: age of the oldest value */ \
	X(closed_field)     /* string: boolean field that marks a value as closed or finished */ \
	X(closed_percent)   /* percentage of values that are closed */ \
	X(closed_value)     /* string: value of this field, "true" or "false" */ \
	X(closed_below)     /* 1 if the field belongs to objects to which the values refer */ \
	X(tries_field)      /* string: field that contains the number of attempts */ \
	X(least_tries)      /* lowest number of attempts */ \
	X(same_percent)     /* percentage of a list's elements that are one and the same object */ \
	X(growth)           /* string: "No entry was ever removed from the HashMap." */ \
	X(removed)          /* minimum number of entries that were removed, if any */ \
	X(keys)             /* string: a sentence such as "The keys are UUIDs." */ \
	X(key_fields)       /* string: number of different values of each field of the keys */ \
	X(sequence_field)   /* string: field that contains consecutive numbers */ \
	X(once_field)       /* string: field that counts the uses of a value */ \
	X(once_percent)     /* percentage of values that were used once */ \
	X(finished_field)   /* string: field that marks a value as finished */ \
	X(finished_value)   /* string: value of this field, such as DONE */ \
	X(finished_percent) /* percentage of such values */ \
	X(state_field)      /* string: field that contains the same state in nearly all values */ \
	X(state_value)      /* string: this state, such as SHIPPED */ \
	X(state_percent)    /* percentage of such values */ \
	X(open_field)       /* string: field that marks a value as not finished */ \
	X(open_value)       /* string: value of this field, such as PENDING */ \
	X(open_percent)     /* percentage of such values */ \
	X(alike_percent) /* percentage of collections that are nearly equal to the previous one */ \
	X(chain_kind)    /* string: class of objects each of which holds the next one */ \
	X(chain_field)   /* string: field that holds the next object */ \
	X(heavy)         /* object: innermost map value that retains at least half of its map */ \
	X(heavy_percent) /* its retained size */ \
	X(waited_percent) /* percentage retained by incomplete futures with actions */ \
	X(holder_field)   /* string: field that refers to the largest collection */ \
	X(limit) /* string: field of an owner that means "no limit": "Sessions.timeout is -1" */ \
	X(bound) /* string: field of an owner that sets a limit: "Cache.maxSize is 500" */ \
	X(is_nested)    /* 1 if the largest collection is one entry of the owner's collection */ \
	X(full)         /* string: field of an owner that equals the number of entries: a limit */ \
	X(demand)       /* string: field of an owner that means that no element was requested */ \
	X(evicts)       /* 1 for an application's LinkedHashMap that removes its eldest entry */ \
	X(owner)        /* string: nearest owner and its field, such as "Cache.entries" */ \
	X(flow)         /* string: counts of an owner that show many additions and few removals */ \
	X(unattended)   /* string: an owner's empty list of consumers */ \
	X(many)         /* 1 for many entries, or a moderate number of large ones */ \
	X(empty_values) /* percentage of map entries whose value is null or means "nothing" */ \
	X(empty_value)  /* string: class of one such value, or "null" */ \
	X(field)        /* string: field of the values that retains the most */ \
	X(field_kind)   /* string: class of the objects to which this field refers */ \
	X(field_percent) /* percentage of the values' retained size that this field retains */ \
	X(is_machinery)  /* 1 if these are platform objects other than collections and strings */ \
	X(loaders)       /* closed class loaders */ \
	X(loader)        /* object: one of them */ \
	X(self_kept)     /* number of weak map entries whose value keeps their key alive */ \
	X(nonzero)       /* percentage of the largest number array that is not 0 */ \
	X(nonzero_kind)  /* string: long[12500001] */ \
	X(nonzero_free)  /* bytes of zeros in it */
#define EXPLAIN_FACT_NUMBER(name) EXPLAIN_FACT_##name,
enum explain_fact { EXPLAIN_FACTS(EXPLAIN_FACT_NUMBER) EXPLAIN_FACT_COUNT };

/* Maximum number of bytes in a string. */
#define EXPLAIN_CONTENT_MAX 160

/* A figure: a string, a number, an object, or nothing. */
struct explain_figure {
	enum base_value_kind kind;
	bool is_about; /* an estimate */
	double number;
	char text[EXPLAIN_CONTENT_MAX];
};

struct explain_facts {
	const struct analysis_suspect *suspect;
	bool is_counted; /* whether explain_facts_count was called */
	struct explain_figure figures[EXPLAIN_FACT_COUNT];
};

/*
 * Measures the figures of a suspect. Reads the dump. Requires the `children` and `retained` tables.
 */
int explain_facts_find(const struct session *session, const struct analysis_suspect *suspect,
		       struct explain_facts *out, struct hdb_error *err);

/*
 * Replaces estimates with exact figures by visiting all objects that the suspect holds, if figure
 * `no` is an estimate. Changes nothing if there are too many objects.
 */
int explain_facts_count(const struct session *session, enum explain_fact no,
			struct explain_facts *facts, struct hdb_error *err);

/* Returns the number of the figure with this name, or EXPLAIN_FACT_COUNT if there is none. */
enum explain_fact explain_fact_of(const char *name);

/* Counts of objects by a boolean field that marks them as closed or finished. */
struct explain_flag {
	/* class of the objects, and class whose fields were tried last; HEAP_NONE at first */
	uint32_t class_no, tried_no;
	uint32_t field_no; /* number of the field among the fields of the object */
	uint32_t last_ix;  /* the object counted last; HEAP_NONE at first */
	bool is_inverse;   /* whether the objects are closed if the field is false */
	uint64_t objects, closed;
	char name[EXPLAIN_CONTENT_MAX]; /* "Connection.open" */
};
#define EXPLAIN_FLAG_NONE \
	{ \
		.class_no = HEAP_NONE, .tried_no = HEAP_NONE, .last_ix = HEAP_NONE \
	}

/* Returns whether a boolean field with this name marks an object as closed, or as open. */
bool explain_is_closed_name(const char *name, bool *is_inverse);

/*
 * Counts an object. The first application object that has such a field decides which class is
 * counted. An object that is added twice in succession is counted once.
 */
int explain_flag_add(struct heap *heap, uint32_t ix, struct explain_flag *flag,
		     struct hdb_error *err);

/* ---- for the files of this directory ---- */

/*
 * Sets a figure: a number, a string, or an object given by its index.
 */
void explain_fact_set(struct explain_facts *facts, enum explain_fact no, double number);
void explain_fact_text(struct explain_facts *facts, enum explain_fact no, const char *text);
void explain_fact_object(struct explain_facts *facts, enum explain_fact no, uint32_t ix);

/* Returns the name of a class without its package: "HashMap". */
const char *explain_short_class(struct heap *heap, uint32_t class_no);

/* Measures the entries of a collection: equal keys, and features that most entries share. */
int explain_entry_facts(const struct session *session, uint32_t collection_ix,
			struct explain_facts *out, struct hdb_error *err);

/*
 * Reads limits, counts and consumers from the owners above an object. If is_largest is set, the
 * object is the largest collection, so its owner holds it through holder_field.
 */
int explain_owner_facts(const struct session *session, uint32_t ix, bool is_largest,
			struct explain_facts *out, struct hdb_error *err);

#endif
