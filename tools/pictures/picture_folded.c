/*
 * pictures/picture_folded.c - writes folded stacks for flame graph tools. There is one line per
 * node with its own bytes: the names from the top to the node, separated by ";", a blank, and the
 * bytes.
 */
#include "pictures/picture_private.h"

#include "base/scope.h"

#include <assert.h>

/* Writes a name. Replaces ";", which separates names, with ":". */
static void put_name(struct output *out, const struct picture *picture, size_t node)
{
	const char *name = picture_name(picture, node);

	for (size_t i = 0; i < picture->nodes[node].size; i++)
		output_char(out, name[i] == ';' ? ':' : name[i]);
}

static void put_stack(struct output *out, const struct picture *picture, const size_t *stack)
{
	const size_t depth = picture->nodes[stack[0]].level;

	for (size_t i = depth; i > 0; i--) {
		put_name(out, picture, stack[i - 1]);
		output_char(out, i > 1 ? ';' : ' ');
	}
}

int picture_folded(const struct picture *picture, struct output *out, struct hdb_error *err)
{
	BASE_FREED size_t *stack = NULL;
	size_t deepest = 1;

	for (size_t i = 0; i < picture->count; i++)
		if (picture->nodes[i].level > deepest)
			deepest = picture->nodes[i].level;
	TRY(BASE_ALLOC(stack, deepest, "a stack", err));
	for (size_t i = 1; i < picture->count && out->error == 0; i++) {
		size_t used = 0;

		if (picture->nodes[i].self == 0)
			continue;
		for (size_t n = i; n != 0; n = picture->nodes[n].parent)
			stack[used++] = n;
		assert(used == picture->nodes[i].level);
		put_stack(out, picture, stack);
		output_u64(out, picture->nodes[i].self);
		output_char(out, '\n');
	}
	return HDB_OK;
}
