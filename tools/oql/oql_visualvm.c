/*
 * oql/oql_visualvm.c - translates the commonly used part of VisualVM's OQL, which is JavaScript, to
 * SQL for `heapdb sql`.
 *
 * The parser produces SQL directly: an expression becomes a `struct value`, which is a fragment of
 * SQL and its type. A list (heap.objects, referrers, map, ...) is an incomplete SELECT. The quoted
 * expressions passed to map, filter, sort and so on are parsed when they are applied, with their
 * parameters bound to values. They may be parsed several times, so STEPS_MAX limits the total.
 * After the first failure, all functions return empty results. If code cannot be translated, the
 * error suggests SQL to use instead.
 */
#include "oql/oql.h"
#include "oql/oql_lex.h"

#include "common/descriptor.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

/*
 * Maximum number of tokens read. The tokens of a function count each time the function is applied.
 */
#define STEPS_MAX 200000

/* Maximum memory of a translation, in bytes. */
#define MEMORY_MAX (64U << 20)

/* Maximum number of bound names in a statement, and of arguments of a call. */
#define BOUND_MAX 64
#define ARGUMENTS_MAX 4

/* Names of functions that also exist in MAT's OQL. */
#define MAT_FUNCTIONS "classof count sum min max"

enum kind {
	ANY, /* a field or element: number, reference or null */
	NUMBER,
	BOOL,
	TEXT,
	OBJECT,
	CLASS,
	ROW, /* {name: value, ...} */
	LIST,
	HEAP, /* the identifier `heap` */
	NIL
};

enum token_kind { END, NAME, DIGITS, QUOTED, SIGN };

struct value {
	enum kind kind;
	bool is_field;   /* field(..., '...') */
	bool is_string;  /* whether the object is an instance of java.lang.String */
	const char *sql; /* SQL for the ID of an OBJECT or CLASS, or for the columns of a ROW */
	const char *row; /* table in FROM with the sizes of an OBJECT, or NULL if none */
	const char
		*class; /* class name of an OBJECT, name of a CLASS; NULL if derived from `sql` */
	struct pair *pairs;
	struct list *list;
	struct oql_str text; /* text of a TEXT literal, or of code for map and similar functions */
};

/* A member of a ROW. */
struct pair {
	struct oql_str key;
	struct value value;
	struct pair *next;
};

struct list {
	const char *from, *where, *order, *limit; /* NULL if absent */
	bool is_distinct;
	struct value item;
};

/* Parser position: the text, the current token, and the rest. */
struct place {
	const char *text, *end, *start, *at;
	enum token_kind token;
};

struct translator {
	struct place in;
	size_t steps, depth, aliases;
	struct {
		struct oql_str name;
		struct value value;
	} bound[BOUND_MAX];
	size_t bound_count;
	struct value sides[2]; /* operands of the last parsed operator, with its sign and SQL */
	const char *sign, *combined;
	struct oql_arena arena;
	struct hdb_error *err;
	int result; /* result of the first failure */
};

static const struct value nothing = { .kind = NIL, .sql = "NULL" };

static struct value parse_expression(struct translator *t);

/* ---- failures, and pieces of SQL ---- */

static struct value fail(struct translator *t, int r)
{
	t->in.at = t->in.end;
	t->result = t->result == HDB_OK ? r : t->result;
	t->in.token = END;
	return nothing;
}

/* Fails because there is no translation, and suggests SQL. */
static struct value refuse(struct translator *t, const char *what, const char *sql)
{
	return fail(t, t->result ?
			       t->result :
			       oql_fail_at(t->in.text, (size_t)(t->in.start - t->in.text), t->err,
					   "VisualVM's OQL: cannot translate %s; use `heapdb sql` "
					   "instead: %s",
					   what, sql));
}

static struct value expected(struct translator *t, const char *what)
{
	return fail(t, t->result ? t->result :
				   oql_fail_at(t->in.text, (size_t)(t->in.start - t->in.text),
					       t->err, "VisualVM's OQL: expected %s", what));
}

static void *take_memory(struct translator *t, size_t size)
{
	void *memory = t->result == HDB_OK ? oql_take(&t->arena, size, 1, t->err) : NULL;

	if (!memory)
		fail(t, HDB_ELIMIT);
	return memory;
}

/* Formats text in the arena. Returns "" after a failure. */
static HDB_PRINTF(2, 3) const char *put(struct translator *t, const char *format, ...)
{
	va_list args, again;
	char *out;
	int size;

	va_start(args, format);
	va_copy(again, args);
	size = vsnprintf(NULL, 0, format, args);
	out = size < 0 ? NULL : take_memory(t, (size_t)size + 1);
	if (out)
		vsnprintf(out, (size_t)size + 1, format, again);
	va_end(again);
	va_end(args);
	return out ? out : "";
}

/* Quotes a string, doubling quotes inside. */
static const char *put_quoted(struct translator *t, struct oql_str text, char quote)
{
	char *out = take_memory(t, 2 * text.size + 3);
	size_t n = 0;

	if (!out)
		return "";
	out[n++] = quote;
	for (size_t i = 0; i < text.size; i++) {
		out[n] = quote;
		n += text.data[i] == quote;
		out[n++] = text.data[i];
	}
	out[n] = quote;
	return out;
}

