/* capture/capture_private.h - the common part of captures of VMs and apps. */
#ifndef CAPTURE_CAPTURE_PRIVATE_H
#define CAPTURE_CAPTURE_PRIVATE_H

#include "capture/stream.h"

struct capture {
	char name[512];
	struct stream stream;
	struct capture_cost cost; /* `bytes` is set by capture_end */
	/*
	 * Removes temporary files and frees the capture. May be called before the stream has begun.
	 */
	void (*release)(struct capture *capture);
};

#endif
