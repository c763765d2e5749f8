/*
 * pictures/picture_speedscope.c - writes a file for speedscope.app. It has one frame per name, and
 * one profile, whose events open and close a frame at the byte offsets of each node.
 */
#include "pictures/picture_private.h"

#include "base/scope.h"
#include "base/sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int compare_name(const void *a, const void *b, void *ctx)
{
	const struct picture *picture = ctx;
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return base_compare_text(picture_name(picture, x), picture->nodes[x].size,
				 picture_name(picture, y), picture->nodes[y].size);
}

int picture_frames(struct picture *picture, struct picture_frames *frames, struct hdb_error *err)
{
	size_t *nodes, *of;

	TRY(BASE_ALLOC(frames->nodes, picture->count, "nodes", err));
	TRY(BASE_ALLOC(frames->of, picture->count, "nodes", err));
	nodes = frames->nodes;
	of = frames->of;
	for (size_t i = 1; i < picture->count; i++)
		nodes[i - 1] = i;
	qsort_r(nodes, picture->count - 1, sizeof(nodes[0]), compare_name, picture);
	for (size_t i = 0; i + 1 < picture->count; i++) {
		const size_t node = nodes[i];

		if (i == 0 || compare_name(&nodes[frames->count - 1], &node, picture) != 0)
			nodes[frames->count++] = node;
		of[node] = frames->count - 1;
	}
	assert(frames->count < picture->count);
	return HDB_OK;
}

void picture_frames_release(struct picture_frames *frames)
{
	free(frames->of);
	free(frames->nodes);
}

static void put_event(struct output *out, char type, size_t frame, uint64_t at)
{
	output_format(out, "%s{\"type\":\"%c\",\"frame\":%zu,\"at\":", type == 'O' ? "\n" : "",
		      type, frame);
	output_u64(out, at);
	output_char(out, '}');
}

/*
 * Writes the events, in the order of rows. A node begins where its previous sibling ended, and ends
 * at the first row that is not its descendant.
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
	BASE_SCOPED(picture_frames_release) struct picture_frames frames = { 0 };
	BASE_FREED uint64_t *begins = NULL;

	TRY(picture_frames(picture, &frames, err));
	TRY(BASE_ALLOC(begins, picture->count, "nodes", err));
	output_string(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
			   "\"exporter\":\"heapdb\",\"shared\":{\"frames\":[");
	for (size_t i = 0; i < frames.count; i++) {
		output_string(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		output_json(out, picture_name(picture, frames.nodes[i]),
			    picture->nodes[frames.nodes[i]].size);
		output_char(out, '}');
	}
	output_string(out, "]},\n\"profiles\":[{\"type\":\"evented\",\"name\":");
	output_json(out, picture->title, strlen(picture->title));
	output_string(out, ",\"unit\":\"bytes\",\"startValue\":0,\"endValue\":");
	output_u64(out, picture->nodes[0].bytes);
	output_string(out, ",\"events\":[");
	put_events(out, picture, frames.of, begins);
	output_string(out, "]}]}\n");
	return HDB_OK;
}
