/* SPDX-License-Identifier: GPL-2.0-only */
/* A capture's use of kernel memory is bounded, and returned however the capture ends. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <bpf/bpf.h>
#include "common/harness.h"

#include "base/clock.h"
#include "cfi_maps.h"
#include "common/test_capture.h"

#define MOST_MAP_BYTES (64ULL << 20)
#define MOST_OBJECTS 256

enum object_kind {
	OBJECT_PROG,
	OBJECT_MAP,
	OBJECT_LINK,
	OBJECT_KINDS,
};

/* BPF objects that a process holds by its descriptors. */
struct objects {
	enum object_kind kind[MOST_OBJECTS];
	uint32_t id[MOST_OBJECTS];
	size_t nr;
	size_t of_kind[OBJECT_KINDS];
};

static void objects__add_fd(struct objects *objects, const char *path)
{
	static const char *const keys[] = { "prog_id:", "map_id:", "link_id:" };
	FILE *file = fopen(path, "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		/* A link's descriptor tells its program, too: the first id is its own kind. */
		for (int i = OBJECT_KINDS - 1; i >= 0 && objects->nr < MOST_OBJECTS; i--) {
			size_t len = strlen(keys[i]);

			if (strncmp(line, keys[i], len))
				continue;
			objects->kind[objects->nr] = (enum object_kind)i;
			objects->id[objects->nr++] = (uint32_t)strtoul(line + len, NULL, 10);
			objects->of_kind[i]++;
		}
	}
	if (file)
		fclose(file);
}

static void objects__of_process(struct objects *objects, pid_t pid)
{
	char path[320], dirname[64];
	struct dirent *entry;
	DIR *dir;

	memset(objects, 0, sizeof(*objects));
	snprintf(dirname, sizeof(dirname), "/proc/%d/fdinfo", pid);
	dir = opendir(dirname);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", dirname, entry->d_name);
		objects__add_fd(objects, path);
	}
	if (dir)
		closedir(dir);
}

static bool object__exists(enum object_kind kind, uint32_t id)
{
	int fd;

	if (kind == OBJECT_PROG)
		fd = bpf_prog_get_fd_by_id(id);
	else if (kind == OBJECT_MAP)
		fd = bpf_map_get_fd_by_id(id);
	else
		fd = bpf_link_get_fd_by_id(id);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The kernel frees after a grace period: waits for that, some seconds at most. */
static size_t objects__left(const struct objects *objects)
{
	uint64_t limit = tolerance__deadline();
	size_t left;

	do {
		left = 0;
		for (size_t i = 0; i < objects->nr; i++)
			left += object__exists(objects->kind[i], objects->id[i]);
		if (left)
			usleep(10000);
	} while (left && clock__now_ns() < limit);
	return left;
}

FIXTURE(memory)
{
	struct test_capture test_capture;
	struct capture_options options;
};

FIXTURE_SETUP(memory)
{
	SKIP_FOR(test_capture__refused());
	capture_options__init(&self->options);
	self->options.targets.all = true;
}

FIXTURE_TEARDOWN(memory)
{
	test_capture__free(&self->test_capture);
}

TEST_F(memory, maps_of_the_default_options_take_at_most_64_mb)
{
	struct capture_stats stats;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, test_capture__open(&self->test_capture, &self->options));
	ASSERT_EQ(0, test_capture__pass_time(&self->test_capture, 200));
	ASSERT_EQ(0, capture__stats(self->test_capture.capture, &stats));
	TH_LOG("%ju bytes", (uintmax_t)stats.bpf_map_bytes);
	EXPECT_LT(0, stats.bpf_map_bytes);
	EXPECT_LE(stats.bpf_map_bytes, MOST_MAP_BYTES);
	/* As the manual has it: unwind tables come on top of it. */
	EXPECT_GE(96ULL << 20, MOST_MAP_BYTES + RULES_SLABS * sizeof(struct rules_slab));
}

TEST_F(memory, nothing_is_left_in_the_kernel_after_delete)
{
	struct objects objects;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, test_capture__open(&self->test_capture, &self->options));
	ASSERT_EQ(0, test_capture__pass_time(&self->test_capture, 50));
	objects__of_process(&objects, getpid());
	EXPECT_LT(0, objects.of_kind[OBJECT_PROG]);
	EXPECT_LT(0, objects.of_kind[OBJECT_MAP]);
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	EXPECT_EQ(0, objects__left(&objects));
}

TEST_F(memory, delete_gives_back_all_descriptors_also_without_stop)
{
	SKIP_FOR(test_capture__refused());
	for (int i = 0; i < 3; i++) {
		struct objects objects;

		ASSERT_EQ(0, test_capture__open(&self->test_capture, &self->options));
		test_capture__free(&self->test_capture);
		objects__of_process(&objects, getpid());
		EXPECT_EQ(0, objects.nr);
	}
	for (int fd = 3; fd < 1024; fd++) {
		char path[64], link[64];
		ssize_t len;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		len = readlink(link, path, sizeof(path) - 1);
		path[len > 0 ? len : 0] = '\0';
		EXPECT_FALSE(strstr(path, "bpf") || strstr(path, "perf_event"))
		TH_LOG("%s is still open", path);
	}
}

static void capture_until_killed(struct test_capture *test_capture,
				 const struct capture_options *options, int ready)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (test_capture__open(test_capture, options))
		_exit(1);
	if (write(ready, "x", 1) != 1)
		_exit(1);
	while (!test_capture__poll(test_capture, 10, -1))
		;
	_exit(1);
}

TEST_F(memory, nothing_is_left_in_the_kernel_after_sigkill)
{
	struct objects objects;
	int ready[2];
	pid_t child;
	char c;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, pipe(ready));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		capture_until_killed(&self->test_capture, &self->options, ready[1]);
	close(ready[1]);
	EXPECT_EQ(1, read(ready[0], &c, 1));
	objects__of_process(&objects, child);
	EXPECT_LT(0, objects.of_kind[OBJECT_PROG]);
	EXPECT_LT(0, objects.of_kind[OBJECT_MAP]);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ready[0]);
	EXPECT_EQ(0, objects__left(&objects));
}

TEST_HARNESS_MAIN
