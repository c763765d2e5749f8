/*
 * heapdb/prose_path.c - prints a path from a GC root to an object in the style of a leak trace.
 * Rows arrive from the object to the root, and a path may have millions of steps: if it exceeds
 * PATH_STEPS_MAX, steps in the middle are counted but not printed.
 */
#include "heapdb/cli.h"
#include "heapdb/prose.h"

/* Maximum number of steps printed: half at the object, half at the root. */
#define PATH_STEPS_MAX 2000u
#define PATH_HALF (PATH_STEPS_MAX / 2)

/* A formatted step: its text begins at `at` in `text`. */
struct step {
	struct bytes name;  /* "java.lang.Thread "main" 0x12c4" */
	struct bytes sizes; /* "shallow 16 B, retained 80 B" */
	struct bytes field; /* the field that holds the object of the previous row, or "" */
	struct bytes root;  /* kinds of GC root, or "" */
};

struct path {
	struct step
		step[PATH_STEPS_MAX]; /* the first half in order, then a ring of the latest steps */
	uint64_t count;               /* number of steps on the path */
};

static struct step *place_of(struct path *path, uint64_t no)
{
	return &path->step[no < PATH_HALF ? no : PATH_HALF + (no - PATH_HALF) % PATH_HALF];
}

static void keep(struct path *path, const struct output *out, const struct hdb_rows *rows)
{
	struct step *step = place_of(path, path->count++);

	step->name.size = step->sizes.size = step->field.size = step->root.size = 0;
	prose_add_row(&step->name, out, rows, "{label} {id}");
	prose_add_row(&step->sizes, out, rows, "shallow {shallow}[, retained {retained}]");
	prose_add(&step->field, out, rows_value(rows, "via_field"));
	prose_add(&step->root, out, rows_value(rows, "root"));
}

static void put(struct output *out, const struct bytes *text)
{
	output_bytes(out, text->data ? text->data : "", text->size);
}

static void put_step(struct output *out, struct path *path, uint64_t no)
{
	const struct step *step = place_of(path, no),
			  *below = no > 0 ? place_of(path, no - 1) : NULL;
	const char *bar = prose_stroke(STROKE_BAR);

	if (no + 1 == path->count && step->root.size) {
		output_format(out, "%s GC root: ", prose_stroke(STROKE_ROOT));
		put(out, &step->root);
		output_format(out, "\n%s\n", bar);
	}
	output_format(out, "%s ", prose_stroke(below ? STROKE_STEP : STROKE_LAST));
	put(out, &step->name);
	output_format(out, "\n%s    ", below ? bar : " ");
	put(out, &step->sizes);
	output_char(out, '\n');
	/* each step shows the field that holds the step below */
	if (below) {
		output_format(out, "%s    %s ", bar, prose_stroke(STROKE_DOWN));
		put(out, &step->field);
		output_char(out, '\n');
	}
}

static void put_path(struct output *out, struct path *path)
{
	for (uint64_t no = path->count; no-- > 0;) {
		if (path->count > PATH_STEPS_MAX && no + 1 == path->count - PATH_HALF) {
			const uint64_t left_out = path->count - PATH_STEPS_MAX;

			output_format(out, "%s    ... %s more steps\n", prose_stroke(STROKE_BAR),
				      base_number(left_out).text);
			no = PATH_HALF - 1;
		}
		put_step(out, path, no);
	}
	path->count = 0;
}

static int put_paths(struct answer *answer, struct path *path, const struct render_style *style,
		     struct output *out)
{
	uint64_t now = 0;
	int rc;

	while ((rc = answer_next(answer, out)) == HDB_OK) {
		const uint64_t no = rows_value(answer->rows, "path")->u;

		if (no != now && now) {
			put_path(out, path);
			output_char(out, '\n');
		}
		now = no;
		keep(path, out, answer->rows);
	}
	if (path->count)
		put_path(out, path);
	if (rc == HDB_END && answer->row_count == 0)
		output_string(out, "no path: no GC root reaches the object\n");
	return rc == HDB_END ? prose_footer(answer, style, out) : rc;
}

int prose_path(struct answer *answer, const struct render_style *style, struct output *out)
{
	BASE_FREED struct path *path = NULL;
	int rc;

	TRY(BASE_ALLOC(path, 1, "a path", answer->err));
	rc = put_paths(answer, path, style, out);
	for (size_t i = 0; i < PATH_STEPS_MAX; i++) {
		output_release(out, &path->step[i].name);
		output_release(out, &path->step[i].sizes);
		output_release(out, &path->step[i].field);
		output_release(out, &path->step[i].root);
	}
	return rc;
}
