/*
 * rewrite/secret_rules.c - the rules for texts that look like secrets. False positives are better
 * than misses, as a person reads the report.
 */
#include "rewrite/secrets.h"

/* The name of a key or password; the rule adds what is assigned to it. */
#define NAMED \
	"(?i)(?:passw(?:or)?d|passphrase|pwd|secret|credential|api[_.-]?key|access[_.-]?key|" \
	"private[_.-]?key|auth[_.-]?token|access[_.-]?token|refresh[_.-]?token|client[_.-]?secret)"

const struct rewrite_secret_rule rewrite_secret_rules[] = {
	{ "private-key", "a private key (PEM)", "-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY", NULL,
	  REWRITE_HAS_DASH | REWRITE_HAS_SPACE | REWRITE_HAS_CAPITAL, 22, 0 },
	{ "aws-key", "an AWS access key", "\\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\\b", NULL,
	  REWRITE_HAS_A, 20, 0 },
	{ "github-token", "a GitHub token",
	  "\\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22})", NULL,
	  REWRITE_HAS_UNDERSCORE, 33, 0 },
	{ "gitlab-token", "a GitLab token", "\\bglpat-[A-Za-z0-9_-]{20}", NULL, REWRITE_HAS_DASH,
	  26, 0 },
	{ "slack-token", "a Slack token", "\\bxox[abeoprs]-[A-Za-z0-9-]{10}", NULL,
	  REWRITE_HAS_DASH, 15, 0 },
	{ "google-key", "a Google API key", "\\bAIza[A-Za-z0-9_-]{35}", NULL, REWRITE_HAS_A, 39,
	  0 },
	{ "stripe-key", "a Stripe key", "\\b[rs]k_(?:live|test)_[A-Za-z0-9]{16}", NULL,
	  REWRITE_HAS_UNDERSCORE, 24, 0 },
	{ "npm-token", "an npm token", "\\bnpm_[A-Za-z0-9]{36}", NULL, REWRITE_HAS_UNDERSCORE, 40,
	  0 },
	{ "jwt", "a JSON Web Token", "\\beyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.", NULL,
	  REWRITE_HAS_DOT | REWRITE_HAS_J, 24, 0 },
	{ "authorization", "a header with credentials",
	  "(?i)\\b(?:bearer|basic|digest) +[A-Za-z0-9+/_.~-]{16}", NULL, REWRITE_HAS_SPACE, 22, 0 },
	{ "password", "a named password or key", NAMED "[\"']?\\s*[:=]\\s*[\"']?[^\\s\"'&;,<>]{4}",
	  NULL, REWRITE_HAS_SETTER, 8, 0 },
	{ "url-password", "a URL with a password", "\\b[a-z][a-z0-9+.-]*://[^\\s/:@]*:[^\\s/@]+@",
	  NULL, REWRITE_HAS_COLON | REWRITE_HAS_SLASH | REWRITE_HAS_AT, 7, 0 },
	{ "card-number", "a payment card number (with a valid check digit)",
	  "(?<![0-9])[2-6][0-9](?:[ -]?[0-9]){11,17}(?![0-9])", rewrite_luhn, 0, 13, 13 },
	{ "iban", "a bank account number",
	  "\\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\\b", rewrite_mod97,
	  REWRITE_HAS_CAPITAL, 12, 2 },
	{ NULL, NULL, NULL, NULL, 0, 0, 0 },
};

bool rewrite_luhn(const uint8_t *text, size_t size)
{
	unsigned sum = 0, count = 0;

	while (size--) {
		unsigned digit;

		if (text[size] < '0' || text[size] > '9')
			continue;
		digit = text[size] - '0';
		if (count++ % 2) {
			digit *= 2;
			digit -= digit > 9 ? 9 : 0;
		}
		sum += digit;
	}
	return count >= 13 && count <= 19 && sum % 10 == 0;
}

/*
 * ISO 13616: move the first four characters to the end and replace letters by 10 to 35; the number
 * modulo 97 must be 1.
 */
bool rewrite_mod97(const uint8_t *text, size_t size)
{
	unsigned rest = 0, count = 0;

	for (size_t i = 0; i < size + 4; i++) {
		const uint8_t c = i < size ? text[i] : text[i - size];

		if (c == ' ' || i < 4)
			continue;
		count++;
		/* The pattern admits only digits and capital letters. */
		if (c >= 'A')
			rest = (rest * 100 + c - ('A' - 10u)) % 97;
		else
			rest = (rest * 10 + c - '0') % 97;
	}
	return count >= 15 && count <= 34 && rest == 1;
}
