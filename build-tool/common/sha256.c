// SPDX-License-Identifier: GPL-2.0-or-later
/* SHA-256, in a file of its own so that the assembler's front end needs no libcrypto. */
#include <stdio.h>
#include <stdlib.h>

#include <openssl/evp.h>

#include "common/util.h"

void sha256_hex(const void *bytes, size_t length, char ret[65])
{
	unsigned char digest[32];

	if (!EVP_Digest(bytes, length, digest, NULL, EVP_sha256(), NULL))
		abort(); /* only for want of memory */
	for (size_t i = 0; i < sizeof(digest); i++)
		sprintf(ret + 2 * i, "%02x", digest[i]);
}
