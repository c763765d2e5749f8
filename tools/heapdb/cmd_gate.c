/*
 * heapdb/cmd_gate.c - the gate command: evaluates the checks of a budget, and finds the objects
 * that made a check fail.
 */
#include "heapdb/gate.h"

#include "base/glob.h"
#include "common/door_rows.h"

#include <math.h>
#include <sys/stat.h>

/* Maximum number of bytes in a budget, of a condition, and of a formatted ID. */
#define BUDGET_MAX (1u << 20)
#define CONDITION_MAX 1200u
#define ID_MAX 32
/* Maximum number of steps of a path that are shown. */
#define STEPS_MAX 12u

/* The query for a check. */
struct question {
	const char *query;
	struct hdb_option option;
	size_t option_count;
	const char *target, *sort;
	uint64_t limit;
	bool compares;       /* whether the measure compares the dump with the baseline */
	bool is_of_baseline; /* whether the measure only reads the baseline */
};

static int ask(struct cli *cli, const struct question *q, struct hdb_rows **rows)
{
	struct hdb *before = cli->before_count ? cli->before[0].db : NULL;
	const char *targets[] = { q->target };
	const struct hdb_query_args args = {
		.struct_size = sizeof(args),
		.targets = targets,
		.target_count = q->target != NULL,
		.options = &q->option,
		.option_count = q->option_count,
		.sort = q->sort,
		.limit = q->limit,
		.before = &before,
		.before_count = q->compares,
	};

	return hdb_query(q->is_of_baseline ? before : cli->db, q->query, &args, rows, &cli->err);
}

/* Copies a cell as text; a null cell becomes "". */
static void cell(const struct hdb_rows *rows, const char *column, char *buf, size_t size)
{
	const struct hdb_value *v = hdb_rows_value(rows, hdb_rows_find_column(rows, column));

	buf[0] = '\0';
	if (v && v->type == HDB_TYPE_TEXT)
		(void)snprintf(buf, size, "%.*s", (int)(v->text_size < size ? v->text_size : size),
			       v->text);
	else if (v && v->type == HDB_TYPE_ID)
		(void)snprintf(buf, size, "0x%" PRIx64, v->u);
}

/* ---- objects that made a check fail ---- */

static bool is_platform(const char *name)
{
	static const char *const packages[] = { "java.",    "javax.",  "jdk.",       "sun.",
						"com.sun.", "kotlin.", "scala.",     "android.",
						"byte[",    "char[",   "class java." };

	for (size_t i = 0; i < BASE_COUNT(packages); i++)
		if (strncmp(name, packages[i], strlen(packages[i])) == 0)
			return true;
	return false;
}

/*
 * Writes a step: "com.acme.App.cache (static)". Keys of maps are omitted, because they are values
 * from the heap, which must not appear in build logs. Indexes of arrays are kept.
 */
static void write_step(const struct hdb_rows *rows, const char *class, char *buf, size_t size)
{
	char via[128];

	cell(rows, "via_field", via, sizeof(via));
	if (strchr(via, '"') || (*via == '[' && !strchr(class, '[')))
		(void)snprintf(via, sizeof(via), "[...]");
	if (strncmp(via, "static ", 7) == 0 && strncmp(class, "class ", 6) == 0)
		(void)snprintf(buf, size, "%s.%s (static)", class + 6, via + 7);
	else
		(void)snprintf(buf, size, "%s%s%s", class, *via && *via != '[' ? "." : "", via);
}

/* Reads the path to an object, and its owner, which is the nearest step in an application class. */
static int find_path(struct cli *cli, const char *id, struct gate_culprit *out)
{
	DOOR_ROWS *rows = NULL;
	char steps[STEPS_MAX][340], root[256] = "";
	size_t count = 0, used = 0;
	int rc = ask(cli, &(struct question){ .query = "path", .target = id }, &rows);

	while (rc == HDB_OK && (rc = hdb_rows_next(rows, &cli->err)) == HDB_OK) {
		char class[200], step[340];

		cell(rows, "class", class, sizeof(class));
		cell(rows, "root", root, sizeof(root));
		write_step(rows, class, step, sizeof(step));
		if (count < STEPS_MAX)
			(void)snprintf(steps[count], sizeof(steps[count]), "%s", step);
		if (count && !*out->owner && !is_platform(class))
			(void)snprintf(out->owner, sizeof(out->owner), "%s", step);
		count++;
	}
	if (rc != HDB_END) {
		/* the object is reported even without a path */
		cli->err = (struct hdb_error){ 0 };
		return rc == HDB_EINTR || rc == HDB_ENOMEM ? rc : HDB_OK;
	}
	used = (size_t)snprintf(out->path, sizeof(out->path), "%s%s", root,
				count > STEPS_MAX ? " > ..." : "");
	for (size_t i = count < STEPS_MAX ? count : STEPS_MAX; i-- > 0 && used < sizeof(out->path);)
		used += (size_t)snprintf(out->path + used, sizeof(out->path) - used, "%s%s",
					 used ? " > " : "", steps[i]);
	return HDB_OK;
}

