/*
 * heapdb/progress.h - progress line on standard error, and interruption by signals. Its state is
 * global because there is only one terminal and one set of signal handlers.
 */
#ifndef HEAPDB_PROGRESS_H
#define HEAPDB_PROGRESS_H

#include "heapdb.h"

#include "base/flag.h"
#include "common/output.h"

#include <stdbool.h>

/*
 * Handles SIGINT, SIGTERM and SIGHUP: the first signal asks the library to stop, and the second
 * ends the process. Draws the line only if `draw` is set and standard error is a terminal.
 * `keep_times` measures each stage.
 */
void progress_start(bool draw, bool keep_times);

/*
 * Ends the last stage. If times were measured, prints one line per stage to standard error, in
 * order of first start: name, tab, total seconds.
 */
void progress_print_timings(void);

/* Returns whether work that takes long is shown on the terminal. */
bool progress_draws(void);

/*
 * Shows `lines` above the progress line until progress_hide, and takes ownership of them. They are
 * drawn together with the progress line, so they never appear if the work ends early.
 */
void progress_show(struct bytes *lines);

/* Returns the callbacks for the library's options. */
struct hdb_progress progress_callbacks(void);

/* Erases the line if it is shown. Call before other output. */
void progress_hide(void);

/* Disables drawing. */
void progress_no_more(void);

/*
 * Makes commands on this thread stop when *flag is set, instead of when a signal arrives. NULL
 * restores the reaction to signals. The flag is borrowed.
 */
void progress_cancel_by(const base_flag *flag);

/* Returns whether a signal, the time limit or the flag of a request requested a stop. */
bool progress_is_cancelled(void);

/* Sets a time limit in seconds from now, or 0 if none. */
void progress_time_limit(unsigned seconds);
/* Returns whether the time limit was the reason for the stop. */
bool progress_is_out_of_time(void);

/* Output hooks that coordinate with the line, the pager and signals. */
extern const struct output_hooks progress_hooks;

/* Returns the signal that requested a stop, or 0. */
int progress_signal(void);

/* Clears a stop request and handles signals again; used by the SQL shell. */
void progress_again(void);

#endif
