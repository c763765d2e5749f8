/*
 * queries/leaks/leak_blame.h - ranks the steps of a path by how well they explain why the object at
 * its end is alive.
 *
 * The best explanation of a leak is a step that the reader can change: a field of the application,
 * rather than an entry of a map or a field of the JDK. Steps are ranked only by class;
 * leak_holders.c chooses between several paths.
 */
#ifndef QUERIES_LEAKS_LEAK_BLAME_H
#define QUERIES_LEAKS_LEAK_BLAME_H

#include "queries/leaks/leak_parts.h"

/*
 * Kinds of steps, least informative first. An array or collection only holds objects for its owner.
 */
enum leak_blame { BLAME_ARRAY, BLAME_PLATFORM, BLAME_THREAD, BLAME_STATIC, BLAME_OWN };

/* Finds the kind of step `i` of a path. Returns HDB_OK or a failure. */
int leak_blame_step(struct query *q, const struct query_leak_path *path, size_t i,
		    enum leak_blame *out, struct hdb_error *err);

/*
 * Chooses the step that explains most. If several steps are equal, chooses the step nearest to the
 * end. The end itself holds nothing on the path, so the function chooses the end only if it is
 * better than all other steps or, if path->is_end_kept is set, only if there are no other steps.
 * *chosen is 0 for an empty path.
 */
int leak_choose_step(struct query *q, const struct query_leak_path *path, size_t *chosen,
		     enum leak_blame *best, struct hdb_error *err);

/*
 * Finds what holds the next step at step `i` of a path: a field, static field, local variable,
 * thread, class or object. Strings are copied into *out, except class_name, which is borrowed from
 * the heap.
 */
int leak_holder_find(struct query *q, const struct query_leak_path *path, size_t i,
		     struct leak_holder *out, struct hdb_error *err);

/*
 * If a path begins at a local variable that holds an object of the platform or of a library, and an
 * application object in another local variable of the thread has a field for it, changes the path
 * so that it leads through that field. While a thread waits in a queue, the queue itself is in a
 * local variable.
 */
int leak_prefer_field(struct query *q, struct query_leak_path *path, struct hdb_error *err);

#endif
