/*
 * mcp/mcp_files.c - the directories named at start, the databases below them, and the open
 * databases. No other file of the MCP server handles paths. A client's path is resolved (links,
 * "..") before it is compared with the directories.
 */
#include "mcp_private.h"

#include <errno.h>
#include <assert.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int mcp_files_init(struct mcp_files *files, const struct mcp_options *options,
		   struct hdb_error *err)
{
	*files = (struct mcp_files){
		.options = options,
		.open = { .memory_bytes = options->memory_bytes, .threads = options->threads },
	};
	TRY(BASE_ALLOC(files->folders, options->folder_count + 1, "names of directories", err));
	for (size_t i = 0; i < options->folder_count; i++) {
		struct stat info;
		char *path = realpath(options->folders[i], NULL);

		if (!path && errno != ENOENT && errno != ENOTDIR)
			return hdb_fail(err, errno == ENOMEM ? HDB_ENOMEM : HDB_EIO, "%s: %s",
					options->folders[i], strerror(errno));
		if (!path)
			return hdb_fail(err, HDB_EABSENT, "no such directory: \"%s\"",
					options->folders[i]);
		files->folders[files->folder_count++] = path;
		if (stat(path, &info) != 0)
			return hdb_fail(err, HDB_EIO, "%s: %s", path, strerror(errno));
		if (!S_ISDIR(info.st_mode))
			return hdb_fail(err, HDB_EUSAGE, "\"%s\" is not a directory",
					options->folders[i]);
	}
	return HDB_OK;
}

void mcp_files_release(struct mcp_files *files)
{
	for (size_t i = 0; i < MCP_OPEN_MAX; i++) {
		hdb_close(files->kept[i].db);
		free(files->kept[i].path);
	}
	for (size_t i = 0; i < files->folder_count; i++)
		free(files->folders[i]);
	free(files->folders);
	*files = (struct mcp_files){ 0 };
}

/* Returns "rest" for the path "DIRECTORY/rest", or NULL if the path is not below the directory. */
static const char *below(const char *path, const char *folder)
{
	const size_t size = strlen(folder);

	if (strncmp(path, folder, size) != 0)
		return NULL;
	if (size > 0 && folder[size - 1] == '/')
		return path + size;
	return path[size] == '/' ? path + size + 1 : NULL;
}

/*
 * Returns the name shown to clients: a relative name if there is one directory, otherwise the whole
 * path.
 */
static const char *shown_name(const struct mcp_files *files, const char *path)
{
	const char *rest = files->folder_count == 1 ? below(path, files->folders[0]) : NULL;

	return rest ? rest : path;
}

/* ---- the list ---- */

struct walk {
	const struct mcp_files *files;
	json_t *list;
};

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static bool has_database(const char *dump)
{
	char path[PATH_MAX];
	struct stat info;

	return hdb_default_path(dump, path, sizeof(path), NULL) == HDB_OK && stat(path, &info) == 0;
}

static void walk_file(struct walk *walk, const char *path, const struct stat *info)
{
	const bool is_database = base_ends_with(path, ".heapdb");
	json_t *entry;

	if (!is_database && !(base_ends_with(path, ".hprof") && !has_database(path)))
		return;
	entry = json_pack("{s:s, s:I}", is_database ? "db" : "dump", shown_name(walk->files, path),
			  "bytes", (json_int_t)info->st_size);
	/* json_pack returns NULL if the name is not UTF-8; clients could not request such a name */
	if (entry)
		json_array_append_new(walk->list, entry);
}

/*
 * Lists the files below a directory. The depth of recursion is limited (MCP_DEPTH_MAX). Symbolic
 * links are not followed.
 */
