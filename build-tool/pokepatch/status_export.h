/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The status of a machine in the formats of monitoring and of vulnerability scanners. */
#ifndef POKEPATCH_CLI_STATUS_EXPORT_H
#define POKEPATCH_CLI_STATUS_EXPORT_H

#include <json-c/json.h>

#include "common/util.h"

/*
 * status_metrics - add metrics in the text format of Prometheus (exposition formats 0.0.4), for the
 * textfile collector of node-exporter.  @status: what `pokepatch status --json` prints.
 */
void status_metrics(struct buffer *out, json_object *status);

/*
 * status_vex - add an OpenVEX document (specification 0.2.0) about the running kernel: a statement
 * for each CVE that the cumulative patch names.  A CVE counts as fixed while the patch is on.
 * @release: the kernel's
 */
void status_vex(struct buffer *out, json_object *status, const char *release);

#endif /* POKEPATCH_CLI_STATUS_EXPORT_H */
