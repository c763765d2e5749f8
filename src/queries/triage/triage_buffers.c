/*
 * queries/triage/triage_buffers.c - names the owners of the most memory in direct buffers and
 * mapped files.
 */
#include "base/base_text.h"
#include "queries/leaks/leak_outside.h"
#include "queries/leaks/leak_prose.h"
#include "queries/triage/triage.h"

#include <assert.h>
#include <stdio.h>

/* An owner is named only if it owns at least 1/OWNER_PART of the memory. */
#define OWNER_PART 10u

/*
 * Writes the owner of the most buffers: "FrameDecoder.inflight (static) holds 300.0 MiB in 300 of
 * them".
 */
static void write_owner(struct triage_figure *f, const struct leak_outside *owner)
{
	char text[LEAK_OUTSIDE_TEXT_MAX] = "";

	if (owner->ix == HEAP_NONE || owner->bytes < f->bytes / OWNER_PART)
		return;
	assert(owner->count > 0 && owner->owner[0]);
	query_leak_add_short(BASE_TEXT(text), owner->owner);
	(void)snprintf(f->detail, sizeof(f->detail), "%s hold%s %s%s in %s%s of them", text,
		       owner->is_several ? "" : "s", owner->at_least, base_size(owner->bytes).text,
		       owner->at_least, base_number(owner->count).text);
}

/* Sets *out to whether a figure may have a row that names the owner. */
static int wants_owner(struct triage *t, enum triage_measure_no measure,
		       enum leak_outside_kind kind, bool *out, struct hdb_error *err)
{
	const uint64_t bytes = t->figures[measure].bytes;

	*out = false;
	return bytes < leak_outside_least(kind, 0) ?
		       HDB_OK :
		       triage_wants_bytes(t, measure, bytes, out, err);
}

int triage_take_buffers(struct triage *t, struct hdb_error *err)
{
	struct leak_outside owners[LEAK_OUTSIDE_KINDS];
	bool wants_direct, wants_mapped;

	TRY(wants_owner(t, TRIAGE_DIRECT_BUFFERS, LEAK_OUTSIDE_DIRECT, &wants_direct, err));
	TRY(wants_owner(t, TRIAGE_MAPPED, LEAK_OUTSIDE_MAPPED, &wants_mapped, err));
	if ((!wants_direct || t->is_outside_listed) && !wants_mapped)
		return HDB_OK;
	TRY(leak_outside_find(t->q, owners, err));
	write_owner(&t->figures[TRIAGE_DIRECT_BUFFERS], &owners[LEAK_OUTSIDE_DIRECT]);
	write_owner(&t->figures[TRIAGE_MAPPED], &owners[LEAK_OUTSIDE_MAPPED]);
	return HDB_OK;
}
