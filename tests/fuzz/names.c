/*
 * fuzz/names.c - strange names and texts everywhere in a dump, and every query, the report and the comparison on it in
 * one format: what comes out has no control characters, is UTF-8 and, as JSON, is JSON.
 *
 * Input: u8 which format, u8 which queries (0: all, else one of so many parts), then names: u8 length, the bytes.
 */
#include "fuzz/command_run.h"

#include "support/hostile.h"
#include "support/strange.h"
#include "support/temp.h"

#define NAMES_MAX 32
/* Parts of the queries, so that the fuzzer need not ask all each time. */
#define PARTS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const formats[] = { "--json", "--format=table", "--csv", "--format=jsonl",
				       "--format=tsv" };

static char db_path[2][256], dump_path[2][256];
static const char *format;

/* One command with up to three words; those that are NULL are left out. */
static void run_words(const char *command, const char *a, const char *b, const char *c)
{
	const char *const words[] = { "heapdb", command, a, b, c, format };
	char text[6][300], *argv[8];
	int argc = 0, code;

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!words[i])
			continue;
		(void)snprintf(text[i], sizeof(text[i]), "%s", words[i]);
		argv[argc++] = text[i];
	}
	argv[argc] = NULL;
	code = run_command(argc, argv, format && strcmp(format, "--json") == 0);
	/* The dump is damaged in no way: nothing may fail but the question. */
	if (code > CLI_USAGE)
		abort();
}

/* A query, as it is and with each value of its option --by. */
static void run_query(const struct hdb_query_spec *spec, const char *target, const char *db)
{
	run_words("query", spec->name, target, db);
	for (const struct hdb_option_spec *o = spec->options; o->name; o++) {
		char values[200], by[240];

		if (strcmp(o->name, "by") != 0 || target)
			continue;
		(void)snprintf(values, sizeof(values), "%s", o->argument);
		for (char *value = strtok(values, "|"); value; value = strtok(NULL, "|")) {
			(void)snprintf(by, sizeof(by), "--by=%s", value);
			run_words("query", spec->name, by, db);
		}
	}
}

static void run_all(unsigned part)
{
	const struct hdb_query_spec *specs;
	char object[32], class[32], db[300];
	size_t count;

	(void)snprintf(object, sizeof(object), "0x%x", STRANGE_OBJECT);
	(void)snprintf(class, sizeof(class), "0x%x", STRANGE_CLASS);
	(void)snprintf(db, sizeof(db), "--db=%s", db_path[0]);
	specs = hdb_queries(&count);
	for (size_t i = 0; i < count; i++) {
		if (!specs[i].is_query || (part && i % PARTS != part % PARTS))
			continue;
		run_query(&specs[i], NULL, db);
		run_query(&specs[i], object, db);
		run_query(&specs[i], class, db);
		run_query(&specs[i], "*", db);
	}
	if (part % PARTS)
		return;
	run_words("query", "group", "java.lang.String", db);
	run_words("query", "paths", "java.lang.String", db);
	run_words("query", "strings", "--objects", db);
	run_words("query", "triage", "--all", db);
	run_words("info", NULL, NULL, db);
	run_words("info", "--properties", NULL, db);
	run_words("info", "--problems", NULL, db);
	run_words("check", NULL, NULL, db);
	run_words("export", "objects", "--columns=id,class,label", db);
	run_words("diff", "--by=class", db_path[0], db_path[1]);
	run_words("diff", "--by=path", db_path[0], db_path[1]);
	run_words("diff", "--by=object", db_path[0], db_path[1]);
	run_words("diff", "--by=suspect", db_path[0], db_path[1]);
	if (format && strcmp(format, "--json") != 0)
		format = NULL; /* the report is Markdown or JSON */
	run_words("report", NULL, NULL, db);
}

static size_t read_names(const uint8_t *data, size_t size, struct strange_name *names)
{
	size_t count = 0, at = 0;

	while (at < size && count < NAMES_MAX) {
		const size_t length = data[at] < size - at - 1 ? data[at] : size - at - 1;

		names[count++] = (struct strange_name){ data + at + 1, length };
		at += 1 + length;
	}
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strange_name names[NAMES_MAX];
	struct hdb_error err = { 0 };
	size_t count;

	if (size < 3)
		return 0;
	count = read_names(data + 2, size - 2, names);
	for (unsigned i = 0; i < 2; i++) {
		const struct hdb_import_options opt = { .force = 1, .threads = 1 };
		struct hw w;

		hostile_path(db_path[i], sizeof(db_path[i]), i ? "names2.heapdb" : "names.heapdb");
		hostile_path(dump_path[i], sizeof(dump_path[i]), i ? "names2.hprof" : "names.hprof");
		strange_dump(&w, names + (i && count > 1), count - (i && count > 1));
		if (hw_save(&w, dump_path[i]) != 0 ||
		    hdb_import(dump_path[i], db_path[i], &opt, NULL, &err) != HDB_OK)
			abort();
		hw_release(&w);
	}
	format = formats[data[0] % (sizeof(formats) / sizeof(formats[0]))];
	run_all(data[1]);
	for (unsigned i = 0; i < 2; i++) {
		temp_remove_db(db_path[i]);
		(void)unlink(dump_path[i]);
	}
	return 0;
}