static struct gate_culprit *next_culprit(struct gate_check *c)
{
	return c->culprit_count < GATE_CULPRITS_MAX ? &c->culprits[c->culprit_count++] : NULL;
}

/* The columns that identify the object of a row. */
struct naming {
	const char *name, *detail, *owner;
};

/* Records the current row of an answer as an object that made the check fail. */
static int take_row(struct cli *cli, struct gate_check *c, const struct hdb_rows *rows,
		    const struct naming *naming)
{
	struct gate_culprit *culprit = next_culprit(c);
	char id[ID_MAX], name[256], detail[200];
	size_t skipped;

	if (!culprit)
		return HDB_OK;
	cell(rows, naming->name, name, sizeof(name));
	skipped = strncmp(name, "class ", 6) == 0 ? 6 : 0;
	/* omit the value of the object, which is a string from the heap */
	if (strcmp(naming->name, "label") == 0)
		name[skipped + strcspn(name + skipped, " ")] = '\0';
	cell(rows, naming->detail, detail, sizeof(detail));
	cell(rows, naming->owner, culprit->owner, sizeof(culprit->owner));
	cell(rows, "id", id, sizeof(id));
	(void)snprintf(culprit->object, sizeof(culprit->object), "%s%s%s%s%s%s", name,
		       *detail ? ": " : "", detail, *id ? " (" : "", id, *id ? ")" : "");
	return *id ? find_path(cli, id, culprit) : HDB_OK;
}

/* Finds the largest object of the target. */
static int find_largest(struct cli *cli, struct gate_check *c)
{
	static const struct naming naming = { "label", "", "" };
	const bool is_whole = !*c->target || strcmp(c->target, "*") == 0;
	const bool is_object = strncmp(c->target, "0x", 2) == 0;
	DOOR_ROWS *rows = NULL;
	int rc = ask(cli,
		     &(struct question){ .query = is_whole  ? "top" :
						  is_object ? "object" :
							      "instances",
					 .target = is_whole ? NULL : c->target,
					 .sort = is_object ? NULL : "retained",
					 .limit = 1 },
		     &rows);

	if (rc == HDB_OK && is_object) {
		struct gate_culprit *culprit = next_culprit(c);

		(void)snprintf(culprit->object, sizeof(culprit->object), "%s", c->target);
		return find_path(cli, c->target, culprit);
	}
	if (rc == HDB_OK && (rc = hdb_rows_next(rows, &cli->err)) == HDB_OK)
		return take_row(cli, c, rows, &naming);
	/* no object is reported for a target without a list of instances, such as a class loader */
	cli->err = (struct hdb_error){ 0 };
	return rc == HDB_EINTR || rc == HDB_ENOMEM ? rc : HDB_OK;
}

/* ---- measuring ---- */

/*
 * Reads a fact that every answer with conditions has. A missing fact is an error: a check must not
 * pass because nothing was measured.
 */
static int fact(struct cli *cli, const struct hdb_rows *rows, const char *name, double *value)
{
	const struct hdb_value *v = hdb_rows_find_fact(rows, name);

	if (!v || v->type != HDB_TYPE_COUNT)
		return hdb_fail(&cli->err, HDB_EBUG, "fact \"%s\" is missing", name);
	*value = (double)v->u;
	return HDB_OK;
}

/* Reads the result of the condition. */
static int read_result(struct cli *cli, struct gate_check *c, const struct hdb_rows *rows)
{
	const struct hdb_value *unknown = hdb_rows_find_fact(rows, "unknown");
	double failed = 0, reference = 0;

	TRY(fact(cli, rows, "failed", &failed));
	TRY(fact(cli, rows, "measured", &c->value));
	TRY(fact(cli, rows, "reference", &reference));
	c->has_failed = failed > 0;
	c->is_unknown = unknown && unknown->type != HDB_TYPE_NULL;
	if (c->measure == GATE_GROWTH)
		c->value -= reference;
	if (c->is_percent && c->value != 0)
		c->value = reference > 0 ? 100 * c->value / reference : (double)INFINITY;
	return HDB_OK;
}

static void put_value(char *buf, size_t size, const struct gate_check *c, double value)
{
	if (isinf(value))
		(void)snprintf(buf, size, "infinite (0 before)");
	else if (c->is_percent)
		(void)snprintf(buf, size, "%.2f %%", value);
	else if (gate_is_size(c))
		(void)snprintf(buf, size, "%s%s", value < 0 ? "-" : "",
			       base_size((uint64_t)(value < 0 ? -value : value)).text);
	else
		(void)snprintf(buf, size, "%s", base_number((uint64_t)value).text);
}

