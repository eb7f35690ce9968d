/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signatures of modules, for kernels that take only signed ones: --sign.  The kernel's own
 * scripts/sign-file appends them, with the hash of its configuration.
 */
#ifndef POKEPATCH_SIGN_H
#define POKEPATCH_SIGN_H

#include "common/util.h"

struct build;

/*
 * sign_check - can the modules be signed?  Before any work.  Errors: STATUS_FAILED, --sign is not
 * KEY,CERTIFICATE, or a file cannot be read.
 */
struct error *sign_check(const struct build *build);

/*
 * sign_module - append a signature to a module, in place.  Does nothing without --sign.  Errors:
 * STATUS_FAILED, sign-file fails: the key needs another password (KBUILD_SIGN_PIN), or the
 * certificate is not the key's.
 */
struct error *sign_module(const struct build *build, const char *path);

#endif /* POKEPATCH_SIGN_H */
