/*
 * export/export_thrift.h - Thrift compact protocol, limited to what Parquet metadata needs.
 */
#ifndef EXPORT_THRIFT_H
#define EXPORT_THRIFT_H

#include "export/export_private.h"

/* Maximum nesting of structures. Parquet's nesting is lower. */
#define THRIFT_DEPTH 8

enum thrift_type {
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12
};

/* Writer state. Fields of a structure must be written in ascending order. */
struct thrift {
	struct bytes *to;       /* output; lent */
	int last[THRIFT_DEPTH]; /* number of the last field, by nesting level */
	int depth;
};

void thrift_begin(struct thrift *t, struct bytes *to);
void thrift_i32(struct thrift *t, int field, int32_t value);
void thrift_i64(struct thrift *t, int field, int64_t value);
void thrift_bool(struct thrift *t, int field, bool value);
void thrift_bytes(struct thrift *t, int field, const void *data, size_t size);
void thrift_text(struct thrift *t, int field, const char *text);
/* Begins a structure, ended by thrift_end. Field 0: an element of a list. */
void thrift_struct(struct thrift *t, int field);
void thrift_end(struct thrift *t);
/* Begins a list; `count` elements follow. */
void thrift_list(struct thrift *t, int field, enum thrift_type type, size_t count);
/* Writes a list element. */
void thrift_element_i32(struct thrift *t, int32_t value);
void thrift_element_text(struct thrift *t, const char *text);

#endif
