/*
 * oql/oql_check.c - what holds of values, frames and evaluators, as assertions. Nothing here
 * looks at the heap.
 */
#include "oql/oql.h"
#include "oql/oql_eval.h"

#include <assert.h>

static void check_list(const struct oql_list *list)
{
	assert(list->kind != OQL_L_VALUES || list->values || !list->count);
	assert(list->kind != OQL_L_IDS || list->ixs || !list->count);
}

void oql_value_check(const struct oql_value *v)
{
	assert(v->type <= OQL_V_FRAME);
	switch (v->type) {
	case OQL_V_STRING:
	case OQL_V_JAVA_CLASS:
		assert(v->text.data || !v->text.size);
		break;
	case OQL_V_ROOT:
		assert(v->text.data);
		break;
	case OQL_V_LIST:
		assert(v->list);
		check_list(v->list);
		break;
	case OQL_V_ROW:
		assert(v->list);
		assert(v->list->names);
		assert(v->list->kind == OQL_L_VALUES);
		check_list(v->list);
		break;
	case OQL_V_FIELD:
		assert(v->list);
		assert(v->list->count == 1);
		assert(v->list->kind == OQL_L_VALUES);
		break;
	default:
		break;
	}
}

void oql_frame_check(const struct oql_frame *frame)
{
	assert(frame->arena);
	assert(frame->arena->budget);
	assert(frame->outer != frame);
	oql_value_check(&frame->current);
}

void oql_eval_check(const struct oql_eval *ev)
{
	assert(ev->db);
	assert(ev->err);
	assert(!ev->reachable == !ev->ranks);
	assert(!ev->reachable == !ev->class_sizes);
	assert(ev->threads || !ev->thread_count);
	assert(ev->budget.used_bytes <= ev->budget.most_bytes);
	oql_arena_check(&ev->keep);
}
