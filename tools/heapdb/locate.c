/*
 * heapdb/locate.c - which database is meant: --db, $HEAPDB, or the one in the current folder; and
 * dumps named in its place.
 */
#include "heapdb/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXTENSION ".heapdb"

/* Longest path of a default database. */
#define PATH_SIZE 4096

/* Whether the file begins as an HPROF dump does. What cannot be read is not: hdb_open says why. */
static bool is_dump(const char *path)
{
	static const char magic[] = "JAVA PROFILE ";
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char head[sizeof(magic) - 1];
	struct stat st;
	bool yes;

	if (fd < 0)
		return false;
	yes = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	      pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	      memcmp(head, magic, sizeof(head)) == 0;
	close(fd);
	return yes;
}

/*
 * When the import renamed the file into being: its birth, for later derived tables change the time
 * of modification. Where the file system knows no birth, that one has to do.
 */
static bool file_age(const char *path, struct statx_timestamp *when)
{
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_BTIME | STATX_MTIME | STATX_TYPE, &st) != 0 ||
	    !S_ISREG(st.stx_mode))
		return false;
	*when = st.stx_mask & STATX_BTIME ? st.stx_btime : st.stx_mtime;
	return true;
}

static bool is_later(const struct statx_timestamp *a, const struct statx_timestamp *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* The newest *.heapdb of the current folder; *best NULL if there is none. */
static int newest_here(struct cli *cli, char **best, size_t *count)
{
	DIR *dir = opendir(".");
	struct statx_timestamp best_time = { 0 }, when;
	const struct dirent *entry;
	int rc = HDB_OK;

	*best = NULL;
	*count = 0;
	if (!dir)
		return cli_fail(&cli->err, HDB_EIO, "cannot read the current folder: %s",
				strerror(errno));
	while (rc == HDB_OK && (entry = readdir(dir)) != NULL) {
		const size_t size = strlen(entry->d_name), tail = strlen(EXTENSION);

		if (size <= tail || entry->d_name[0] == '.' ||
		    strcmp(entry->d_name + size - tail, EXTENSION) != 0 ||
		    !file_age(entry->d_name, &when))
			continue;
		if ((*count)++ > 0 && !is_later(&when, &best_time))
			continue;
		best_time = when;
		free(*best);
		*best = strdup(entry->d_name);
		if (!*best)
			rc = cli_fail(&cli->err, HDB_ENOMEM, "no memory for a file name");
	}
	closedir(dir);
	return rc;
}

/* The default database of a dump; it is imported if there is none. */
static int database_of_dump(struct cli *cli, const char *dump, char **db_path)
{
	char path[PATH_SIZE];
	int rc = hdb_default_path(dump, path, sizeof(path), &cli->err);

	if (rc != HDB_OK)
		return rc;
	if (access(path, F_OK) != 0) {
		cli_notice(cli, "importing %s into %s", dump, path);
		rc = cli_import(cli, dump, path, NULL);
		/* another process may have been faster */
		if (rc != HDB_OK && (rc != HDB_EUSAGE || access(path, F_OK) != 0))
			return rc;
	}
	*db_path = strdup(path);
	return *db_path ? HDB_OK : cli_fail(&cli->err, HDB_ENOMEM, "no memory for a file name");
}

int locate_named(struct cli *cli, const char *name, char **db_path, char **dump_path)
{
	*db_path = *dump_path = NULL;
	if (is_dump(name)) {
		const int rc = database_of_dump(cli, name, db_path);

		if (rc != HDB_OK)
			return rc;
		*dump_path = strdup(name);
		if (!*dump_path)
			return cli_fail(&cli->err, HDB_ENOMEM, "no memory for a file name");
		return HDB_OK;
	}
	*db_path = strdup(name);
	return *db_path ? HDB_OK : cli_fail(&cli->err, HDB_ENOMEM, "no memory for a file name");
}

int locate_database(struct cli *cli)
{
	const char *name = cli->opt.db ? cli->opt.db : getenv("HEAPDB");
	const char *dump = cli->opt.dump;
	size_t count;
	int rc;

	if (name && (cli->opt.db || *name)) {
		rc = locate_named(cli, name, &cli->db_path, &cli->dump_path);
		if (rc != HDB_OK)
			return rc;
	} else {
		rc = newest_here(cli, &cli->db_path, &count);
		if (rc != HDB_OK)
			return rc;
		if (count == 0)
			return cli_fail(&cli->err, HDB_EUSAGE,
					"no *.heapdb in the current folder: make one with `heapdb import "
					"DUMP`, or name one with --db FILE");
		if (count > 1)
			cli_notice(cli, "using %s, the newest of %zu here; --db FILE names another",
				   cli->db_path, count);
	}
	if (dump) {
		free(cli->dump_path);
		cli->dump_path = strdup(dump);
	}
	if (!cli->db_path || (dump && !cli->dump_path))
		return cli_fail(&cli->err, HDB_ENOMEM, "no memory for a file name");
	return HDB_OK;
}
