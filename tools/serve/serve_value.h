/*
 * serve/serve_value.h - sends a single value: the characters of a string, the elements of an array.
 */
#ifndef HEAPDB_SERVE_VALUE_H
#define HEAPDB_SERVE_VALUE_H

#include "serve/serve_jobs.h"

/*
 * Writes the value of job->object to job->fd: UTF-8 text for strings and other objects with a
 * string (sets job->is_text), the bytes of a byte[], or one line per element of other primitive
 * arrays. Returns HDB_NOTFOUND if there is no such object or value, HDB_ELIMIT if it is longer than
 * SERVE_VALUE_MAX.
 */
int serve_value(struct hdb *db, struct serve_job *job);

/*
 * Writes the image in the byte array job->object to job->fd and sets job->type: pixels as PNG, or
 * an embedded PNG, JPEG or WebP file unchanged. Returns HDB_NOTFOUND if the array does not contain
 * an image.
 */
int serve_bitmap(struct hdb *db, struct serve_job *job);

#endif
