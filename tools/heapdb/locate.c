/*
 * heapdb/locate.c - locates the database: --db, $HEAPDB, or the newest in the current directory;
 * imports named dumps.
 */
#include "heapdb/cli.h"
#include "heapdb/progress.h"
#include "heapdb/prose.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXTENSION ".heapdb"

/* Name of the database of a dump from standard input, in the current directory. */
#define STDIN_DATABASE "stdin.heapdb"

/* Maximum length of a default path. */
#define PATH_SIZE 4096

/* Buffer size for the value of --layout, which has three short parts. */
#define LAYOUT_SIZE 128

static bool ends_with(const char *name, const char *const *endings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (base_ends_with(name, endings[i]))
			return true;
	return false;
}

/*
 * Returns whether the file name looks like the name of a Perfetto trace. The name is used because
 * the first bytes of a trace are not distinctive.
 */
static bool is_trace(const char *name)
{
	static const char *const endings[] = { ".pftrace", ".perfetto-trace", ".perfetto_trace" };

	return ends_with(name, endings, BASE_COUNT(endings));
}

/*
 * Reads the first bytes of a file and returns the number of bytes read. Returns 0 if the file
 * cannot be read; hdb_open will report the reason.
 */
static size_t head_of(const char *path, char *head, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, head, size, 0);
	close(fd);
	return n > 0 ? (size_t)n : 0;
}

static bool is_dump(const char *path)
{
	char head[16];

	return head_of(path, head, sizeof(head)) == sizeof(head) &&
	       (feed_begins_dump(head, sizeof(head)) || is_trace(path));
}

/* Returns whether the file begins like an LMDB file, with MDB_MAGIC in the first meta page. */
static bool is_database(const char *path)
{
	char head[20];

	return head_of(path, head, sizeof(head)) == sizeof(head) &&
	       memcmp(head + 16, "\xde\xc0\xef\xbe", 4) == 0;
}

bool locate_has_suffix(const char *name)
{
	static const char *const endings[] = { EXTENSION, ".hprof", ".hprof.gz", ".hprof.zst" };

	return ends_with(name, endings, BASE_COUNT(endings)) || is_trace(name);
}

bool locate_looks_like_file(const char *name)
{
	return locate_has_suffix(name) || strchr(name, '/') != NULL;
}

bool locate_is_heap(const char *name)
{
	char archive[PATH_SIZE];

	return is_dump(name) || is_database(name) || feed_archive(name, archive, sizeof(archive));
}

bool locate_is_file(const char *name)
{
	char archive[PATH_SIZE];
	struct stat st;

	if (feed_archive(name, archive, sizeof(archive)))
		return true;
	if (stat(name, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	return locate_looks_like_file(name) || is_dump(name) || is_database(name);
}

/*
 * Sets *when to the time at which the import created the file: its birth time, because derived
 * tables change the modification time. If the file system does not store birth times, the
 * modification time is used.
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

/* Finds the newest *.heapdb in the current directory; *best is NULL if there is none. */
static int newest_here(struct cli *cli, char **best, size_t *count)
{
	DIR *dir = opendir(".");
	struct statx_timestamp best_time = { 0 }, when;
	const struct dirent *entry;
	int rc = HDB_OK;

	*best = NULL;
	*count = 0;
	if (!dir)
		return hdb_fail(&cli->err, HDB_EIO, "cannot read the current directory: %s",
				strerror(errno));
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || !base_ends_with(entry->d_name, EXTENSION) ||
		    !file_age(entry->d_name, &when))
			continue;
		if ((*count)++ > 0 && !is_later(&when, &best_time))
			continue;
		best_time = when;
		free(*best);
		*best = strdup(entry->d_name);
		if (!*best) {
			rc = hdb_fail(&cli->err, HDB_ENOMEM,
				      "cannot allocate memory for a file name");
			goto out;
		}
	}
	assert(!*best == !*count);
out:
	closedir(dir);
	return rc;
}

/*
 * Sets *yes to whether the database at the dump's default path belongs to another dump that still
 * exists. Such a database is not replaced. dump.hprof and dump.bin have the same default path.
 */
static int is_of_another(struct cli *cli, const char *db_path, const char *dump, const char *other,
			 bool *yes)
{
	struct hdb_health health = { .struct_size = sizeof(health) };
	struct hdb *db = NULL;

	*yes = false;
	if (base_is_same_file(dump, other) || access(other, F_OK) != 0)
		return HDB_OK;
	TRY(cli_open(cli, db_path, NULL, 1, &db));
	hdb_health(db, &health);
	*yes = !health.stale;
	hdb_close(db);
	return HDB_OK;
}