static struct value make(enum kind kind, const char *sql)
{
	return (struct value){ .kind = kind, .sql = sql };
}

/* ---- tokens ---- */

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static void next(struct translator *t)
{
	const char *at = t->in.at;

	while (at < t->in.end && isspace((unsigned char)*at))
		at++;
	t->in.start = at;
	t->in.token = t->result != HDB_OK || at == t->in.end ? END :
		      isdigit((unsigned char)*at)            ? DIGITS :
		      in_name(*at)                           ? NAME :
		      *at == '"' || *at == '\''              ? QUOTED :
							       SIGN;
	if (t->in.token != END && ++t->steps > STEPS_MAX)
		fail(t, hdb_fail(t->err, HDB_ELIMIT, "the statement has too many steps"));
	if (t->in.token == END)
		return;
	t->in.at = at + 1;
	if (t->in.token == NAME || t->in.token == DIGITS)
		while (t->in.at < t->in.end &&
		       (in_name(*t->in.at) || (t->in.token == DIGITS && *t->in.at == '.')))
			t->in.at++;
	if (t->in.token == QUOTED) {
		while (t->in.at < t->in.end && *t->in.at != *at)
			t->in.at += 1 + (*t->in.at == '\\');
		if (t->in.at < t->in.end)
			t->in.at++;
		else
			expected(t, "a quote at the end of this string");
	}
	if (t->in.token == SIGN && (at[1] == '=' || (at[0] == '=' && at[1] == '>') ||
				    (at[1] == at[0] && strchr("&|", *at))))
		t->in.at += 1 + (at[1] == '=' && at[2] == '=');
}

static struct oql_str token(const struct translator *t)
{
	return (struct oql_str){ t->in.start,
				 t->in.token == END ? 0 : (size_t)(t->in.at - t->in.start) };
}

static bool is(const struct translator *t, const char *word)
{
	return oql_is(token(t), word);
}

static bool take(struct translator *t, const char *word)
{
	const bool is_it = is(t, word);

	if (is_it)
		next(t);
	return is_it;
}

static void expect(struct translator *t, const char *word)
{
	if (!take(t, word))
		expected(t, put(t, "\"%s\"", word));
}

static struct oql_str take_name(struct translator *t)
{
	const struct oql_str name = token(t);

	if (t->in.token != NAME)
		expected(t, "a name");
	next(t);
	return name;
}

/* Skips to a comma, a closing bracket, or one of two words, unless it is inside brackets. */
static struct oql_str skip_expression(struct translator *t, const char *word)
{
	struct oql_str out = { t->in.start, 0 };

	for (int depth = 0; t->in.token != END; next(t)) {
		const char c = t->in.token == SIGN ? *t->in.start : ' ';

		if (depth == 0 && (strchr(",;)]}", c) || is(t, word)))
			break;
		depth += (strchr("([{", c) != NULL) - (strchr(")]}", c) != NULL);
	}
	out.size = (size_t)(t->in.start - out.data);
	return out;
}

/* ---- values as SQL ---- */

static const char *class_name(struct translator *t, const struct value *v)
{
	return v->class         ? v->class :
	       v->kind == CLASS ? put(t, "(SELECT name FROM classes WHERE id = %s)", v->sql) :
				  put(t, "class_of(%s)", v->sql);
}

/*
 * Formats a label: "java.lang.Thread#0x12c4". In place of the ID, VisualVM shows an instance
 * number.
 */
static const char *label(struct translator *t, const struct value *v)
{
	return v->kind == CLASS ? put(t, "'class ' || %s", class_name(t, v)) :
				  put(t, "%s || '#' || hex(%s)", class_name(t, v), v->sql);
}

/* Converts a value to text like toString(). */
static const char *as_text(struct translator *t, const struct value *v)
{
	return v->kind == ANY    ? put(t, "coalesce(text(%s), %s)", v->sql, v->sql) :
	       v->is_string      ? put(t, "text(%s)", v->sql) :
	       v->kind == OBJECT ? put(t, "coalesce(text(%s), %s)", v->sql, label(t, v)) :
	       v->kind == CLASS  ? label(t, v) :
	       v->kind == NIL    ? "'null'" :
	       v->kind <= TEXT ?
				v->sql :
				refuse(t, "a list inside a string", "SELECT group_concat(...)").sql;
}

static const char *as_condition(struct translator *t, const struct value *v)
{
	return v->kind == TEXT ?
		       put(t, "%s <> ''", v->sql) :
	       v->kind < ROW || v->kind == NIL ?
		       v->sql :
		       refuse(t, "a list used as a condition", "EXISTS ( SELECT ... )").sql;
}

/*
 * Returns the number in a string literal, which may be an object ID, or "" if the string is not a
 * number.
 */
