/*
 * heapdb/cmd_serve.c - serve: locates the databases and runs the page's server.
 */
#include "heapdb/cli.h"

#ifdef HAVE_SERVE

#include "heapdb/progress.h"
#include "heapdb/with_files.h"
#include "serve/serve.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/*
 * Opens a browser with a private file that redirects to the URL. Other users can see program
 * arguments, and the URL contains the token.
 */
static void open_browser(struct cli *cli, const char *url)
{
	const char *tmp = getenv("XDG_RUNTIME_DIR");
	char path[4096], *const args[] = { (char[]){ "xdg-open" }, path, NULL };
	pid_t child;
	int fd;

	if (!tmp || !*tmp)
		tmp = getenv("TMPDIR");
	snprintf(path, sizeof(path), "%s/heapdb-XXXXXX.html", tmp && *tmp ? tmp : "/tmp");
	fd = mkstemps(path, 5);
	if (fd < 0 || dprintf(fd, "<meta http-equiv=refresh content=\"0;url=%s\">\n", url) < 0 ||
	    posix_spawnp(&child, args[0], NULL, NULL, args, environ) != 0)
		cli_notice(cli, "cannot open a browser");
	else
		waitpid(child, NULL, 0);
	if (fd >= 0) {
		sleep(5); /* time for the browser to read the file */
		close(fd);
		unlink(path);
	}
}

/* The context of the server's callbacks. */
struct serving {
	struct cli *cli;
	struct with_files with;
};

static void on_ready(void *ctx, const char *url)
{
	struct cli *cli = ((struct serving *)ctx)->cli;

	output_format(cli->out, "%s\n", url);
	output_flush(cli->out);
	if (cli->opt.open)
		open_browser(cli, url);
}

static void on_notice(void *ctx, const char *text)
{
	cli_notice(((struct serving *)ctx)->cli, "%s", text);
}

/* Returns the name that the page shows for a database: its file name. */
static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int write_file(void *ctx, const char *name, int fd, const base_flag *cancel,
		      struct hdb_error *err)
{
	struct serving *serving = ctx;
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	int r;

	progress_cancel_by(cancel);
	r = with_files_text(&serving->with, name, true, &text, err);
	progress_cancel_by(NULL);
	TRY(r);
	return base_write_all(fd, text.data, text.size) ?
		       HDB_OK :
		       hdb_fail(err, HDB_EIO, "cannot store the answer");
}

static int serve(struct cli *cli, const struct serve_database *databases, size_t count)
{
	struct serving serving = { .cli = cli };
	struct serve_options options = {
		.databases = databases,
		.database_count = count,
		.listen = cli->opt.listen,
		.port = cli->opt.port,
		.memory_bytes = cli->opt.memory_bytes,
		.tmp_dir = cli->opt.tmp,
		.stop = progress_callbacks().cancel,
#ifdef HAVE_MCP /* notes require jansson, as mcp does */
		.notes = page_notes,
#endif
		.write_file = write_file,
		.ready = on_ready,
		.notice = on_notice,
		.ctx = &serving,
	};

	TRY(with_files_open(cli, &cli->opt.with, &serving.with));
	options.files = serving.with.answers;
	options.file_count = serving.with.count;
	/*
	 * SQLite's variable for temporary files. Set it before threads start, because setenv is not
	 * thread-safe.
	 */
	if (cli->opt.tmp)
		setenv("SQLITE_TMPDIR", cli->opt.tmp, 1);
	if (cli->opt.listen)
		cli_notice(cli,
			   "anyone who can reach %s and has the token can read the heap; "
			   "connections are not encrypted",
			   cli->opt.listen);
	return serve_run(&options, &cli->err);
}

int cmd_serve(struct cli *cli)
{
	struct serve_database databases[SERVE_DATABASES_MAX];
	char *paths[2 * SERVE_DATABASES_MAX] = { NULL };
	size_t count = cli->opt.operand_count;
	int rc;

	if (count > SERVE_DATABASES_MAX)
		return cli_usage(cli, "too many databases (limit %d)", SERVE_DATABASES_MAX);
	if (count > 0 && cli->opt.db)
		return cli_usage(
			cli, "databases can be given either with --db or as arguments, not both");
	if (count == 1) {
		cli->opt.db = cli->opt.operands[0];
		count = 0;
	}
	if (count > 0 && cli->opt.dump)
		return cli_usage(cli, "--dump requires a single database");
	for (size_t i = 0; i < count; i++) {
		rc = locate_named(cli, cli->opt.operands[i], &paths[2 * i], &paths[2 * i + 1]);
		if (rc != HDB_OK)
			goto out;
		databases[i] = (struct serve_database){ name_of(paths[2 * i]), paths[2 * i],
							paths[2 * i + 1] };
	}
	if (count == 0) {
		if ((rc = locate_database(cli)) != HDB_OK)
			goto out;
		databases[count++] = (struct serve_database){ name_of(cli->db_path), cli->db_path,
							      cli->dump_path };
	}
	assert(count > 0);
	rc = serve(cli, databases, count);
out:
	for (size_t i = 0; i < BASE_COUNT(paths); i++)
		free(paths[i]);
	return rc;
}

#endif
