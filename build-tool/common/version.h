/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The version of the host programs.  The core module and the format have versions of their own. */
#ifndef POKEPATCH_VERSION_H
#define POKEPATCH_VERSION_H

#define POKEPATCH_VERSION "0.1"

#endif /* POKEPATCH_VERSION_H */