static const char *as_number(struct translator *t, const struct value *v)
{
	const size_t size = v->kind == TEXT ? v->text.size : 0;
	const char *text = put(t, "%.*s", (int)size, v->text.data);

	return isdigit((unsigned char)*text) && strspn(text, "0123456789abcdefABCDEFx") == size ?
		       text :
		       "";
}

/* Removes the parentheses around a SELECT or condition. */
static const char *strip(struct translator *t, const struct value *v)
{
	return v->sql[0] == '(' ? put(t, "%.*s", (int)strlen(v->sql) - 2, v->sql + 1) : v->sql;
}

/* Formats a result column. IDs that SQLite would print as numbers are converted to hexadecimal. */
static const char *column(struct translator *t, const struct value *v)
{
	return v->kind == NIL                                         ? v->sql :
	       v->kind != OBJECT && v->kind != CLASS                  ? as_text(t, v) :
	       strchr(v->sql, '(') || isdigit((unsigned char)*v->sql) ? put(t, "hex(%s)", v->sql) :
									v->sql;
}

/* Formats the columns of a SELECT. */
static const char *columns(struct translator *t, const struct value *v)
{
	const char *all = "";

	if (v->kind == OBJECT || v->kind == CLASS)
		return put(t, "%s AS id, %s AS %s", column(t, v), class_name(t, v),
			   v->kind == CLASS ? "name" : "class");
	if (v->kind != ROW)
		return put(t, "%s AS value", column(t, v));
	for (const struct pair *p = v->pairs; p; p = p->next)
		all = put(t, "%s%s%s AS %s", all, *all ? ", " : "", column(t, &p->value),
			  put_quoted(t, p->key, '"'));
	return all;
}

/* ---- lists ---- */

static const char *tail(struct translator *t, const struct list *l)
{
	const struct {
		const char *word, *sql;
	} parts[] = { { "WHERE", l->where }, { "ORDER BY", l->order }, { "LIMIT", l->limit } };
	const char *sql = put(t, " FROM %s", l->from);

	for (size_t i = 0; i < BASE_COUNT(parts); i++)
		if (parts[i].sql)
			sql = put(t, "%s %s %s", sql, parts[i].word, parts[i].sql);
	return sql;
}

static void add_where(struct translator *t, struct list *l, const char *condition)
{
	l->where = l->where ? put(t, "%s AND %s", l->where, condition) : condition;
}

static const char *alias(struct translator *t)
{
	return t->aliases++ ? put(t, "it%zu", t->aliases) : "it";
}

/*
 * Makes a list of objects or classes from the column `id` of a table, which also has their sizes or
 * names if `is_whole`.
 */
static struct value make_list(struct translator *t, enum kind kind, const char *table,
			      const char *name, bool is_whole)
{
	struct list *list = take_memory(t, sizeof(*list));

	if (!list)
		return nothing;
	*list = (struct list){ .from = table };
	list->item = make(kind, put(t, "%s.id", name));
	list->item.is_string = strncmp(table, "instances('java.lang.String'", 28) == 0;
	if (is_whole) {
		list->item.row = name;
		list->item.class = put(t, kind == CLASS ? "%s.name" : "%s.class", name);
	}
	return (struct value){ .kind = LIST, .sql = "", .list = list };
}

/* ---- functions that are applied ---- */

static struct value apply(struct translator *t, struct oql_str code, const char *const *names,
			  const struct value *item)
{
	const struct place saved = t->in;
	const size_t bound_count = t->bound_count;
	struct value v;

	if (!code.data || t->bound_count + 2 > BOUND_MAX || ++t->depth > OQL_DEPTH_MAX)
		return refuse(t, "a function that is not a quoted expression",
			      "SELECT ... CASE WHEN ... THEN ... END ... FROM ... WHERE ...");
	for (size_t i = 0; i < 2 && names[i]; i++) {
		t->bound[t->bound_count].name = (struct oql_str){ names[i], strlen(names[i]) };
		t->bound[t->bound_count++].value = *item;
	}
	t->in.at = code.data;
	t->in.end = t->in.at + code.size;
	if (t->in.at < t->in.text || t->in.end > saved.end) /* the copy of a string with escapes */
		t->in.text = t->in.at;
	next(t);
	v = parse_expression(t);
	take(t, ";");
	if (t->in.token != END)
		expected(t, "the end of the expression");
	t->in = saved;
	t->in.token = t->result == HDB_OK ? saved.token : END;
	t->bound_count = bound_count;
	t->depth--;
	return v;
}

static struct value apply_to(struct translator *t, const struct value *code,
			     const struct value *item)
{
	static const char *const names[] = { "it", NULL };

	return apply(t, code->text, names, item);
}

/* Returns the offset of the first occurrence of an identifier in a string. */
static size_t place_of(struct oql_str text, const char *name)
{
	const char *at = memmem(text.data, text.size, name, strlen(name));

	return at ? (size_t)(at - text.data) : text.size;
}

/*
 * Sorts by a comparison of two elements: f(lhs) - f(rhs), or with < or >, in either direction.
 * Binding both parameters to the same value must make the two sides equal. The key is then either
 * side.
 */
