/*
 * sqlite/sql_rewrite.c - answers sums over all objects from totals by class or kind.
 *
 * SQLite can request only rows from a virtual table, not sums. Statements are therefore inspected
 * before SQLite sees them. If a statement reads only `objects`, and uses only the class (or the
 * kind), count(*) and sums of shallow and retained sizes, sums over the totals of each class (or
 * kind) give the same results. All other statements, including doubtful ones, are left unchanged.
 */
#include "sqlite/sql_private.h"

/* Maximum number of words; longer statements are left unchanged. */
#define WORDS_MAX 400

/*
 * Splits a statement into words up to its semicolon. Returns 0 if there are too many words or any
 * comments, which could hide part of the statement.
 */
static size_t split(const char *text, struct sql_word *words)
{
	struct sql_word word;
	size_t count = 0;

	for (; sql_next_word(text, &word) && word.kind != ';'; text = word.at + word.size) {
		if (count == WORDS_MAX || word.kind == SQL_COMMENT)
			return 0;
		words[count++] = word;
	}
	return count;
}

static bool is_one_of(const struct sql_word *word, const char *const *names)
{
	for (; *names; names++)
		if (sql_is(word, *names))
			return true;
	return false;
}

bool heapsql_names_columns(const char *statement)
{
	static const char *const before[] = { "select", "distinct", "all", NULL };
	BASE_FREED struct sql_word *words = malloc((WORDS_MAX + 1) * sizeof(*words));
	const size_t count = words ? split(statement, words) : 0;
	int depth = 0;

	for (size_t i = 1; i < count; i++) {
		depth += sql_is(&words[i], "(") - sql_is(&words[i], ")");
		if (depth == 0 && sql_is(&words[i], "*") &&
		    (sql_is(&words[i - 1], ",") || sql_is(&words[i - 1], ".") ||
		     is_one_of(&words[i - 1], before)))
			return false;
	}
	return count && (sql_is(&words[0], "select") || sql_is(&words[0], "with"));
}

/* Returns whether the statement reads one table once. */
static bool is_simple(const struct sql_word *words, size_t count)
{
	static const char *const more[] = { "join",    "union",  "except", "intersect", "with",
					    "over",    "filter", "window", "distinct",  "cross",
					    "natural", "exists", "in",     "rowid",     "oid",
					    "_rowid_", NULL };
	size_t selects = 0, froms = 0;

	for (size_t i = 0; i < count; i++) {
		selects += sql_is(&words[i], "select");
		froms += sql_is(&words[i], "from");
		/* IN may be followed by a list or by a table */
		if (is_one_of(&words[i], more) &&
		    !(sql_is(&words[i], "in") && i + 2 < count && sql_is(&words[i + 1], "(") &&
		      words[i + 2].kind == SQL_LITERAL))
			return false;
	}
	return selects == 1 && froms == 1;
}

/*
 * Returns whether the words are sum(shallow), sum(retained) or total(...). These sums are the same
 * when they are computed from totals by class.
 */
static bool is_sum(const struct sql_word *words, size_t count, size_t i)
{
	static const char *const sums[] = { "sum", "total", NULL };

	return i + 3 < count && is_one_of(&words[i], sums) && sql_is(&words[i + 1], "(") &&
	       (sql_is(&words[i + 2], "shallow") || sql_is(&words[i + 2], "retained")) &&
	       sql_is(&words[i + 3], ")");
}

static bool is_count(const struct sql_word *words, size_t count, size_t i)
{
	return i + 3 < count && sql_is(&words[i], "count") && sql_is(&words[i + 1], "(") &&
	       (sql_is(&words[i + 2], "*") || sql_is(&words[i + 2], "id") ||
		sql_is(&words[i + 2], "class")) &&
	       sql_is(&words[i + 3], ")");
}

/*
 * Parses WHERE: `reachable`, conditions on the class only, or both joined by AND. Sets *reachable
 * to 1 or -1 if the condition is present, and *skip_to to the first word to keep.
 */
static bool read_where(const struct sql_word *words, size_t count, size_t where, int *reachable,
		       size_t *skip_to)
{
	size_t i = where + 1;

	*reachable = -1;
	*skip_to = where;
	if (i >= count || !sql_is(&words[i], "reachable"))
		return true;
	*reachable = 1;
	i++;
	if (i + 1 < count && sql_is(&words[i], "=")) {
		if (words[i + 1].size != 1 ||
		    (words[i + 1].at[0] != '1' && words[i + 1].at[0] != '0'))
			return false;
		*reachable = words[i + 1].at[0] - '0';
		i += 2;
	}
	*skip_to = i;
	/* neither OR nor more of an expression on `reachable` may follow */
	return i == count || sql_is(&words[i], "and") || sql_is(&words[i], "group") ||
	       sql_is(&words[i], "order") || sql_is(&words[i], "limit");
}

/*
 * Returns whether the condition contains OR. AND binds tighter, so dropping the first term of
 * `reachable AND a OR b` would change the meaning.
 */
