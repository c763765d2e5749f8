/*
 * queries/explain/rules.h - what is known of programs' classes, as rules: which objects a rule is
 * about, what it reads of one, and what it then says and advises.
 *
 * Rules are text (rules/README.md has the format): those of rules/NAME.rules are compiled in, users
 * add their own file (--rules, $HEAPDB_RULES), whose rules come first. A rule fits an object if the
 * object's class is one that it names and all its conditions hold; of several the first counts.
 */
#ifndef QUERIES_EXPLAIN_RULES_H
#define QUERIES_EXPLAIN_RULES_H

#include "analysis/session.h"
#include "base/base_text.h"
#include "base/expression.h"

/* Bytes of a text that a rule reads, and of a sentence that it makes. */
#define EXPLAIN_VALUE_MAX 200
#define EXPLAIN_SENTENCE_MAX 1000
/* Conditions, and values that are read, of one rule. */
#define EXPLAIN_PARTS_MAX 12
/* Dominators of an object that are tried. */
#define EXPLAIN_OWNERS_MAX 200u
/* Bytes of a file of rules: some thousand rules. */
#define EXPLAIN_FILE_MAX (4u << 20)

/* For spec.facts of queries that try rules; by it doors know that they take the user's. */
#define EXPLAIN_RULES_FACT \
	{ \
		"rules_tried", HDB_TYPE_COUNT, "rules tried", \
			"rules on classes that were tried: those built in, and the user's; of query leaks " \
			"only with rules of the user" \
	}

/* How bad what a rule finds is. */
enum explain_verdict {
	EXPLAIN_BY_DESIGN,    /* it is as large as it is configured to be */
	EXPLAIN_LARGE,        /* expected, but there is much of it */
	EXPLAIN_UNBOUNDED,    /* nothing limits it */
	EXPLAIN_LEAK,         /* no longer needed, but still reachable */
	EXPLAIN_MISCONFIGURED /* a setting makes it so large */
};
/* "by design", "large", ...; static. */
const char *explain_verdict_name(enum explain_verdict verdict);

/* A value that a rule reads; expressions are as in rules/README.md. */
struct explain_read {
	const char *name;
	uint32_t expression;
};

/* All texts are lent by the rules' text. */
struct explain_rule {
	const char *name;
	const char *classes;                    /* names or patterns, with commas between */
	uint32_t conditions[EXPLAIN_PARTS_MAX]; /* expressions: places in the rules' nodes */
	struct explain_read reads[EXPLAIN_PARTS_MAX];
	unsigned condition_count, read_count;
	enum explain_verdict verdict;
	const char *says, *advice, *source;
	const char *since, *holds, *run; /* NULL if they are not said */
	uint32_t kept;                   /* an expression; BASE_NO_NODE if it is not said */
	unsigned line;                   /* where it begins */
};

/* Counts of instances that are remembered: of the rules' expressions, in turn. */
#define EXPLAIN_COUNTS 16u

/* How many instances of a class there are for which an expression holds, and the first one. */
struct explain_count {
	char classes[BASE_VALUE_MAX], expression[BASE_WORD_MAX];
	double count;
	uint32_t first_ix; /* HEAP_NONE: there is none */
};

struct explain_counts {
	struct explain_count list[EXPLAIN_COUNTS];
	unsigned next; /* the place of the next one */
};

/* The rules, and which of them are about which class of a heap. */
struct explain_rules {
	struct base_vec rules; /* struct explain_rule */
	struct base_vec nodes; /* struct base_node: of all expressions */
	uint32_t usual[3];     /* expressions that every sentence may name */
	char *own, *users;     /* their texts; owned */
	uint32_t *first; /* by class number: first place in `list`; owned; one more at the end */
	struct base_vec list;          /* uint32_t: rules of each class in their order */
	uint64_t whole_bytes;          /* of all reachable objects; set by who opened them */
	struct explain_counts *counts; /* owned */
};

/*
 * Reads the rules that are compiled in, after those of `file` (NULL: none), checks them, and finds
 * their classes in the heap. HDB_EUSAGE with file, line and what is wrong. Release *out in any
 * case.
 */