/* Options of the earlier import, so that the dump is imported again in the same way. */
struct before {
	enum hdb_size_model sizes;
	unsigned snapshot;
	int strict;
	char layout[LAYOUT_SIZE];
	char mapping[4096];
};

/* Returns whether the archive has changed since the import. */
static bool is_newer(const char *archive, const char *db_path)
{
	struct statx_timestamp made;
	struct stat st;

	return file_age(db_path, &made) && stat(archive, &st) == 0 &&
	       (st.st_mtim.tv_sec > made.tv_sec ||
		(st.st_mtim.tv_sec == made.tv_sec && st.st_mtim.tv_nsec > made.tv_nsec));
}

/*
 * Sets *yes to whether the existing database was made from an older dump of that name, and *was to
 * its import options.
 */
static int is_outdated(struct cli *cli, const char *db_path, const char *dump, bool *yes,
		       struct before *was)
{
	char archive[PATH_SIZE];
	struct hdb_health health = { .struct_size = sizeof(health) };
	struct hdb *db = NULL;
	const bool is_archive = feed_archive(dump, archive, sizeof(archive));
	const bool is_kept = is_archive || is_trace(dump);
	int rc = cli_open(cli, db_path, is_kept ? NULL : dump, 1, &db);
	bool is_other = false;

	*yes = false;
	TRY(rc);
	hdb_health(db, &health);
	if (is_kept)
		is_other = health.dump_path &&
			   !(is_archive ? feed_is_same : base_is_same_file)(dump, health.dump_path);
	else if (health.stale)
		rc = is_of_another(cli, db_path, dump, health.dump_path, &is_other);
	if (is_other ||
	    (is_kept ? is_newer(is_archive ? archive : dump, db_path) : health.stale != NULL)) {
		if (is_other)
			rc = cli_usage(cli,
				       "%s is already the database of %s; use `heapdb import %s -o "
				       "FILE`, then query FILE",
				       db_path, health.dump_path, dump);
		*yes = rc == HDB_OK;
		*was = (struct before){
			.sizes = health.sizes,
			.snapshot = health.snapshot,
			.strict = health.strict,
		};
		snprintf(was->layout, sizeof(was->layout), "%s",
			 health.layout ? health.layout : "");
		snprintf(was->mapping, sizeof(was->mapping), "%s",
			 health.mapping_path ? health.mapping_path : "");
	}
	hdb_close(db);
	return rc;
}

static int import_anew(struct cli *cli, const char *dump, const char *db_path,
		       const struct before *was)
{
	struct hdb_import_options options = {
		.struct_size = sizeof(options),
		.memory_bytes = cli->opt.memory_bytes,
		.threads = cli->opt.threads,
		.sizes = was->sizes,
		.layout = was->layout[0] ? was->layout : NULL,
		.mapping_path = was->mapping[0] ? was->mapping : NULL,
		.snapshot = was->snapshot,
		.strict = was->strict,
		.force = 1,
		.wait = 1,
		.progress = progress_callbacks(),
	};

	return cli_import_as(cli, dump, db_path, &options, NULL);
}

/*
 * Returns the default database of a dump, importing the dump if there is no database or it is
 * outdated.
 */
static int database_of_dump(struct cli *cli, const char *dump, char **db_path)
{
	char path[PATH_SIZE];
	struct before was;
	bool is_old = false;
	int rc;

	TRY(feed_default_path(dump, path, sizeof(path), &cli->err));
	if (access(path, F_OK) != 0) {
		cli_notice(cli, "importing %s into %s", dump, path);
		rc = cli_import(cli, dump, path, NULL, true);
		/* another process may have imported it first */
		if (rc != HDB_OK && rc != HDB_END && rc != HDB_EEXIST)
			return rc;
	} else if ((rc = is_outdated(cli, path, dump, &is_old, &was)) != HDB_OK) {
		return rc;
	}
	if (is_old) {
		cli_notice(cli, "%s has changed since %s was written; importing the dump again",
			   dump, path);
		rc = import_anew(cli, dump, path, &was);
		if (rc != HDB_OK && rc != HDB_END)
			return rc;
	}
	return BASE_COPY(*db_path, path, "a file name", &cli->err);
}

