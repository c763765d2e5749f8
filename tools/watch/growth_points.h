/*
 * watch/growth_points.h - computes the points of a series' line charts. Only the newest JVMs are
 * included, with no more points than a screen can show.
 */
#ifndef WATCH_GROWTH_POINTS_H
#define WATCH_GROWTH_POINTS_H

#include "watch/growth.h"

#include "common/own_answer.h"

#define GROWTH_POINT_COLUMNS 12

/* Must be initialised with zeros. */
struct growth_points {
	const struct growth *growth; /* borrowed */
	struct base_vec list;        /* struct point */
	size_t at;
	struct hdb_value cells[GROWTH_POINT_COLUMNS];
	char name[1024];
};

void growth_points_release(struct growth_points *points);

/* Fills the answer, which refers to the points. */
int growth_points_make(struct growth_points *points, const struct growth *growth,
		       struct own_answer *out, struct hdb_error *err);

#endif
