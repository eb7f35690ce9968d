/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of OpenSSL's <openssl/evp.h> our programs use: sums of memory by SHA-256. */
#ifndef POKEPATCH_EVP_H
#define POKEPATCH_EVP_H

#include <stddef.h>

typedef struct evp_md_st EVP_MD;
typedef struct engine_st ENGINE;

const EVP_MD *EVP_sha256(void);

/* ret gets 32 bytes, ret_length (if it is not NULL) that number; returns 1. */
int EVP_Digest(const void *bytes, size_t length, unsigned char *ret, unsigned int *ret_length,
	       const EVP_MD *type, ENGINE *engine);

#endif /* POKEPATCH_EVP_H */
