/*
 * serve/serve_value.c - sends strings as a whole and arrays in chunks.
 */
#include "serve/serve_value.h"

#include "base/scope.h"
#include "base/error.h"
#include "common/output.h"
#include "pictures/pictures.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Number of elements per read. */
#define PIECE 8192

/* Maximum number of bytes in a number with its line end. */
#define NUMBER_MAX 32

static int put(struct serve_job *job, const char *data, size_t size)
{
	return base_write_all(job->fd, data, size) ?
		       HDB_OK :
		       hdb_fail(&job->err, HDB_EIO, "cannot write the value: %s", strerror(errno));
}

static int too_long(struct serve_job *job)
{
	return hdb_fail(&job->err, HDB_ELIMIT,
			"the value is longer than %" PRIu64 " MiB; use the heapdb command",
			SERVE_VALUE_MAX >> 20);
}

/* Writes a whole text. */
static int put_text(struct hdb *db, struct serve_job *job, uint32_t ix)
{
	struct hdb_text text = { .struct_size = sizeof(text) };
	int r = hdb_read_text(db, ix, SERVE_VALUE_MAX, &text, &job->err);

	if (r == HDB_NOTFOUND)
		return hdb_fail(&job->err, r, "the object has fields but no value");
	TRY(r);
	job->is_text = true;
	r = text.is_whole ? put(job, text.text, text.size) : too_long(job);
	free(text.text);
	return r;
}

static size_t format(char *line, enum hdb_basic_type type, uint64_t bits)
{
	struct hdb_basic value;
	int n;

	hdb_basic_of(type, bits, &value);
	if (type == HDB_BASIC_BYTE) {
		*line = (char)value.i;
		return 1;
	}
	if (type == HDB_BASIC_FLOAT || type == HDB_BASIC_DOUBLE)
		n = isnan(value.d) ?
			    snprintf(line, NUMBER_MAX, "NaN\n") :
		    isinf(value.d) ?
			    snprintf(line, NUMBER_MAX, "%sInfinity\n", value.d < 0 ? "-" : "") :
			    snprintf(line, NUMBER_MAX, "%.17g\n", value.d);
	else if (type == HDB_BASIC_OBJECT)
		n = snprintf(line, NUMBER_MAX, "0x%" PRIx64 "\n", value.id);
	else
		n = snprintf(line, NUMBER_MAX, "%" PRId64 "\n", value.i);
	return n > 0 ? (size_t)n : 0;
}

/*
 * Writes the elements in pieces. `text` is a buffer for PIECE formatted elements, and slice->bits
 * for their values.
 */
static int put_pieces(struct hdb *db, struct serve_job *job, uint32_t ix, struct hdb_slice *slice,
		      char *text)
{
	uint64_t left = job->count ? job->count : UINT64_MAX, sent = 0;

	while (left > 0) {
		size_t size = 0;

		slice->room = left < PIECE ? (size_t)left : PIECE;
		TRY(hdb_elements(db, ix, slice, &job->err));
		if (!slice->count)
			break;
		for (size_t i = 0; i < slice->count; i++)
			size += format(text + size, slice->type, slice->bits[i]);
		assert(size <= (size_t)PIECE * NUMBER_MAX);
		sent += size;
		TRY(sent > SERVE_VALUE_MAX ? too_long(job) : put(job, text, size));
		assert(slice->count <= left);
		slice->from += slice->count;
		left -= slice->count;
	}
	return HDB_OK;
}

static int put_array(struct hdb *db, struct serve_job *job, uint32_t ix)
{
	BASE_FREED uint64_t *bits = malloc(PIECE * sizeof(*bits));
	BASE_FREED char *text = malloc((size_t)PIECE * NUMBER_MAX);
	struct hdb_slice slice = { .struct_size = sizeof(slice), .from = job->from, .bits = bits };

	if (!bits || !text)
		return hdb_fail(&job->err, HDB_ENOMEM, "cannot allocate memory for an array");
	return put_pieces(db, job, ix, &slice, text);
}

