/*
 * queries/explain/suspect_facts.h - figures about the objects that a leak suspect holds, whatever
 * their classes: free slots, equal contents, cleared references, keys that are equal, ...
 *
 * Unless stated otherwise, percentages refer to the bytes of all visited objects. Rules of the
 * class "suspect" read these figures with held(NAME), so a new cause needs only code that measures
 * it. All figures of a suspect come from one walk over the objects that it dominates, from the top
 * down. The walk visits only an even sample of very long lists of children, and a limited number of
 * objects. Figures based on a sample are estimates, which are rounded, and about(NAME) is "about ".
 */
#ifndef QUERIES_EXPLAIN_SUSPECT_FACTS_H
#define QUERIES_EXPLAIN_SUSPECT_FACTS_H

#include "analysis/session.h"
#include "analysis/suspects.h"
#include "base/expression.h"

/* Suspects that retain less are not measured: the sentence about them would be noise. */
#define FACTS_BYTES_MIN (256u << 10)

/* Name and meaning. */
#define EXPLAIN_FACTS(X) \
	X(bytes)            /* shallow size of all objects of the walk */ \
	X(free_percent)     /* free places in containers and arrays */ \
	X(rooms)            /* containers and arrays of the class with most free places */ \
	X(room_kind)        /* text: that class */ \
	X(room_places)      /* places of one of them on average */ \
	X(room_used)        /* places of one of them that are in use, on average */ \
	X(big_kind)         /* text: the class of the one with most free places */ \
	X(big_places)       /* its places */ \
	X(big_used)         /* those in use */ \
	X(big_free)         /* bytes of the others */ \
	X(empties)          /* collections without elements */ \
	X(empty_kind)       /* text: the class of most */ \
	X(empty_percent)    /* their shallow size */ \
	X(small)            /* maps and sets of a few elements */ \
	X(small_kind)       /* text: the class of most */ \
	X(small_used)       /* their elements on average */ \
	X(plumbing_percent) /* collections, their tables and nodes */ \
	X(near)             /* arrays of numbers that differ little from another */ \
	X(near_kind)        /* text: the class of most */ \
	X(near_percent)     /* their size */ \
	X(local_percent)    /* what values of thread-locals retain */ \
	X(direct)           /* direct and mapped buffers */ \
	X(direct_bytes)     /* their memory, which is outside the heap */ \
	X(equals)           /* strings or arrays that have an equal one */ \
	X(equal_percent)    /* what sharing them would save */ \
	X(most_equal)       /* text: the content that takes most: "text", or byte[800] */ \
	X(most_count)       /* number of objects with that content; none of a sample */ \
	X(slack)            /* large arrays of numbers of which at most a quarter is not 0 */ \
	X(slack_kind)       /* text: the class of most */ \
	X(slack_length)     /* their elements on average */ \
	X(slack_percent)    /* their zeros */ \
	X(zeros)            /* large arrays of zeros */ \
	X(zero_percent)     /* what they take */ \
	X(zero_kind)        /* text: byte[8000] */ \
	X(boxes)            /* boxed numbers */ \
	X(box_kind)         /* text: the class of most */ \
	X(box_percent)      /* their shallow size */ \
	X(errors)           /* exceptions */ \
	X(error_kind)       /* text: the class of most */ \
	X(error_percent)    /* retained size of the exceptions */ \
	X(suppressed)       /* most exceptions that one has suppressed */ \
	X(futures)          /* CompletableFutures, without those that only wait for another */ \
	X(open_futures)     /* those that are not completed */ \
	X(dependents)       /* CompletableFutures that only wait for another */ \
	X(waited)           /* those of them for which an action waits */ \
	X(tasks)            /* FutureTasks and TimerTasks */ \
	X(cancelled)        /* those that are cancelled */ \
	X(done)             /* those that have run */ \
	X(periodic)         /* those that run again and again */ \
	X(queued)           /* those without a scheduled time that have not begun */ \
	X(references)       /* weak, soft and phantom references */ \
	X(reference_kind)   /* text: the class of most */ \
	X(enqueued)         /* references in a queue */ \
	X(cleared)          /* references without referent that are in no queue */ \
	X(soft_percent)     /* retained size of soft references */ \
	X(views)            /* views that alone keep what they show a part of */ \
	X(view_kind)        /* text: the class of most */ \
	X(view_percent)     /* what they do not show */ \
	X(entries)          /* entries of the largest collection */ \
	X(entries_kind)     /* text: its class */ \
	X(value_kind)       /* text: class of its values, with the package */ \
	X(collection)       /* object: it itself */ \
	X(is_queue)         /* 1 if it is a queue between threads that has no limit */ \
	X(is_deque)         /* 1 if it is another list that is used at its ends */ \
	X(key_percent)  /* of its keys of an own class, those that equal another, in percent */ \
	X(key_kind)     /* text: that class */ \
	X(part_of)      /* text: what most of its entries share: a prefix, or a field */ \
	X(part)         /* text: the value that they share */ \
	X(part_percent) /* how many */ \
	X(part_kinds)   /* number of different values */ \
	X(key_form)     /* text: "the form F" of most keys, with "*" for words with digits */ \
	X(key_form_percent) /* how many */ \
	X(oldest_key)       /* text: age of the oldest of keys that are dates up to now */ \
	X(version_field)    /* text: field of its values with numbers of which each has another */ \
	X(first_version)    /* the lowest of them */ \
	X(last_version)     /* the highest */ \
	X(self_percent)     /* entries that are their own value and that nothing else refers to */ \
	X(expiry_field)     /* text: field of its values that says when they expire */ \
	X(expired_percent)  /* values for which that has passed */ \
	X(expired_age)      /* text: how long ago for the first: "3 days" */ \
	X(use_field)        /* text: field that says when they were last used */ \
	X(unused_percent)   /* values for which that was more than a day ago */ \
	X(unused_age)       /* text: how long ago for the first */ \
	X(begin_field)      /* text: field that says when they were made */ \
	X(begun_percent)    /* values for which that has passed */ \
	X(begun_age)        /* text: how long ago for the first */ \
	X(closed_field)     /* text: boolean field that says that they are closed or the like */ \
	X(closed_percent)   /* values that are */ \
	X(closed_value)     /* text: the value of that field, "true" or "false" */ \
	X(tries_field)      /* text: field of its values with a number of attempts */ \
	X(least_tries)      /* the lowest of these */ \
	X(same_percent)     /* elements of a list that are the same object */ \
	X(heavy)            /* object: the innermost value of a map that alone holds half of it */ \
	X(heavy_percent)    /* what that retains */ \
	X(waited_percent)   /* what futures retain that are not completed and have actions */ \
	X(holder_field)     /* text: the field that refers to the largest collection */ \
	X(empty_values)     /* entries of a map whose value is null or says nothing, in percent */ \
	X(empty_value)      /* text: the class of one such value, or null */ \
	X(field)            /* text: field of its values that holds most */ \
	X(field_kind)       /* text: the class of what it refers to */ \
	X(field_percent)    /* what that retains, of what the values retain */ \
	X(is_machinery) /* 1 if that is an object of the platform, and no collection or text */ \
	X(loaders)      /* closed class loaders */ \
	X(loader)       /* object: one of them */ \
	X(self_kept)    /* entries of weak maps whose value alone keeps their key */ \
	X(nonzero)      /* of the largest array of numbers, values that are not 0, in percent */ \
	X(nonzero_kind) /* text: long[12500001] */ \
	X(nonzero_free) /* bytes of zeros in it */
