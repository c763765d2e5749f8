/*
 * oql/oql_values.c - makes, copies and formats values.
 */
#include "oql/oql_eval.h"

/* Array elements per read. */
#define ELEMENTS 512

struct oql_value oql_object(uint32_t ix)
{
	return (struct oql_value){ .type = OQL_V_OBJECT, .ix = ix };
}

struct oql_value oql_int(int64_t i)
{
	return (struct oql_value){ .type = OQL_V_INT, .i = i };
}

struct oql_value oql_long(int64_t i)
{
	return (struct oql_value){ .type = OQL_V_LONG, .i = i };
}

struct oql_value oql_bool(bool is)
{
	return (struct oql_value){ .type = OQL_V_BOOL, .i = is };
}

struct oql_value oql_static_string(const char *text)
{
	return (struct oql_value){ .type = OQL_V_STRING, .text = { text, strlen(text) } };
}

int oql_string(struct oql_eval *ev, struct oql_arena *arena, const struct bytes *text,
	       struct oql_value *out)
{
	TRY(oql_text_check(text, ev->err));
	*out = (struct oql_value){ .type = OQL_V_STRING };
	out->text.data = oql_take_text(arena, text->data, text->size, ev->err);
	out->text.size = text->size;
	return out->text.data ? HDB_OK : HDB_ELIMIT;
}

int oql_end_string(struct oql_eval *ev, struct oql_arena *arena, int r, struct bytes *text,
		   struct oql_value *out)
{
	if (r == HDB_OK)
		r = oql_string(ev, arena, text, out);
	bytes_release(text);
	return r;
}

int oql_make_list(struct oql_eval *ev, struct oql_arena *arena, size_t count,
		  struct oql_value **values, struct oql_value *out)
{
	struct oql_list *list;

	TRY(OQL_TAKE(list, arena, 1, ev->err));
	TRY(OQL_TAKE(*values, arena, count + 1, ev->err));
	*list = (struct oql_list){ .kind = OQL_L_VALUES, .count = count, .values = *values };
	*out = (struct oql_value){ .type = OQL_V_LIST, .list = list };
	return HDB_OK;
}

int oql_make_ids(struct oql_eval *ev, struct oql_arena *arena, const uint32_t *ixs, size_t count,
		 struct oql_value *out)
{
	struct oql_list *list;
	uint32_t *copy;

	TRY(OQL_TAKE(list, arena, 1, ev->err));
	TRY(OQL_TAKE(copy, arena, count + 1, ev->err));
	if (count)
		memcpy(copy, ixs, count * sizeof(copy[0]));
	*list = (struct oql_list){ .kind = OQL_L_IDS, .count = count, .ixs = copy };
	*out = (struct oql_value){ .type = OQL_V_LIST, .list = list };
	return HDB_OK;
}

int oql_basic(struct oql_eval *ev, const struct hdb_basic *basic, bool is_static,
	      struct oql_value *out)
{
	int r;

	*out = (struct oql_value){ .i = basic->i };
	switch (basic->type) {
	case HDB_BASIC_OBJECT:
		out->i = (int64_t)basic->id;
		if (basic->id == 0)
			return HDB_OK;
		out->type = OQL_V_REFERENCE;
		if (is_static)
			return HDB_OK;
		r = hdb_find(ev->db, basic->id, &out->ix, ev->err);
		out->type = r == HDB_OK ? OQL_V_OBJECT : OQL_V_NULL;
		return r < 0 ? r : HDB_OK;
	case HDB_BASIC_BOOLEAN:
		out->type = OQL_V_BOOL;
		break;
	case HDB_BASIC_CHAR:
		out->type = OQL_V_CHAR;
		break;
	case HDB_BASIC_FLOAT:
	case HDB_BASIC_DOUBLE:
		out->type = basic->type == HDB_BASIC_FLOAT ? OQL_V_FLOAT : OQL_V_DOUBLE;
		out->d = basic->d;
		break;
	case HDB_BASIC_BYTE:
		out->type = OQL_V_BYTE;
		break;
	case HDB_BASIC_SHORT:
		out->type = OQL_V_SHORT;
		break;
	case HDB_BASIC_INT:
		out->type = OQL_V_INT;
		break;
	case HDB_BASIC_LONG:
		out->type = OQL_V_LONG;
		break;
	}
	return HDB_OK;
}

