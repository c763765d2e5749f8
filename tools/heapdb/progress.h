/*
 * heapdb/progress.h - the progress line on a terminal's standard error, and interruption.
 *
 * The state is the process's: there is one terminal and one set of signal handlers.
 */
#ifndef HEAPDB_PROGRESS_H
#define HEAPDB_PROGRESS_H

#include "heapdb.h"

#include "common/output.h"

#include <stdbool.h>

/*
 * Catches SIGINT, SIGTERM and SIGHUP: the first one asks the library to stop, a second one ends the
 * process. Draws nothing unless `draw`, and never where standard error is no terminal. With
 * `keep_times` it notes how long each stage takes.
 */
void progress_start(bool draw, bool keep_times);

/*
 * Ends the last stage and writes to standard error, if times were kept, a line for each stage in
 * order of its first beginning: its name, a tab, the seconds that it took in all.
 */
void progress_tell_timings(void);

/* What goes into the options of the library. */
struct hdb_progress progress_callbacks(void);

/* Takes the line off the terminal, if it is there. To be called before other output. */
void progress_hide(void);

/* Draws nothing from here on. */
void progress_no_more(void);

/* Whether a signal asked us to stop, or the time is over. */
bool progress_is_cancelled(void);

/* Asks to stop, as a signal does, so many seconds from now; 0: no more. */
void progress_time_limit(unsigned seconds);
/* Whether that is why. */
bool progress_is_out_of_time(void);

/* How what is written meets the line, the pager and the signals. */
extern const struct output_hooks progress_hooks;

/* The signal that asked us to stop, or 0. */
int progress_signal(void);

/* Forgets that we were asked to stop, and catches signals again: a shell goes on. */
void progress_again(void);

#endif
