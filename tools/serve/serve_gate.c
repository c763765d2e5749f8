/*
 * serve/serve_gate.c - checks token, Host and Origin.
 */
#include "serve/serve_gate.h"

#include "base/table.h"
#include "serve/serve_pack.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

bool serve_gate_init(struct serve_gate *gate, const char *address, unsigned port)
{
	unsigned char random[(SERVE_TOKEN_SIZE - 1) / 2];

	*gate = (struct serve_gate){ .token = "" };
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return false;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(gate->token + 2 * i, 3, "%02x", random[i]);
	snprintf(gate->cookie, sizeof(gate->cookie), "heapdb_%u", port);
	snprintf(gate->hosts[0], sizeof(gate->hosts[0]), "127.0.0.1:%u", port);
	snprintf(gate->hosts[1], sizeof(gate->hosts[1]), "localhost:%u", port);
	snprintf(gate->hosts[2], sizeof(gate->hosts[2]), "[::1]:%u", port);
	snprintf(gate->hosts[3], sizeof(gate->hosts[3]), strchr(address, ':') ? "[%s]:%u" : "%s:%u",
		 address, port);
	return true;
}

/* ---- headers ---- */

/* Returns whether the text is a header name by RFC 9110. */
static bool is_name(const char *name, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (name[i] <= ' ' || name[i] == 0x7f || strchr("\"(),/:;<=>?@[\\]{}", name[i]))
			return false;
	return size > 0;
}

static bool has_control(const char *value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (((unsigned char)value[i] < ' ' && value[i] != '\t') || value[i] == 0x7f)
			return true;
	return false;
}

void serve_gate_header(struct serve_headers *headers, const char *name, size_t name_size,
		       const char *value, size_t value_size)
{
	const struct {
		const char *name;
		const char **value;
	} once[] = {
		{ "Host", &headers->host },
		{ "Origin", &headers->origin },
		{ "Sec-Fetch-Site", &headers->fetch_site },
		{ "Cookie", &headers->cookies },
		{ "Content-Length", &headers->length },
	};

	if (!value)
		value = "";
	if (!is_name(name, name_size) || has_control(value, value_size)) {
		headers->is_broken = true;
		return;
	}
	for (size_t i = 0; i < BASE_COUNT(once); i++) {
		if (strcasecmp(name, once[i].name) != 0)
			continue;
		headers->is_broken |= *once[i].value != NULL;
		*once[i].value = value;
	}
	headers->takes_gzip |=
		strcasecmp(name, "Accept-Encoding") == 0 && serve_pack_allowed(value);
	headers->has_body |= strcasecmp(name, "Transfer-Encoding") == 0 ||
			     (strcasecmp(name, "Content-Length") == 0 && strcmp(value, "0") != 0);
}

/* ---- clients ---- */

/* Compares the token with the text, in constant time. */
static bool is_token(const struct serve_gate *gate, const char *text, size_t size)
{
	unsigned char difference = size != SERVE_TOKEN_SIZE - 1;

	for (size_t i = 0; i < SERVE_TOKEN_SIZE - 1; i++)
		difference |= (unsigned char)(gate->token[i] ^ (i < size ? text[i] : 0));
	return difference == 0;
}

/* Returns whether a Cookie header such as "a=b; heapdb_1234=TOKEN" contains the token. */
static bool has_cookie(const struct serve_gate *gate, const char *cookies)
{
	const size_t name = strlen(gate->cookie);

	while (cookies && *cookies) {
		const size_t size = strcspn(cookies, ";");

		if (size > name && cookies[name] == '=' &&
		    memcmp(cookies, gate->cookie, name) == 0 &&
		    is_token(gate, cookies + name + 1, size - name - 1))
			return true;
		cookies += size;
		cookies += strspn(cookies, "; ");
	}
	return false;
}

static bool is_own_host(const struct serve_gate *gate, const char *host)
{
	for (size_t i = 0; host && i < BASE_COUNT(gate->hosts); i++)
		if (*gate->hosts[i] && strcasecmp(host, gate->hosts[i]) == 0)
			return true;
	return false;
}

/* Returns whether Origin is "http://" and the request's host. */
static bool is_own_origin(const struct serve_visitor *visitor)
{
	static const char scheme[] = "http://";

	return !visitor->origin ||
	       (strncasecmp(visitor->origin, scheme, sizeof(scheme) - 1) == 0 &&
		strcasecmp(visitor->origin + sizeof(scheme) - 1, visitor->host) == 0);
}

enum serve_verdict serve_gate_judge(const struct serve_gate *gate,
				    const struct serve_visitor *visitor)
{
	const char *site = visitor->fetch_site;
	const bool has_token =
		visitor->token && is_token(gate, visitor->token, strlen(visitor->token));

	if (!is_own_host(gate, visitor->host))
		return SERVE_WRONG_HOST;
	if (!is_own_origin(visitor))
		return SERVE_WRONG_ORIGIN;
	/* other sites may link to the page, but may not load other resources */
	if (site && !visitor->is_navigation && strcmp(site, "same-origin") != 0 &&
	    strcmp(site, "none") != 0)
		return SERVE_WRONG_ORIGIN;
	if (has_token && visitor->is_navigation)
		return SERVE_WELCOME_TOKEN;
	return has_cookie(gate, visitor->cookies) ? SERVE_WELCOME : SERVE_NO_TOKEN;
}