static void walk_folder(struct walk *walk, const char *folder, unsigned depth)
{
	struct dirent **entries = NULL;
	const int count = scandir(folder, &entries, is_shown, compare_names);

	assert(depth <= MCP_DEPTH_MAX);
	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];
		struct stat info;
		const int size =
			snprintf(path, sizeof(path), "%s/%s",
				 strcmp(folder, "/") == 0 ? "" : folder, entries[i]->d_name);

		free(entries[i]);
		if (size < 0 || (size_t)size >= sizeof(path) || lstat(path, &info) != 0 ||
		    json_array_size(walk->list) >= MCP_LIST_MAX)
			continue;
		if (S_ISDIR(info.st_mode) && depth < MCP_DEPTH_MAX)
			walk_folder(walk, path, depth + 1);
		else if (S_ISREG(info.st_mode))
			walk_file(walk, path, &info);
	}
	free(entries);
}

json_t *mcp_files_list(const struct mcp_files *files)
{
	struct walk walk = { .files = files, .list = json_array() };

	for (size_t i = 0; walk.list && i < files->folder_count; i++)
		walk_folder(&walk, files->folders[i], 0);
	return walk.list;
}

/* ---- one database ---- */

/* Returns the only database of the list. The caller must free() *path. */
static int only_database(const struct mcp_files *files, char **path, struct hdb_error *err)
{
	json_auto_t *list = mcp_files_list(files);
	const char *found = NULL;
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name =
			json_string_value(json_object_get(json_array_get(list, i), "db"));

		count += name != NULL;
		found = name ? name : found;
	}
	if (count != 1)
		return hdb_fail(
			err, HDB_EUSAGE,
			count ? "%zu databases are available; choose one with \"db\" (the "
				"\"open\" tool lists all databases)" :
				"no database in the %zu served directories; the \"open\" tool "
				"lists dumps, and `heapdb import DUMP` imports a dump",
			count);
	assert(found);
	return BASE_COPY(*path, found, "a name", err);
}

/*
 * Returns the real path of the file below a directory with this suffix, or NULL if there is none.
 */
static char *find_file(const struct mcp_files *files, const char *name, const char *end)
{
	char joined[2 * PATH_MAX];

	for (size_t i = 0; i < files->folder_count; i++) {
		char *path;

		if (name[0] == '/')
			snprintf(joined, sizeof(joined), "%s", name);
		else
			snprintf(joined, sizeof(joined), "%s/%s", files->folders[i], name);
		path = realpath(joined, NULL);
		if (path && below(path, files->folders[i]) && base_ends_with(path, end))
			return path;
		free(path);
	}
	return NULL;
}

/* Returns the real path of a regular file below a directory, or NULL if there is no such file. */
static char *find_plain(const struct mcp_files *files, const char *name)
{
	char *path = strlen(name) < PATH_MAX ? find_file(files, name, "") : NULL;
	struct stat info;

	if (path && stat(path, &info) == 0 && S_ISREG(info.st_mode))
		return path;
	free(path);
	return NULL;
}

int mcp_files_plain(const struct mcp_files *files, const char *name, char **path,
		    struct hdb_error *err)
{
	*path = find_plain(files, name);
	return *path ? HDB_OK :
		       hdb_fail(err, HDB_EABSENT,
				"no such file in the served directories: \"%.300s\"", name);
}

/* Returns the real path of a database, or of a dump's database. */
static char *resolve(const struct mcp_files *files, const char *name)
{
	char database[PATH_MAX];

	if (strlen(name) >= PATH_MAX)
		return NULL;
	if (base_ends_with(name, ".heapdb"))
		return find_file(files, name, ".heapdb");
	return hdb_default_path(name, database, sizeof(database), NULL) == HDB_OK ?
		       find_file(files, database, ".heapdb") :
		       NULL;
}

/* Fails with a message that names a dump from which the database can be imported, if any. */
static int refuse_file(const struct mcp_files *files, const char *name, struct hdb_error *err)
{
	char *dump = strlen(name) < PATH_MAX ? find_file(files, name, ".hprof") : NULL;
	const int r =
		dump ? hdb_fail(err, HDB_EABSENT,
				"\"%s\" is a dump without a database: ask the user to run `heapdb "
				"import '%s'`, then call again",
				name, dump) :
		       hdb_fail(err, HDB_EABSENT,
				"no such database in the served directories: \"%s\"; the "
				"\"open\" tool lists all databases",
				name);

	free(dump);
	return r;
}

