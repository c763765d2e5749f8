/* serve/serve_token.c - the token stored next to a database, and the port derived from its name. */
#include "serve/serve_token.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PORT_FIRST 20000
#define PORT_COUNT 12000 /* below the ephemeral port range */

unsigned serve_token_port(const char *name)
{
	uint32_t hash = 2166136261U; /* FNV-1a */

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619U;
	return PORT_FIRST + hash % PORT_COUNT;
}

/*
 * Returns whether the file has only one name and only the user of this process can read and write
 * it.
 */
static bool is_private(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       st.st_nlink == 1 && (st.st_mode & 077) == 0 && st.st_size == SERVE_TOKEN_SIZE - 1;
}

void serve_token_keep(const char *db_path, char token[SERVE_TOKEN_SIZE])
{
	char path[4096], found[SERVE_TOKEN_SIZE] = "";
	const size_t size = SERVE_TOKEN_SIZE - 1;
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s.token", db_path) >= sizeof(path))
		return;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		if (is_private(fd) && read(fd, found, size) == (ssize_t)size &&
		    strspn(found, "0123456789abcdef") == size)
			memcpy(token, found, sizeof(found));
		close(fd);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, token, size) != (ssize_t)size)
		unlink(path);
	close(fd);
}
