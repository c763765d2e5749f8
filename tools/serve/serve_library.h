/*
 * serve/serve_library.h - loads libmicrohttpd when a server starts. It depends on GnuTLS and eight
 * other libraries, which would take a third of every command's startup time.
 *
 * Files include this instead of <microhttpd.h> and call the functions by their usual names, after
 * serve_library_load. A statically linked program (HTTP_LIBRARY is not set) calls them directly.
 */
#ifndef HEAPDB_SERVE_LIBRARY_H
#define HEAPDB_SERVE_LIBRARY_H

#include <microhttpd.h>

struct hdb_error;

/* Loads the library. Returns HDB_OK if the library is loaded, HDB_EIO if it is not installed. */
int serve_library_load(struct hdb_error *err);

#ifdef HTTP_LIBRARY

#define SERVE_LIBRARY_FUNCTIONS(X) \
	X(MHD_add_response_header) \
	X(MHD_create_response_from_buffer) \
	X(MHD_create_response_from_fd_at_offset64) \
	X(MHD_destroy_response) \
	X(MHD_get_connection_info) \
	X(MHD_get_connection_values_n) \
	X(MHD_get_version) \
	X(MHD_http_unescape) \
	X(MHD_lookup_connection_value) \
	X(MHD_queue_response) \
	X(MHD_quiesce_daemon) \
	X(MHD_resume_connection) \
	X(MHD_start_daemon) \
	X(MHD_stop_daemon) \
	X(MHD_suspend_connection)

struct serve_library {
#define X(name) __typeof__(name) *(name);
	SERVE_LIBRARY_FUNCTIONS(X)
#undef X
};

extern struct serve_library serve_library;

#define MHD_add_response_header serve_library.MHD_add_response_header
#define MHD_create_response_from_buffer serve_library.MHD_create_response_from_buffer
#define MHD_create_response_from_fd_at_offset64 \
	serve_library.MHD_create_response_from_fd_at_offset64
#define MHD_destroy_response serve_library.MHD_destroy_response
#define MHD_get_connection_info serve_library.MHD_get_connection_info
#define MHD_get_connection_values_n serve_library.MHD_get_connection_values_n
#define MHD_get_version serve_library.MHD_get_version
#define MHD_http_unescape serve_library.MHD_http_unescape
#define MHD_lookup_connection_value serve_library.MHD_lookup_connection_value
#define MHD_queue_response serve_library.MHD_queue_response
#define MHD_quiesce_daemon serve_library.MHD_quiesce_daemon
#define MHD_resume_connection serve_library.MHD_resume_connection
#define MHD_start_daemon serve_library.MHD_start_daemon
#define MHD_stop_daemon serve_library.MHD_stop_daemon
#define MHD_suspend_connection serve_library.MHD_suspend_connection

#endif
#endif