#define EXPLAIN_FACT_NUMBER(name) EXPLAIN_FACT_##name,
enum explain_fact { EXPLAIN_FACTS(EXPLAIN_FACT_NUMBER) EXPLAIN_FACT_COUNT };

/* Maximum number of bytes of a text. */
#define EXPLAIN_CONTENT_MAX 100

/* A figure: a text, a number, an object, or nothing. */
struct explain_figure {
	enum base_value_kind kind;
	bool is_about; /* an estimate */
	double number;
	char text[EXPLAIN_CONTENT_MAX];
};

struct explain_facts {
	struct explain_figure figures[EXPLAIN_FACT_COUNT];
};

/* Measures a suspect. Reads the dump. Requires the tables children and retained. */
int explain_facts_find(const struct session *session, const struct analysis_suspect *suspect,
		       struct explain_facts *out, struct hdb_error *err);

/* Returns the number of a figure's name, or EXPLAIN_FACT_COUNT. */
enum explain_fact explain_fact_of(const char *name);

/* ---- for the files of this directory ---- */

/* Sets a number, an estimate with two digits, a text, or an object (its index is the number). */
void explain_fact_set(struct explain_facts *facts, enum explain_fact no, double number);
void explain_fact_guess(struct explain_facts *facts, enum explain_fact no, double number);
void explain_fact_text(struct explain_facts *facts, enum explain_fact no, const char *text);
void explain_fact_object(struct explain_facts *facts, enum explain_fact no, uint32_t ix);

/* Returns the class without its package: "HashMap". */
const char *explain_short_class(struct heap *heap, uint32_t class_no);

/* Measures the entries of a collection: equal keys, and what most have in common. */
int explain_entry_facts(const struct session *session, uint32_t collection_ix,
			struct explain_facts *out, struct hdb_error *err);

#endif
