// SPDX-License-Identifier: GPL-2.0-or-later
/* Signatures of modules; see sign.h. */
#include "pokepatch-build/sign.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/proc.h"
#include "pokepatch-build/build.h"

/* The machine owner's key that Debian's dkms has made and enrolled. */
#define DKMS_KEY "/var/lib/dkms/mok.key"
#define DKMS_CERTIFICATE "/var/lib/dkms/mok.pub"

/* A key in a token has a URI (RFC 7512), which OpenSSL resolves. */
static bool is_token(const char *key)
{
	return has_prefix(key, "pkcs11:");
}

/* Set both; they are the caller's. */
static struct error *parse_sign(const char *option, char **ret_key, char **ret_certificate)
{
	const char *comma = strrchr(option, ',');

	if (!strcmp(option, "dkms")) {
		*ret_key = xstrdup(DKMS_KEY);
		*ret_certificate = xstrdup(DKMS_CERTIFICATE);
		return NULL;
	}
	if (!comma || comma == option || !comma[1])
		return error_new(STATUS_FAILED,
				 "--sign %s: not KEY,CERTIFICATE, nor dkms for the key that dkms has made",
				 option);
	*ret_key = xstrndup(option, (size_t)(comma - option));
	*ret_certificate = xstrdup(comma + 1);
	return NULL;
}

struct error *sign_check(const struct build *build)
{
	_free_ char *key = NULL, *certificate = NULL;

	if (!build->options.sign)
		return NULL;
	TRY(parse_sign(build->options.sign, &key, &certificate));
	if (!is_token(key) && access(key, R_OK))
		return error_errno("--sign: cannot read '%s'", key);
	if (access(certificate, R_OK))
		return error_errno("--sign: cannot read '%s'", certificate);
	return NULL;
}

/* CONFIG_MODULE_SIG_HASH; a kernel that checks no signatures has none. */
static struct error *read_hash(const struct build *build, char **ret)
{
	static const char line[] = "\nCONFIG_MODULE_SIG_HASH=\"";
	_free_ char *config = NULL;
	const char *found;

	TRY(file_read(build->files.config, &config, NULL));
	found = strstr(config, line);
	found = found ? found + strlen(line) : "sha256";
	*ret = xstrndup(found, strcspn(found, "\"\n"));
	return NULL;
}

struct error *sign_module(const struct build *build, const char *path)
{
	_free_ char *program = xasprintf("%s/scripts/sign-file", build->files.kbuild);
	_free_ char *key = NULL, *certificate = NULL, *hash = NULL;

	if (!build->options.sign)
		return NULL;
	TRY(parse_sign(build->options.sign, &key, &certificate));
	TRY(read_hash(build, &hash));
	const char *const argv[] = {program, hash, key, certificate, path, NULL};
	struct proc_result result;
	struct error *error = NULL;

	TRY(proc_run(argv, &(struct proc_options){0}, &result));
	/* sign-file prints several lines of OpenSSL's errors: join them. */
	for (char *c = result.out.text; c && *c; c++)
		*c = *c == '\n' ? (c[1] ? ';' : '\0') : *c;
	if (result.status)
		error = error_new(STATUS_FAILED, "--sign: cannot sign with '%s' and '%s': %s", key,
				  certificate, result.out.text ?: "sign-file failed");
	proc_result_deinit(&result);
	return error;
}
