/*
 * queries/explain/rule_private.h - declarations shared by the files that implement the functions of
 * rules: rule_expression.c, rule_entries.c, rule_instances.c and rule_threads.c.
 *
 * A function that does not apply to its argument returns no value, not an error, so rules need not
 * check the argument.
 */
#ifndef QUERIES_EXPLAIN_RULE_PRIVATE_H
#define QUERIES_EXPLAIN_RULE_PRIVATE_H

#include "heap/known.h"
#include "queries/explain/rules.h"

/* Arguments common to all functions. */
struct rule_scan {
	struct explain_subject *subject;
	struct hdb_error *err;
};

/* Type of functions that accept an object. The caller sets *out to BASE_NOTHING beforehand. */
typedef int rule_of_object(struct rule_scan *s, uint32_t ix, struct base_value *out);
/* Type of functions that accept any value. The caller sets *out to BASE_NOTHING beforehand. */
typedef int rule_of_any(struct rule_scan *s, const struct base_arguments *a,
			struct base_value *out);

/* entries of collections: rule_entries.c */
rule_of_object rule_first, rule_kind;
rule_of_any rule_sum, rule_most, rule_most_count, rule_different, rule_varied;
/* all instances of a class: rule_instances.c */
rule_of_any rule_referrer, rule_instances, rule_instance;
/* threads that use an object: rule_threads.c */
rule_of_object rule_users, rule_user, rule_waiters;

/* Converts the value of a field or element. */
int rule_set_value(const struct session *session, const struct heap_value *value,
		   struct base_value *out, struct hdb_error *err);

/* Sets a string to the name of a class, truncated to the length of other strings of rules. */
void rule_set_name(struct base_value *out, const char *name);

/*
 * Evaluates an expression with another object as `this`. Both evaluations share the budget of
 * steps.
 */
int rule_evaluate_at(struct rule_scan *s, uint32_t ix, uint32_t expression, struct base_value *out);

#endif
