/* SPDX-License-Identifier: GPL-2.0-only */
/* Comparing live code with the code that the patch was made for: verify.c. */
#ifndef POKEPATCH_VERIFY_H
#define POKEPATCH_VERIFY_H

struct pp_patch;

/*
 * Compare the live code of the functions in object @obj that @patch replaces, and of their .cold
 * parts, with the code that the patch was made for.  The object's symbols are resolved.  Under
 * pp_mutex; may sleep.  Return: 0, or -EIO (logged, with the place).
 */
int pp_verify_code(const struct pp_patch *patch, unsigned int obj);
/*
 * Compare again in all attached objects, since other writers may have changed code.  A parent that
 * comes later is compared when it comes.  Takes pp_mutex; may sleep.
 * Return: 0, -EIO (logged), or -EINTR if the task was killed.
 */
int pp_verify_all_code(const struct pp_patch *patch);

#endif /* POKEPATCH_VERIFY_H */
