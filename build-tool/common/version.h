/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The version of the host programs; the core module and the format have their own. */
#ifndef POKEPATCH_VERSION_H
#define POKEPATCH_VERSION_H

#define POKEPATCH_VERSION "0.1"

#endif /* POKEPATCH_VERSION_H */
