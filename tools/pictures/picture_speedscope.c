/*
 * pictures/picture_speedscope.c - a tree as a file for speedscope.app: one frame for each name, one
 * profile whose events open and close a frame at the byte where it begins and ends.
 */
#include "pictures/picture_private.h"

#include "common/fail.h"

#include <stdlib.h>
#include <string.h>

static int compare_name(const void *a, const void *b, void *ctx)
{
	const struct picture *picture = ctx;
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const size_t x_size = picture->nodes[x].size, y_size = picture->nodes[y].size;
	const int order = memcmp(picture_name(picture, x), picture_name(picture, y),
				 x_size < y_size ? x_size : y_size);

	if (order != 0)
		return order;
	return x_size < y_size ? -1 : x_size > y_size;
}

/* Prints each name once and notes which one a node has. */
static void put_frames(struct output *out, struct picture *picture, const size_t *sorted,
		       size_t *frame_of)
{
	size_t frames = 0;

	for (size_t i = 0; i + 1 < picture->count; i++) {
		const size_t node = sorted[i];

		if (i == 0 || compare_name(&sorted[i - 1], &node, picture) != 0) {
			output_string(out, frames ? ",\n{\"name\":" : "\n{\"name\":");
			output_json(out, picture_name(picture, node), picture->nodes[node].size);
			output_char(out, '}');
			frames++;
		}
		frame_of[node] = frames - 1;
	}
}

static void put_event(struct output *out, char type, size_t frame, uint64_t at)
{
	output_format(out, "%s{\"type\":\"%c\",\"frame\":%zu,\"at\":", type == 'O' ? "\n" : "",
		      type, frame);
	output_u64(out, at);
	output_char(out, '}');
}

/*
 * In the order of the rows: a node begins where the one before it on its level ended, and ends when
 * a row comes that is not below it.
 */
static void put_events(struct output *out, const struct picture *picture, const size_t *frame_of,
		       uint64_t *begins)
{
	const struct picture_node *nodes = picture->nodes;
	uint64_t at = 0;
	bool is_first = true;
	size_t open = 0;

	for (size_t i = 1; i <= picture->count; i++) {
		const size_t up = i < picture->count ? nodes[i].parent : 0;

		for (; open != up; open = nodes[open].parent) {
			at = begins[open] + nodes[open].bytes;
			output_char(out, ',');
			put_event(out, 'C', frame_of[open], at);
		}
		if (i == picture->count)
			break;
		begins[i] = at;
		if (!is_first)
			output_char(out, ',');
		put_event(out, 'O', frame_of[i], at);
		is_first = false;
		open = i;
	}
}

int picture_speedscope(struct picture *picture, struct output *out, struct hdb_error *err)
{
	size_t *sorted = NULL, *frame_of = NULL;
	uint64_t *begins = NULL;
	int rc = HDB_OK;

	sorted = calloc(picture->count, sizeof(sorted[0]));
	frame_of = calloc(picture->count, sizeof(frame_of[0]));
	begins = calloc(picture->count, sizeof(begins[0]));
	if (!sorted || !frame_of || !begins) {
		rc = door_fail(err, HDB_ENOMEM, "no memory for %zu nodes", picture->count);
		goto out;
	}
	for (size_t i = 1; i < picture->count; i++)
		sorted[i - 1] = i;
	qsort_r(sorted, picture->count - 1, sizeof(sorted[0]), compare_name, picture);
	output_string(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
			   "\"exporter\":\"heapdb\",\"shared\":{\"frames\":[");
	put_frames(out, picture, sorted, frame_of);
	output_string(out, "]},\n\"profiles\":[{\"type\":\"evented\",\"name\":");
	output_json(out, picture->title, strlen(picture->title));
	output_string(out, ",\"unit\":\"bytes\",\"startValue\":0,\"endValue\":");
	output_u64(out, picture->nodes[0].bytes);
	output_string(out, ",\"events\":[");
	put_events(out, picture, frame_of, begins);
	output_string(out, "]}]}\n");
out:
	free(sorted);
	free(frame_of);
	free(begins);
	return rc;
}