static void say(struct gate_check *c)
{
	char value[40], limit[40];

	put_value(value, sizeof(value), c, c->value);
	put_value(limit, sizeof(limit), c, c->limit);
	(void)snprintf(c->text, sizeof(c->text), "%s%s%.80s is %s, limit %s%s",
		       gate_words[c->measure], *c->target ? " " : "", c->target, value, limit,
		       c->is_unknown ? " (no class or object has this name)" : "");
}

/* Writes the condition for --fail-if, which is true if the check fails. */
static void write_condition(const struct gate_check *c, char *buf, size_t size)
{
	static const char *const names[] = { "count", "shallow", "retained", "retained" };
	const bool grows = c->measure == GATE_GROWTH, has_target = *c->target;
	int used;

	if (c->measure >= GATE_LEAKS)
		used = snprintf(buf, size, "secrets()");
	else
		used = snprintf(buf, size, "%s%s(%s)%s", grows ? "growth(" : "",
				has_target ? names[c->measure] : "shallow",
				has_target ? c->target : "*", grows ? ")" : "");
	(void)snprintf(buf + used, size - (size_t)used, c->is_percent ? " > %.6f%%" : " > %.6f",
		       c->limit);
}

/*
 * Returns whether a row of the leaks query is a leak itself, rather than a detail of a leak. A
 * suspect's own verdict is "large" only for the owner of memory outside the heap, such as a pool,
 * and "stuck" for threads that cannot continue.
 */
static bool is_leak(const struct hdb_rows *rows)
{
	char kind[32], verdict[32];

	cell(rows, "kind", kind, sizeof(kind));
	cell(rows, "verdict", verdict, sizeof(verdict));
	return strcmp(kind, "leaking") == 0 ||
	       (strcmp(kind, "suspect") == 0 && !base_is_among("large|stuck", verdict));
}

/* Adds the fingerprints of the baseline's leaks to the list, one per line. */
static int read_fingerprints(struct cli *cli, struct bytes *list)
{
	DOOR_ROWS *rows = NULL;
	char fingerprint[64];
	int rc = ask(cli, &(struct question){ .query = "leaks", .is_of_baseline = true }, &rows);

	while (rc == HDB_OK && (rc = hdb_rows_next(rows, &cli->err)) == HDB_OK) {
		cell(rows, "signature", fingerprint, sizeof(fingerprint));
		if (is_leak(rows))
			bytes_format(list, "%s\n", fingerprint);
	}
	bytes_add(list, "", 1);
	return rc == HDB_END && !list->failed ? HDB_OK : rc == HDB_END ? HDB_ENOMEM : rc;
}

/*
 * Counts leaking objects and suspects, except suspects whose verdict from a rule is "by design".
 * For fingerprints, counts only leaks that are not in the baseline.
 */
static int count_leaks(struct cli *cli, struct gate_check *c)
{
	static const struct naming naming = { "short_text", "", "owner_text" };
	BASE_SCOPED(bytes_release) struct bytes known = { 0 };
	size_t culprits_before = 0;
	bool counts = false;
	DOOR_ROWS *rows = NULL;
	char fingerprint[64], verdict[32];
	int rc = c->measure == GATE_FINGERPRINTS ? read_fingerprints(cli, &known) : HDB_OK;

	if (rc == HDB_OK)
		rc = ask(cli, &(struct question){ .query = "leaks" }, &rows);
	while (rc == HDB_OK && (rc = hdb_rows_next(rows, &cli->err)) == HDB_OK) {
		cell(rows, "signature", fingerprint, sizeof(fingerprint));
		cell(rows, "verdict", verdict, sizeof(verdict));
		if (is_leak(rows)) {
			counts = !known.size || !*fingerprint || !strstr(known.data, fingerprint);
			culprits_before = c->culprit_count;
			c->value += counts;
			if (counts)
				TRY(take_row(cli, c, rows, &naming));
		}
		if (counts && strcmp(verdict, "by design") == 0) {
			c->value--;
			c->culprit_count = culprits_before;
			counts = false;
		}
	}
	c->has_failed = c->value > c->limit;
	return rc == HDB_END ? HDB_OK : rc;
}

