/*
 * heapdb/with_files.c - implements with_files.h.
 */
#include "heapdb/with_files.h"

#include "memory/memory.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES 4096u
/* Maximum number of words in a command: the name, files and options. */
#define WORDS_MAX (OPTIONS_REPEATED_MAX + 8)

/*
 * A request that the page may send, and the command that answers it: its name, and the words that
 * follow the files.
 */
static const struct with_answer {
	const char *name, *reader;
	const char *limit;    /* maximum number of rows as JSON, or NULL if none */
	const char *heading;  /* heading of the section in a report; NULL means no section */
	const char *words[5]; /* terminated by NULL */
} answers[] = {
	{ "growth", "growth", NULL, "Growth over time", { NULL } },
	{ "series", "growth", NULL, NULL, { "--points", NULL } },
	{ "memory", "memory", NULL, "Memory of the process", { NULL } },
	{ "jfr-site", "jfr", "500", "Allocations by site", { "allocations", "--by", "site" } },
	{ "jfr-class", "jfr", "500", NULL, { "allocations", "--by", "class" } },
	{ "jfr-thread", "jfr", "500", NULL, { "allocations", "--by", "thread" } },
	{ "jfr-live", "jfr", "500", NULL, { "old-objects", "--by", "site" } },
	{ "jfr-gc", "jfr", "5000", NULL, { "gc", "--columns", "time,when,heap_used,committed" } },
	{ "jfr-cpu", "jfr", "5000", NULL, { "cpu", "--columns", "time,user,system,thread" } },
	{ "native", "allocations", "500", "Native allocations by site", { "--by", "site" } },
	{ "meminfo", "meminfo", NULL, "Memory as reported by Android", { NULL } },
};
#define ANSWER_COUNT BASE_COUNT(answers)
static_assert(ANSWER_COUNT <= WITH_ANSWERS_MAX, "room for all answers");

static size_t read_head(const char *path, char *head)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t size = fd < 0 ? 0 : read(fd, head, HEAD_BYTES);

	if (fd >= 0)
		close(fd);
	head[size > 0 ? size : 0] = '\0';
	return size > 0 ? (size_t)size : 0;
}

/*
 * Determines from a file's first bytes which command reads the file. Returns the command's name, or
 * NULL if no command reads it.
 */
static const char *reader_of(const char *path)
{
	char head[HEAD_BYTES + 1];
	struct stat st;
	size_t size;

	if (options_pid(path))
		return "memory";
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return "growth";
	size = read_head(path, head);
	if (size > 8 && memcmp(head, "{\"kind\":", 8) == 0)
		return "growth";
	if (size > 4 && memcmp(head, "FLR", 4) == 0)
		return "jfr";
	if (memory_kind_of(head, size) != MEMORY_UNKNOWN)
		return "memory";
	if (strstr(head, "Applications Memory Usage"))
		return "meminfo";
	/* traces and recordings of Android's tracker begin with a small number */
	return size && (head[0] == '\n' || !isprint((unsigned char)head[0])) ? "allocations" : NULL;
}

int with_files_open(struct cli *cli, const struct repeated *files, struct with_files *out)
{
	*out = (struct with_files){ .files = files };
	for (size_t i = 0; i < files->count; i++) {
		out->readers[i] = reader_of(files->values[i]);
		if (access(files->values[i], R_OK) != 0 && !options_pid(files->values[i]))
			return hdb_fail_open(&cli->err, errno, files->values[i]);
		if (!out->readers[i])
			return cli_usage(
				cli,
				"--with %s: expected a series written by `heapdb watch`, a "
				"recording "
				"(.jfr), /proc/PID/smaps, the output of jcmd or dumpsys meminfo, "
				"or a native memory trace",
				files->values[i]);
	}
	for (size_t i = 0; i < ANSWER_COUNT; i++)
		for (size_t k = 0; k < files->count; k++)
			if (strcmp(out->readers[k], answers[i].reader) == 0) {
				out->answers[out->count++] = answers[i].name;
				break;
			}
	return HDB_OK;
}

static int run_command(const char *const *words, size_t count, struct cli *cli)
{
	/* the command does not modify the words */
	struct arguments args = { .count = (int)count, .values = (char **)(uintptr_t)words };

	cli->command = cli_find_command(words[0]);
	assert(cli->command);
	TRY(options_parse(cli->command, NULL, args, &cli->opt, &cli->err));
	cli->opt.quiet = true;
	return cli->command->run(cli);
}

/* Runs the command words[0], which must not open a database, and returns its output in *text. */
static int run_to_text(const char *const *words, size_t count, struct bytes *text,
		       struct hdb_error *err)
{
	BASE_FREED struct output *out = NULL;
	struct cli cli = { .is_sparse = true };
	int rc;

	TRY(BASE_ALLOC(out, 1, "an answer", err));
	cli.out = out;
	output_collect(out, text);
	rc = run_command(words, count, &cli);
	output_collect_end(out);
	*err = cli.err;
	options_release(&cli.opt);
	hdb_close(cli.db);
	free(cli.db_path);
	free(cli.dump_path);
	return rc == HDB_OK && text->failed ? hdb_fail_memory(err, "an answer", text->size) : rc;
}

static const struct with_answer *answer_named(const char *name)
{
	const struct with_answer *answer = answers;

	while (strcmp(answer->name, name) != 0)
		answer++;
	return answer;
}

const char *with_files_heading(const char *name)
{
	return answer_named(name)->heading;
}

int with_files_text(const struct with_files *with, const char *name, bool is_json,
		    struct bytes *text, struct hdb_error *err)
{
	const struct with_answer *answer = answer_named(name);
	const char *words[WORDS_MAX];
	size_t count = 0;

	words[count++] = answer->reader;
	for (size_t i = 0; i < with->files->count; i++)
		if (strcmp(with->readers[i], answer->reader) == 0)
			words[count++] = with->files->values[i];
	for (size_t i = 0; answer->words[i]; i++)
		words[count++] = answer->words[i];
	if (is_json)
		words[count++] = "--json";
	if (answer->limit) {
		words[count++] = "--limit";
		words[count++] = is_json ? answer->limit : "10";
	}
	assert(count < WORDS_MAX);
	return run_to_text(words, count, text, err);
}