/*
 * Imports standard input. An existing database is not replaced, since its dump may exist nowhere
 * else.
 */
static int database_of_stdin(struct cli *cli, char **db_path)
{
	int rc;

	if (access(STDIN_DATABASE, F_OK) == 0)
		return cli_usage(cli, "standard input: " STDIN_DATABASE
				      " exists; `heapdb " STDIN_DATABASE
				      "` shows it; `heapdb import - -o FILE` writes another one");
	cli_notice(cli, "importing standard input into " STDIN_DATABASE);
	rc = cli_import(cli, "-", STDIN_DATABASE, NULL, false);
	if (rc != HDB_OK && rc != HDB_END)
		return rc;
	return BASE_COPY(*db_path, STDIN_DATABASE, "a file name", &cli->err);
}

int locate_refuse(struct cli *cli, const char *name)
{
	struct bytes quoted = { 0 };
	struct stat st;
	int rc;

	if (stat(name, &st) != 0)
		return hdb_fail(&cli->err, HDB_EABSENT, "no such file: %s", name);
	if (S_ISDIR(st.st_mode))
		return hdb_fail(&cli->err, HDB_EFORMAT, "%s: is a directory, not a file", name);
	if (S_ISREG(st.st_mode))
		return hdb_fail(&cli->err, HDB_EFORMAT,
				"%s: neither a heap dump nor a heap database", name);
	rc = hdb_fail(&cli->err, HDB_EFORMAT,
		      "%s: not a regular file; to read a pipe, use `heapdb import %s -o FILE`",
		      name, prose_quote(&quoted, name));
	bytes_release(&quoted);
	return rc;
}

/*
 * Returns whether the file exists, but is not a dump or database according to its type, contents
 * and suffix.
 */
static bool is_of_other_kind(const char *name)
{
	static const char *const endings[] = { EXTENSION };
	struct stat st;

	if (stat(name, &st) != 0)
		return false;
	return !S_ISREG(st.st_mode) ||
	       (access(name, R_OK) == 0 && !is_database(name) && !ends_with(name, endings, 1));
}

int locate_named(struct cli *cli, const char *name, char **db_path, char **dump_path)
{
	char archive[PATH_SIZE];

	*db_path = *dump_path = NULL;
	if (strcmp(name, "-") == 0)
		return database_of_stdin(cli, db_path);
	if (is_dump(name) || feed_archive(name, archive, sizeof(archive))) {
		TRY(database_of_dump(cli, name, db_path));
		TRY(BASE_COPY(*dump_path, name, "a file name", &cli->err));
		return HDB_OK;
	}
	if (is_of_other_kind(name))
		return locate_refuse(cli, name);
	return BASE_COPY(*db_path, name, "a file name", &cli->err);
}

int locate_existing(struct cli *cli)
{
	const char *name = cli->opt.db ? cli->opt.db : getenv("HEAPDB");
	char path[PATH_SIZE];
	size_t count;

	if (!name || !*name)
		TRY(newest_here(cli, &cli->db_path, &count));
	else if (is_database(name) ||
		 feed_default_path(name, path, sizeof(path), &cli->err) == HDB_OK)
		cli->db_path = strdup(is_database(name) ? name : path);
	return cli->db_path && is_database(cli->db_path) ? HDB_OK : HDB_EABSENT;
}

int locate_database(struct cli *cli)
{
	const char *name = cli->opt.db ? cli->opt.db : getenv("HEAPDB");
	const char *dump = cli->opt.dump;
	size_t count;

	if (name && (cli->opt.db || *name)) {
		TRY(locate_named(cli, name, &cli->db_path, &cli->dump_path));
	} else {
		TRY(newest_here(cli, &cli->db_path, &count));
		if (count == 0)
			return cli_usage(
				cli, "no *.heapdb in the current directory; create a database with "
				     "`heapdb import DUMP` or name one with --db FILE");
		if (count > 1)
			cli_notice(cli,
				   "using %s, the newest of %zu databases in the current "
				   "directory; use --db FILE for another database",
				   cli->db_path, count);
	}
	if (dump) {
		free(cli->dump_path);
		cli->dump_path = strdup(dump);
	}
	if (!cli->db_path || (dump && !cli->dump_path))
		return hdb_fail(&cli->err, HDB_ENOMEM, "cannot allocate memory for a file name");
	return HDB_OK;
}