static void sort_by(struct translator *t, struct list *l, const struct value *code)
{
	static const char *const names[] = { "lhs", "rhs" };
	struct value v;
	bool is_turned;

	l->order = l->item.sql;
	if (code->kind == NIL)
		return;
	t->combined = NULL;
	v = apply(t, code->text, names, &l->item);
	if (t->result == HDB_OK && v.sql != t->combined)
		refuse(t, "a comparison other than f(lhs) - f(rhs)", "ORDER BY ...");
	if (t->result != HDB_OK)
		return;
	is_turned =
		(place_of(code->text, "lhs") > place_of(code->text, "rhs")) != (*t->sign == '>');
	if (!strchr("-<>", *t->sign) || strcmp(t->sides[0].sql, t->sides[1].sql) != 0)
		refuse(t, "a comparison other than f(lhs) - f(rhs)", "ORDER BY ...");
	l->order = put(t, "%s%s", t->sides[0].sql, is_turned ? " DESC" : "");
}

/* Flattens a list of lists. */
static struct value join(struct translator *t, struct value list)
{
	struct list *outer = list.list, *inner = outer->item.list;

	if (outer->item.kind != LIST)
		return list;
	if (inner->limit || outer->limit || inner->is_distinct || outer->is_distinct)
		return refuse(t, "a truncated list inside another list", "a join");
	inner->from = put(t, "%s, %s", outer->from, inner->from);
	if (outer->where)
		add_where(t, inner, outer->where);
	return outer->item;
}

static struct value do_filter(struct translator *t, struct value list, const struct value *code)
{
	const struct value v = apply_to(t, code, &list.list->item);

	add_where(t, list.list, as_condition(t, &v));
	return list;
}

/* ---- functions, members and methods ---- */

/* A row of oql_visualvm.rows. */
#define FORM(receiver, ...) \
	{ \
		(receiver)[0], __VA_ARGS__ \
	}
static const struct form {
	char of;
	unsigned char least, most;
	enum kind kind;
	const char *name, *sql;
} forms[] = {
#include <oql/oql_visualvm.rows.h>
};

static const struct form *const forms_end = forms + BASE_COUNT(forms);

static const char *hint(char of, struct oql_str name)
{
	const struct form *f = forms;

	while (f < forms_end && !(f->of == of && oql_is(name, f->name)))
		f++;
	return f < forms_end ? f->sql : NULL;
}

/*
 * Fails for an unknown name. Inside a function expression, the name may be meant as one of the
 * parameters.
 */
static struct value refuse_name(struct translator *t, struct oql_str name)
{
	static const struct oql_str function = { "function", 8 };
	const char *sql = hint('x', strstr(t->in.text, "=>") ? function : name);

	if (!sql)
		sql = hint('m', name);
	return refuse(t, put(t, "\"%.*s\"", OQL_STR(name)),
		      sql ? sql : "the tables and functions of heapdb-sql(1)");
}

static const char *size_of(struct translator *t, const struct value *v, const char *size)
{
	return v->row ? put(t, "%s.%s", v->row, size) : put(t, "%s(%s)", size, v->sql);
}

/* Converts a class name to an SQL literal: "[Ljava.io.File;" to java.io.File[], "[I" to int[]. */
static const char *put_class(struct translator *t, struct oql_str name)
{
	const char *plain = put(t, "%.*s", OQL_STR(name));
	/* each bracket becomes two characters, and a type character becomes at most a word */
	const size_t room = 2 * strlen(plain) + sizeof("boolean");
	char *out = plain[0] == '[' ? take_memory(t, room) : NULL;

	if (out) {
		(void)descriptor_name(plain, out, room);
		plain = out;
	}
	return put_quoted(t, (struct oql_str){ plain, strlen(plain) }, '\'');
}

static const char *argument(struct translator *t, char how, const struct value *v)
{
	switch (how) {
	case 't':
		return as_text(t, v);
	case 'l':
		return label(t, v);
	case 's':
		return size_of(t, v, "shallow");
	case 'r':
		return size_of(t, v, "retained");
	case 'n':
		return v->kind == TEXT  ? put_class(t, v->text) :
		       v->kind == CLASS ? class_name(t, v) :
					  refuse(t, "this class", "instances('CLASS')").sql;
	case 'i':
		return *as_number(t, v) ? as_number(t, v) : v->sql;
	default:
		return v->sql;
	}
}

static const char *fill(struct translator *t, const char *sql, const struct value *args,
			const char *name)
{
	const char *out = "";

	while (t->result == HDB_OK && *sql) {
		const size_t plain = strcspn(sql, "$");
		const char *how = sql + plain + (sql[plain] != '\0');

		out = put(t, "%s%.*s", out, (int)plain, sql);
		sql += plain;
		if (!*sql)
			break;
		if (*how == 'a')
			out = put(t, "%s%s", out, name);
		else if (isdigit((unsigned char)*how))
			out = put(t, "%s%s", out, args[*how - '0'].sql);
		else
			out = put(t, "%s%s", out, argument(t, *how, &args[how[1] - '0']));
		sql = how + (*how == 'a' || isdigit((unsigned char)*how) ? 1 : 2);
	}
	return out;
}

