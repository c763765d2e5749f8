/*
 * heapdb/cmd_export_bitmaps.c - `export bitmaps DIR`: writes the bitmaps of a dump to files named
 * by their IDs, and prints a row for each with its status. Pixels become PNG; image data from `am
 * dumpheap -b` is written unchanged. Existing files are replaced; symbolic links are not followed.
 */
#include "heapdb/cli.h"
#include "pictures/pictures.h"
#include "heapdb/render.h"
#include "heapdb/report.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <heapdb/cmd_export_bitmaps.query.h>

struct exporting {
	struct cli *cli;
	struct hdb_rows *rows;
	int folder;
	uint64_t written, left;
	char file[64];
	struct hdb_value cells[BITMAP_COLUMNS];
};

/* A bitmap whose contents are in the array `buffer`. */
struct picture {
	uint64_t id;
	int64_t width, height;
	uint32_t buffer;
	uint64_t length; /* number of elements in `buffer` */
	const char *config;
	size_t config_size;
};

/* Opens the output file x->file in the directory. */
static FILE *open_file(struct exporting *x, uint64_t id, const char *suffix)
{
	int fd;
	FILE *file;

	snprintf(x->file, sizeof(x->file), "0x%" PRIx64 ".%s", id, suffix);
	fd = openat(x->folder, x->file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	file = fd < 0 ? NULL : fdopen(fd, "wb");
	if (!file) {
		hdb_fail(&x->cli->err, HDB_EIO, "%s: %s", x->file, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return file;
}

static int close_file(struct exporting *x, FILE *file, int rc)
{
	const int failed = ferror(file) | fclose(file);

	if (rc == HDB_OK && failed)
		rc = hdb_fail(&x->cli->err, HDB_EIO, "%s: %s", x->file, strerror(errno));
	if (rc != HDB_OK)
		(void)unlinkat(x->folder, x->file, 0);
	return rc;
}

/* Returns the bytes per pixel of a supported configuration, or 0 if it is not supported. */
static unsigned pixel_bytes(const struct picture *p)
{
	static const struct {
		const char *config;
		unsigned bytes;
	} known[] = { { "ARGB_8888", 4 }, { "RGB_565", 2 }, { "ALPHA_8", 1 } };

	for (size_t i = 0; i < BASE_COUNT(known); i++)
		if (strlen(known[i].config) == p->config_size &&
		    memcmp(known[i].config, p->config, p->config_size) == 0)
			return known[i].bytes;
	return 0;
}

/* Writes the first `size` bytes of the buffer to the file. */
static int write_png(struct exporting *x, const struct picture *p, struct pixels *pixels,
		     uint64_t size)
{
	BASE_FREED uint8_t *bytes = NULL;
	FILE *file;

	assert(size <= p->length);
	assert(!pixels->bytes);
	TRY(image_read(x->cli->db, p->buffer, size, &bytes, &x->cli->err));
	pixels->bytes = bytes;
	file = open_file(x, p->id, "png");
	return file ? close_file(x, file, picture_png_write(pixels, file, &x->cli->err)) : HDB_EIO;
}

static int write_pixels(struct exporting *x, const struct picture *p, const char **state)
{
	struct pixels pixels = { .pixel_bytes = pixel_bytes(p) };
	uint64_t size;

	if (!picture_png_is_there()) {
		*state = "not written: built without libpng";
		return HDB_OK;
	}
	if (!pixels.pixel_bytes || p->width <= 0 || p->height <= 0 || p->width > PICTURE_SIDE_MAX ||
	    p->height > PICTURE_SIDE_MAX) {
		*state = "not written: unsupported size or pixel format";
		return HDB_OK;
	}
	pixels.width = (uint32_t)p->width;
	pixels.height = (uint32_t)p->height;
	size = (uint64_t)pixels.width * pixels.height * pixels.pixel_bytes;
	if (size > p->length) {
		*state = "not written: the array is too short for the pixels";
		return HDB_OK;
	}
	*state = "written";
	return write_png(x, p, &pixels, size);
}

static int write_encoded(struct exporting *x, const struct picture *p, const char **state)
{
	BASE_FREED uint8_t *bytes = NULL;
	const struct image_kind *kind;
	FILE *file;

	*state = "not written: the bytes are not a PNG, JPEG or WebP image";
	TRY(image_read(x->cli->db, p->buffer, p->length, &bytes, &x->cli->err));
	kind = image_kind_of(bytes, p->length);
	if (!kind)
		return HDB_OK;
	*state = "written";
	file = open_file(x, p->id, kind->suffix);
	if (!file)
		return HDB_EIO;
	(void)fwrite(bytes, 1, p->length, file);
	return close_file(x, file, HDB_OK);
}

/* Writes the bitmap of the current row, if possible. */
static int write_row(struct exporting *x, const char **state)
{
	const struct hdb_value *config = rows_value(x->rows, "config");
	struct picture p = {
		.id = rows_value(x->rows, "id")->u,
		.width = rows_value(x->rows, "width")->i,
		.height = rows_value(x->rows, "height")->i,
		.config = config->type == HDB_TYPE_TEXT ? config->text : "",
		.config_size = config->type == HDB_TYPE_TEXT ? config->text_size : 0,
	};
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	x->file[0] = '\0';
	if (rows_value(x->rows, "encoding")->type == HDB_TYPE_NULL) {
		*state = rows_is(x->rows, "store", "hardware") ?
				 "not written: the pixels are in graphics memory (HARDWARE)" :
				 "not written: the dump has no pixels (am dumpheap -b png includes "
				 "them)";
		return HDB_OK;
	}
	TRY(hdb_find(x->cli->db, rows_value(x->rows, "buffer")->u, &p.buffer, &x->cli->err));
	TRY(hdb_object_at(x->cli->db, p.buffer, &facts, &x->cli->err));
	p.length = facts.length;
	TRY(rows_is(x->rows, "encoding", "pixels") ? write_pixels(x, &p, state) :
						     write_encoded(x, &p, state));
	if (strcmp(*state, "written") != 0)
		x->file[0] = '\0';
	return HDB_OK;
}

/* ---- rows of the result ---- */

static int source_next(void *ctx, struct hdb_error *err)
{
	struct exporting *x = ctx;
	const char *state = "";
	int rc;

	TRY(hdb_rows_next(x->rows, err));
	rc = write_row(x, &state);
	x->written += x->file[0] != '\0';
	x->left += x->file[0] == '\0';
	x->cells[ID] = *rows_value(x->rows, "id");
	x->cells[WIDTH] = *rows_value(x->rows, "width");
	x->cells[HEIGHT] = *rows_value(x->rows, "height");
	x->cells[CONTENTS] = *rows_value(x->rows, "encoding");
	x->cells[FILE_NAME] = text_value(x->file);
	x->cells[STATE] = text_value(state);
	return rc;
}

static int open_folder(struct exporting *x, const char *name)
{
	if (mkdir(name, 0777) < 0 && errno != EEXIST)
		return hdb_fail(&x->cli->err, HDB_EIO, "%s: %s", name, strerror(errno));
	x->folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (x->folder < 0)
		return hdb_fail(&x->cli->err, HDB_EIO, "%s: %s", name, strerror(errno));
	return HDB_OK;
}

static int print(struct exporting *x)
{
	struct cli *cli = x->cli;
	const struct row_source source = {
		.ctx = x,
		.count = BITMAP_COLUMNS,
		.columns = bitmap_columns,
		.cells = x->cells,
		.next = source_next,
	};
	struct answer answer = { .name = "export bitmaps", .source = &source };

	TRY(print_answer(cli, &answer));
	cli_notice(cli, "%" PRIu64 " of %" PRIu64 " bitmaps written to %s", x->written,
		   x->written + x->left, cli->opt.operands[0]);
	return HDB_OK;
}

static void release(struct exporting *x)
{
	if (x->folder >= 0)
		close(x->folder);
	hdb_rows_close(x->rows);
}

int cmd_export_bitmaps(struct cli *cli)
{
	BASE_SCOPED(release) struct exporting x = { .cli = cli, .folder = -1 };
	const struct hdb_query_args args = {
		.struct_size = sizeof(args),
		.options = cli->opt.query_options,
		.option_count = cli->opt.query_option_count,
	};

	if (cli->opt.operand_count != 1)
		return cli_usage(cli, "expected one directory");
	if (!cli->opt.has_format)
		cli->opt.format = FORMAT_TABLE;
	TRY(hdb_query(cli->db, "bitmaps", &args, &x.rows, &cli->err));
	TRY(open_folder(&x, cli->opt.operands[0]));
	return hdb_rows_find_column(x.rows, "encoding") == SIZE_MAX ?
		       cli_usage(cli, "--duplicates only lists bitmaps and does not take a "
				      "directory") :
		       print(&x);
}
