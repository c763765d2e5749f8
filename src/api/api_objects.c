/* api/api_objects.c - implements access to objects by number: kind, class, sizes and dominators. */
#include "api/handle.h"

uint32_t hdb_object_count(const struct hdb *db)
{
	return db ? db->heap->object_count : 0;
}

int hdb_find(struct hdb *db, uint64_t id, uint32_t *ix, struct hdb_error *err)
{
	API_NEEDS(db && ix, err);

	return heap_find(db->heap, id, ix, err);
}

int hdb_object_at(struct hdb *db, uint32_t ix, struct hdb_object_facts *out, struct hdb_error *err)
{
	API_NEEDS(db && out, err);

	struct hdb_object_facts facts;
	struct heap_object object;

	API_CHECK(out, err);
	TRY(api_check_ix(db, ix, err));
	TRY(heap_object(db->heap, ix, &object, err));
	facts = (struct hdb_object_facts){
		.ix = ix,
		.class_no = object.class_no,
		.kind = (enum hdb_object_kind)object.kind,
		.is_real = ix != HEAP_BOOT_LOADER,
		.stands_for = HDB_NONE,
		.heap_no = object.heap_no ? object.heap_no - 1 : HDB_NONE,
		.shallow_bytes = object.shallow_bytes,
	};
	if (object.kind == STORE_CLASS) {
		facts.stands_for = (uint32_t)object.length;
		facts.is_real &=
			!(heap_class(db->heap, facts.stands_for)->flags & STORE_CLASS_INVENTED);
	} else if (object.kind != STORE_INSTANCE) {
		facts.length = object.length;
	}
	TRY(heap_id(db->heap, ix, &facts.id, err));
	API_WRITE(out, &facts);
	return HDB_OK;
}

/* ---- tables ---- */

static const struct {
	unsigned need;
	enum store_table table;
} need_tables[] = {
	{ HDB_NEED_REACHABLE, STORE_REACH },     { HDB_NEED_STRONG, STORE_REACH_STRONG },
	{ HDB_NEED_DOMINATORS, STORE_RETAINED }, { HDB_NEED_CHILDREN, STORE_CHILDREN },
	{ HDB_NEED_REFERRERS, STORE_REFERRERS },
};
#define NEED_COUNT BASE_COUNT(need_tables)

int hdb_need(struct hdb *db, unsigned needs, struct hdb_error *err)
{
	API_NEEDS(db, err);

	for (size_t i = 0; i < NEED_COUNT; i++)
		if (needs & need_tables[i].need)
			TRY(derive_need(&db->derive, need_tables[i].table, err));
	return HDB_OK;
}

unsigned hdb_has(struct hdb *db)
{
	unsigned has = 0;

	for (size_t i = 0; db && i < NEED_COUNT; i++)
		if (derive_has(&db->derive, need_tables[i].table))
			has |= need_tables[i].need;
	return has;
}

int hdb_reachable_at(struct hdb *db, uint32_t ix, int *reachable, struct hdb_error *err)
{
	API_NEEDS(db && reachable, err);

	bool is_reachable = false;
	int r = api_check_ix(db, ix, err);

	*reachable = 0;
	TRY(r);
	r = derive_is_reachable(&db->derive, ix, &is_reachable, err);
	*reachable = is_reachable;
	return r;
}

int hdb_retained_at(struct hdb *db, uint32_t ix, uint64_t *bytes, struct hdb_error *err)
{
	API_NEEDS(db && bytes, err);

	struct derive_retained_result result = { 0 };
	int r;

	TRY(api_check_ix(db, ix, err));
	r = GRAPH_BUDGET;
	if (!derive_has(&db->derive, STORE_RETAINED))
		r = derive_retained_local(&db->derive, (struct graph_members){ &ix, 1 }, NULL,
					  &result, err);
	if (r == GRAPH_BUDGET)
		r = derive_retained(&db->derive, ix, bytes, err);
	else if (r == HDB_OK)
		*bytes = result.retained_bytes;
	return api_end(db, r, err);
}

int hdb_dominator_at(struct hdb *db, uint32_t ix, uint32_t *dominator, struct hdb_error *err)
{
	API_NEEDS(db && dominator, err);

	*dominator = HDB_NONE;
	TRY(api_check_ix(db, ix, err));
	TRY(derive_dominator(&db->derive, ix, dominator, err));
	return *dominator == ix ? HDB_NOTFOUND : HDB_OK;
}

int hdb_parent_at(struct hdb *db, uint32_t ix, int strong, uint32_t *parent, struct hdb_error *err)
{
	API_NEEDS(db && parent, err);

	*parent = HDB_NONE;
	TRY(api_check_ix(db, ix, err));
	TRY(derive_reach(&db->derive, strong != 0, ix, parent, err));
	return *parent == ix ? HDB_NOTFOUND : HDB_OK;
}
