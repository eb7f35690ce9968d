/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What pp_shared.c has for the other objects of its modules. */
int pp_shared_value(char *buffer, int value);
