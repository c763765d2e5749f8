/*
 * fuzz/command.c - the command itself, with any arguments, on a small database with hostile names:
 * it ends with one of its exit codes, its JSON is JSON, and nothing that it prints is a control
 * character or no UTF-8.
 *
 * Input: u8 which command, then arguments, each ended by a line end. Importing is another target's.
 */
#include "fuzz/command_run.h"
#include "support/fuzz_target.h"
#include "support/fuzz_world.h"

/* Arguments that are passed on. */
#define ARGUMENTS_MAX 16
#define INPUT_MAX 512

/* Whether the answer is one JSON object: the help is text all the same. */
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
		if (strncmp(p, "--t", 3) != 0) /* folders and threads */
			argv[argc++] = p;
	if (strcmp(name, "help") != 0 && strcmp(name, "version") != 0)
		argv[argc++] = db;
	argv[argc] = NULL;
	(void)run_command(argc, argv,
			  argc > 2 && wants_json(argc, argv) && strcmp(name, "help") != 0);
	return 0;
}