int mcp_files_dump(const struct mcp_files *files, const char *name, char **dump, char **db,
		   struct hdb_error *err)
{
	char path[PATH_MAX];
	struct stat info;

	*dump = find_plain(files, name);
	if (!*dump || base_ends_with(*dump, ".heapdb"))
		return hdb_fail(err, HDB_EABSENT, "no such dump in the served directories: \"%s\"",
				name);
	TRY(hdb_default_path(*dump, path, sizeof(path), err));
	if (lstat(path, &info) == 0)
		return hdb_fail(err, HDB_EEXIST, "\"%s\" already exists: call \"open\" with it",
				shown_name(files, path));
	return BASE_COPY(*db, path, "a name", err);
}

int mcp_files_capture(const struct mcp_files *files, int pid, char **db, struct hdb_error *err)
{
	char path[PATH_MAX];
	struct stat info;
	unsigned no = 1;

	do {
		snprintf(path, sizeof(path), "%s/java_pid%d-%u.heapdb", files->folders[0], pid,
			 no++);
	} while (lstat(path, &info) == 0 && no < 10000);
	return BASE_COPY(*db, path, "a name", err);
}

static struct mcp_database *find_kept(struct mcp_files *files, const char *path,
				      const struct stat *info)
{
	for (size_t i = 0; i < MCP_OPEN_MAX; i++) {
		struct mcp_database *d = &files->kept[i];

		if (d->db && strcmp(d->path, path) == 0 && d->dev == (uint64_t)info->st_dev &&
		    d->no == (uint64_t)info->st_ino)
			return d;
	}
	return NULL;
}

/* Returns a free slot, or the slot of the least recently used database. */
static struct mcp_database *free_place(struct mcp_files *files)
{
	struct mcp_database *oldest = NULL;

	for (size_t i = 0; i < MCP_OPEN_MAX; i++) {
		struct mcp_database *d = &files->kept[i];

		if (!d->db)
			return d;
		assert(d->call <= files->call);
		if (d->call != files->call && (!oldest || d->call < oldest->call))
			oldest = d;
	}
	if (oldest) {
		hdb_close(oldest->db);
		free(oldest->path);
		*oldest = (struct mcp_database){ 0 };
	}
	return oldest;
}

static int open_kept(struct mcp_files *files, const char *path, struct hdb **db,
		     struct hdb_error *err)
{
	struct mcp_database *d;
	struct stat info;

	if (stat(path, &info) != 0)
		return hdb_fail(err, HDB_EABSENT, "\"%s\" no longer exists", path);
	d = find_kept(files, path, &info);
	if (!d) {
		d = free_place(files);
		if (!d)
			return hdb_fail(err, HDB_ELIMIT, "too many open databases (limit %d)",
					MCP_OPEN_MAX);
		TRY(hdb_open(path, &files->open, &d->db, err));
		d->path = strdup(path);
		d->dev = (uint64_t)info.st_dev;
		d->no = (uint64_t)info.st_ino;
		if (!d->path) {
			hdb_close(d->db);
			*d = (struct mcp_database){ 0 };
			return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a name");
		}
	}
	assert(d->db);
	assert(d->path);
	d->call = files->call;
	*db = d->db;
	return HDB_OK;
}

int mcp_files_open(struct mcp_files *files, const char *name, struct hdb **db, char **shown,
		   struct hdb_error *err)
{
	BASE_FREED char *only = NULL;
	BASE_FREED char *path = NULL;

	if (!name)
		TRY(only_database(files, &only, err));
	path = resolve(files, name ? name : only);
	if (!path)
		return refuse_file(files, name ? name : only, err);
	TRY(open_kept(files, path, db, err));
	return shown ? BASE_COPY(*shown, shown_name(files, path), "a name", err) : HDB_OK;
}
