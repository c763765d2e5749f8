/*
 * fuzz/command.c - the command itself, with any arguments, on a small database with hostile names:
 * it ends with one of its exit codes, its JSON is valid, and its output is UTF-8 without control
 * characters.
 *
 * Input: u8 command, then arguments, each ended by a newline. Other targets test imports. Files
 * that arguments name are created in a temporary directory, which is emptied after each run.
 * Arguments that lead out of this directory are omitted.
 */
#include "fuzz/command_run.h"
#include "support/fuzz_target.h"
#include "support/fuzz_world.h"
#include "support/hostile.h"

#include <ftw.h>

/* Maximum number of arguments. */
#define ARGUMENTS_MAX 16
#define INPUT_MAX 512

/* Whether the output is one JSON object. Help is always text. */
static bool wants_json(int argc, char **argv)
{
	bool yes = false;

	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--h", 3) == 0 || strchr(argv[i], 'h') == argv[i] + 1 ||
		    strncmp(argv[i], "--f", 3) == 0 || strncmp(argv[i], "--c", 3) == 0 ||
		    strcmp(argv[i], "--") == 0)
			return false;
		yes |= strcmp(argv[i], "--json") == 0;
	}
	return yes;
}

/* Absolute paths, by themselves or as an option's value, and paths that go up. */
static bool leads_out(const char *argument)
{
	const char *slash = strchr(argument, '/');

	if (strstr(argument, ".."))
		return true;
	return slash && (slash == argument || slash[-1] == '=' || argument[0] == '-');
}

/* ---- the directory of a run ---- */

static char folder[300];

static int remove_below(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	return at->level ? remove(path) : 0;
}

/* Number of directories that are open at the same time while files are removed. */
#define FOLDERS_MAX 8

static void empty_folder(void)
{
	if (nftw(folder, remove_below, FOLDERS_MAX, FTW_DEPTH | FTW_PHYS) != 0)
		abort();
}

static void remove_folder(void)
{
	empty_folder();
	(void)rmdir(folder);
}

static void make_folder(void)
{
	hostile_path(folder, sizeof(folder), "command.XXXXXX");
	if (!mkdtemp(folder))
		abort();
	(void)atexit(remove_folder);
}

/*
 * Runs the command in the directory, and then changes back, because the fuzzer's own paths may be
 * relative.
 */
static void run_in_folder(int argc, char **argv, bool is_json)
{
	static int home = -1;

	if (home < 0) {
		make_folder();
		home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (home < 0 || chdir(folder) != 0)
		abort();
	(void)run_command(argc, argv, is_json);
	if (fchdir(home) != 0)
		abort();
	empty_folder();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "query", "export",  "info",   "check",
					     "help",  "version", "report", "diff" };
	const struct fuzz_world *world = fuzz_world();
	char text[INPUT_MAX + 1], name[16], db[300], *argv[ARGUMENTS_MAX + 4];
	char program[] = "heapdb", path[300];
	int argc = 0;

	if (!size || size > INPUT_MAX)
		return 0;
	(void)snprintf(name, sizeof(name), "%s", names[data[0] % 8]);
	(void)snprintf(db, sizeof(db), "--db=%s", world->db_path);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	argv[argc++] = program;
	argv[argc++] = name;
	if (strcmp(name, "diff") == 0) {
		(void)snprintf(path, sizeof(path), "%s", world->db_path);
		(void)snprintf(db, sizeof(db), "%s", world->db_path);
		argv[argc++] = path;
	}
	for (char *p = strtok(text, "\n"); p && argc < ARGUMENTS_MAX; p = strtok(NULL, "\n"))
		if (strncmp(p, "--t", 3) != 0 && !leads_out(p)) /* folders and threads */
			argv[argc++] = p;
	if (strcmp(name, "help") != 0 && strcmp(name, "version") != 0)
		argv[argc++] = db;
	argv[argc] = NULL;
	run_in_folder(argc, argv, argc > 2 && wants_json(argc, argv) && strcmp(name, "help") != 0);
	return 0;
}