/* Reads elements of an array from list index `no` on; *done is their number. */
static int read_elements(struct oql_eval *ev, const struct oql_list *list, size_t no,
			 struct oql_value *values, size_t *done)
{
	uint64_t bits[ELEMENTS];
	struct hdb_slice slice = {
		.struct_size = sizeof(slice),
		.from = list->first + no,
		.room = list->count - no < ELEMENTS ? list->count - no : ELEMENTS,
		.bits = bits,
	};
	int r;

	assert(list->kind == OQL_L_ARRAY);
	assert(no < list->count);
	*done = 0;
	TRY(hdb_elements(ev->db, list->array_ix, &slice, ev->err));
	*done = slice.count;
	assert(*done <= slice.room);
	for (size_t i = 0; i < *done; i++) {
		struct hdb_basic basic;

		hdb_basic_of(slice.type, bits[i], &basic);
		if (list->is_addresses)
			values[i] = oql_long((int64_t)basic.id);
		else if ((r = oql_basic(ev, &basic, false, &values[i])) < 0)
			return r;
	}
	return HDB_OK;
}

int oql_element(struct oql_eval *ev, const struct oql_list *list, size_t no, struct oql_value *out)
{
	struct oql_list one = *list;
	int64_t number;
	size_t done;
	int r;

	*out = (struct oql_value){ 0 };
	if (no >= list->count)
		return HDB_OK;
	switch (list->kind) {
	case OQL_L_VALUES:
		*out = list->values[no];
		return HDB_OK;
	case OQL_L_IDS:
		r = oql_number_of(ev, list->ixs[no], &number);
		*out = oql_int(number);
		return r;
	case OQL_L_ARRAY:
		one.count = no + 1;
		return read_elements(ev, &one, no, out, &done);
	}
	return HDB_OK;
}

int oql_slice(struct oql_eval *ev, struct oql_arena *arena, const struct oql_list *list,
	      struct oql_range range, struct oql_value *out)
{
	struct oql_list *part;

	assert(range.from <= list->count);
	assert(range.count <= list->count - range.from);
	TRY(OQL_TAKE(part, arena, 1, ev->err));
	*part = (struct oql_list){
		.kind = list->kind,
		.count = range.count,
		.is_addresses = list->is_addresses,
		.array_ix = list->array_ix,
		.first = list->first + range.from,
	};
	if (list->kind == OQL_L_VALUES)
		part->values = list->values + range.from;
	if (list->kind == OQL_L_IDS)
		part->ixs = list->ixs + range.from;
	*out = (struct oql_value){ .type = OQL_V_LIST, .list = part };
	return HDB_OK;
}

static int copy_values(struct oql_eval *ev, struct oql_arena *arena, const struct oql_list *from,
		       struct oql_list *to)
{
	struct oql_value *values;

	TRY(OQL_TAKE(values, arena, from->count + 1, ev->err));
	for (size_t i = 0; i < from->count; i++)
		TRY(oql_copy(ev, arena, &from->values[i], &values[i]));
	to->values = values;
	return HDB_OK;
}

/* Copies a list. The depth of the expressions that made the lists limits their nesting. */
static int copy_list(struct oql_eval *ev, struct oql_arena *arena, const struct oql_list *from,
		     const struct oql_list **out)
{
	struct oql_list *list;
	struct oql_value ids;
	struct oql_str *names;

	TRY(OQL_TAKE(list, arena, 1, ev->err));
	*list = *from;
	if (from->kind == OQL_L_IDS) {
		TRY(oql_make_ids(ev, arena, from->ixs, from->count, &ids));
		list->ixs = ids.list->ixs;
	}
	if (from->kind == OQL_L_VALUES)
		TRY(copy_values(ev, arena, from, list));
	if (from->names) {
		TRY(OQL_TAKE(names, arena, from->count + 1, ev->err));
		if (from->count)
			memcpy(names, from->names, from->count * sizeof(names[0]));
		list->names = names;
	}
	*out = list;
	return HDB_OK;
}

int oql_copy(struct oql_eval *ev, struct oql_arena *arena, const struct oql_value *v,
	     struct oql_value *out)
{
	*out = *v;
	if (v->text.data) {
		out->text.data = oql_take_text(arena, v->text.data, v->text.size, ev->err);
		if (!out->text.data)
			return HDB_ELIMIT;
	}
	return v->list ? copy_list(ev, arena, v->list, &out->list) : HDB_OK;
}

/* ---- printing ---- */

static int put_address(struct oql_eval *ev, uint32_t ix, struct bytes *out)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	TRY(hdb_object_at(ev->db, ix, &facts, ev->err));
	bytes_format(out, "0x%" PRIx64, facts.id);
	return HDB_OK;
}

