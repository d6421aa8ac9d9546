/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits of microseconds: --pairs pairs of threads (or, with --processes 1, a thread and a process
 * of its own) play ping-pong over two pipes, --rounds times. The bracket is too coarse here to be a
 * truth; the kernel's counts of context switches are exact. --depth: so many frames lie below.
 * --batch 1: all on one CPU, where a woken thread does not preempt its waker, so that each switch
 * is a wait. --hold: they rest when they have played.
 */
#include "workload.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* Lives in shared memory, so that a player in another process can fill in its truth. */
struct player {
	struct waits truth;
	unsigned long rounds;
	unsigned long depth;
	bool serves; /* writes first */
	int in;
	int out;
	char comm[16];
	pthread_t thread;
	pid_t child;
};

static struct gate gate = GATE_INIT;
static struct rest rest;

KNOWN static void wait_ball(struct player *player)
{
	char c;

	while (workload__syscall(SYS_read, player->in, (long)&c, 1, 0, 0, 0) == -EINTR)
		;
}

static void hit_ball(struct player *player)
{
	while (write(player->out, "x", 1) < 0 && errno == EINTR)
		;
}

KNOWN static void play(struct player *player)
{
	waits__begin(&player->truth, "pipe", "wait_ball");
	for (unsigned long i = 0; i < player->rounds; i++) {
		uint64_t start;

		if (player->serves)
			hit_ball(player);
		start = workload__now();
		wait_ball(player);
		player->truth.bracket_ns += workload__now() - start;
		if (!player->serves)
			hit_ball(player);
	}
	waits__end(&player->truth);
	rest__enter(&rest);
	player->truth.count = player->rounds;
}

KNOWN static void descend(struct player *player, unsigned long depth)
{
	if (depth)
		descend(player, depth - 1);
	else
		play(player);
}

KNOWN static void *start_playing(void *arg)
{
	struct player *player = arg;

	prctl(PR_SET_NAME, player->comm);
	gate__pass(&gate);
	descend(player, player->depth);
	return NULL;
}

static void player__init(struct player *player, unsigned long pair, bool serves, int in, int out)
{
	player->serves = serves;
	player->in = in;
	player->out = out;
	snprintf(player->comm, sizeof(player->comm), "%s-%u", serves ? "ping" : "pong",
		 (unsigned int)(pair % 1000));
}

/* The child waits for nothing but the ball, which is not served before the gate opens. */
static void player__start(struct player *player, bool process)
{
	int err = 0;

	if (process) {
		/* Only the parent may write this: the child sees the same memory. */
		pid_t child = fork();

		if (child < 0)
			workload__fail("fork", errno);
		if (!child) {
			prctl(PR_SET_NAME, player->comm);
			close(rest.ends[1]);
			descend(player, player->depth);
			_exit(0);
		}
		player->child = child;
	} else {
		err = pthread_create(&player->thread, NULL, start_playing, player);
	}
	if (err)
		workload__fail("pthread_create", err);
}

static void player__finish(struct player *player)
{
	if (player->child)
		waitpid(player->child, NULL, 0);
	else
		pthread_join(player->thread, NULL);
}

/* Inherited by all threads and processes that are started later. */
static void share_a_cpu(void)
{
	struct sched_param none = { 0 };
	int here = sched_getcpu();
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)(here < 0 ? 0 : here), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0 ||
	    sched_setscheduler(0, SCHED_BATCH, &none) < 0)
		workload__fail("cannot share a CPU", errno);
}

int main(int argc, char **argv)
{
	struct workload_option options[] = {
		{ "rounds", 10000 }, { "pairs", 1 }, { "processes", 0 }, { "depth", 0 },
		{ "batch", 0 },	     { "linger", 0 },	{ 0 }
	};
	bool wait = workload__parse(argc, argv, options);
	unsigned long nr = 2 * options[1].value;
	struct player *players = mmap(NULL, (nr + 1) * sizeof(*players), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (players == MAP_FAILED)
		workload__fail("mmap", errno);
	/* Behind the players there is room. */
	rest__init(&rest, &players[nr].in);
	if (options[4].value)
		share_a_cpu();
	for (unsigned long i = 0; i < nr; i++) {
		players[i].rounds = options[0].value;
		players[i].depth = options[3].value;
	}
	for (unsigned long i = 0; i < nr; i += 2) {
		int there[2], back[2];

		if (pipe(there) < 0 || pipe(back) < 0)
			workload__fail("pipe", errno);
		player__init(&players[i], i / 2, true, back[0], there[1]);
		player__init(&players[i + 1], i / 2, false, there[0], back[1]);
		player__start(&players[i + 1], options[2].value);
	}
	for (unsigned long i = 0; i < nr; i += 2)
		player__start(&players[i], false);
	workload__ready(wait);
	gate__open(&gate);
	rest__end(&rest, (int)nr);
	for (unsigned long i = 0; i < nr; i++)
		player__finish(&players[i]);
	workload__done(options[5].value);
	for (unsigned long i = 0; i < nr; i++) {
		players[i].truth.comm = players[i].comm;
		waits__print(&players[i].truth);
	}
	return 0;
}
