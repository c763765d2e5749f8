/*
 * fuzz/names.c - a dump with strange names and texts, on which every query, the report and the
 * comparison run in one format. The output must be UTF-8 without control characters and, for JSON,
 * valid JSON.
 *
 * Input: u8 format, u8 number of questions (0: all), u16 for each question, then names: u8 length,
 * the bytes.
 */
#include "fuzz/command_run.h"

#include "base/bytes.h"
#include "support/fuzz_target.h"
#include "support/hostile.h"
#include "support/strange.h"
#include "support/temp.h"

#define NAMES_MAX 32
/* Each query with each target and each value of --by; about 300. */
#define QUESTIONS_MAX 1000
/* Maximum number of questions in an input that does not run all questions. */
#define CHOSEN_MAX 8

static const char *const formats[] = { "--json", "--format=table", "--csv", "--format=jsonl",
				       "--format=tsv" };

/* A command with its arguments, on one database or on both. */
struct question {
	const char *command, *words[2];
	bool has_db, has_two;
};

static struct question questions[QUESTIONS_MAX];
static size_t question_count;
static char db_path[2][256], dump_path[2][256];

static void add(const char *command, const char *a, const char *b, bool has_db, bool has_two)
{
	if (question_count == QUESTIONS_MAX)
		abort();
	questions[question_count++] = (struct question){ command, { a, b }, has_db, has_two };
}

/*
 * Adds a query without a target, with an object, with a class, with --all, and with each value of
 * its option --by.
 */
static void add_query(const struct hdb_query_spec *spec)
{
	static char object[32], class[32], by[QUESTIONS_MAX][40];
	static size_t by_count;

	(void)snprintf(object, sizeof(object), "0x%x", STRANGE_OBJECT);
	(void)snprintf(class, sizeof(class), "0x%x", STRANGE_CLASS);
	add("query", spec->name, NULL, true, false);
	add("query", spec->name, object, true, false);
	add("query", spec->name, class, true, false);
	add("query", spec->name, "*", true, false);
	for (const struct hdb_option_spec *o = spec->options; o->name; o++) {
		for (const char *p = strcmp(o->name, "by") == 0 ? o->argument : ""; *p;) {
			const int n = (int)strcspn(p, "|");

			(void)snprintf(by[by_count], sizeof(by[0]), "--by=%.*s", n, p);
			add("query", spec->name, by[by_count++], true, false);
			p += n + (p[n] != '\0');
		}
	}
}

static void add_all(void)
{
	size_t count;

	count = hdb_query_count();
	for (size_t i = 0; i < count; i++)
		if (hdb_query_at(i)->is_query)
			add_query(hdb_query_at(i));
	add("query", "group-by-value", "java.lang.String", true, false);
	add("query", "merged-paths", "java.lang.String", true, false);
	add("query", "strings", "--objects", true, false);
	add("query", "triage", "--all", true, false);
	add("info", NULL, NULL, true, false);
	add("info", "--properties", NULL, true, false);
	add("info", "--problems", NULL, true, false);
	add("check", NULL, NULL, true, false);
	add("export", "objects", "--columns=id,class,label", true, false);
	add("diff", "--by=class", NULL, false, true);
	add("diff", "--by=path", NULL, false, true);
	add("diff", "--by=growth", NULL, false, true);
	add("diff", "--by=object", NULL, false, true);
	add("diff", "--by=suspect", NULL, false, true);
	add("diff", "--by=owner", NULL, false, true);
	add("report", NULL, NULL, true, false);
}

/* Runs the question in this format. The report is Markdown or JSON. */
static void ask(const struct question *q, const char *format)
{
	const bool is_json = strcmp(format, "--json") == 0;
	const char *const words[] = { "heapdb",
				      q->command,
				      q->words[0],
				      q->words[1],
				      q->has_two ? db_path[0] : NULL,
				      q->has_two ? db_path[1] : NULL,
				      strcmp(q->command, "report") == 0 && !is_json ? NULL :
										      format };
	char text[7][300], db[300], *argv[9];
	int argc = 0, code;

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!words[i])
			continue;
		(void)snprintf(text[i], sizeof(text[i]), "%s", words[i]);
		argv[argc++] = text[i];
	}
	(void)snprintf(db, sizeof(db), "--db=%s", db_path[0]);
	if (q->has_db)
		argv[argc++] = db;
	argv[argc] = NULL;
	code = run_command(argc, argv, is_json);
	/* The dump is valid, so only the question itself may fail. */
	if (code > CLI_USAGE)
		abort();
}

static void import_names(unsigned which, const struct strange_name *names, size_t count)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	struct hdb_error err = { 0 };
	struct hw w;

	hostile_path(db_path[which], sizeof(db_path[which]),
		     which ? "names2.heapdb" : "names.heapdb");
	hostile_path(dump_path[which], sizeof(dump_path[which]),
		     which ? "names2.hprof" : "names.hprof");
	strange_dump(&w, names, count);
	if (hw_save(&w, dump_path[which]) != 0 ||
	    hdb_import(dump_path[which], db_path[which], &opt, NULL, &err) != HDB_OK)
		abort();
	hw_release(&w);
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

/* All questions at once are only for replayed files. The fuzzer chooses some questions. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	if (LLVMFuzzerMutate)
		size = LLVMFuzzerMutate(data, size, max_size);
	if (size > 1 && !data[1])
		data[1] = (uint8_t)(1 + seed % CHOSEN_MAX);
	return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strange_name names[NAMES_MAX];
	const char *format;
	size_t count, chosen;
	bool has_two = false;

	if (!question_count)
		add_all();
	chosen = size > 1 ? data[1] % (CHOSEN_MAX + 1) : 0;
	if (size < 3 + 2 * chosen)
		return 0;
	format = formats[data[0] % (sizeof(formats) / sizeof(formats[0]))];
	count = read_names(data + 2 + 2 * chosen, size - 2 - 2 * chosen, names);
	import_names(0, names, count);
	for (size_t i = 0; i < (chosen ? chosen : question_count); i++) {
		const struct question *q =
			&questions[(chosen ? load16(data + 2 + 2 * i) : i) % question_count];

		/* The other database has other names in other places. */
		if (q->has_two && !has_two)
			import_names(1, names + (count > 1), count - (count > 1));
		has_two |= q->has_two;
		ask(q, format);
	}
	for (unsigned i = 0; i < 1u + has_two; i++) {
		temp_remove_db(db_path[i]);
		(void)unlink(dump_path[i]);
	}
	return 0;
}