static int put_list_value(struct oql_eval *ev, const struct oql_list *list,
			  const struct oql_value *v, struct bytes *out)
{
	if (list->is_addresses && v->type == OQL_V_LONG) {
		bytes_format(out, "0x%" PRIx64, (uint64_t)v->i);
		return HDB_OK;
	}
	return oql_put_value(ev, v, true, out);
}

/*
 * Reads the elements from index `no` on, up to the number that one read returns. Sets *done to 0 if
 * the elements are not in the dump.
 */
static int some_elements(struct oql_eval *ev, const struct oql_list *list, size_t no,
			 struct oql_value values[ELEMENTS], size_t *done)
{
	*done = 1;
	if (list->kind == OQL_L_ARRAY)
		return read_elements(ev, list, no, values, done);
	values[0] = list->kind == OQL_L_VALUES ? list->values[no] : oql_object(list->ixs[no]);
	return HDB_OK;
}

/* Formats a list: "[a, b]". */
static int put_list(struct oql_eval *ev, const struct oql_list *list, struct bytes *out)
{
	struct oql_value values[ELEMENTS];
	size_t done;

	bytes_string(out, "[");
	for (size_t i = 0; i < list->count; i += done) {
		TRY(some_elements(ev, list, i, values, &done));
		if (done == 0)
			break;
		for (size_t k = 0; k < done; k++) {
			bytes_string(out, i + k ? ", " : "");
			TRY(put_list_value(ev, list, &values[k], out));
		}
		TRY(oql_tick(ev));
		TRY(oql_text_check(out, ev->err));
	}
	bytes_string(out, "]");
	return HDB_OK;
}

/* Formats a row: "{a=1, b="x"}". */
static int put_row(struct oql_eval *ev, const struct oql_list *row, struct bytes *out)
{
	bytes_string(out, "{");
	for (size_t i = 0; i < row->count; i++) {
		bytes_format(out, "%s%.*s=", i ? ", " : "", OQL_STR(row->names[i]));
		TRY(oql_put_value(ev, &row->values[i], true, out));
	}
	bytes_string(out, "}");
	return HDB_OK;
}

static int put_root(struct oql_eval *ev, const struct oql_value *v, struct bytes *out)
{
	bytes_format(out, "root(%.*s, ", OQL_STR(v->text));
	TRY(put_address(ev, v->ix, out));
	if (v->i >= 0) {
		bytes_string(out, ", ");
		TRY(put_address(ev, (uint32_t)v->i, out));
	}
	bytes_string(out, ")");
	return HDB_OK;
}

/* Formats a frame as MAT does: "at java.lang.Object.wait(J)V (Object.java(Native Method))". */
static int put_frame(struct oql_eval *ev, const struct oql_value *v, struct bytes *out)
{
	struct hdb_frame frame = { .struct_size = sizeof(frame) };

	TRY_FOUND(hdb_frame_at(ev->db, (uint32_t)v->i, v->ix, &frame, ev->err));
	bytes_format(out, "at %s.%s%s (%s", frame.class_name, frame.method, frame.signature,
		     *frame.source ? frame.source : "Unknown Source");
	if (frame.line > 0)
		bytes_format(out, ":%d", frame.line);
	else if (frame.line == -3)
		bytes_string(out, "(Native Method)");
	else if (frame.line == -2)
		bytes_string(out, "(Compiled Code)");
	bytes_string(out, ")");
	return HDB_OK;
}

static int put_number(const struct oql_value *v, struct bytes *out)
{
	if (v->type == OQL_V_FLOAT || v->type == OQL_V_DOUBLE)
		oql_put_double(out, v->d, v->type == OQL_V_FLOAT);
	else
		bytes_format(out, "%" PRId64, v->i);
	return HDB_OK;
}

