/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/socket_text.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/json_text.h"

static bool is_inet(const struct thread_sample *sample)
{
	return sample->has_socket && (sample->socket.family == AF_INET ||
				      sample->socket.family == AF_INET6);
}

static bool is_tcp(const struct thread_sample *sample)
{
	return is_inet(sample) && sample->socket.protocol == IPPROTO_TCP;
}

static const char *protocol_name(const struct top_wire_socket *socket)
{
	if (socket->protocol == IPPROTO_TCP)
		return "TCP";
	return socket->protocol == IPPROTO_UDP ? "UDP" : "IP";
}

static const char *unix_name(const struct top_wire_socket *socket)
{
	if (socket->type == SOCK_DGRAM)
		return "UNIX-DGRAM";
	return socket->type == SOCK_SEQPACKET ? "UNIX-SEQ" : "UNIX-STREAM";
}

/* Adds to a text, as much as there is room for. */
__attribute__((format(printf, 4, 5)))
static void add(char *buf, size_t size, size_t *at, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(buf + *at, size - *at, format, args);
	va_end(args);
	if (len > 0)
		*at = (size_t)len < size - *at ? *at + (size_t)len : size - 1;
}

static void put_unix(const struct thread_sample *sample, char *buf, size_t size)
{
	const struct top_wire_socket *socket = &sample->socket;
	size_t at = 0;

	add(buf, size, &at, "%s inode=%" PRIu64 "->", unix_name(socket), sample->reason.ino);
	if (socket->peer_ino)
		add(buf, size, &at, "inode=%llu", (unsigned long long)socket->peer_ino);
	else
		add(buf, size, &at, "peer");
	if (socket->peer_pid)
		add(buf, size, &at, " peerpid=%u", socket->peer_pid);
}

void socket_text__put_connection(const struct thread_sample *sample, char *buf, size_t size)
{
	const char *none = sample->socket.family == AF_INET6 ? "[::]:0" : "0.0.0.0:0";

	if (is_inet(sample))
		snprintf(buf, size, "%s %s->%s", protocol_name(&sample->socket),
			 sample->reason.local,
			 *sample->reason.remote ? sample->reason.remote : none);
	else if (sample->has_socket && sample->socket.family == AF_UNIX)
		put_unix(sample, buf, size);
}

const char *socket_text__state(const struct thread_sample *sample)
{
	static const char *const names[] = {
		"",	      "ESTABLISHED", "SYN_SENT", "SYN_RECV",   "FIN_WAIT1", "FIN_WAIT2",
		"TIME_WAIT",  "CLOSE",	     "CLOSE_WAIT", "LAST_ACK", "LISTEN",    "CLOSING",
		"NEW_SYN_RECV",
	};

	if (!is_tcp(sample) || sample->socket.state >= sizeof(names) / sizeof(names[0]))
		return "";
	return names[sample->socket.state];
}

static void print_tcp(const struct top_wire_socket *tcp, FILE *out)
{
	fprintf(out, ",\"tcp\":{\"cwnd\":%u,\"ssthresh\":%u,\"ca_state\":%u", tcp->cwnd,
		tcp->ssthresh, tcp->ca_state);
	fprintf(out, ",\"srtt_us\":%u,\"mdev_us\":%u,\"rtt_min\":%u", tcp->srtt_us, tcp->mdev_us,
		tcp->rtt_min_us);
	fprintf(out, ",\"rcv_wnd\":%u,\"snd_wnd\":%u", tcp->rcv_wnd, tcp->snd_wnd);
	fprintf(out, ",\"packets_out\":%u,\"retrans_out\":%u,\"total_retrans\":%u",
		tcp->packets_out, tcp->retrans_out, tcp->total_retrans);
	fprintf(out, ",\"lost_out\":%u,\"sacked_out\":%u,\"reordering\":%u", tcp->lost_out,
		tcp->sacked_out, tcp->reordering);
	fprintf(out, ",\"bytes_in_flight\":%u,\"bytes_unread\":%u", tcp->in_flight, tcp->unread);
	fprintf(out, ",\"bytes_sent\":%llu,\"bytes_acked\":%llu,\"bytes_received\":%llu",
		(unsigned long long)tcp->bytes_sent, (unsigned long long)tcp->bytes_acked,
		(unsigned long long)tcp->bytes_received);
	if (tcp->delivered)
		fprintf(out, ",\"delivered\":%u,\"delivered_ce\":%u", tcp->delivered,
			tcp->delivered_ce);
	if (tcp->cwnd_limited)
		fputs(",\"cwnd_limited\":true", out);
	if (tcp->reord_seen)
		fputs(",\"reord_seen\":true", out);
	if (tcp->retransmits)
		fprintf(out, ",\"retransmits\":%u", tcp->retransmits);
	fprintf(out, ",\"bytes_unsent\":%u}", tcp->unsent);
}

/* Without a NUL: one that begins with it, which is of no file, goes on behind it. */
static void print_path(const struct top_wire_socket *socket, FILE *out)
{
	bool abstract = !socket->path[0];
	size_t len = abstract ? socket->path_len - 1U : strnlen(socket->path, socket->path_len);
	char path[TOP_WIRE_UNIX_PATH + 1];

	memcpy(path, socket->path + abstract, len);
	path[len] = '\0';
	/* As ss(8) shows them. */
	for (size_t i = 0; i < len; i++) {
		if (!path[i])
			path[i] = '@';
	}
	fprintf(out, ",\"%s\":", socket->path_of_peer ? "peer_path" : "path");
	json_text__print(path, out);
	if (abstract)
		fputs(",\"abstract\":true", out);
}

static void print_unix(const struct thread_sample *sample, FILE *out)
{
	const struct top_wire_socket *socket = &sample->socket;

	fprintf(out, ",\"unix\":{\"inode\":%" PRIu64, sample->reason.ino);
	if (socket->path_len)
		print_path(socket, out);
	if (socket->peer_pid)
		fprintf(out, ",\"peer_pid\":%u", socket->peer_pid);
	if (socket->peer_ino)
		fprintf(out, ",\"peer_inode\":%llu", (unsigned long long)socket->peer_ino);
	if (socket->owner)
		fprintf(out, ",\"owner_uid\":%u", socket->owner);
	fputc('}', out);
}

/* A socket that listens has other data in place of the figures. */
void socket_text__print_extra(const struct thread_sample *sample, FILE *out)
{
	const struct top_wire_socket *socket = &sample->socket;

	if (is_tcp(sample) && socket->state != 10) {
		print_tcp(socket, out);
	} else if (sample->has_socket && socket->family == AF_UNIX) {
		print_unix(sample, out);
	}
}
