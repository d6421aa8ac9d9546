/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Request and reply, one at a time: what a client that waits for each answer sees of a service.
 *
 *	latency PLACES pipe REQUESTS            a process of its own answers, over two pipes
 *	latency PLACES redis PORT PID REQUESTS  a redis-server with that process id, over loopback
 *
 * PLACES: both sides are kept on one CPU (together), each on one of its own (apart), or wherever
 * the scheduler puts them (free), which may double the rate by itself.
 * Prints one line on standard error: replies a second, the median and the 99th percentile of
 * their times in ns, and the share of requests for which both sides were on the same CPU. The
 * first tenth of the requests is not measured.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

/* How often the CPU of a server that does not tell it is looked up, in requests. */
#define LOOK_EVERY 32

static const char set[] = "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n";
static const char get[] = "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n";

struct service {
	pid_t pid;
	int in, out;         /* descriptors of the client's side */
	const char *request; /* size bytes */
	size_t size;
	size_t reply_size;
	bool tells_cpu;      /* the last byte of a reply is the server's CPU */
	int stat;	     /* the server's /proc/PID/stat; -1: it tells its CPU itself */
};

struct figures {
	uint64_t *ns; /* one for each request */
	size_t nr;
	uint64_t sum_ns;
	size_t looks, together; /* how often both CPUs were known, and the same */
};

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "latency: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void write_all(int fd, const char *data, size_t size)
{
	if (write(fd, data, size) != (ssize_t)size)
		fail("write");
}

/* Returns the last byte. */
static unsigned char read_all(int fd, size_t size)
{
	unsigned char data[64];
	size_t have = 0;
	ssize_t len;

	while (have < size) {
		len = read(fd, data + have, size - have);
		if (len <= 0)
			fail("read");
		have += (size_t)len;
	}
	return data[size - 1];
}

/* Answers with its CPU until the client closes the pipe. */
static void __attribute__((noreturn)) serve(int in, int out)
{
	unsigned char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(in, &byte, 1) == 1) {
		byte = (unsigned char)sched_getcpu();
		if (write(out, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static void start_pipe_server(struct service *service)
{
	int request[2], reply[2];
	pid_t pid;

	if (pipe(request) < 0 || pipe(reply) < 0)
		fail("pipe");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid) {
		close(request[1]);
		close(reply[0]);
		serve(request[0], reply[1]);
	}
	close(request[0]);
	close(reply[1]);
	*service = (struct service){
		.pid = pid,
		.in = reply[0],
		.out = request[1],
		.request = "?",
		.size = 1,
		.reply_size = 1,
		.tells_cpu = true,
		.stat = -1,
	};
}

static void connect_to_redis(struct service *service, const char *port, const char *pid)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char path[64];

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		fail("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	write_all(fd, set, strlen(set));
	read_all(fd, strlen("+OK\r\n"));
	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	*service = (struct service){
		.pid = (pid_t)strtol(pid, NULL, 10),
		.in = fd,
		.out = fd,
		.request = get,
		.size = strlen(get),
		.reply_size = strlen("$5\r\nvalue\r\n"),
		.stat = open(path, O_RDONLY | O_CLOEXEC),
	};
	if (service->stat < 0)
		fail(path);
}

/* Where the server ran last: the 39th field, the 37th behind its name. */
static int look_up_cpu(const struct service *service)
{
	char text[1024], *at;
	ssize_t len = pread(service->stat, text, sizeof(text) - 1, 0);

	if (len <= 0)
		fail("the server has gone");
	text[len] = '\0';
	at = strrchr(text, ')');
	for (int field = 2; at && field < 39; field++)
		at = strchr(at + 1, ' ');
	return at ? (int)strtol(at + 1, NULL, 10) : -1;
}

/* Keeps a task on the nth of the CPUs that this process may use. */
static void keep_on(pid_t pid, int nth)
{
	cpu_set_t all, one;
	int cpu;

	if (sched_getaffinity(getpid(), sizeof(all), &all) < 0)
		fail("sched_getaffinity");
	for (cpu = 0; cpu < CPU_SETSIZE && (!CPU_ISSET(cpu, &all) || nth--); cpu++)
		;
	CPU_ZERO(&one);
	if (cpu < CPU_SETSIZE)
		CPU_SET(cpu, &one);
	if (sched_setaffinity(pid, sizeof(one), &one) < 0)
		fail("sched_setaffinity");
}

static void keep_places(const struct service *service, const char *places)
{
	if (!strcmp(places, "free"))
		return;
	keep_on(service->pid, !strcmp(places, "apart"));
	keep_on(0, 0);
}

static void measure(const struct service *service, struct figures *figures, size_t requests)
{
	size_t warm_up = requests / 10;
	unsigned char last;
	uint64_t ns;
	int cpu;

	figures->ns = calloc(requests, sizeof(*figures->ns));
	if (!figures->ns)
		fail("no memory");
	for (size_t i = 0; i < requests + warm_up; i++) {
		ns = clock__now_ns();
		write_all(service->out, service->request, service->size);
		last = read_all(service->in, service->reply_size);
		ns = clock__now_ns() - ns;
		if (i < warm_up)
			continue;
		figures->ns[figures->nr++] = ns;
		figures->sum_ns += ns;
		if (!service->tells_cpu && i % LOOK_EVERY)
			continue;
		cpu = service->tells_cpu ? last : look_up_cpu(service);
		figures->looks++;
		figures->together += cpu == sched_getcpu();
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t *l = a, *r = b;

	return *l < *r ? -1 : *l > *r;
}

static void print_figures(struct figures *figures)
{
	qsort(figures->ns, figures->nr, sizeof(*figures->ns), compare);
	fprintf(stderr, "latency rate=%.0f p50=%llu p99=%llu together=%.2f\n",
		(double)figures->nr * 1e9 / (double)figures->sum_ns,
		(unsigned long long)figures->ns[figures->nr / 2],
		(unsigned long long)figures->ns[figures->nr * 99 / 100],
		(double)figures->together / (double)figures->looks);
}

static void __attribute__((noreturn)) usage(void)
{
	fprintf(stderr, "usage: latency together|apart|free pipe REQUESTS\n"
			"       latency together|apart|free redis PORT PID REQUESTS\n");
	exit(2);
}

int main(int argc, char **argv)
{
	struct figures figures = { 0 };
	struct service service;
	size_t requests;

	if (argc < 4 || (strcmp(argv[1], "together") && strcmp(argv[1], "apart") &&
			 strcmp(argv[1], "free")))
		usage();
	requests = strtoul(argv[argc - 1], NULL, 10);
	if (requests < 100)
		usage();
	if (argc == 4 && !strcmp(argv[2], "pipe"))
		start_pipe_server(&service);
	else if (argc == 6 && !strcmp(argv[2], "redis"))
		connect_to_redis(&service, argv[3], argv[4]);
	else
		usage();
	keep_places(&service, argv[1]);
	measure(&service, &figures, requests);
	close(service.out);
	while (wait(NULL) > 0)
		;
	print_figures(&figures);
	free(figures.ns);
	return 0;
}
