/*
 * fuzz/query.c - arbitrary arguments of queries: targets, patterns, --exclude, --fail-if, --match,
 * --by, every option of every query with any text, and columns to sort by. The result is an answer
 * or a clear error, and its texts are UTF-8.
 *
 * Input: u8 query, then words, each ended by a newline. The first byte of a word determines whether
 * it is a value of an option (and of which one), a target, the column to sort by, or one of the
 * limits.
 */
#include "heapdb.h"

#include "support/fuzz_target.h"
#include "support/fuzz_world.h"
#include "support/json_check.h"

#include <stdlib.h>
#include <string.h>

#define INPUT_MAX 512
#define WORDS_MAX 8
/* Maximum number of rows that are read. All rows cost the same. */
#define ROWS_MAX 200

struct question {
	struct hdb_query_args args;
	const char *targets[WORDS_MAX];
	struct hdb_option options[WORDS_MAX];
};

static struct hdb *open_world(void)
{
	static struct hdb *db;
	const struct fuzz_world *world = fuzz_world();
	const struct hdb_open_options options = { .dump_path = world->dump_path, .threads = 1 };

	if (!db && hdb_open(world->db_path, &options, &db, NULL) != HDB_OK)
		abort();
	return db;
}

static void add_word(struct question *q, const struct hdb_query_spec *spec, const char *word)
{
	unsigned options = 0, place = (unsigned char)word[0];

	while (spec->options && spec->options[options].name)
		options++;
	place %= options + 4;
	if (place < options)
		q->options[q->args.option_count++] = (struct hdb_option){
			spec->options[place].name,
			spec->options[place].argument ? word + 1 : NULL,
		};
	else if (place == options)
		q->args.sort = word + 1;
	else if (place == options + 1)
		q->args.limit = (unsigned char)word[1];
	else
		q->targets[q->args.target_count++] = word + 1;
}

static void take_rows(struct hdb_rows *rows)
{
	uint64_t total;
	int r = HDB_OK;

	for (unsigned i = 0; i < ROWS_MAX && (r = hdb_rows_next(rows, NULL)) == HDB_OK; i++) {
		for (size_t c = 0; c < hdb_rows_column_count(rows); c++) {
			const struct hdb_value *value = hdb_rows_value(rows, c);

			if (value->type == HDB_TYPE_TEXT &&
			    !text_is_utf8(value->text, value->text_size))
				abort();
		}
	}
	if (r < 0 || (r == HDB_END && hdb_rows_total(rows, &total, NULL) != HDB_OK))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hdb_query_spec *spec;
	struct question q = { .args = { .limit = 0 } };
	struct hdb_error err = { 0 };
	char text[INPUT_MAX + 1];
	struct hdb_rows *rows;
	unsigned words = 0;
	int r;

	if (!size || size > INPUT_MAX)
		return 0;
	spec = hdb_query_at(data[0] % hdb_query_count());
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	q.args.targets = q.targets;
	q.args.options = q.options;
	for (char *w = strtok(text, "\n"); w && words++ < WORDS_MAX; w = strtok(NULL, "\n"))
		add_word(&q, spec, w);
	r = hdb_query(open_world(), spec->name, &q.args, &rows, &err);
	if (r == HDB_OK) {
		take_rows(rows);
		hdb_rows_close(rows);
	} else if (!err.message[0] || (r < 0 && r != HDB_EUSAGE && r != HDB_ELIMIT)) {
		abort();
	}
	return 0;
}
