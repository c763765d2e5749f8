/*
 * heapdb/render_table.c - prints an aligned table, the number of rows, and facts.
 *
 * Rows are laid out in batches. Later batches may widen columns, so a table of millions of rows is
 * printed as it arrives, in little memory. If the rows fit in one batch, columns without
 * information (all zero or all equal) are named below the table instead. Trees are drawn with lines
 * before the names and have no column "level".
 *
 * A line wider than the terminal is shortened in steps, until it fits:
 *
 * 1. Packages become initials, in the widest column first.
 * 2. Columns are hidden, and named below the table: those of the older dump first, then from the
 *    last column back to the retained size.
 * 3. Packages are removed.
 * 4. Strings are truncated to CUT_FIRST columns.
 * 5. More columns are hidden.
 * 6. Strings are truncated to CUT_MIN, those of the first column last, since it names the row.
 * 7. Any column is hidden, the retained size last.
 *
 * Numbers are never truncated. Names, paths and frames keep their end, because it tells them apart.
 */
#include "heapdb/cli.h"
#include "heapdb/prose.h"
#include "base/try.h"
#include "heapdb/render.h"
#include "common/shorten.h"

#include <langinfo.h>
#include <math.h>

/* A batch ends at this many rows or bytes. */
#define BATCH_ROWS 500
#define BATCH_BYTES (1U << 20)

/* Maximum padding, so that one long value does not widen the whole column. */
#define PAD_MAX 100

/*
 * Width to which strings are truncated before columns of numbers are hidden. Strings of this width
 * can still be distinguished.
 */
#define CUT_FIRST 28
/* Minimum width of truncated strings, even if the line exceeds the terminal. */
#define CUT_MIN 12

/* Columns that are hidden first. */
#define ASIDE "position|limit|address|unreachable_objects|unreachable_shallow|largest local"

/* Maximum indentation of a tree. */
#define TREE_DEPTH 20

/* Ways to shorten class names. */
enum { WHOLE, INITIALS, NO_PACKAGES };

/* Layout of a column. */
struct column {
	size_t width; /* width for padding */
	size_t cut;   /* maximum columns printed; 0 means unlimited */
	bool is_text;
	bool is_value;  /* whether the column contains strings of the heap */
	bool is_minor;  /* whether the column contains strings that are truncated before others */
	unsigned names; /* how class names are shortened; see the enum above */
	bool is_hidden; /* whether the column does not fit and is hidden */
	bool is_twin;   /* whether another column shows the same information */
	bool is_same;   /* whether all rows have the same value, which is shown below the table */
	bool stays;     /* whether the column is never hidden */
	bool is_aside;  /* whether the column is hidden before columns that lack this flag */
	/*
	 * whether this column and the columns before it are hidden only if strings cannot be
	 * truncated further
	 */
	bool matters;
};

struct cell {
	size_t at;    /* offset in the batch's text */
	size_t lead;  /* width of the tree lines before the name */
	size_t size;  /* length in bytes */
	size_t width; /* width in columns */
};

struct table {
	struct answer *answer;
	const struct render_style *style;
	struct output *out;
	size_t columns;
	size_t last;                /* last visible column */
	struct column *column;      /* one per column; borrowed */
	struct cell *cells;         /* cells of the batch; borrowed */
	size_t rows;                /* rows in the batch */
	size_t tree, level;         /* columns of a tree's names and levels; SIZE_MAX if no tree */
	uint64_t depth[BATCH_ROWS]; /* level of each row in the batch */
	uint32_t follows[BATCH_ROWS]; /* bit set by level: whether a sibling follows further down */
	struct bytes text;            /* text of the batch */
	struct bytes shortened;       /* the shortened cell */
	struct bytes same;            /* names and values of the columns with a single value */
	size_t blanks;                /* pending blanks before the next text of the line */
	const char *line_end;
	bool has_heading; /* whether the heading was printed */
	bool is_cut;      /* whether a name was shortened or a cell truncated */
};

static size_t put_number(struct bytes *out, const char *buf, size_t size)
{
	bytes_add(out, buf, size);
	return size;
}

