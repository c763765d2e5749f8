/*
 * serve/serve_value.h - one value for a reader or a file: the characters of a text, the bytes of an
 * array.
 */
#ifndef HEAPDB_SERVE_VALUE_H
#define HEAPDB_SERVE_VALUE_H

#include "serve/serve_jobs.h"

/*
 * Writes the value of job->object to job->fd: of a string or another object with a text its text in
 * UTF-8 (and job->is_text is set), of a byte[] its bytes, of other primitive arrays a line an
 * element. HDB_NOTFOUND if there is no such object or it has no value, HDB_ELIMIT if it is longer
 * than SERVE_VALUE_MAX.
 */
int serve_value(struct hdb *db, struct serve_job *job);

/*
 * Writes the picture of job->object, an array of bytes, to job->fd and sets job->type: pixels as
 * PNG, or a PNG, JPEG or WebP file as it is. HDB_NOTFOUND if it is none.
 */
int serve_bitmap(struct hdb *db, const struct serve_options *options, struct serve_job *job);

#endif