/* Finds the requested object. */
static int find_object(struct hdb *db, struct serve_job *job, uint32_t *ix,
		       struct hdb_object_facts *facts)
{
	const int r = hdb_find(db, job->object, ix, &job->err);

	if (r == HDB_NOTFOUND)
		return hdb_fail(&job->err, r, "no such object: 0x%" PRIx64, job->object);
	TRY(r);
	return hdb_object_at(db, *ix, facts, &job->err);
}

int serve_value(struct hdb *db, struct serve_job *job)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	uint32_t ix;

	TRY(find_object(db, job, &ix, &facts));
	return facts.kind == HDB_KIND_OBJECT_ARRAY || facts.kind == HDB_KIND_PRIMITIVE_ARRAY ?
		       put_array(db, job, ix) :
		       put_text(db, job, ix);
}

/* ---- bitmaps ---- */

/*
 * Computes the size of the image in bytes. Returns HDB_NOTFOUND if the array is too short for the
 * image.
 */
static int size_picture(struct serve_job *job, uint64_t length, size_t *size)
{
	const uint64_t pixels = job->width <= SERVE_PIXELS_MAX && job->height <= SERVE_PIXELS_MAX ?
					job->width * job->height :
					SERVE_PIXELS_MAX + 1;

	*size = (size_t)length;
	if (job->pixel_bytes > 4 || job->pixel_bytes == 3 || pixels > SERVE_PIXELS_MAX)
		return hdb_fail(&job->err, HDB_NOTFOUND, "invalid image size");
	if (job->pixel_bytes > 0) {
		*size = (size_t)(pixels * job->pixel_bytes);
		if (pixels == 0 || *size > length)
			return hdb_fail(&job->err, HDB_NOTFOUND, "invalid image size");
	}
	return *size > SERVE_VALUE_MAX ? too_long(job) : HDB_OK;
}

/* Finds the array of the requested image, and the size of the image in bytes. */
static int find_picture(struct hdb *db, struct serve_job *job, uint32_t *ix, size_t *size)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	TRY(find_object(db, job, ix, &facts));
	if (facts.kind != HDB_KIND_PRIMITIVE_ARRAY)
		return hdb_fail(&job->err, HDB_NOTFOUND, "not an array of bytes");
	if (job->pixel_bytes > 0 && !picture_png_is_there())
		return hdb_fail(&job->err, HDB_NOTFOUND, "this heapdb was built without libpng");
	return size_picture(job, facts.length, size);
}

static int write_png(const struct pixels *pixels, int fd, struct hdb_error *err)
{
	const int copy = dup(fd);
	FILE *file = copy < 0 ? NULL : fdopen(copy, "wb");
	bool failed;
	int rc;

	if (!file) {
		if (copy >= 0)
			close(copy);
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for an image");
	}
	rc = picture_png_write(pixels, file, err);
	failed = fclose(file) != 0;
	TRY(rc);
	return failed ? hdb_fail(err, HDB_EIO, "cannot store the image") : HDB_OK;
}

static int put_picture(struct serve_job *job, const uint8_t *bytes, size_t size)
{
	const struct image_kind *kind;

	if (job->pixel_bytes > 0) {
		const struct pixels pixels = { (uint32_t)job->width, (uint32_t)job->height,
					       (unsigned)job->pixel_bytes, bytes };

		job->type = "image/png";
		return write_png(&pixels, job->fd, &job->err);
	}
	kind = image_kind_of(bytes, size);
	job->type = kind ? kind->type : NULL;
	return kind ? put(job, (const char *)bytes, size) :
		      hdb_fail(&job->err, HDB_NOTFOUND, "not a PNG, JPEG or WebP image");
}

int serve_bitmap(struct hdb *db, struct serve_job *job)
{
	BASE_FREED uint8_t *bytes = NULL;
	size_t size = 0;
	uint32_t ix;

	TRY(find_picture(db, job, &ix, &size));
	TRY(image_read(db, ix, size, &bytes, &job->err));
	return put_picture(job, bytes, size);
}