static size_t put_string(struct bytes *out, const char *string)
{
	return put_number(out, string, strlen(string));
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

size_t value_for_people(const struct hdb_value *value, const struct render_style *style,
			struct bytes *out)
{
	char buf[OUTPUT_NUMBER_SIZE];
	size_t sign;
	int n;

	switch (value->type) {
	case HDB_TYPE_COUNT:
		return put_string(out, base_number(value->u).text);
	case HDB_TYPE_BYTES:
		return put_string(out, style->human ? base_size(value->u).text :
						      base_number(value->u).text);
	case HDB_TYPE_ID:
		return put_number(out, buf, format_id(buf, value->u));
	case HDB_TYPE_INT:
		sign = value->i < 0 ? put_string(out, "-") : 0;
		return sign + put_string(out, base_number(magnitude(value->i)).text);
	case HDB_TYPE_DOUBLE:
		return put_number(out, buf, format_real(buf, value->d));
	case HDB_TYPE_PERCENT:
		if (!isfinite(value->d))
			break;
		/* avoid "-0.00" */
		n = snprintf(buf, sizeof(buf), fabs(value->d) < 1e15 ? "%.2f" : "%g",
			     fabs(value->d) < 0.005 ? 0 : value->d);
		return put_number(out, buf, n > 0 ? (size_t)n : 0);
	case HDB_TYPE_BOOL:
		return put_string(out, value->u ? "yes" : "no");
	case HDB_TYPE_TEXT:
		return escape_text(out, value->text, value->text_size);
	case HDB_TYPE_NULL:
		break;
	}
	return put_string(out, "-");
}

/*
 * Prints the column `steps`, such as "1200 1340", in readable sizes. Commas separate the sizes,
 * because sizes contain blanks.
 */
static size_t put_sizes(struct bytes *out, const struct hdb_value *list)
{
	const char *text = list->text, *end = text + list->text_size;
	size_t width = 0;

	while (text < end) {
		uint64_t size = 0;

		for (; text < end && *text >= '0' && *text <= '9'; text++)
			size = size * 10 + (uint64_t)(*text - '0');
		if (text < end)
			text++;
		width += put_string(out, base_size(size).text);
		if (text < end)
			width += put_string(out, ", ");
	}
	return width;
}

size_t column_for_people(const struct hdb_column *column, const struct hdb_value *value,
			 const struct render_style *style, struct bytes *out)
{
	const char *end = strstr(column->name, "_delta");
	uint64_t size;
	size_t n;

	if (style->human && value->type == HDB_TYPE_TEXT && strcmp(column->name, "steps") == 0)
		return put_sizes(out, value);
	if (!end || end[strlen("_delta")] || value->type != HDB_TYPE_INT)
		return value_for_people(value, style, out);
	size = magnitude(value->i);
	n = size ? put_string(out, value->i < 0 ? "-" : "+") : 0;
	return n + put_string(out, style->human && strncmp(column->name, "objects", 7) != 0 ?
					   base_size(size).text :
					   base_number(size).text);
}

/* Returns the heading of a column: its name, as accepted by --columns, --sort and --where. */
static const char *heading(const struct table *t, size_t no)
{
	const struct hdb_column *column = answer_column(t->answer, no);

	return column->title && !*column->title ? "" : column->name;
}

static const char *ellipsis(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? "\xe2\x80\xa6" : "~";
}

/* Prints pending blanks and text, so that no line ends in blanks. */
static void put_aligned(struct table *t, const char *text, size_t size)
{
	if (size == 0)
		return;
	output_blanks(t->out, t->blanks);
	t->blanks = 0;
	output_bytes(t->out, text, size);
}

/*
 * Finds the informative end of a string: the last step of a path "a > b" or "a -> b", or the method
 * of a frame "a.b(C.java:12)". Returns the text's size if no part is more informative, and 0 for a
 * single word.
 */
static size_t specific_end(const char *text, size_t size)
{
	const char *end = memchr(text, '(', size);
	size_t at = size;

	for (size_t i = 1; i + 2 < size; i++) {
		if (memcmp(text + i, "> ", 2) == 0 && (text[i - 1] == ' ' || text[i - 1] == '-'))
			at = i - 1 - (text[i - 1] == '-' && i > 1 && text[i - 2] == ' ');
	}
	if (at < size)
		return at;
	if (end && text[size - 1] == ')') {
		at = (size_t)(end - text);
		while (at > 0 && text[at] != '.')
			at--;
		return at;
	}
	return memchr(text, ' ', size) || memchr(text, '"', size) ? size : 0;
}

/*
 * Prints the beginning of a string and, if useful, its end from `end` on, in `room` columns.
 * Returns the columns used.
 */
static size_t put_cut(struct table *t, const char *text, const struct cell *cell, size_t end,
		      size_t room)
{
	const size_t size = cell->size, width = cell->width - cell->lead;
	size_t before, head, taken, skipped = 0, from = size;

	assert(room < width);
	escape_fit(text, end, SIZE_MAX, &before);
	head = width - before <= room ? room - (width - before) : 0;
	before = escape_fit(text, size, head, &taken);
	/* remove as little as necessary */
	for (size_t gone = width - (room - taken); end < size && gone < width; gone++) {
		from = escape_fit(text, size, gone, &skipped);
		if (width - skipped <= room - taken)
			break;
		from = size;
	}
	put_aligned(t, text, before);
	put_aligned(t, ellipsis(), strlen(ellipsis()));
	put_aligned(t, text + from, size - from);
	return taken + (from < size ? width - skipped : 0);
}

/* ---- trees ---- */

/* Determines for each row of the batch the levels on which siblings follow. */
static void find_followers(struct table *t)
{
	uint32_t follows = 0;

	for (size_t row = t->rows; t->tree != SIZE_MAX && row-- > 0;) {
		const uint64_t depth = t->depth[row] < TREE_DEPTH ? t->depth[row] : TREE_DEPTH;

		t->follows[row] = follows;
		follows = (follows & ((1U << depth) - 1)) | (1U << depth);
	}
}

/*
 * Prints the tree lines before a row's name. If space is short, prints only the lines of the last
 * levels.
 */
static void put_lead(struct table *t, size_t row, size_t columns)
{
	static const char *const boxes[] = { "  ", "\xe2\x94\x82 ", "\xe2\x94\x94 ",
					     "\xe2\x94\x9c " };
	static const char *const ascii[] = { "  ", "| ", "`-", "|-" };
	const char *const *strokes = prose_has_boxes() ? boxes : ascii;
	const uint64_t depth = t->depth[row] < TREE_DEPTH ? t->depth[row] : TREE_DEPTH;

	for (uint64_t level = depth - columns / 2 + 1; level <= depth; level++) {
		const char *stroke =
			strokes[(t->follows[row] >> level & 1) + (level == depth ? 2 : 0)];

		put_aligned(t, stroke, strlen(stroke));
	}
}

/*
 * Prints a cell, truncated to its column's limit and right-aligned for numbers. The last column
 * ends the line. `lead` columns of tree lines are already printed.
 */
static void put_text(struct table *t, size_t no, struct cell cell, const char *text)
{
	const struct column *column = &t->column[no];
	size_t width = cell.width - cell.lead;

	assert(no < t->columns);
	if (column->is_hidden)
		return;
	if (!column->is_text && width < column->width)
		t->blanks += column->width - width;
	if (column->cut > 0 && cell.width > column->cut) {
		const size_t end = column->is_value ? cell.size : specific_end(text, cell.size);

		width = put_cut(t, text, &cell, end, column->cut - cell.lead - 1) + 1;
		t->is_cut = true;
	} else {
		put_aligned(t, text, cell.size);
	}
	width += cell.lead;
	if (column->is_text && width < column->width)
		t->blanks += column->width - width;
	t->blanks += 2;
	if (no == t->last) {
		output_string(t->out, t->line_end);
		t->blanks = 0;
	}
}

/* ---- making a line fit ---- */

/*
 * Returns the number of bytes at the beginning of a cell in which class names may be shortened. OQL
 * prints an object as "CLASS @ 0x12c4  TEXT", and other texts are strings of the heap.
 */
static size_t names_size(const struct table *t, const char *text, size_t size)
{
	const char *at;

	if (strcmp(t->answer->name, "oql") != 0)
		return size;
	at = memmem(text, size, " @ 0x", 5);
	return at ? (size_t)(at - text) : 0;
}

/* Appends the cell to t->shortened with its column's name shortening. Returns the width removed. */
static size_t shorten_cell(struct table *t, size_t no, const struct cell *cell)
{
	const char *text = t->text.data + cell->at;
	const size_t size = names_size(t, text, cell->size);
	const size_t removed = t->column[no].names == INITIALS ?
				       shorten_names(&t->shortened, text, size) :
				       shorten_packages(&t->shortened, text, size);

	bytes_add(&t->shortened, text + size, cell->size - size);
	return removed;
}

/* Returns the printed width of the widest cell of the column in the batch. */
static size_t widest_cell(struct table *t, size_t no)
{
	size_t widest = 0;

	for (size_t row = 0; row < t->rows; row++) {
		const struct cell *cell = &t->cells[row * t->columns + no];
		size_t width = cell->width;

		if (t->column[no].names) {
			t->shortened.size = 0;
			width -= shorten_cell(t, no, cell);
		}
		if (width > widest)
			widest = width;
	}
	return widest;
}

static size_t line_width(const struct table *t)
{
	size_t width = 0;

	for (size_t i = 0; i < t->columns; i++)
		width += t->column[i].is_hidden ? 0 : t->column[i].width + 2;
	return width ? width - 2 : 0;
}

/*
 * Finds the widest visible text column from `from` on that is wider than `least`; with `names`,
 * only a column whose names can be shortened that far.
 */
static struct column *widest_text(struct table *t, size_t from, size_t least, unsigned names)
{
	struct column *widest = NULL;

	for (size_t i = from; i < t->columns; i++) {
		struct column *c = &t->column[i];

		if (c->is_text && !c->is_hidden && c->width > (widest ? widest->width : least) &&
		    !(names && (c->names >= names || c->is_value)))
			widest = c;
	}
	return widest;
}

static size_t title_width(const struct table *t, size_t no)
{
	return strlen(heading(t, no));
}

static void shorten_widest(struct table *t, unsigned names)
{
	struct column *c;

	while (line_width(t) > t->style->width && (c = widest_text(t, 0, 0, names)) != NULL) {
		const size_t no = (size_t)(c - t->column), title = title_width(t, no);
		size_t width;

		assert(c->names < names); /* each pass shortens another column, so the loop ends */
		c->names = names;
		width = widest_cell(t, no);
		/* in a later batch, the widths of printed columns do not change */
		if (!t->has_heading && width < c->width)
			c->width = width > title ? width : title;
	}
}

/* Returns the column after the first text, which names the row. */
static size_t after_name(const struct table *t)
{
	size_t i = 0;

	while (i < t->columns && (!t->column[i].is_text || t->column[i].is_hidden))
		i++;
	return i + 1;
}

/*
 * Shortens and truncates less important strings. widen_cut widens these strings again if there is
 * unused space.
 */
static void cut_minor(struct table *t)
{
	for (size_t i = 0; i < t->columns; i++) {
		struct column *c = &t->column[i];

		if (!c->is_minor || c->width <= CUT_MIN || t->has_heading ||
		    line_width(t) <= t->style->width)
			continue;
		c->names = NO_PACKAGES;
		c->width = c->cut = CUT_MIN;
	}
}

/*
 * Truncates the widest strings in the columns from `from` on, to no less than `least` characters,
 * until the line fits.
 */
static void cut_widest(struct table *t, size_t from, size_t least)
{
	size_t line;

	while ((line = line_width(t)) > t->style->width) {
		const size_t over = line - t->style->width;
		struct column *widest = widest_text(t, from, least, WHOLE);
		size_t second = least, less;

		if (!widest)
			break;
		for (size_t i = from; i < t->columns; i++) {
			const struct column *c = &t->column[i];

			if (c != widest && c->is_text && !c->is_hidden && c->width > second)
				second = c->width;
		}
		/*
		 * reduce the column to the width of the second widest, or by one if both are equal
		 */
		less = widest->width > second ? widest->width - second : 1;
		less = less < over ? less : over;
		assert(less > 0);
		assert(less <= widest->width);
		widest->width -= less;
		widest->cut = widest->width;
	}
}

/*
 * Hides columns whose information another column also shows, such as the columns of the older dump
 * next to growth. Starts with the last column.
 */
static void hide_aside(struct table *t)
{
	for (size_t i = t->columns; i-- > 0 && !t->has_heading && line_width(t) > t->style->width;)
		t->column[i].is_hidden |= t->column[i].is_aside && !t->column[i].stays;
}

/*
 * The columns to hide: columns after the last important column, unimportant columns, or all
 * columns.
 */
enum hiding { BEHIND, OTHERS, ALL };

/*
 * Hides columns, starting with the last, until the table fits. Columns already printed are kept.
 */
static void hide_last(struct table *t, enum hiding which)
{
	for (size_t i = t->columns;
	     i-- > 0 && !t->has_heading && line_width(t) > t->style->width;) {
		if (t->column[i].matters && which == BEHIND)
			break;
		if (!t->column[i].matters || which == ALL)
			t->column[i].is_hidden |= !t->column[i].stays;
	}
}

/* Widens truncated texts into the space that hidden columns have freed. */
static void widen_cut(struct table *t)
{
	for (size_t i = 0; i < t->columns; i++) {
		struct column *c = &t->column[i];
		const size_t line = line_width(t), natural = widest_cell(t, i);

		if (c->cut == 0 || c->is_hidden || t->has_heading || line >= t->style->width)
			continue;
		c->width += t->style->width - line;
		if (c->width >= natural) {
			c->width = natural > title_width(t, i) ? natural : title_width(t, i);
			c->cut = 0;
		} else {
			c->cut = c->width;
		}
	}
}

/* Widens the columns for the batch, then makes the line fit the terminal. */
static void lay_out(struct table *t)
{
	for (size_t i = 0; i < t->columns; i++) {
		struct column *c = &t->column[i];
		const size_t title = title_width(t, i), widest = widest_cell(t, i);

		if (c->width < title)
			c->width = title;
		if (c->width < widest)
			c->width = widest;
		if (c->cut > 0 && c->width > c->cut)
			c->width = c->cut;
		if (t->style->width == 0 && c->width > PAD_MAX)
			c->width = PAD_MAX;
	}
	if (t->style->width == 0 || line_width(t) <= t->style->width)
		return;
	shorten_widest(t, INITIALS);
	hide_aside(t);
	cut_minor(t);
	cut_widest(t, after_name(t), CUT_FIRST);
	hide_last(t, BEHIND);
	shorten_widest(t, NO_PACKAGES);
	cut_widest(t, 0, CUT_FIRST);
	hide_last(t, OTHERS);
	cut_widest(t, after_name(t), CUT_MIN);
	cut_widest(t, 0, CUT_MIN);
	hide_last(t, ALL);
	widen_cut(t);
}

/* Prints the headings. Omits the line if no column has a heading. */
static void put_heading(struct table *t)
{
	size_t letters = 0;

	t->has_heading = true;
	for (size_t i = 0; i < t->columns; i++)
		letters += title_width(t, i);
	if (letters == 0)
		return;
	output_string(t->out, t->style->has_colour ? STYLE_BOLD : "");
	t->line_end = t->style->has_colour ? STYLE_END "\n" : "\n";
	for (size_t i = 0; i < t->columns; i++) {
		const size_t width = title_width(t, i);

		put_text(t, i, (struct cell){ .size = width, .width = width }, heading(t, i));
	}
	t->line_end = "\n";
}

/* Prints a cell with its column's name shortening, after the tree lines. */
static void put_cell(struct table *t, size_t row, size_t no)
{
	struct cell cell = t->cells[row * t->columns + no];
	const struct column *column = &t->column[no];
	const char *text = t->text.data + cell.at;

	if (column->names) {
		size_t less;

		t->shortened.size = 0;
		less = shorten_cell(t, no, &cell);
		t->is_cut |= less > 0;
		cell.width -= less;
		cell.size = t->shortened.size;
		text = t->shortened.data;
	}
	if (cell.lead && column->cut && cell.width > column->cut && cell.lead > column->cut / 2) {
		const size_t lead = column->cut / 4 * 2;

		cell.width -= cell.lead - lead;
		cell.lead = lead;
	}
	if (cell.lead && !column->is_hidden)
		put_lead(t, row, cell.lead);
	put_text(t, no, cell, text ? text : "");
}

static void put_batch(struct table *t)
{
	assert(t->rows > 0);
	assert(t->rows <= BATCH_ROWS);
	find_followers(t);
	lay_out(t);
	for (size_t i = 0; i < t->columns; i++)
		t->last = t->column[i].is_hidden ? t->last : i;
	if (!t->has_heading)
		put_heading(t);
	for (size_t row = 0; row < t->rows; row++)
		for (size_t i = 0; i < t->columns; i++)
			put_cell(t, row, i);
	t->rows = 0;
	t->text.size = 0;
}

static bool is_null(const struct table *t, const struct cell *cell)
{
	return cell->size == 1 && t->text.data[cell->at] == '-';
}

/* Returns whether the cell is empty or zero. */
static bool is_nothing(const struct table *t, const struct cell *cell)
{
	static const char *const nothing[] = { "-", "0", "0 B", "0.00", "no" };
	const char *text = t->text.data + cell->at;

	for (size_t i = 0; i < BASE_COUNT(nothing); i++)
		if (strlen(nothing[i]) == cell->size && memcmp(nothing[i], text, cell->size) == 0)
			return true;
	return false;
}

/*
 * Returns whether the line below the table mentions the column. Values absent from most dumps are
 * not mentioned.
 */
static bool says_so(const struct table *t, size_t no)
{
	const struct cell *cell = &t->cells[no];

	return *heading(t, no) && !(is_nothing(t, cell) && strstr(heading(t, no), "native")) &&
	       !is_null(t, cell);
}

/*
 * Hides columns without information: columns without values, columns that are empty or zero in all
 * of at least two rows, and unimportant columns with the same value in all of at least three rows.
 */
static void hide_same(struct table *t)
{
	for (size_t i = 0; i < t->columns; i++) {
		struct column *c = &t->column[i];
		const struct cell *first = &t->cells[i];
		bool is_same = !c->is_hidden && !c->stays && !t->style->is_wide &&
			       t->rows > (is_null(t, first)    ? 0 :
					  is_nothing(t, first) ? 1 :
								 2) &&
			       (is_nothing(t, first) || !c->matters);

		for (size_t row = 1; row < t->rows && is_same; row++) {
			const struct cell *cell = &t->cells[row * t->columns + i];

			is_same = cell->size == first->size &&
				  memcmp(t->text.data + cell->at, t->text.data + first->at,
					 cell->size) == 0;
		}
		c->is_hidden |= c->is_same = is_same;
		c->is_twin |= is_same;
		if (is_same && says_so(t, i)) {
			bytes_add(&t->same, ", ", t->same.size ? 2 : 0);
			bytes_string(&t->same, heading(t, i));
			bytes_add(&t->same, " ", 1);
			shorten_packages(&t->same, t->text.data + first->at, first->size);
		}
	}
}

static void take_cell(struct table *t, size_t no, struct cell *cell)
{
	const struct hdb_value *value = answer_value(t->answer, no);

	cell->at = t->text.size;
	cell->width = column_for_people(answer_column(t->answer, no), value, t->style, &t->text);
	cell->size = t->text.size - cell->at;
	cell->lead = no == t->tree ?
			     2 * (t->depth[t->rows] < TREE_DEPTH ? t->depth[t->rows] : TREE_DEPTH) :
			     0;
	cell->width += cell->lead;
}

static int put_rows(struct table *t)
{
	int rc;

	while ((rc = answer_next(t->answer, t->out)) == HDB_OK) {
		assert(t->rows < BATCH_ROWS);
		if (t->tree != SIZE_MAX) {
			const struct hdb_value *level = answer_value(t->answer, t->level);

			t->depth[t->rows] = level->type == HDB_TYPE_NULL ? 0 : level->u;
		}
		for (size_t i = 0; i < t->columns; i++)
			take_cell(t, i, &t->cells[t->rows * t->columns + i]);
		if (t->text.failed || t->shortened.failed)
			return hdb_fail(t->answer->err, HDB_ENOMEM,
					"cannot allocate memory for a table");
		t->rows++;
		if (t->rows == BATCH_ROWS || t->text.size >= BATCH_BYTES)
			put_batch(t);
	}
	if (t->rows > 0 && !t->has_heading)
		hide_same(t);
	if (t->rows > 0)
		put_batch(t);
	return rc == HDB_END ? HDB_OK : rc;
}

/* Prints text below the table, wrapping to the next line. */
static void put_note(struct table *t, const char *text, size_t *at)
{
	const size_t width = strlen(text);

	if (*at > 0 && t->style->width > 0 && *at + width > t->style->width) {
		output_char(t->out, '\n');
		*at = 0;
	}
	text += *at == 0 && *text == ' ';
	output_string(t->out, text);
	*at += strlen(text);
}

static bool is_left_out(const struct column *column)
{
	return column->is_hidden && !column->is_twin;
}

/* Prints "not shown: loader, id (--wide shows all columns)". */
static void put_hidden(struct table *t, size_t *at)
{
	size_t left = 0;

	for (size_t i = 0; i < t->columns; i++)
		left += is_left_out(&t->column[i]);
	if (left > 0)
		put_note(t, *at > 0 ? "; not shown:" : "not shown:", at);
	else if (t->is_cut)
		put_note(t, " (--wide shows whole names)", at);
	for (size_t i = 0; i < t->columns; i++) {
		char name[64];

		if (!is_left_out(&t->column[i]))
			continue;
		snprintf(name, sizeof(name), " %s%s",
			 *heading(t, i) ? heading(t, i) : "explanations", left > 1 ? "," : "");
		put_note(t, name, at);
		if (--left == 0)
			put_note(t, " (--wide shows all columns)", at);
	}
}

/* Lists the columns whose values are lower bounds: their titles contain ">=". */
static void put_bounds(const struct table *t)
{
	for (size_t i = 0; i < t->columns; i++) {
		const char *title = column_title(answer_column(t->answer, i));

		if (!t->column[i].is_hidden && strstr(title, ">="))
			output_format(t->out, "%s is a lower bound\n", heading(t, i));
	}
}

/* Prints the number of omitted rows, the hidden columns, and the facts. */
static int put_footer(struct table *t)
{
	const struct hdb_value *why = answer_fact(t->answer, "note");
	const uint64_t count = t->answer->row_count;
	uint64_t total;
	size_t at = 0;

	TRY_ERRORS(answer_total(t->answer, &total));
	if (count == 0 && total == 0) {
		why = has_value(why) ? why : answer_fact(t->answer, "no_rows");
		output_string(t->out, has_value(why) ? "no rows: " : "no rows\n");
		prose_wrap_value(t->out, t->style, (struct prose_place){ 2, 9 }, why);
	}
	output_string(t->out, t->style->has_colour ? STYLE_DIM : "");
	if (count < total) {
		char rows[2 * OUTPUT_NUMBER_SIZE + 16];

		snprintf(rows, sizeof(rows), "%s of %s rows", base_number(count).text,
			 base_number(total).text);
		put_note(t, rows, &at);
	}
	put_hidden(t, &at);
	if (at > 0)
		output_char(t->out, '\n');
	if (t->same.size) {
		output_string(t->out, "in all rows: ");
		prose_wrap(t->out, t->style, (struct prose_place){ 2, 13 }, t->same.data,
			   t->same.size);
	}
	if (count > 0)
		put_bounds(t);
	facts_below(t->answer, t->style, t->out);
	output_string(t->out, t->style->has_colour ? STYLE_END : "");
	return HDB_OK;
}

/*
 * Returns whether a column holds strings of the heap, in which class names must not be shortened.
 */
static bool is_value(const struct answer *answer, const char *column)
{
	static const struct {
		const char *query, *column;
	} values[] = {
		{ "strings", "text" },         { "duplicates", "text" }, { "substrings", "text" },
		{ "group-by-value", "value" }, { "properties", "name" }, { "properties", "value" },
		{ "threads", "thread" },       { "sql", "text" },        { "sql", "value" },
	};

	for (size_t i = 0; i < BASE_COUNT(values); i++)
		if (strcmp(answer->name, values[i].query) == 0 &&
		    strcmp(column, values[i].column) == 0)
			return true;
	return false;
}

/* Finds the columns of a tree: level and indented name. */
static void find_tree(struct table *t)
{
	size_t level = t->columns, name = t->columns;

	for (size_t i = 0; i < t->columns && !t->answer->is_picked && t->answer->rows; i++) {
		const struct hdb_column *column = answer_column(t->answer, i);

		if (strcmp(column->name, "level") == 0 && column->type == HDB_TYPE_COUNT)
			level = i;
		if (name == t->columns && is_among(column->name, "name|label|text"))
			name = i;
	}
	t->tree = level < t->columns && name < t->columns ? name : SIZE_MAX;
	t->level = level;
}

/*
 * Prepares the columns. The first text column, which names the row, and columns requested by name
 * are never hidden.
 */
static void init_columns(struct table *t)
{
	bool has_text = false;

	find_tree(t);
	t->last = t->columns - 1;
	for (size_t i = 0; i < t->columns; i++) {
		const struct hdb_column *column = answer_column(t->answer, i);
		struct column *c = &t->column[i];

		c->is_text = column->type == HDB_TYPE_TEXT;
		c->is_value = is_value(t->answer, column->name);
		c->stays = i == 0 || t->answer->is_picked || (c->is_text && !has_text) ||
			   (t->answer->sort && strcmp(t->answer->sort, column->name) == 0);
		c->matters = is_among(column->name,
				      "retained|only_retained|retained_delta|wasted|holder|"
				      "below_objects") ||
			     (c->is_text && strcmp(column->name, "owner") == 0);
		c->is_twin = !t->style->is_wide && !t->answer->is_picked &&
			     ((!*column_title(column) && strcmp(column->name, "number") == 0) ||
			      (t->tree != SIZE_MAX && i == t->level));
		c->is_hidden = c->is_twin;
		c->is_aside =
			base_ends_with(column->name, "_before") || is_among(column->name, ASIDE);
		c->is_minor = strcmp(column->name, "loader") == 0;
		has_text |= c->is_text;
	}
}

int render_table(struct answer *answer, const struct render_style *style, struct output *out)
{
	struct table t = {
		.answer = answer,
		.style = style,
		.out = out,
		.line_end = "\n",
		.columns = answer_column_count(answer),
	};
	BASE_FREED struct column *column = NULL;
	BASE_FREED struct cell *cells = NULL;
	int rc;

	facts_above(answer, style, out);
	if (t.columns == 0)
		return HDB_OK;
	TRY(BASE_ALLOC(column, t.columns, "a table", answer->err));
	TRY(BASE_ALLOC(cells, t.columns * BATCH_ROWS, "a table", answer->err));
	t.column = column;
	t.cells = cells;
	init_columns(&t);
	rc = put_rows(&t);
	if (rc == HDB_OK)
		rc = put_footer(&t);
	output_release(out, &t.shortened);
	output_release(out, &t.same);
	output_release(out, &t.text);
	return rc;
}
