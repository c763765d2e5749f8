/*
 * watch/series.h - a series is a file with the figures of JVMs over time, to which whole lines are
 * appended.
 *
 * Each line is a JSON object that ends with the CRC-32 of the text before it:
 *
 *     {"kind":"sample","time":MS,"jvm":"PID-START","age":MS,"heap":BYTES,...,"crc":"0a1b2c3d"}
 *
 * Lines that are damaged, cut or of an unknown kind are skipped and counted. "time" is wall-clock
 * time, which may jump. "age", the time since the JVM started, never jumps, so it is used for
 * trends. A file that reaches its limit is rewritten with every second line of its older three
 * quarters, and replaced.
 */
#ifndef WATCH_SERIES_H
#define WATCH_SERIES_H

#include "base/base_text.h"
#include "base/error.h"
#include "base/flag.h"

/* Default maximum size of a file. */
#define SERIES_BYTES_MAX (UINT64_C(20) << 20)
/* Maximum size of a line. Longer lines count as damaged. */
#define SERIES_LINE_MAX ((size_t)1 << 18)
/* Maximum number of bytes kept in memory while the disk is full: 10 hours of samples. */
#define SERIES_PENDING_MAX ((size_t)1 << 20)

enum series_kind { SERIES_JVM, SERIES_SAMPLE, SERIES_CLASSES, SERIES_EVENT, SERIES_KINDS };

/* The figures of a sample: X(NAME, key). Sizes are in bytes. */
#define SERIES_FIGURES_ALL(X) \
	X(HEAP, heap) /* bytes used after the last garbage collection */ \
	X(COMMITTED, committed) \
	X(MAX, max) \
	X(GCS, gcs) /* number of collections since the start, and their time */ \
	X(GC_US, gc_us) \
	X(METASPACE, metaspace) \
	X(LOADED, loaded) /* number of loaded classes */ \
	X(THREADS, threads) \
	X(RSS, rss) \
	X(ANONYMOUS, anonymous) \
	X(SWAP, swap) \
	X(LIMIT, limit) /* limit and usage of the cgroup, and number of processes killed */ \
	X(USAGE, usage) \
	X(OOM_KILLS, oom_kills)
#define SERIES_FIGURE(name, key) SERIES_##name,
enum series_figure { SERIES_FIGURES_ALL(SERIES_FIGURE) SERIES_FIGURES };

/* The names of kinds and of figures in a line. */
extern const char *const series_kind_names[], *const series_figure_keys[];

/* A class in a histogram. */
struct series_class {
	const char *name; /* borrowed until the next record; not terminated */
	size_t name_size;
	uint64_t objects, bytes;
};

#define SERIES_JVM_SIZE 48
/* Maximum number of classes in a record. A record contains the largest classes of a histogram. */
#define SERIES_CLASSES_MAX 200

/* A line. Strings are truncated to fit. */
struct series_record {
	enum series_kind kind;
	uint64_t time_ms, age_ms;
	char jvm[SERIES_JVM_SIZE]; /* "PID-START": start of the process in ticks since boot */
	uint64_t figures[SERIES_FIGURES];
	unsigned has;               /* bit set of figures */
	char main_class[256];       /* for SERIES_JVM, main class */
	char version[96];           /* for SERIES_JVM, Java version */
	char event[32];             /* for SERIES_EVENT, the event, such as "capture" */
	char text[512], path[1024]; /* for SERIES_EVENT, description and path */
	uint64_t pause_us; /* for SERIES_CLASSES, time that the JVM took to answer the request */
	uint64_t objects, bytes;      /* for SERIES_CLASSES, number of objects and bytes of all
				       * classes */
	struct series_class *classes; /* borrowed until the next record */
	size_t class_count;
};

/* Counts of a reader. */
struct series_counts {
	uint64_t lines, damaged;
};

/* Receives the records of a file. */
struct series_taker {
	int (*take)(void *ctx, const struct series_record *record);
	void *ctx;
	const base_flag *cancel; /* once this is set, reading fails with HDB_EINTR; may be NULL */
};

/*
 * Calls `take` for each complete record of the file until `take` returns something other than
 * HDB_OK. `counts` may be NULL. Fails with HDB_EABSENT if the file does not exist, HDB_EIO if the
 * file cannot be read.
 */
int series_read(const char *path, const struct series_taker *taker, struct series_counts *counts,
		struct hdb_error *err);

struct series;

/*
 * Opens the file for appending, or creates the file. The caller must close *out with series_close.
 * Fails with HDB_EIO if the file cannot be written or another process is appending to it.
 */
int series_open(const char *path, uint64_t bytes_max, struct series **out, struct hdb_error *err);

/*
 * Appends a record. If the disk is full, the line is kept in memory, and later calls write it.
 * Returns HDB_EIO with the reason until all lines have been written.
 */
int series_append(struct series *series, const struct series_record *record, struct hdb_error *err);

/* Return the number of pending lines, and of lines that were lost because too many were pending. */
size_t series_pending(const struct series *series);
uint64_t series_lost(const struct series *series);

/* Closes a series. Tries once more to write pending lines. `series` may be NULL. */
void series_close(struct series *series);

/*
 * Format the line of a record with checksum and line feed, and parse a line without checksum and
 * line feed. For tests.
 */
void series_write_line(struct bytes *out, const struct series_record *record);
struct series_parser;
struct series_parser *series_parser_new(void);
void series_parser_free(struct series_parser *parser);
/*
 * Returns the record, borrowed until the next call; NULL if the line is damaged or of an unknown
 * kind.
 */
const struct series_record *series_parse(struct series_parser *parser, const char *line,
					 size_t size);

#endif
