// SPDX-License-Identifier: GPL-2.0-only
// Blocks for ever, briefly each time, in the places that are hard to unwind: exceptions on their
// way and their landing pads, signal handlers, callbacks of the C library, realigned frames and
// frames of variable size. A second thread computes in the vDSO and is preempted there.
#include <algorithm>
#include <alloca.h>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <sys/time.h>
#include <thread>
#include <vector>

static void nap()
{
	struct timespec time = { 0, 200000 };

	nanosleep(&time, nullptr);
}

struct Napper {
	~Napper() { nap(); }
};

__attribute__((noinline)) static int throws(int depth)
{
	Napper napper;

	if (!depth)
		throw std::runtime_error("bottom");
	return throws(depth - 1) + 1;
}

__attribute__((noinline)) static int catches(int depth)
{
	try {
		return throws(depth);
	} catch (const std::exception &error) {
		nap();
		return (int)std::strlen(error.what());
	}
}

__attribute__((noinline)) static int vary(size_t bytes, int (*then)(int))
{
	char *room = static_cast<char *>(alloca(bytes));

	std::memset(room, 1, bytes);
	nap();
	return room[bytes / 2] + (then ? then((int)bytes & 63) : 0);
}

// Of variable size as well, so that neither the stack pointer nor rbp is at a known distance from
// the frame of the caller.
__attribute__((noinline)) static int realign(int value)
{
	alignas(64) volatile int room[64];
	size_t bytes = (size_t)value * 48 + 16;
	char *more = static_cast<char *>(alloca(bytes));

	std::memset(more, 1, bytes);
	room[value & 63] = value;
	nap();
	return room[value & 63] + more[bytes / 2] + vary(bytes, nullptr);
}

static int compare(const void *a, const void *b)
{
	nap();
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

static void handle(int)
{
	realign(3);
}

static void spin()
{
	struct timespec time;

	while (true)
		clock_gettime(CLOCK_MONOTONIC, &time);
}

int main()
{
	const struct itimerval timer = { { 0, 5000 }, { 0, 5000 } };
	std::thread spinner(spin);
	volatile int sum = 0;

	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &timer, nullptr);
	while (true) {
		std::vector<int> numbers{ 4, 2, 3, 1 };

		for (int depth = 0; depth < 6; depth++)
			sum = sum + catches(depth) + vary((size_t)depth + 1, realign);
		qsort(numbers.data(), numbers.size(), sizeof(int), compare);
		std::sort(numbers.begin(), numbers.end(), [](int a, int b) { nap(); return a < b; });
	}
}