/* Applies an aggregate to a list. */
static struct value aggregate(struct translator *t, struct list *l, const char *sql)
{
	const bool is_table = l->limit || l->is_distinct;
	const struct value item = is_table ? make(ANY, "v") : l->item;
	const char *from;

	if (!is_table)
		l->order = NULL;
	from = tail(t, l);
	if (is_table)
		from = put(t, " FROM (SELECT %s%s AS v%s)", l->is_distinct ? "DISTINCT " : "",
			   l->item.sql, from);
	return make(NUMBER, put(t, "(SELECT %s%s)", fill(t, sql, &item, ""), from));
}

/* Applies a function to a list. If there is no code, args[1] is `nothing`. */
static struct value call_list(struct translator *t, const struct form *f, const struct value *args)
{
	const struct oql_str name = { f->name, strlen(f->name) };
	const struct value *code = &args[1];
	struct value list = args[0];
	struct list *l = list.list;
	const bool is_map = oql_is(name, "map") || (oql_is(name, "sum") && code->kind != NIL);

	if (is_map ? l->is_distinct : l->limit && (!*f->sql || code->kind != NIL))
		return refuse(t, "a function applied to a truncated or distinct list",
			      "SELECT ... FROM ( SELECT ... )");
	if (is_map) {
		l->item = apply_to(t, code, &l->item);
		if (t->result != HDB_OK)
			return nothing;
		list = join(t, list);
	} else if (oql_is(name, "filter") || (*f->sql && code->kind != NIL)) {
		list = do_filter(t, list, code);
	} else if (oql_is(name, "unique")) {
		l->order = NULL;
		l->is_distinct = true;
	} else if (!*f->sql) { /* for sort and top */
		sort_by(t, l, code);
		if (oql_is(name, "top")) {
			l->order = code->kind == NIL ? NULL : l->order;
			l->limit = args[2].kind == NIL ? "10" : args[2].sql;
		}
	}
	return *f->sql && t->result == HDB_OK ? aggregate(t, list.list, f->sql) : list;
}

/* Finds and applies a function, member or method. Returns NIL if the name is unknown. */
static struct value call_form(struct translator *t, char of, struct oql_str name,
			      const struct value *args, size_t count)
{
	const struct form *f = forms;
	const char *as, *where;
	struct value v;

	while (f < forms_end &&
	       !(f->of == of && oql_is(name, f->name) && count >= f->least && count <= f->most))
		f++;
	if (f == forms_end || t->result != HDB_OK)
		return nothing;
	if (f->kind == LIST)
		return call_list(t, f, args);
	if (!strstr(f->sql, "$a")) {
		v = make(f->kind, fill(t, f->sql, args, ""));
		if (f->kind == CLASS && of != 'c' && of != 'h') {
			v.class = class_name(t, &args[0]);
			v.sql = args[0].row ? put(t, "%s.class_id", args[0].row) : v.sql;
		}
		return v;
	}
	as = alias(t);
	where = strstr(f->sql, " WHERE ");
	v = make_list(t, f->kind,
		      put(t, "%.*s", where ? (int)(where - f->sql) : (int)strlen(f->sql), f->sql),
		      as, f->sql[0] != '(');
	if (t->result != HDB_OK)
		return nothing;
	v.list->from = fill(t, v.list->from, args, as);
	v.list->where = where ? fill(t, where + 7, args, as) : NULL;
	return count == 3 ? do_filter(t, v, &args[2]) : v;
}

/* Applies v.name, or v.name(...) with its arguments after v. */
static struct value call_member(struct translator *t, struct oql_str name, const struct value *args,
				size_t count, bool is_call)
{
	const struct value *v = &args[0];
	struct value out = nothing;
	const bool is_object = v->kind == OBJECT || v->kind == ANY;

	if (v->kind == ROW && !is_call)
		for (struct pair *p = v->pairs; p; p = p->next)
			if (oql_same(p->key, name))
				return p->value;
	if (v->kind == HEAP)
		out = call_form(t, 'h', name, args + 1, count - 1);
	if (v->kind == CLASS)
		out = call_form(t, 'c', name, args, count);
	if (v->kind == LIST && oql_is(name, "length"))
		out = call_form(t, 'l', name, args, count);
	if (is_object && !is_call && out.kind == NIL)
		out = call_form(t, 'o', name, args, count);
	if (out.kind == NIL && (is_call || v->kind == TEXT) && v->kind <= CLASS)
		out = call_form(t, 't', name, args, count);
	if (out.kind != NIL || t->result != HDB_OK)
		return out;
	if (is_call || (!is_object && (v->kind != CLASS || hint('m', name))))
		return refuse_name(t, name);
	if (v->kind == CLASS)
		return make(ANY, put(t,
				     "(SELECT value FROM class_fields WHERE class_id = %s AND "
				     "is_static AND name = '%.*s')",
				     v->sql, OQL_STR(name)));
	out = make(ANY, v->is_field ? put(t, "%.*s.%.*s')", (int)strlen(v->sql) - 2, v->sql,
					  OQL_STR(name)) :
				      put(t, "field(%s, '%.*s')", v->sql, OQL_STR(name)));
	out.is_field = true;
	return out;
}

