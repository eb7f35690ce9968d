/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a cumulative patch says of itself: its level, which CVEs it fixes, which it leaves unfixed,
 * and until when it is meant to last.  Options and the commits of a series say it.
 */
#ifndef POKEPATCH_ABOUT_H
#define POKEPATCH_ABOUT_H

#include "common/args.h"
#include "pokepatch-build/options.h"

struct build;

/* cve_length - the length of the CVE number at @text, such as "CVE-2026-1234"; 0: there is none. */
size_t cve_length(const char *text);

/*
 * about_parse_cves - append the numbers of a list with commas between to @ret; they are allocated.
 * Errors: STATUS_FAILED for what is no CVE number; @option is named in it.
 */
struct error *about_parse_cves(const char *option, const char *list, struct args *ret);

/* about_check_date - STATUS_FAILED if this is not a day, "2027-05-01". */
struct error *about_check_date(const char *text);

/* about_cves - add the numbers that the patch fixes, sorted: of --cve and of live commits. */
void about_cves(const struct build *build, struct args *ret);
/*
 * about_unfixed - add the numbers that it does not fix, sorted: of --unfixed and of the commits
 * that are left out, but for what about_cves() has.
 */
void about_unfixed(const struct build *build, struct args *ret);

/* about_lines - add the lines for modinfo, "KEY=VALUE"; none unless the patch has a level. */
void about_lines(const struct build *build, struct args *ret);

#endif /* POKEPATCH_ABOUT_H */
