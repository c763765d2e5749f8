/*
 * queries/explain/rules.h - rules that explain why objects of certain classes are large. A rule
 * names the classes of the objects that it applies to, and defines conditions, the values that it
 * reads, its text and its advice.
 *
 * Rules are text in the format described in rules/README.md. Those in rules/NAME.rules are compiled
 * in. Users can add a file (--rules, $HEAPDB_RULES), whose rules are tried first. A rule applies to
 * an object if it names the object's class and all its conditions are true. The first rule that
 * applies is used.
 */
#ifndef QUERIES_EXPLAIN_RULES_H
#define QUERIES_EXPLAIN_RULES_H

#include "analysis/session.h"
#include "base/base_text.h"
#include "base/expression.h"
#include "queries/explain/suspect_facts.h"

/* Maximum length in bytes of a string that a rule reads, and of a sentence that a rule produces. */
#define EXPLAIN_VALUE_MAX 200
#define EXPLAIN_SENTENCE_MAX 1000
/* Maximum number of conditions in a rule, and of values that it reads. */
#define EXPLAIN_PARTS_MAX 12
/* Maximum number of dominators to try for an object. */
#define EXPLAIN_OWNERS_MAX 2000u
/* Maximum size of a rules file, which allows a few thousand rules. */
#define EXPLAIN_FILE_MAX (4u << 20)

/* Verdict of a rule. */
enum explain_verdict {
	EXPLAIN_BY_DESIGN,     /* large by design, for example because of its configuration */
	EXPLAIN_LARGE,         /* expected, but large */
	EXPLAIN_UNBOUNDED,     /* nothing limits it */
	EXPLAIN_LEAK,          /* no longer needed, but still reachable */
	EXPLAIN_MISCONFIGURED, /* too large because of a setting */
	EXPLAIN_STUCK,         /* threads that cannot continue */
	EXPLAIN_OBSERVED       /* facts without a judgement */
};
/* Returns the name of a verdict, such as "by design"; static. */
const char *explain_verdict_name(enum explain_verdict verdict);

/* A value that a rule reads. rules/README.md describes the expressions. */
struct explain_read {
	const char *name;
	uint32_t expression;
};

/* A rule. All strings are borrowed from the text of the rules. */
struct explain_rule {
	const char *name;
	const char *classes;                    /* names or patterns, separated by commas */
	uint32_t conditions[EXPLAIN_PARTS_MAX]; /* expressions, as node indexes */
	struct explain_read reads[EXPLAIN_PARTS_MAX];
	unsigned condition_count, read_count;
	enum explain_verdict verdict;
	const char *says, *advice, *source;
	/* NULL if the rule has no line of this kind */
	const char *since, *holds, *run, *also, *consumers, *checks;
	/* an expression, or BASE_NO_NODE if the rule has no such line */
	uint32_t kept;
	unsigned line; /* line number of the rule's first word */
};

/*
 * Maximum number of cached instance counts, and of cached sets of references. Beyond this number,
 * the oldest entry is replaced.
 */
#define EXPLAIN_COUNTS 16u

/*
 * Number of instances of some classes for which an expression is true, and the first of these
 * instances.
 */
struct explain_count {
	char classes[BASE_VALUE_MAX], expression[BASE_WORD_MAX];
	double count;
	uint32_t first_ix; /* HEAP_NONE if there is none */
};

/* The objects to which the instances of some classes refer. */
struct explain_referring {
	char classes[BASE_VALUE_MAX];
	/*
	 * whether the classes have too many instances, so that their references were not collected
	 */
	bool are_many;
	/*
	 * uint64_t, ascending: the referenced object times 2^32, plus the instance that refers to
	 * it
	 */
	struct base_vec pairs;
};

struct explain_counts {
	struct explain_count list[EXPLAIN_COUNTS];
	unsigned next; /* index of the entry to be replaced next */
	struct explain_referring referring[EXPLAIN_COUNTS];
	unsigned next_referring;
};

/* The rules, and the classes of the heap to which they apply. */
struct explain_rules {
	struct base_vec rules; /* struct explain_rule: rules with classes in the heap */
	uint64_t tried;        /* number of all rules */
	struct base_vec nodes; /* expressions that every sentence can use */
	uint32_t usual[5];     /* expressions that every sentence can use */
	char *own, *users;     /* text of the compiled-in rules, and of the user's rules; owned */
	/*
	 * by class number: index in `list` of the first rule for the class; followed by the index
	 * of the first rule about suspects, and by the end of the list; owned
	 */
	uint32_t *first;
	/* uint32_t: indexes of rules, grouped by class, in the order in which they are tried */
	struct base_vec list;
	/* size of all reachable objects; set by the caller after opening */
	uint64_t whole_bytes;
	struct explain_counts *counts; /* owned */
};

/*
 * Reads the rules in `file` (unless NULL) and the compiled-in rules, checks them, and finds their
 * classes in the heap. A compiled-in rule without a class in the heap is only counted.
 * Returns HDB_EUSAGE with file, line and problem if a rule is invalid. The caller must release
 * *out, even after a failure.
 */