/* Parses arguments, appending to `args`. Returns their total number. */
static size_t parse_arguments(struct translator *t, struct value *args, size_t count)
{
	for (size_t i = count; i < ARGUMENTS_MAX; i++)
		args[i] = nothing;
	expect(t, "(");
	while (t->in.token != END && !is(t, ")")) {
		if (count == ARGUMENTS_MAX)
			expected(t, "fewer arguments");
		else
			args[count++] = parse_expression(t);
		if (!take(t, ","))
			break;
	}
	expect(t, ")");
	return count;
}

/* ---- expressions ---- */

static struct value parse_steps(struct translator *t, struct value v)
{
	for (unsigned n = 0; t->in.token != END; n++) {
		struct value args[ARGUMENTS_MAX] = { v, nothing, nothing, nothing };
		bool is_call;
		size_t count = 1;

		if (n == OQL_CHAIN_MAX)
			expected(t, "a shorter chain of fields");
		if (take(t, ".")) {
			const struct oql_str name = take_name(t);

			is_call = is(t, "(");
			if (is_call && !oql_is(name, "forEachClass") &&
			    !oql_is(name, "forEachObject"))
				count = parse_arguments(t, args, 1);
			v = call_member(t, name, args, count, is_call);
		} else if (take(t, "[")) {
			const struct value i = parse_expression(t);

			expect(t, "]");
			if (v.kind != OBJECT && v.kind != ANY)
				refuse(t, "access to a list element", "LIMIT 1 OFFSET 0");
			v = make(ANY, put(t, "element(%s, %s)", v.sql, i.sql));
		} else {
			break;
		}
	}
	return v;
}

/* Returns a string literal without quotes and escapes. */
static struct value parse_quoted(struct translator *t)
{
	struct oql_str s = { t->in.start + 1, (size_t)(t->in.at - t->in.start) - 2 };
	struct value v = { .kind = TEXT };

	if (memchr(s.data, '\\', s.size)) {
		char *copy = take_memory(t, s.size + 1);
		size_t n = 0;

		for (size_t i = 0; copy && i < s.size; i++) {
			i += s.data[i] == '\\' && i + 1 < s.size;
			copy[n++] = s.data[i];
		}
		s = (struct oql_str){ copy ? copy : "", n };
	}
	v.text = s;
	v.sql = put_quoted(t, s, '\'');
	next(t);
	return v;
}

/* Parses pattern/.test(text) or pattern/(text). */
static struct value parse_pattern(struct translator *t)
{
	struct oql_str pattern = { t->in.at, 0 };
	struct value args[ARGUMENTS_MAX];
	bool is_folded;

	while (t->in.at < t->in.end && *t->in.at != '/')
		t->in.at += 1 + (*t->in.at == '\\');
	if (t->in.at >= t->in.end)
		return expected(t, "\"/\" at the end of this pattern");
	pattern.size = (size_t)(t->in.at++ - pattern.data);
	next(t);
	is_folded = take(t, "i");
	/* VisualVM's examples also call the pattern itself: /Session/(it.name). */
	if (!is(t, "(")) {
		expect(t, ".");
		expect(t, "test");
	}
	if (parse_arguments(t, args, 0) != 1)
		return expected(t, "test(text) after a pattern");
	return make(BOOL, put(t, "(%s REGEXP %s%s)", as_text(t, &args[0]),
			      is_folded ? "'(?i)' || " : "", put_quoted(t, pattern, '\'')));
}

/* Parses {name: value, ...}. */
static struct value parse_row(struct translator *t)
{
	struct value row = { .kind = ROW, .sql = "" };
	struct pair **end = &row.pairs;

	for (next(t); t->in.token != END && !is(t, "}");) {
		struct pair *p = take_memory(t, sizeof(*p));

		if (!p)
			return nothing;
		*p = (struct pair){ .key = token(t) };
		if (t->in.token == QUOTED)
			p->key = (struct oql_str){ p->key.data + 1, p->key.size - 2 };
		next(t);
		expect(t, ":");
		p->value = parse_expression(t);
		*end = p;
		end = &p->next;
		if (!take(t, ","))
			break;
	}
	expect(t, "}");
	return row;
}

static struct value parse_name(struct translator *t)
{
	const struct oql_str name = take_name(t);
	struct value args[ARGUMENTS_MAX], v;
	size_t count;

