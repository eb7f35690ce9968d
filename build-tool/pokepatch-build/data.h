/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where our own sources are that go into modules, and the catalogue of fixes. */
#ifndef POKEPATCH_DATA_H
#define POKEPATCH_DATA_H

#include "common/error.h"

/*
 * data_find - the folder that has core-module/ and patches/: $POKEPATCH_DATADIR, or the checkout
 * that this program was built in (the program is in build/bin/ or build/asan/bin/), or the folder
 * that `make install` filled.  The caller frees *ret.
 * Errors: the sources are nowhere.
 */
struct error *data_find(char **ret) __attribute__((warn_unused_result));

#endif /* POKEPATCH_DATA_H */
