/*
 * queries/explain/entry_private.h - declarations shared by the files that examine the entries of a
 * collection: entry_facts.c, entry_times.c, key_hashes.c, and entry_kinds.c, which describes kinds
 * of keys and values.
 */
#ifndef QUERIES_EXPLAIN_ENTRY_PRIVATE_H
#define QUERIES_EXPLAIN_ENTRY_PRIVATE_H

#include "base/base_text.h"
#include "base/vec.h"
#include "heap/collections/collections.h"
#include "queries/explain/suspect_facts.h"

/*
 * Limits: the number of bytes of a string that are compared, the number of parts into which a
 * string is divided, and the number of fields of a value that are examined.
 */
#define PREFIX_BYTES 80u
#define PREFIX_PARTS 3u
#define VALUE_FIELDS 24u
#define KEY_FIELDS 8u
#define DAY_MS 86400000u
/*
 * Range of millisecond values that are interpreted as points in time: the years 2001 to 2286. The
 * same range applies to seconds.
 */
#define TIME_MIN_MS 1000000000000u
#define TIME_MAX_MS 10000000000000u
/* Number of entries of each collection that are compared. */
#define ENTRIES_COMPARED 64u
/*
 * Maximum number of slots read to find these entries, because a table may be large and nearly
 * empty.
 */
#define SLOTS_COMPARED_MAX 1000000u
/*
 * Levels of features: prefixes of keys, the form of keys, identity of elements, references and
 * numbers in fields of values, and fields of keys.
 */
#define FORM_LEVEL PREFIX_PARTS
#define SAME_LEVEL (FORM_LEVEL + 1)
#define FIELD_LEVEL (SAME_LEVEL + 1)
#define NUMBER_LEVEL (FIELD_LEVEL + VALUE_FIELDS)
#define KEY_LEVEL (NUMBER_LEVEL + VALUE_FIELDS)
/* Meaning of a field that contains a point in time or a version number, derived from its name. */
enum time_kind { TIME_NONE, TIME_EXPIRY, TIME_USE, TIME_BEGIN, TIME_VERSION, TIME_TRIES };

/* A field of the values, and figures about its contents. */
struct value_field {
	char name[EXPLAIN_CONTENT_MAX];
	uint8_t time;    /* enum time_kind */
	bool is_closed;  /* see explain_is_closed_name */
	bool is_inverse; /* with "!" */
	/*
	 * number of points in time, and number of these points that are more than a day in the
	 * past; or number of values, and number of closed values
	 */
	uint32_t points, past;
	uint64_t oldest_ms, newest_ms; /* for versions: lowest and highest number */
	/* size of the referenced object, if no other field retains it */
	uint64_t bytes;
	uint32_t class_no; /* class of the first referenced object */
	uint8_t type;      /* HPROF type */
	/* number of values, of values that are 0 or null, and of different numbers */
	uint32_t values, unset, kinds;
};

/* A field of the keys. */
struct key_field {
	char name[EXPLAIN_CONTENT_MAX];
	bool is_opaque; /* whether the field refers to objects whose contents are not compared */
};

/* A feature of an entry: a prefix of its key, the form of its key, or a field of its value. */
struct feature {
	uint32_t level;
	/*
	 * number of the entry; used for sorting, so that the order does not depend on hashes
	 */
	uint32_t entry;
	uint64_t hash;
	uint32_t ix; /* the object that has the feature */
	/*
	 * for a prefix, its length in bytes; for a key whose `level` is the number of its array
	 * plus 1, part of the hash of the array
	 */
	uint32_t size;
};

