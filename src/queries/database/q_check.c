/*
 * queries/database/q_check.c - the check query: verifies the checksum of every block, and that
 * tables agree with each other.
 *
 * checks.c contains the checks. Derived tables are checked if they exist, but are not built.
 */
#include "queries/database/checks.h"
#include "queries/queries.h"

#include <queries/database/q_check.query.h>

struct row {
	char name[CHECK_NAME_SIZE];
	const char *result;
	struct query_check_found found;
};

struct check {
	struct row rows[CHECKS_MAX];
	size_t count;
};

/* Returns the first missing table that a check needs, or 0. */
static enum store_table missing_table(struct query *q, const struct query_check_step *step)
{
	for (size_t i = 0; i < CHECK_NEEDS_MAX && step->needs[i]; i++)
		if (!derive_has(q->derive, step->needs[i]))
			return step->needs[i];
	return (enum store_table)0;
}

/*
 * Runs one check. Damage is a result of the check, whereas other failures are failures of the
 * query.
 */
static int run(struct query *q, const struct query_check_step *step, const char *strength,
	       struct row *row, struct hdb_error *err)
{
	struct query_check_found *found = &row->found;
	const enum store_table missing = missing_table(q, step);
	struct hdb_error why = { 0 };
	int r;

	(void)snprintf(row->name, sizeof(row->name), "%s%s%s%s", step->name, strength ? " (" : "",
		       strength ? strength : "", strength ? ")" : "");
	if (missing) {
		row->result = "not built";
		SAY(found, "table %s", store_table_name(missing));
		return HDB_OK;
	}
	found->ok = true;
	r = step->run(q, found, &why);
	if (r == HDB_ECORRUPT)
		FAIL(found, "%s", why.message);
	else if (r < 0)
		return hdb_fail(err, r, "%s", why.message);
	row->result = found->ok ? "ok" : "failed";
	return HDB_OK;
}

/* Runs the checks of the tables for one strength of references, if these tables exist. */
static int run_strength(struct query *q, struct check *c, enum derive_view view,
			const char *strength, struct hdb_error *err)
{
	struct derive *all = q->derive;
	const struct query_check_step *steps;
	size_t count;
	int r = derive_get_view(all, view, &q->derive, err);

	q->session.derive = q->derive;
	steps = query_check_steps(&count);
	for (size_t i = 0; r == HDB_OK && i < count && c->count < CHECKS_MAX; i++)
		if (steps[i].is_by_strength && !missing_table(q, &steps[i]))
			r = run(q, &steps[i], strength, &c->rows[c->count++], err);
	q->derive = q->session.derive = all;
	return r;
}

static int open_check(struct query *q, struct hdb_error *err)
{
	static const struct {
		enum derive_view view;
		const char *name;
	} views[] = {
		{ DERIVE_STRONG, "strong" },
		{ DERIVE_SOFT, "soft" },
		{ DERIVE_FINALIZER, "finalizer" },
		{ DERIVE_WEAK, "weak" },
	};
	struct check *c = q->state;
	const struct query_check_step *steps;
	uint64_t blocks = 0, failed = 0;
	size_t count;

	TRY(store_check(q->heap->store, q->work, &blocks, err));
	(void)snprintf(c->rows[c->count].name, CHECK_NAME_SIZE, "checksums");
	c->rows[c->count].result = "ok";
	SAY(&c->rows[c->count++].found, "%" PRIu64 " blocks", blocks);
	steps = query_check_steps(&count);
	for (size_t i = 0; i < count && c->count < CHECKS_MAX; i++) {
		base_stage(q->work, "checking tables", 0, "");
		TRY(run(q, &steps[i], NULL, &c->rows[c->count++], err));
	}
	for (size_t i = 0; i < BASE_COUNT(views); i++)
		TRY(run_strength(q, c, views[i].view, views[i].name, err));
	for (size_t i = 0; i < c->count; i++)
		failed += strcmp(c->rows[i].result, "failed") == 0;
	query_fact(q, "blocks", blocks);
	q->total = c->count;
	query_fact(q, "failed", failed);
	return HDB_OK;
}

static int check_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct check *c = q->state;
	const struct row *row = &c->rows[no];

	(void)err;
	assert(no < c->count);
	query_lend_text(q, NAME, row->name);
	query_lend_text(q, RESULT, row->result);
	query_lend_text(q, DETAIL, row->found.detail);
	return HDB_OK;
}

QUERY_DEFINE(check, .state_size = sizeof(struct check), .open = open_check, .row = check_row);