int oql_put_value(struct oql_eval *ev, const struct oql_value *v, bool is_inner, struct bytes *out)
{
	const char *quote = !is_inner ? "" : v->type == OQL_V_CHAR ? "'" : "\"";
	int r;

	switch (v->type) {
	case OQL_V_OBJECT:
		return put_address(ev, v->ix, out);
	case OQL_V_REFERENCE:
		bytes_format(out, "0x%" PRIx64, (uint64_t)v->i);
		return HDB_OK;
	case OQL_V_LIST:
		return put_list(ev, v->list, out);
	case OQL_V_ROW:
		return put_row(ev, v->list, out);
	case OQL_V_FIELD:
		if (v->ix) {
			bytes_format(out, "%s %.*s", oql_field_type(v), OQL_STR(v->text));
			return HDB_OK;
		}
		bytes_format(out, "field(%.*s=", OQL_STR(v->text));
		r = oql_put_value(ev, &v->list->values[0], true, out);
		bytes_string(out, ")");
		return r;
	case OQL_V_ROOT:
		return put_root(ev, v, out);
	case OQL_V_JAVA_CLASS:
		bytes_format(out, "class %.*s", OQL_STR(v->text));
		return HDB_OK;
	case OQL_V_CHAR:
	case OQL_V_STRING:
		bytes_string(out, quote);
		r = oql_put_plain(ev, v, out);
		bytes_string(out, quote);
		return r;
	default:
		return oql_put_plain(ev, v, out);
	}
}

int oql_put_plain(struct oql_eval *ev, const struct oql_value *v, struct bytes *out)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	switch (v->type) {
	case OQL_V_NULL:
		bytes_string(out, "null");
		return HDB_OK;
	case OQL_V_BOOL:
		bytes_string(out, v->i ? "true" : "false");
		return HDB_OK;
	case OQL_V_CHAR:
		bytes_utf8(out, (uint32_t)v->i);
		return HDB_OK;
	case OQL_V_BYTE:
	case OQL_V_SHORT:
	case OQL_V_INT:
	case OQL_V_LONG:
	case OQL_V_FLOAT:
	case OQL_V_DOUBLE:
		return put_number(v, out);
	case OQL_V_STRING:
		bytes_add(out, v->text.data, v->text.size);
		return HDB_OK;
	case OQL_V_OBJECT:
		TRY(hdb_object_at(ev->db, v->ix, &facts, ev->err));
		bytes_format(out, "%s [id=0x%" PRIx64 "]", hdb_class_name(ev->db, facts.class_no),
			     facts.id);
		return HDB_OK;
	case OQL_V_SNAPSHOT:
		bytes_string(out, "snapshot");
		return HDB_OK;
	case OQL_V_INFO:
		bytes_string(out, "snapshot information");
		return HDB_OK;
	case OQL_V_STACK:
		bytes_format(out, "stack of %u frames", v->ix);
		return HDB_OK;
	case OQL_V_FRAME:
		return put_frame(ev, v, out);
	default:
		return oql_put_value(ev, v, false, out);
	}
}

const char *oql_field_type(const struct oql_value *field)
{
	static const char *const types[] = {
		[HDB_BASIC_OBJECT] = "ref",    [HDB_BASIC_BOOLEAN] = "boolean",
		[HDB_BASIC_CHAR] = "char",     [HDB_BASIC_FLOAT] = "float",
		[HDB_BASIC_DOUBLE] = "double", [HDB_BASIC_BYTE] = "byte",
		[HDB_BASIC_SHORT] = "short",   [HDB_BASIC_INT] = "int",
		[HDB_BASIC_LONG] = "long",
	};

	return field->i > 0 && field->i <= HDB_BASIC_LONG && types[field->i] ? types[field->i] :
									       "?";
}

const char *oql_type_name(struct oql_eval *ev, const struct oql_value *v)
{
	static const char *const names[] = {
		[OQL_V_NULL] = "null",
		[OQL_V_BOOL] = "a boolean",
		[OQL_V_CHAR] = "a char",
		[OQL_V_BYTE] = "a byte",
		[OQL_V_SHORT] = "a short",
		[OQL_V_INT] = "an int",
		[OQL_V_LONG] = "a long",
		[OQL_V_FLOAT] = "a float",
		[OQL_V_DOUBLE] = "a double",
		[OQL_V_STRING] = "a string",
		[OQL_V_REFERENCE] = "a reference (.@object is its target)",
		[OQL_V_LIST] = "a list",
		[OQL_V_ROW] = "a row of a subquery",
		[OQL_V_FIELD] = "a field",
		[OQL_V_ROOT] = "a GC root",
		[OQL_V_SNAPSHOT] = "${snapshot}",
		[OQL_V_INFO] = "snapshotInfo",
		[OQL_V_JAVA_CLASS] = "a Java class of MAT",
		[OQL_V_STACK] = "a stack",
		[OQL_V_FRAME] = "a stack frame",
	};
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	if (v->type != OQL_V_OBJECT) {
		assert((size_t)v->type < BASE_COUNT(names));
		return names[v->type];
	}
	if (hdb_object_at(ev->db, v->ix, &facts, NULL) < 0)
		return "an object";
	return hdb_class_name(ev->db, facts.class_no);
}