static int measure(struct cli *cli, struct gate_check *c)
{
	static const struct naming secrets = { "kind", "key", "owner" };
	char condition[CONDITION_MAX];
	struct question q = { .query = "histogram",
			      .option = { "fail-if", condition },
			      .option_count = 1,
			      .limit = 1 };
	DOOR_ROWS *rows = NULL;
	int rc = HDB_OK;

	if (strlen(c->target) > CONDITION_MAX - 100)
		return cli_usage(cli, "%s: the target is too long", c->name);
	write_condition(c, condition, sizeof(condition));
	q.compares = c->measure == GATE_GROWTH;
	q.query = q.compares ? "diff" : c->measure == GATE_SECRETS ? "secrets" : "histogram";
	q.limit = c->measure == GATE_SECRETS ? GATE_CULPRITS_MAX : 1;
	TRY(ask(cli, &q, &rows));
	TRY(read_result(cli, c, rows));
	if (!c->has_failed)
		return HDB_OK;
	if (c->measure != GATE_SECRETS)
		return find_largest(cli, c);
	while (rc == HDB_OK && (rc = hdb_rows_next(rows, &cli->err)) == HDB_OK)
		rc = take_row(cli, c, rows, &secrets);
	return rc == HDB_END ? HDB_OK : rc;
}

static int check_baseline(struct cli *cli, const struct gate_budget *budget)
{
	for (size_t i = 0; i < budget->count; i++) {
		const struct gate_check *c = &budget->checks[i];

		if ((c->measure == GATE_GROWTH || c->measure == GATE_FINGERPRINTS) &&
		    !cli->opt.baseline)
			return cli_usage(cli, "%s:%zu:%zu: %s requires --baseline OLD",
					 budget->path, c->line, c->column, gate_words[c->measure]);
	}
	return HDB_OK;
}

static int check_all(struct cli *cli, struct gate_budget *budget)
{
	for (size_t i = 0; i < budget->count; i++) {
		struct gate_check *c = &budget->checks[i];
		const int rc = c->measure == GATE_LEAKS || c->measure == GATE_FINGERPRINTS ?
				       count_leaks(cli, c) :
				       measure(cli, c);

		if (rc == HDB_EUSAGE) {
			const struct hdb_error cause = cli->err;

			return cli_usage(cli, "%s:%zu:%zu: %s", budget->path, c->line, c->column,
					 cause.message);
		}
		TRY(rc);
		say(c);
		budget->failed += c->has_failed;
	}
	return HDB_OK;
}

/* ---- the command ---- */

static int open_baseline(struct cli *cli)
{
	struct database *d;

	if (!cli->opt.baseline)
		return HDB_OK;
	TRY(BASE_ALLOC(cli->before, 1, "databases", &cli->err));
	d = cli->before;
	cli->before_count = 1;
	TRY(locate_named(cli, cli->opt.baseline, &d->db_path, &d->dump_path));
	TRY(cli_open(cli, d->db_path, d->dump_path, 2, &d->db));
	cli_report_health(cli, d->db, d->db_path);
	return HDB_OK;
}

/* Sets the format that the suffix of -o FILE selects, unless --format was given. */
static int use_suffix(struct cli *cli)
{
	/* by format; text and GitHub annotations have no suffix */
	static const char *const suffixes[] = { "", ".md", ".xml", ".sarif" };
	const char *suffix = cli->opt.output ? strrchr(cli->opt.output, '.') : NULL;

	if (!suffix || options_given(&cli->opt, "format"))
		return HDB_OK;
	if (base_is_among(".csv|.tsv|.json|.jsonl|.html", suffix))
		return cli_usage(cli, "-o %s: this command writes .md, .xml, .sarif or text",
				 cli->opt.output);
	for (unsigned i = 1; i < BASE_COUNT(suffixes); i++)
		if (strcmp(suffix, suffixes[i]) == 0)
			cli->opt.gate_format = i;
	return HDB_OK;
}

int cmd_gate(struct cli *cli)
{
	BASE_SCOPED(gate_release) struct gate_budget budget = { 0 };
	BASE_SCOPED(file_text_release) struct file_text file = { 0 };
	struct stat st;

	if (!cli->opt.budget)
		return cli_usage(cli, "expected --budget FILE");
	TRY(use_suffix(cli));
	if (cli->opt.update && stat(cli->opt.budget, &st) == 0 && !S_ISREG(st.st_mode))
		return cli_usage(cli, "--update needs a regular file, not %s", cli->opt.budget);
	if (cli->opt.update && strcmp(cli->opt.budget, "-") == 0)
		return cli_usage(cli, "--update needs a file, not standard input");
	TRY(cli_read_file(cli, cli->opt.budget, BUDGET_MAX, &file));
	TRY(gate_read(cli, &file, &budget));
	TRY(check_baseline(cli, &budget));
	/* an import may take long, so a wrong budget is reported first */
	TRY(cli_open_database(cli));
	TRY(open_baseline(cli));
	TRY(check_all(cli, &budget));
	if (cli->opt.update)
		TRY(gate_update(cli, &file, &budget));
	gate_print(cli->out, &budget, (enum gate_format)cli->opt.gate_format);
	return cli->opt.update ? HDB_OK : cli_verdict(cli, budget.failed > 0);
}