int explain_rules_open(const struct session *session, const char *file, struct explain_rules *out,
		       struct hdb_error *err);
void explain_rules_release(struct explain_rules *rules);

/* Whether any rule is about objects of this class. */
static inline bool explain_has_rules(const struct explain_rules *rules, uint32_t class_no)
{
	return rules->first[class_no] != rules->first[class_no + 1];
}

/* What a rule says of an object. */
struct explain_answer {
	const struct explain_rule *rule; /* lent by the rules */
	uint32_t ix;
	uint64_t retained_bytes;
	/* the advice with {run} in the place of a command: query/advice.h */
	char says[EXPLAIN_SENTENCE_MAX], advice[EXPLAIN_SENTENCE_MAX];
	/* "12,000 rows of the table ORDERS", and how many; "" if the rule does not say it */
	char holds[EXPLAIN_VALUE_MAX];
	uint64_t held;
	uint32_t kept_ix; /* the object that should not be kept: its own, or what the rule names */
};

/*
 * Explains an object by the first rule that fits it: HDB_OK, or HDB_NOTFOUND if none does. Needs
 * the table retained, and rules->whole_bytes. Reads fields of the dump.
 */
int explain_object(const struct session *session, const struct explain_rules *rules, uint32_t ix,
		   struct explain_answer *out, struct hdb_error *err);

/*
 * The same for an object or, if no rule fits it, the nearest of its owners that one fits: its
 * dominators. HDB_NOTFOUND if none does.
 */
int explain_chain(const struct session *session, const struct explain_rules *rules,
		  uint32_t from_ix, struct explain_answer *out, struct hdb_error *err);

/* An object of a class that rules are about. */
struct explain_candidate {
	uint32_t ix;
	uint64_t retained_bytes;
};

/* Candidates are these at most, those that retain most. */
#define EXPLAIN_CANDIDATES_MAX 10000u

/*
 * All reachable objects that rules may be about and that retain at least so many bytes, and those
 * of classes of which rules find faults, whatever they retain; the largest first. All of them: the
 * caller cuts them. UINT64_MAX: the latter only. struct explain_candidate.
 */
int explain_candidates(const struct session *session, const struct explain_rules *rules,
		       uint64_t least_bytes, struct base_vec *out, struct hdb_error *err);

/* Whether what a rule finds is a fault: a leak or a wrong setting, however small it is. */
static inline bool explain_is_fault(const struct explain_rule *rule)
{
	return rule->verdict == EXPLAIN_LEAK || rule->verdict == EXPLAIN_MISCONFIGURED;
}

/* ---- for the files of this folder: expressions ---- */

/* What expressions are about. */
struct explain_subject {
	const struct session *session;
	const struct base_vec *nodes; /* of all expressions: struct base_node */
	uint32_t ix;
	uint32_t start_no;    /* paths begin at this class of its line; HEAP_NONE: at its own */
	uint64_t whole_bytes; /* of the heap */
	struct explain_counts *counts;
	uint64_t steps; /* entries that may still be walked over */
};

/* The functions of rules, as rules/README.md has them. */
extern const struct base_grammar explain_grammar;

/* The value of an expression about an object; see base/expression.h. */
int explain_evaluate(struct explain_subject *subject, uint32_t expression, struct base_value *out,
		     struct hdb_error *err);

/* Where the values of a template come from. */
struct explain_values {
	/* the value that it names as `name`; BASE_NOTHING if there is none */
	int (*find)(void *ctx, struct base_word name, struct base_value *out,
		    struct hdb_error *err);
	void *ctx;
	bool is_whole; /* set: no value outside of brackets is missing */
};

/*
 * Writes a template: "{name}" is a value, "{name:FORMAT}" one as bytes, percent, plain (a number
 * without separators) or flag (true or false). What stands in brackets is left out if one of its
 * values does not exist.
 */
int explain_write(const char *template, struct explain_values *values, struct base_text to,
		  struct hdb_error *err);

/* The text of a file of rules, or of those that are compiled in (NULL): *out is owned. */
int explain_read_text(const char *file, char **out, struct hdb_error *err);

#endif