	for (size_t i = t->bound_count; i-- > 0;)
		if (oql_same(t->bound[i].name, name))
			return t->bound[i].value;
	if (oql_is(name, "heap"))
		return make(HEAP, "");
	if (oql_is(name, "null") || oql_is(name, "undefined"))
		return nothing;
	if (oql_is(name, "true") || oql_is(name, "false"))
		return make(BOOL, name.size == 4 ? "1" : "0");
	if (!is(t, "(") || oql_is(name, "function") ||
	    (name.size > 7 && memcmp(name.data, "forEach", 7) == 0))
		return refuse_name(t, name);
	count = parse_arguments(t, args, 0);
	v = call_form(t, args[0].kind == LIST ? 'l' : 'f', name, args, count);
	return v.kind == NIL ? refuse_name(t, name) : v;
}

static struct value parse_primary(struct translator *t)
{
	struct value v;

	if (t->in.token == NAME)
		return parse_name(t);
	if (t->in.token == QUOTED)
		return parse_quoted(t);
	if (t->in.token == DIGITS) {
		v = make(NUMBER, put(t, "%.*s", (int)token(t).size, t->in.start));
		next(t);
		return v;
	}
	if (is(t, "{"))
		return parse_row(t);
	if (is(t, "/"))
		return parse_pattern(t);
	if (!take(t, "("))
		return expected(t, "an expression");
	v = parse_expression(t);
	expect(t, ")");
	return v;
}

static struct value parse_unary(struct translator *t)
{
	struct value v;

	if (++t->depth > OQL_DEPTH_MAX)
		fail(t, hdb_fail(t->err, HDB_ELIMIT, "the statement nests too deeply"));
	if (take(t, "!")) {
		v = parse_unary(t);
		v = make(BOOL, put(t, "(NOT coalesce(%s, 0))", as_condition(t, &v)));
	} else if (take(t, "-")) {
		v = parse_unary(t);
		v = make(NUMBER, put(t, "(-%s)", v.sql));
	} else {
		v = parse_steps(t, parse_primary(t));
	}
	t->depth--;
	return v;
}

static const struct binary {
	const char *sign;
	int level;
	const char *sql;
} binaries[] = {
	{ "||", 1, "OR" },     { "&&", 2, "AND" },     { "==", 3, "=" }, { "===", 3, "=" },
	{ "!=", 3, "IS NOT" }, { "!==", 3, "IS NOT" }, { "<", 4, "<" },  { ">", 4, ">" },
	{ "<=", 4, "<=" },     { ">=", 4, ">=" },      { "+", 5, "+" },  { "-", 5, "-" },
	{ "*", 6, "*" },       { "/", 6, "/" },        { "%", 6, "%" },
};

/* Formats an operand of text concatenation, in which null is "null". */
static const char *part(struct translator *t, const struct value *v)
{
	return v->kind == ANY ? put(t, "coalesce(text(%s), %s, 'null')", v->sql, v->sql) :
				as_text(t, v);
}

static struct value combine(struct translator *t, const struct binary *op, const struct value *a,
			    const struct value *b)
{
	const bool is_text = a->kind == TEXT || b->kind == TEXT;

	if (op->level == 1 && (b->kind == TEXT || b->kind == NUMBER))
		return refuse(t, "the operator || before a default value", "coalesce(a, b)");
	if (op->level <= 2)
		return make(BOOL,
			    put(t, "(%s %s %s)", as_condition(t, a), op->sql, as_condition(t, b)));
	if (op->level == 3 && (a->kind == NIL || b->kind == NIL))
		return make(BOOL, put(t, "(%s IS %sNULL)", a->kind == NIL ? b->sql : a->sql,
				      op->sql[0] == '=' ? "" : "NOT "));
	if (op->level <= 4 && a->kind == NUMBER && *as_number(t, b))
		return make(BOOL, put(t, "(%s %s %s)", a->sql, op->sql, as_number(t, b)));
	if (op->level <= 4)
		return make(BOOL, put(t, "(%s %s %s)", is_text ? as_text(t, a) : a->sql, op->sql,
				      is_text ? as_text(t, b) : b->sql));
	if (op->sign[0] == '+' && is_text)
		return make(TEXT, put(t, "(%s || %s)", part(t, a), part(t, b)));
	return make(NUMBER, put(t, op->sign[0] == '/' ? "(1.0 * %s %s %s)" : "(%s %s %s)", a->sql,
				op->sql, b->sql));
}

static struct value parse_binary(struct translator *t, int level)
{
	struct value a = parse_unary(t), b;

	for (unsigned n = 0; n < OQL_CHAIN_MAX; n++) {
		const struct binary *op = binaries, *end = op + sizeof(binaries) / sizeof(*op);

		while (op < end && !(is(t, op->sign) && op->level >= level))
			op++;
		if (op == end)
			break;
		next(t);
		b = parse_binary(t, op->level + 1);
		t->sides[0] = a;
		t->sides[1] = b;
		t->sign = op->sign;
		a = combine(t, op, &a, &b);
		t->combined = a.sql;
	}
	return a;
}

static struct value parse_expression(struct translator *t)
{
	struct value v = parse_binary(t, 1), a, b;
	bool is_text;

