/*
 * capture/capture_private.h - what captures of a VM and of an app have in common.
 */
#ifndef CAPTURE_CAPTURE_PRIVATE_H
#define CAPTURE_CAPTURE_PRIVATE_H

#include "capture/stream.h"

struct capture {
	char name[512];
	struct stream stream;
	/* Removes what was made, after the stream's end or before it began, and frees it all. */
	void (*release)(struct capture *capture);
};

#endif