struct looking {
	const struct session *session;
	struct base_vec features; /* struct feature */
	/* struct feature: hashes of all fields of keys of application classes */
	struct base_vec keys;
	struct base_vec hashed; /* private to key_hashes.c */
	uint32_t hashed_class;  /* class of these keys */
	uint32_t value_class;   /* class of the values whose fields are examined */
	uint32_t key_class;
	uint32_t entries;
	uint32_t nothings;      /* number of values that mean "nothing" */
	const char *nothing;    /* class of one non-null value, or NULL if all values are null */
	uint32_t weighed;       /* number of values whose fields have been measured */
	uint64_t weighed_bytes; /* size that these values retain */
	uint64_t now_ms;        /* time of the dump, or 0 if unknown */
	/* number of entries that are their own value and are held only by the map */
	uint32_t selves;
	const char *map_class;
	bool is_list, is_map;
	bool is_identity; /* whether the collection is an IdentityHashMap */
	/*
	 * whether the collection is a map or set; for other collections, the elements are examined
	 * as keys
	 */
	bool has_keys;
	/* "each key (byte[])", or the field of the keys that is an array, or "" */
	char array[2 * EXPLAIN_CONTENT_MAX];
	uint32_t array_no; /* number of this field, or UINT32_MAX if there is none */
	const char *noun;  /* "keys" or "elements" */
	uint32_t uuids;    /* number of keys that are random UUIDs */
	/*
	 * number of values that are collections, and number of these collections that share most
	 * entries with the previous collection
	 */
	uint32_t compared, alike;
	uint32_t emptied; /* number of values that are empty collections but had elements */
	uint64_t previous[ENTRIES_COMPARED]; /* entries of the previous collection */
	size_t previous_count;
	uint64_t slots_left;      /* number of slots of collections that may still be read */
	struct value_field dates; /* points in time among the keys */
	struct key_field key_fields[KEY_FIELDS];
	unsigned key_fields_left; /* number of key fields that do not fit in the sentence */
	struct value_field fields[VALUE_FIELDS];
	struct explain_flag below; /* counts objects that the values refer to */
	uint32_t below_entry;      /* the last entry counted in `below` */
};

/* The most frequent feature of a level. */
struct share {
	const struct feature *most;
	size_t count, all, kinds;
};

/* ---- entry_facts.c ---- */

/* Returns whether a class belongs to the application. */
bool entry_is_own(struct heap *heap, uint32_t class_no);
/* Sets a figure to the name of a field: "Token.expiresAt". */
void entry_set_field(const struct looking *l, const struct value_field *field, enum explain_fact to,
		     struct explain_facts *out);

/* ---- entry_times.c ---- */

/* Returns the meaning of a field with this name. */
enum time_kind entry_time_kind(const char *name);
/* Counts a point in time that is given in milliseconds or seconds. */
void entry_add_ms(const struct looking *l, struct value_field *field, uint64_t ms);
/* Adds the time that an object represents: a date or time of java.time, or a Date. */
int entry_add_date(const struct looking *l, struct value_field *field, uint32_t ix,
		   struct hdb_error *err);
/* Adds the date that begins in a string such as 2026-11-29 or 20261129. */
void entry_add_day(const struct looking *l, struct value_field *field, const char *text);
/* Adds the version number or point in time in a field. */
int entry_add_time(const struct looking *l, struct value_field *field,
		   const struct heap_value *value, struct hdb_error *err);
/* Reports the version numbers, attempts or points in time in a field. */
void entry_set_time(const struct looking *l, const struct value_field *field, uint64_t entries,
		    struct explain_facts *out);
/* Reports keys that are dates, if they begin long ago and continue to the time of the dump. */
void entry_set_dates(const struct looking *l, struct explain_facts *out);
/* Formats an age: "3 days", "1 hour". */
void entry_age_text(uint64_t ms, struct base_text to);

/* ---- key_hashes.c ---- */

/* Adds the key of an entry of a hash table, with the hash code that the entry records. */
int entry_add_hash(struct looking *l, const struct heap_entries *at, struct hdb_error *err);
/* Reports keys whose hash code has changed since their insertion. */
void entry_set_changed(const struct looking *l, struct explain_facts *out);

/* ---- entry_kinds.c ---- */

/* Adds a number, or a hash, as a feature of the current entry. */
int entry_add(struct looking *l, uint32_t level, uint32_t ix, uint64_t number,
	      struct hdb_error *err);
/* Counts a key that is a UUID in its text form. */
void entry_add_uuid(struct looking *l, const char *text);
/* Counts a collection that shares most of its entries with the previous collection. */
int entry_add_collection(struct looking *l, uint32_t ix, struct hdb_error *err);

/* Reports the numbers of values, or the fields of keys, depending on the level of `s`. */
void entry_set_kinds(struct looking *l, const struct share *s, struct explain_facts *out);
/*
 * Reports the state that most values have in this field, if the state means finished or unfinished.
 */
void entry_set_state(const struct looking *l, uint32_t no, const char *value, double percent,
		     struct explain_facts *out);
/* Reports findings that do not belong to a level: unfinished values, UUIDs, ages, and copies. */
void entry_set_rest(const struct looking *l, struct explain_facts *out);
/*
 * Sets *never if no entry was ever removed from a collection, and *removed to the minimum number of
 * removed entries. For most classes, neither can be determined.
 */
int entry_growth(struct heap *heap, const struct heap_collection *c, bool *never, uint64_t *removed,
		 struct hdb_error *err);
/* Reports whether entries were ever removed from a collection. */
int entry_set_growth(struct heap *heap, const struct heap_collection *c, struct explain_facts *out,
		     struct hdb_error *err);

#endif
