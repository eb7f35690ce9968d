/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload - the parts that sockets.c has, for the table of parts in workload.c.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

/* ---- common sockets ---- */
void tcp(void);
void udp(void);
void other_sockets(void);
void crypto(void);

/* ---- BPF, and sockets that take its programs ---- */
void bpf_programs(void);

/* ---- sockets of rarer families ---- */
void ipsec_key(void);
void sctp(void);
void tipc(void);

#endif
