/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef POKEPATCH_BUILD_REPORT_H
#define POKEPATCH_BUILD_REPORT_H

#include <json-c/json.h>

#include "pokepatch-build/build.h"

/* report_stable - the part that depends on nothing but the inputs; the caller puts it. */
struct json_object *report_stable(const struct build *build);

#endif /* POKEPATCH_BUILD_REPORT_H */
