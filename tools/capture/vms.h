/*
 * capture/vms.h - what a VM says of itself.
 */
#ifndef CAPTURE_VMS_H
#define CAPTURE_VMS_H

#include "capture/perfdata.h"
#include "capture/process.h"

/* The counters of a VM, from its hsperfdata; false and zeros if there are none. */
bool capture_counters(const struct process *process, struct perfdata_summary *out);

/*
 * The main class, module or jar: from `command` (sun.rt.javaCommand; may be empty), else from the
 * command line.
 */
void capture_main_class(const struct process *process, const char *command, char *buf, size_t size);

#endif
