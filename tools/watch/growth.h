/*
 * watch/growth.h - finds JVMs in a series whose heap or classes grow steadily.
 *
 * Each run of a JVM is examined separately, because a restart frees all memory. The size of the
 * heap is that of all classes in histograms, which are taken after a full collection. Without
 * enough histograms, samples after collections are used: the minima of groups, and only if the heap
 * also fell several times, because an old generation fills up between its collections.
 */
#ifndef WATCH_GROWTH_H
#define WATCH_GROWTH_H

#include "base/name_tree.h"
#include "watch/series.h"
#include "watch/trend.h"

/*
 * Minimum growth to be reported: for the heap and JDK classes, as a fraction of the live heap at
 * the end; for other classes, as a fraction of the class; and in bytes.
 */
#define GROWTH_HEAP_MIN 0.05
#define GROWTH_CLASS_MIN 0.01
#define GROWTH_OWN_MIN 0.1
#define GROWTH_BYTES_MIN 65536.0

struct growth_sample {
	double age_s;
	uint64_t heap, max, gcs, gc_us, rss, limit; /* 0 means unknown */
};

struct growth_histogram {
	double age_s;
	uint64_t bytes, least; /* size of all classes, and of the smallest class in the record */
	size_t first, count;   /* range of the record's classes in growth.classes */
};

struct growth_class {
	uint32_t name;
	uint64_t objects, bytes;
};

/* An event of a run with records: a capture, or the end of the run. */
struct growth_event {
	uint32_t run, event, text; /* event and text are names of strings */
	uint64_t time_ms;
};

/* One JVM from its start to its end. */
struct growth_run {
	char jvm[SERIES_JVM_SIZE];
	char main_class[256];
	uint64_t time_ms, age_ms; /* time and age of the last record */
	BASE_VEC_AS(sample_vec, struct growth_sample, samples, sample_count);
	BASE_VEC_AS(histogram_vec, struct growth_histogram, histograms, histogram_count);
};

/*
 * A finding about the heap of a run, or about one of its classes. Times of the trend are ages in
 * seconds.
 */
struct growth_row {
	uint32_t run;
	const char *name; /* name of the class, borrowed from the growth; NULL means the heap */
	struct trend trend;
	uint64_t bytes, objects; /* bytes and objects in the last record */
	double objects_slope;    /* per second */
	/*
	 * for the heap: seconds from the last record until the heap reaches its maximum; 0 means
	 * never
	 */
	double limit_s;
	uint64_t since_ms; /* wall-clock time */
};

struct growth {
	BASE_VEC_AS(run_vec, struct growth_run, runs, run_count);
	BASE_VEC_AS(row_vec, struct growth_row, rows, row_count);
	struct base_vec classes; /* struct growth_class */
	struct base_vec events;  /* struct growth_event */
	struct base_names names;
	struct series_counts counts;
	struct hdb_error *err;   /* receives errors of the file being read */
	const base_flag *cancel; /* may be NULL; set by the caller */
};

/* Adds the records of a file. If `jvm` is not NULL, adds only the records of this run. */
int growth_read(struct growth *growth, const char *path, const char *jvm, struct hdb_error *err);

/*
 * Fills in the rows: for each run, the heap, followed by the growing classes in descending order of
 * growth.
 */
int growth_find(struct growth *growth, struct hdb_error *err);

/*
 * Sets *out to the points of the heap after collections, from which its trend is computed. The
 * caller must free() *out.
 */
int growth_heap_points(const struct growth_run *run, struct trend_point **out, size_t *count,
		       struct hdb_error *err);

/*
 * The first function converts seconds since the start of a run to wall-clock time. The second
 * returns a name.
 */
uint64_t growth_time_of(const struct growth_run *run, double age_s);
const char *growth_name(const struct growth *growth, uint32_t name);

/* Returns a class in a histogram, or NULL if it is not among the largest classes. */
const struct growth_class *growth_class_in(const struct growth *growth,
					   const struct growth_histogram *histogram, uint32_t name);

/* Returns whether a class belongs to the JDK, or is an array. */
bool growth_is_of_jdk(const char *name);

void growth_release(struct growth *growth);

#endif
