/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A server with --peers connections over TCP, some by IPv6, that waits in epoll_wait for --rounds
 * messages. Each is sent by another peer, 20 ms after the server has gone to sleep. Prints what
 * ended each wait, in their order:
 *	server TID, then lines of: ready DESCRIPTOR PEER-ADDRESS:PORT
 */
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "workload.h"

#define MAX_PEERS 64

static struct peer {
	int client, server;
	char address[64]; /* of the client */
} peers[MAX_PEERS];

static unsigned long nr_peers, nr_rounds;
static int epoll, server_tid;
static unsigned long round_now; /* the one that the server is about to wait for; 0: none yet */
static unsigned long long before;

static int open_listener(int family, struct sockaddr_storage *address, socklen_t *len)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memset(address, 0, sizeof(*address));
	address->ss_family = (sa_family_t)family;
	*len = family == AF_INET ? sizeof(*v4) : sizeof(*v6);
	if (family == AF_INET)
		v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		v6->sin6_addr = in6addr_loopback;
	if (fd < 0 || bind(fd, (struct sockaddr *)address, *len) || listen(fd, MAX_PEERS) ||
	    getsockname(fd, (struct sockaddr *)address, len))
		return -1;
	return fd;
}

static void name_peer(struct peer *peer)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);
	char text[INET6_ADDRSTRLEN];

	if (getsockname(peer->client, (struct sockaddr *)&address, &len))
		workload__fail("getsockname", errno);
	if (address.ss_family == AF_INET) {
		struct sockaddr_in *v4 = (struct sockaddr_in *)&address;

		inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
		snprintf(peer->address, sizeof(peer->address), "%s:%u", text,
			 ntohs(v4->sin_port));
	} else {
		struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address;

		inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
		snprintf(peer->address, sizeof(peer->address), "[%s]:%u", text,
			 ntohs(v6->sin6_port));
	}
}

/* Returns false where the machine has no such addresses. */
static bool connect_peer(struct peer *peer, int family)
{
	struct sockaddr_storage address;
	struct epoll_event event = { .events = EPOLLIN };
	socklen_t len;
	int listener = open_listener(family, &address, &len);

	if (listener < 0)
		return false;
	peer->client = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(peer->client, (struct sockaddr *)&address, len))
		workload__fail("connect", errno);
	peer->server = accept(listener, NULL, NULL);
	event.data.ptr = peer;
	if (peer->server < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, peer->server, &event))
		workload__fail("epoll_ctl", errno);
	name_peer(peer);
	close(listener);
	return true;
}

static void *serve(void *arg)
{
	struct epoll_event event;
	struct peer *peer;
	char byte;

	prctl(PR_SET_NAME, "server");
	server_tid = workload__tid();
	for (unsigned long i = 1; i <= nr_rounds; i++) {
		before = workload__voluntary();
		__atomic_store_n(&round_now, i, __ATOMIC_RELEASE);
		if (epoll_wait(epoll, &event, 1, -1) != 1)
			workload__fail("epoll_wait", errno);
		peer = event.data.ptr;
		if (read(peer->server, &byte, 1) != 1)
			workload__fail("read", errno);
		printf("ready %d %s\n", peer->server, peer->address);
	}
	return arg;
}

static void send_round(unsigned long round)
{
	while (__atomic_load_n(&round_now, __ATOMIC_ACQUIRE) != round ||
	       !workload__sleeps(server_tid, before))
		workload__nanosleep(100000);
	workload__nanosleep(20 * WORKLOAD_NSEC_PER_MSEC);
	/* Not in the order in which they were added. */
	if (write(peers[round * 7 % nr_peers].client, "m", 1) != 1)
		workload__fail("write", errno);
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { "peers", 5 }, { "rounds", 20 }, { 0 } };
	pthread_t server;

	workload__parse(argc, argv, options);
	nr_peers = options[0].value;
	nr_rounds = options[1].value;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!nr_peers || nr_peers > MAX_PEERS || epoll < 0)
		workload__fail("peers", EINVAL);
	for (unsigned long i = 0; i < nr_peers; i++) {
		if (!(i % 2 && connect_peer(&peers[i], AF_INET6)) &&
		    !connect_peer(&peers[i], AF_INET))
			workload__fail("listen", errno);
	}
	if (pthread_create(&server, NULL, serve, NULL))
		workload__fail("pthread_create", EAGAIN);
	for (unsigned long i = 1; i <= nr_rounds; i++)
		send_round(i);
	pthread_join(server, NULL);
	printf("server %d\n", server_tid);
	return 0;
}
