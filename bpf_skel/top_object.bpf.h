/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state and the counters of a socket, for denet-top's samples. */
#ifndef DENET_TOP_OBJECT_BPF_H
#define DENET_TOP_OBJECT_BPF_H

#include "reason.bpf.h"
#include "top_wire.h"

#define FAMILY_UNIX 1
#define PROTOCOL_TCP 6

static __always_inline void read_tcp(struct sock *sk, struct top_wire_socket *out)
{
	struct tcp_sock *tcp = (void *)sk;
	struct inet_connection_sock *icsk = (void *)sk;

	out->ca_state = BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ca_state);
	out->cwnd = BPF_CORE_READ(tcp, snd_cwnd);
	out->ssthresh = BPF_CORE_READ(tcp, snd_ssthresh);
	/* Kept in eighths and quarters. */
	out->srtt_us = BPF_CORE_READ(tcp, srtt_us) >> 3;
	out->mdev_us = BPF_CORE_READ(tcp, mdev_us) >> 2;
	out->rtt_min_us = BPF_CORE_READ(tcp, rtt_min.s[0].v);
	out->rcv_wnd = BPF_CORE_READ(tcp, rcv_wnd);
	out->snd_wnd = BPF_CORE_READ(tcp, snd_wnd);
	out->packets_out = BPF_CORE_READ(tcp, packets_out);
	out->retrans_out = BPF_CORE_READ(tcp, retrans_out);
	out->total_retrans = BPF_CORE_READ(tcp, total_retrans);
	out->lost_out = BPF_CORE_READ(tcp, lost_out);
	out->sacked_out = BPF_CORE_READ(tcp, sacked_out);
	out->reordering = BPF_CORE_READ(tcp, reordering);
	out->unread = BPF_CORE_READ(tcp, rcv_nxt) - BPF_CORE_READ(tcp, copied_seq);
	out->in_flight = BPF_CORE_READ(tcp, snd_nxt) - BPF_CORE_READ(tcp, snd_una);
	out->unsent = BPF_CORE_READ(tcp, write_seq) - BPF_CORE_READ(tcp, snd_nxt);
	out->delivered = BPF_CORE_READ(tcp, delivered);
	out->delivered_ce = BPF_CORE_READ(tcp, delivered_ce);
	out->reord_seen = BPF_CORE_READ(tcp, reord_seen);
	out->retransmits = BPF_CORE_READ(icsk, icsk_retransmits);
	if (bpf_core_field_exists(struct tcp_sock, is_cwnd_limited))
		out->cwnd_limited = BPF_CORE_READ_BITFIELD_PROBED(tcp, is_cwnd_limited);
	out->bytes_sent = BPF_CORE_READ(tcp, bytes_sent);
	out->bytes_acked = BPF_CORE_READ(tcp, bytes_acked);
	out->bytes_received = BPF_CORE_READ(tcp, bytes_received);
}

/*
 * The other end; once its socket is closed there is none. The end that a server has accepted is
 * bound as the server's.
 */
static __always_inline void read_unix(struct sock *sk, struct top_wire_socket *out)
{
	struct sock *peer = NULL;
	struct pid *pid = BPF_CORE_READ(sk, sk_peer_pid);

	if (bpf_core_field_exists(struct unix_sock, addr))
		out->bound = BPF_CORE_READ((struct unix_sock *)sk, addr) != NULL;
	if (bpf_core_field_exists(struct unix_sock, peer))
		peer = BPF_CORE_READ((struct unix_sock *)sk, peer);
	out->peer_ino = BPF_CORE_READ(peer, sk_socket, file, f_inode, i_ino);
	out->peer_pid = settings.filter.pid_ns ? number_of(pid) :
						 (__u32)BPF_CORE_READ(pid, numbers[0].nr);
}

/* The path that a Unix socket is bound to. Returns its bytes; 0: to none. */
static __always_inline __u8 read_unix_path(struct sock *sk, char *path)
{
	struct unix_address *address = NULL;
	__u32 len;

	if (bpf_core_field_exists(struct unix_sock, addr))
		address = BPF_CORE_READ((struct unix_sock *)sk, addr);
	if (!address)
		return 0;
	len = (__u32)BPF_CORE_READ(address, len) - sizeof(address->name[0].sun_family);
	if (len >= TOP_WIRE_UNIX_PATH)
		return 0;
	/* The kernel's memory ends behind the path. */
	if (bpf_probe_read_kernel(path, len & (TOP_WIRE_UNIX_PATH - 1), address->name[0].sun_path))
		return 0;
	return (__u8)len;
}

/* A client has no path as a rule, but the other end, which a server accepted, has the server's. */
static __always_inline void read_unix_names(struct file *file, struct top_wire_socket *out)
{
	struct sock *sk = sock_of(file), *peer = NULL;

	out->owner = BPF_CORE_READ(file, f_inode, i_uid.val);
	out->path_len = read_unix_path(sk, out->path);
	if (out->path_len || !bpf_core_field_exists(struct unix_sock, peer))
		return;
	peer = BPF_CORE_READ((struct unix_sock *)sk, peer);
	if (!peer)
		return;
	out->path_len = read_unix_path(peer, out->path);
	out->path_of_peer = out->path_len > 0;
}

/* Reads the type of a socket and, of a Unix socket, its peer. */
static __always_inline void read_socket_ends(struct file *file, struct top_wire_socket *out)
{
	struct sock *sk = sock_of(file);

	__builtin_memset(out, 0, sizeof(*out));
	out->head.kind = TOP_WIRE_SOCKET;
	out->head.size = sizeof(*out);
	out->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	out->protocol = BPF_CORE_READ(sk, sk_protocol);
	out->type = (__u8)BPF_CORE_READ(sk, sk_type);
	out->state = BPF_CORE_READ(sk, __sk_common.skc_state);
	if (out->family == FAMILY_UNIX)
		read_unix(sk, out);
}

/* The counters of the socket that was read, or its names. */
static __always_inline void read_socket_figures(struct file *file, struct top_wire_socket *out)
{
	if (out->family == FAMILY_UNIX)
		read_unix_names(file, out);
	if ((out->family == FAMILY_INET || out->family == FAMILY_INET6) &&
	    out->protocol == PROTOCOL_TCP)
		read_tcp(sock_of(file), out);
}

#endif /* DENET_TOP_OBJECT_BPF_H */
