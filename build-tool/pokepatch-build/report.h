/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the JSON report that link.c puts into the module. */
#ifndef POKEPATCH_BUILD_REPORT_H
#define POKEPATCH_BUILD_REPORT_H

#include <json-c/json.h>

#include "pokepatch-build/build.h"

/*
 * report_make_stable - make the part of the report that depends on nothing but the inputs, so that
 * equal inputs give equal modules.  The caller releases it with json_object_put().
 */
struct json_object *report_make_stable(const struct build *build);

#endif /* POKEPATCH_BUILD_REPORT_H */
