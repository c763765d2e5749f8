/*
 * common/smaps.h - reads the text of /proc/PID/smaps or smaps_rollup, mapping by mapping.
 *
 * The text is not trusted: numbers saturate, and unknown lines are skipped.
 */
#ifndef COMMON_SMAPS_H
#define COMMON_SMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The figures of a mapping in bytes. */
enum smaps_figure {
	SMAPS_RSS,
	SMAPS_PSS,
	SMAPS_SHARED_CLEAN,
	SMAPS_SHARED_DIRTY,
	SMAPS_PRIVATE_CLEAN,
	SMAPS_PRIVATE_DIRTY,
	SMAPS_ANONYMOUS,
	SMAPS_SWAP,
	SMAPS_SWAP_PSS,
	SMAPS_HUGETLB, /* pages of hugetlbfs, which Rss does not include */
	SMAPS_PSS_ANON,
	SMAPS_PSS_FILE,
	SMAPS_PSS_SHMEM,
	SMAPS_FIGURES
};

struct smaps_mapping {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* offset in the file */
	const char *access;  /* four characters: "rw-p" */
	const char *name;    /* not terminated; empty: anonymous */
	size_t name_size;    /* without " (deleted)" */
	bool is_rollup;      /* whether the mapping is the sum of all mappings, from smaps_rollup */
	unsigned has;        /* a bit for each figure that the text contains */
	uint64_t figures[SMAPS_FIGURES];
};

/* The part of the text that has not been read yet. Set both members before the first call. */
struct smaps {
	const char *next, *end;
};

/* Reads the next mapping, which borrows from the text. Returns false at the end. */
bool smaps_next(struct smaps *smaps, struct smaps_mapping *out);

/* Returns whether the line begins a mapping. */
bool smaps_is_mapping(const char *line, size_t size);

#endif