	if (!take(t, "?"))
		return v;
	a = parse_expression(t);
	expect(t, ":");
	b = parse_expression(t);
	is_text = a.kind == TEXT || b.kind == TEXT;
	return make(is_text       ? TEXT :
		    a.kind == NIL ? b.kind :
				    a.kind,
		    put(t, "(CASE WHEN %s THEN %s ELSE %s END)", as_condition(t, &v),
			is_text ? as_text(t, &a) : a.sql, is_text ? as_text(t, &b) : b.sql));
}

/* ---- statements ---- */

/*
 * Parses "[instanceof] class name" after "from": a list of objects, to which the identifier is
 * bound.
 */
static struct value parse_from(struct translator *t)
{
	struct oql_str class = { t->in.start, 0 }, name;
	const bool has_subclasses = is(t, "instanceof");
	const char *as;
	struct value list;

	if (has_subclasses) {
		next(t);
		class.data = t->in.start;
	}
	while (class.data + class.size < t->in.end &&
	       !isspace((unsigned char)class.data[class.size]))
		class.size++;
	t->in.at = class.data + class.size;
	next(t);
	name = take_name(t);
	as = name.size == 1 ? put(t, "%c", *name.data) : put_quoted(t, name, '"');
	list = make_list(
		t, OBJECT,
		put(t, "instances(%s%s) %s", put_class(t, class), has_subclasses ? "" : ", 0", as),
		as, true);
	if (t->result == HDB_OK) {
		t->bound[0].name = name;
		t->bound[0].value = list.list->item;
		t->bound_count = 1;
	}
	return list;
}

static const char *translate(struct translator *t)
{
	static const char *const none[] = { NULL };
	struct oql_str code;
	struct value objects = nothing, v;
	struct place end;

	next(t);
	take(t, "select");
	code = skip_expression(t, "from");
	if (take(t, "from"))
		objects = parse_from(t);
	if (take(t, "where")) {
		v = apply(t, skip_expression(t, ";"), none, NULL);
		if (t->result == HDB_OK)
			objects.list->where = v.kind == BOOL ? strip(t, &v) : as_condition(t, &v);
	}
	take(t, ";");
	end = t->in;
	v = apply(t, code, none, NULL);
	if (end.token != END)
		expected(t, "the end of the statement");
	if (t->result != HDB_OK)
		return "";
	if (objects.kind == LIST) {
		objects.list->item = v;
		v = join(t, objects);
	}
	if (v.kind != LIST)
		return put(t, "SELECT %s", columns(t, &v));
	return t->result != HDB_OK ? "" :
				     put(t, "SELECT %s%s%s", v.list->is_distinct ? "DISTINCT " : "",
					 columns(t, &v.list->item), tail(t, v.list));
}

/* Returns whether a statement uses JavaScript that MAT's OQL does not have. */
static bool is_visualvm(struct translator *t)
{
	static const char *const signs[] = { "==", "===", "!==", "&&", "||", "=>",
					     "{",  "?",   "!",   "%",  ";",  "function" };
	bool is_it = false, has_heap = false, has_classof = false;
	struct oql_str before = {
		"", 0
	}; /* the previous token; after ".", any name may be the name of a member */

	next(t);
	if (oql_is_word(token(t), "select") && !is(t, "select"))
		return false; /* VisualVM's keywords are lowercase */
	for (; t->in.token != END; next(t)) {
		const bool is_step = before.size && strchr(".$", before.data[before.size - 1]);
		const char *then = t->in.at + strspn(t->in.at, " \t\r\n");

		is_it |=
			t->in.token == QUOTED && *t->in.start == '\'' && t->in.at - t->in.start > 6;
		for (size_t i = 0; i < BASE_COUNT(signs); i++)
			is_it |= !is_step && is(t, signs[i]);
		for (const struct form *f = forms; f < forms_end; f++)
			is_it |= !is_step && strchr("flx", f->of) && *then == '(' &&
				 is(t, f->name) && !strstr(MAT_FUNCTIONS, f->name);
		if (!is_step && is(t, "heap") && *then != '.')
			return false; /* an alias in MAT's OQL */
		has_heap |= !is_step && is(t, "heap");
		has_classof |= is(t, "classof");
		is_it |= has_classof && is(t, ".") && *before.data == ')' &&
			 strncmp(then, "name", 4) == 0 && !in_name(then[4]);
		before = token(t);
	}
	return is_it || has_heap;
}

static void release(struct translator *t)
{
	oql_arena_release(&t->arena);
}

int oql_to_sql(struct oql_str text, char **sql, struct hdb_error *err)
{
	struct oql_budget budget = { .most_bytes = MEMORY_MAX };
	BASE_SCOPED(release) struct translator t = { .arena.budget = &budget, .err = err };
	const char *copy = oql_take_text(&t.arena, text.data, text.size, err), *out;
	struct place start = { .text = copy, .at = copy };

	if (!copy)
		return oql_result(HDB_ELIMIT, err);
	start.end = copy + text.size;
	t.in = start;
	if (strlen(copy) != text.size || !is_visualvm(&t))
		return HDB_NOTFOUND;
	t.in = start;
	out = translate(&t);
	TRY(oql_result(t.result, err));
	return BASE_COPY(*sql, out, "a statement", err);
}
