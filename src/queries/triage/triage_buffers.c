/*
 * queries/triage/triage_buffers.c - determines who owns most of the memory of direct buffers and
 * mapped files. The buffers are those of the direct-buffers query.
 */
#include "base/base_text.h"
#include "queries/leaks/leak_parts.h"
#include "queries/leaks/leak_prose.h"
#include "queries/queries.h"
#include "queries/triage/triage.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/*
 * If buffers have fewer bytes outside the heap, the owner is not determined, because no rule fires.
 * The mapping of the JDK's own modules takes more than 100 MiB.
 */
#define DIRECT_LEAST (64ull << 20)
#define MAPPED_LEAST (1ull << 30)
/* Maximum number of buffers whose paths are searched, and of different owners that are kept. */
#define BUFFERS_MAX 2000u
#define OWNERS_MAX 64u
#define OWNER_BYTES 512

struct owner {
	enum triage_measure_no measure;
	uint64_t count, bytes;
	char text[OWNER_BYTES];
};

struct owners {
	struct owner list[OWNERS_MAX];
	size_t count;
};

static int add_buffer(struct triage *t, const struct query *rows, struct owners *owners,
		      struct hdb_error *err)
{
	const struct hdb_value *capacity = query_cell(rows, "capacity");
	const bool is_mapped = query_cell_is(rows, "kind", "mapped");
	struct owner owner = { .measure = is_mapped ? TRIAGE_MAPPED : TRIAGE_DIRECT_BUFFERS };
	struct query_leak_path path;
	uint32_t ix;
	size_t i = 0;

	if (capacity->type == HDB_TYPE_NULL ||
	    (!is_mapped && !query_cell_is(rows, "kind", "direct")))
		return HDB_OK;
	TRY_FOUND(heap_find(t->q->heap, query_cell(rows, "id")->u, &ix, err));
	TRY(query_leak_path_find(t->q, ix, &path, err));
	path.is_end_kept = true;
	if (path.count > 1)
		TRY(query_leak_culprit(t->q, &path, HEAP_NONE, BASE_TEXT(owner.text), err));
	if (!owner.text[0])
		return HDB_OK;
	while (i < owners->count && (owners->list[i].measure != owner.measure ||
				     strcmp(owners->list[i].text, owner.text) != 0))
		i++;
	assert(owners->count <= OWNERS_MAX);
	if (i == OWNERS_MAX)
		return HDB_OK;
	if (i == owners->count)
		owners->list[owners->count++] = owner;
	owners->list[i].count++;
	owners->list[i].bytes += capacity->u;
	return HDB_OK;
}

/*
 * Writes the owner of the most memory: "FrameDecoder.inflight (static) holds 300.0 MiB in 300 of
 * them".
 */
static void write_owner(struct triage *t, const struct owners *owners,
			enum triage_measure_no measure)
{
	struct triage_figure *f = &t->figures[measure];
	const struct owner *best = NULL;
	char text[OWNER_BYTES] = "";

	for (size_t i = 0; i < owners->count; i++)
		if (owners->list[i].measure == measure &&
		    (!best || owners->list[i].bytes > best->bytes))
			best = &owners->list[i];
	if (!best || best->bytes < f->bytes / 10)
		return;
	assert(best->count > 0 && best->text[0]);
	query_leak_add_short(BASE_TEXT(text), best->text);
	(void)snprintf(f->detail, sizeof(f->detail), "%s holds %s in %s of them", text,
		       base_size(best->bytes).text, base_number(best->count).text);
}

int triage_take_buffers(struct triage *t, struct hdb_error *err)
{
	const struct query_sides sides = { .session = &t->q->session };
	const struct hdb_query_args args = { .struct_size = sizeof(args) };
	BASE_FREED struct owners *owners = NULL;
	struct query *rows = NULL;
	unsigned looked = 0;
	int r;

	if (t->figures[TRIAGE_DIRECT_BUFFERS].bytes < DIRECT_LEAST &&
	    t->figures[TRIAGE_MAPPED].bytes < MAPPED_LEAST)
		return HDB_OK;
	TRY(BASE_ALLOC(owners, 1, "owners of buffers", err));
	r = query_open(query_find("direct-buffers"), &sides, &args, &rows, err);
	while (r == HDB_OK && looked++ < BUFFERS_MAX && (r = query_next(rows, err)) == HDB_OK)
		r = add_buffer(t, rows, owners, err);
	query_close(rows);
	TRY_ERRORS(r);
	write_owner(t, owners, TRIAGE_DIRECT_BUFFERS);
	write_owner(t, owners, TRIAGE_MAPPED);
	return HDB_OK;
}
