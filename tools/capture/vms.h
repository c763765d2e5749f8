/*
 * capture/vms.h - data that a VM publishes about itself.
 */
#ifndef CAPTURE_VMS_H
#define CAPTURE_VMS_H

#include "capture/perfdata.h"
#include "capture/process.h"

/*
 * Reads the counters of a VM from its hsperfdata. If there is no such file, returns false and sets
 * only the members that the command line provides.
 */
bool capture_counters(const struct process *process, struct perfdata_summary *out);

/*
 * Finds the main class, module or jar in `command` (sun.rt.javaCommand), or in the command line if
 * `command` is empty.
 */
void capture_main_class(const struct process *process, const char *command, char *buf, size_t size);

#endif