static bool has_or(const struct sql_word *words, size_t from, size_t count)
{
	for (size_t i = from; i < count; i++)
		if (sql_is(&words[i], "or"))
			return true;
	return false;
}

struct shape {
	size_t from, table; /* indexes of the words FROM and the table's name */
	size_t where;       /* index of WHERE, or `count` if there is none */
	size_t keep;        /* index of the first word to keep after WHERE */
	int reachable;
	bool has_class, has_kind;
};

/* Finds the clauses of a statement that reads `objects`. Returns false for other statements. */
static bool find_clauses(const struct sql_word *words, size_t count, struct shape *s)
{
	static const char *const ends[] = { "where", "group", "order", "limit", "having", NULL };

	for (s->from = 0; s->from < count && !sql_is(&words[s->from], "from"); s->from++)
		;
	s->table = s->from + 1;
	if (s->table + 1 < count && sql_is(&words[s->table], "main") &&
	    sql_is(&words[s->table + 1], "."))
		s->table += 2;
	if (s->table >= count || !sql_is(&words[s->table], "objects") ||
	    (s->table + 1 < count && !is_one_of(&words[s->table + 1], ends)))
		return false;
	for (s->where = s->table + 1; s->where < count && !sql_is(&words[s->where], "where");
	     s->where++)
		;
	s->keep = s->where;
	s->reachable = -1;
	if (s->where < count && !read_where(words, count, s->where, &s->reachable, &s->keep))
		return false;
	return s->reachable < 0 || !has_or(words, s->where, count);
}

/*
 * Returns whether the statement has sums and, besides them, reads only the class or only the kind
 * of the objects.
 */
static bool reads_groups(const struct sql_word *words, size_t count, struct shape *s)
{
	static const char *const columns[] = { "id",          "shallow", "retained",  "dominator",
					       "length",      "heap",    "reachable", "class_id",
					       "file_offset", NULL };
	bool has_sum = false;

	for (size_t i = 0; i < count; i++) {
		if (i == s->where + 1 && s->reachable >= 0)
			i = s->keep;
		if (i >= count)
			break;
		if (is_count(words, count, i) || is_sum(words, count, i)) {
			has_sum = true;
			i += 3;
		} else if (sql_is(&words[i], "*") || is_one_of(&words[i], columns) ||
			   (sql_is(&words[i], ".") && i != s->table - 1)) {
			return false;
		} else {
			s->has_class |= sql_is(&words[i], "class");
			s->has_kind |= sql_is(&words[i], "kind");
		}
	}
	return has_sum && !(s->has_class && s->has_kind);
}

/*
 * Returns whether any aggregate would give a different result when computed from totals.
 * group_concat does; min(class) does not.
 */
static bool has_other_aggregate(const struct sql_word *words, size_t count)
{
	static const char *const names[] = {
		"group_concat", "avg",   "retained_set",     "common_dominator",  "count",
		"sum",          "total", "json_group_array", "json_group_object", "random",
		"row_number",   NULL
	};

	for (size_t i = 0; i < count; i++)
		if (is_one_of(&words[i], names) && !is_count(words, count, i) &&
		    !is_sum(words, count, i))
			return true;
	return false;
}

static void add(sqlite3_str *out, const struct sql_word *word, const struct sql_word *before)
{
	const char *gap = before ? before->at + before->size : word->at;

	sqlite3_str_append(out, gap, (int)(word->at - gap));
	sqlite3_str_append(out, word->at, (int)word->size);
}

char *sql_rewrite(const char *statement)
{
	struct sql_word *words = malloc((WORDS_MAX + 1) * sizeof(*words));
	const size_t count = words ? split(statement, words) : 0;
	sqlite3_str *out;
	struct shape s = { 0 };

	if (!count || !is_simple(words, count) || !find_clauses(words, count, &s) ||
	    !reads_groups(words, count, &s) || has_other_aggregate(words, count)) {
		free(words);
		return NULL;
	}
	out = sqlite3_str_new(NULL);
	for (size_t i = 0; i < count; i++) {
		if (is_count(words, count, i)) {
			sqlite3_str_appendall(out, " ifnull(sum(objects), 0) ");
			i += 3;
		} else if (i == s.table) {
			sqlite3_str_appendf(out, " %s_totals%s ", s.has_kind ? "kind" : "class",
					    s.reachable < 0 ? "" :
					    s.reachable     ? "(1)" :
							      "(0)");
		} else if (i == s.where && s.reachable >= 0) {
			/* WHERE reachable AND ... becomes WHERE ... */
			if (s.keep < count && sql_is(&words[s.keep], "and"))
				sqlite3_str_appendall(out, " WHERE ");
			i = s.keep < count && sql_is(&words[s.keep], "and") ? s.keep : s.keep - 1;
			sqlite3_str_appendall(out, " ");
		} else {
			add(out, &words[i], i ? &words[i - 1] : NULL);
		}
	}
	free(words);
	return sqlite3_str_finish(out);
}
