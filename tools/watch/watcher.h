/*
 * watch/watcher.h - watches JVMs: samples them into a series and captures them when a condition
 * holds.
 *
 * A struct watch_world provides clocks, JVMs and captures, so that in a test a day can pass in a
 * second. Durations are measured with a clock that never jumps.
 */
#ifndef WATCH_WATCHER_H
#define WATCH_WATCHER_H

#include "watch/watch_conditions.h"

/* Pauses for histograms take at most this fraction of the time (1 / value). */
#define WATCH_PAUSE_SHARE 200
#define WATCH_HISTOGRAM_MS UINT64_C(600000)
#define WATCH_CAPTURE_GAP_MS UINT64_C(3600000)
#define WATCH_DAY_MS UINT64_C(86400000)
/* Maximum number of JVMs watched at a time. */
#define WATCH_JVMS_MAX 64

/* A JVM, as the world reports it. */
struct watch_jvm {
	int pid;
	struct series_record sample; /* sample with jvm, age, main_class and version */
	bool can_attach;
	/* time at which the dump that the JVM wrote itself was complete, or 0 if none */
	uint64_t oom_dump_ms;
};

/* A capture to be made. Strings are borrowed during the call. */
struct watch_capture {
	int pid;
	const struct series_record *sample;
	const char *reason; /* the condition that was true, and the measured value */
	bool is_oom;        /* whether to import the JVM's own dump */
};

/* Result of a capture. */
struct watch_captured {
	bool is_good;
	char jvm[SERIES_JVM_SIZE];
	char path[1024];
	char text[512];
};

struct watch_world {
	void *ctx;
	uint64_t (*now_ms)(void *ctx);              /* clock that never jumps, for durations */
	uint64_t (*wall_ms)(void *ctx);             /* wall clock, which may jump */
	void (*wait)(void *ctx, uint64_t until_ms); /* waits until this time, or until a signal */
	bool (*must_stop)(void *ctx);
	/* returns whether a signal has arrived since the last call */
	bool (*was_signalled)(void *ctx);
	/* Fills in at most WATCH_JVMS_MAX JVMs. JVMs that end in the meantime are omitted. */
	int (*find)(void *ctx, struct watch_jvm *jvms, size_t *count, struct hdb_error *err);
	/*
	 * Requests a class histogram. The caller must free() *text. Sets *pause_us to the time that
	 * the request took.
	 */
	int (*histogram)(void *ctx, int pid, char **text, uint64_t *pause_us,
			 struct hdb_error *err);
	/*
	 * Starts a capture, which continues after the call. Fails with HDB_ELIMIT if no other
	 * capture can be started.
	 */
	int (*capture)(void *ctx, const struct watch_capture *what, struct hdb_error *err);
	/* Returns whether a capture ended since the last call. */
	bool (*captured)(void *ctx, struct watch_captured *out);
	/* Reports an event. `path` may be NULL. */
	void (*report_event)(void *ctx, const char *event, const struct series_record *of,
			     const char *text, const char *path);
};

struct watch_options {
	const struct condition *conditions;
	size_t condition_count;
	const char *series; /* path of the series */
	uint64_t interval_ms;
	uint64_t histogram_ms; /* minimum interval, or 0 if none */
	unsigned per_day;      /* maximum number of captures per program and day */
	uint64_t gap_ms;       /* minimum time between two captures */
	bool is_once;          /* whether to take only one sample of each JVM */
	bool ends_with_jvm;    /* whether to stop when no JVM is left */
};

/*
 * Watches until it is stopped (HDB_EINTR), or until `is_once` or `ends_with_jvm` is satisfied
 * (HDB_OK). Also fails if, at the start, the series cannot be written or no JVM is found.
 */
int watch_run(const struct watch_world *world, const struct watch_options *options,
	      struct hdb_error *err);

/*
 * Fills a record with the largest classes of a histogram as `jmap -histo` prints it. The caller
 * provides `classes` with room for SERIES_CLASSES_MAX. The names are borrowed from the text, which
 * is modified.
 */
void watch_histogram(char *text, struct series_class *classes, struct series_record *out);

#endif