int explain_rules_open(const struct session *session, const char *file, struct explain_rules *out,
		       struct hdb_error *err);
void explain_rules_release(struct explain_rules *rules);

/* The report of a rule about an object. */
struct explain_answer {
	const struct explain_rule *rule; /* borrowed from the rules */
	uint32_t ix;
	uint64_t retained_bytes;
	/* contain {run} in place of a command; see query/advice.h */
	char says[EXPLAIN_SENTENCE_MAX], advice[EXPLAIN_SENTENCE_MAX];
	/*
	 * description such as "12,000 rows of the table ORDERS", and the number in it; empty if the
	 * rule has no such line
	 */
	char holds[EXPLAIN_VALUE_MAX];
	uint64_t held;
	/* number of objects in a group, or entries of a suspect's largest collection, or 0 */
	double members;
	/* length of `says` before the owner that query_leak_add_keeper appended */
	size_t rule_length;
	/* the object that should no longer be alive: ix, or another object named by the rule */
	uint32_t kept_ix;
	bool lacks_kept; /* whether the rule names another object that does not exist */
};

/*
 * Explains an object by the first rule that applies. Returns HDB_NOTFOUND if no rule applies.
 * Requires the `retained` table and rules->whole_bytes. Reads the dump.
 */
int explain_object(const struct session *session, const struct explain_rules *rules, uint32_t ix,
		   struct explain_answer *out, struct hdb_error *err);

/*
 * Explains an object or, if no rule applies to it, the nearest dominator to which a rule applies.
 * Returns HDB_NOTFOUND if there is none.
 */
int explain_chain(const struct session *session, const struct explain_rules *rules,
		  uint32_t from_ix, struct explain_answer *out, struct hdb_error *err);

/*
 * Explains a leak suspect with the first rule of the class "suspect" that applies, based on figures
 * about the objects that the suspect holds. Returns HDB_NOTFOUND if no rule applies.
 */
int explain_suspect(const struct session *session, const struct explain_rules *rules,
		    const struct analysis_suspect *suspect, struct explain_answer *out,
		    struct hdb_error *err);

/* An object to which rules may apply. */
struct explain_candidate {
	uint32_t ix;
	uint64_t retained_bytes;
};

/* Maximum number of candidates that callers use. They use the candidates that retain the most. */
#define EXPLAIN_CANDIDATES_MAX 10000u

/* Selects the objects that are candidates. */
struct explain_choice {
	uint64_t least_bytes; /* minimum retained size, unless a rule for the class finds faults */
	/* whether only rules that find faults or unbounded collections are used */
	bool of_faults;
};

/*
 * Appends reachable objects as struct explain_candidate, largest first: all objects of classes with
 * rules that retain at least least_bytes and, regardless of size, all objects of classes with rules
 * that find faults. The list is not truncated. The caller must truncate it.
 */
int explain_candidates(const struct session *session, const struct explain_rules *rules,
		       struct explain_choice choice, struct base_vec *out, struct hdb_error *err);

/*
 * Returns whether a finding is a fault regardless of its size, that is, a leak or a
 * misconfiguration.
 */
static inline bool explain_is_fault(const struct explain_rule *rule)
{
	return rule->verdict == EXPLAIN_LEAK || rule->verdict == EXPLAIN_MISCONFIGURED ||
	       rule->verdict == EXPLAIN_STUCK;
}

/* ---- for the files of this directory: expressions ---- */

/* The object for which an expression is evaluated. */
struct explain_subject {
	const struct session *session;
	const struct base_vec *nodes; /* struct base_node of all expressions */
	uint32_t ix;
	/*
	 * superclass at which the search for fields starts, or HEAP_NONE for the object's own class
	 */
	uint32_t start_no;
	uint64_t whole_bytes; /* size of the heap */
	struct explain_counts *counts;
	struct explain_facts *facts; /* figures about a suspect, or NULL for an object */
	uint64_t steps;              /* number of entries that may still be read */
};

/* The functions of rules; rules/README.md describes them. */
extern const struct base_grammar explain_grammar;

/* Evaluates an expression for an object. See base/expression.h. */
int explain_evaluate(struct explain_subject *subject, uint32_t expression, struct base_value *out,
		     struct hdb_error *err);

/* The source of a template's values. */
struct explain_values {
	/* finds the value with this name; sets BASE_NOTHING if there is no such value */
	int (*find)(void *ctx, struct base_word name, struct base_value *out,
		    struct hdb_error *err);
	void *ctx;
	bool is_whole; /* set by explain_write: whether all values outside brackets exist */
};

/*
 * Expands a template. "{name}" is replaced with a value, and "{name:FORMAT}" with a value as bytes,
 * percent, plain (a number without separators) or flag (true or false). Text in brackets is omitted
 * if one of its values is missing.
 */
int explain_write(const char *template, struct explain_values *values, struct base_text to,
		  struct hdb_error *err);

/*
 * Reads a rules file, or the compiled-in rules if `file` is NULL. The caller must free *out, even
 * after a failure.
 */
int explain_read_text(const char *file, char **out, struct hdb_error *err);

#endif
