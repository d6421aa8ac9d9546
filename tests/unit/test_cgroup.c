/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "host/cgroup.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "3f2a7c1e-0b5d-4d7a-9a3e-1c2b3d4e5f60"

TEST(names_of_containers_are_found_in_what_their_managers_make_of_them)
{
	static const struct {
		const char *leaf;
		const char *name;
	} pairs[] = {
		{ "docker-" ID ".scope", ID },
		{ "docker-" ID ".scope", "0123456789ab" },
		{ "libpod-" ID ".scope", "0123456789abcdef" },
		{ "cri-containerd-" ID ".scope", "0123456789ab" },
		{ "crio-" ID ".scope", "0123456789ab" },
		{ "nerdctl-" ID ".scope", "0123456789ab" },
		{ ID, "0123456789ab" },
		{ "machine-web.scope", "web" },
		{ "machine-my\\x2dweb.scope", "my-web" },
		{ "machine-qemu\\x2d1\\x2dmy\\x2dvm.scope", "my-vm" },
		{ "machine-lxc\\x2d4711\\x2dbox.scope", "box" },
		{ "systemd-nspawn@box.service", "box" },
		{ "lxc.payload.box", "box" },
		{ "box", "box" },
		{ "nginx.service", "nginx" },
		{ "nginx.service", "nginx.service" },
		{ "user.slice", "user" },
		{ "pod" UID, UID },
		{ "kubepods-burstable-pod3f2a7c1e_0b5d_4d7a_9a3e_1c2b3d4e5f60.slice", UID },
		{ "kubepods-pod3f2a7c1e_0b5d_4d7a_9a3e_1c2b3d4e5f60.slice", UID },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		EXPECT_TRUE(cgroup_name__matches(pairs[i].leaf, pairs[i].name))
		{
			TH_LOG("%s is not %s", pairs[i].leaf, pairs[i].name);
		}
	}
}

TEST(a_path_leads_through_a_container)
{
	static const struct {
		const char *path;
		const char *container;
	} pairs[] = {
		{ "", "" },
		{ "/", "" },
		{ "/system.slice/docker.service", "" },
		{ "/system.slice/docker-" ID ".scope", "0123456789ab" },
		{ "/docker/" ID, "0123456789ab" },
		{ "/docker/" ID "/init.scope", "0123456789ab" },
		{ "/machine.slice/libpod-" ID ".scope/container", "0123456789ab" },
		{ "/machine.slice/libpod-conmon-" ID ".scope", "" },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope",
		  "0123456789ab" },
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod3f2a.slice"
		  "/cri-containerd-" ID ".scope", "0123456789ab" },
		{ "/kubepods/besteffort/pod" UID "/" ID, "0123456789ab" },
		{ "/kubepods/besteffort/pod" UID, "" },
		{ "/lxc.payload.box/system.slice/nginx.service", "box" },
		{ "/lxc.monitor.box", "" },
		{ "/lxc/box/init.scope", "box" },
		{ "/machine.slice/machine-my\\x2dweb.scope", "my-web" },
		{ "/machine.slice/systemd-nspawn@box.service/payload", "box" },
		{ "/machine-extra.slice/other.service", "" },
		{ "/docker/" ID "/kubelet/cri-containerd-f" ID ".scope", "0123456789ab" },
	};
	char text[16];

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		cgroup_name__container(pairs[i].path, text, sizeof(text));
		EXPECT_STREQ(pairs[i].container, text)
		{
			TH_LOG("%s", pairs[i].path);
		}
	}
}

TEST(names_of_others_are_not)
{
	static const struct {
		const char *leaf;
		const char *name;
	} pairs[] = {
		{ "docker-" ID ".scope", "0123456789a" },
		{ "docker-" ID ".scope", "123456789abc" },
		{ "docker-" ID ".scope", ID "0" },
		{ "docker-" ID "0.scope", "0123456789ab" },
		{ "docker-" ID ".scope", "" },
		{ "docker-" ID ".scope", "docker" },
		{ "machine-qemu\\x2d1\\x2dmy\\x2dvm.scope", "vm" },
		{ "machine-qemu\\x2d\\x2dmy.scope", "my" },
		{ "machine-qemu\\x2dx1\\x2dmy.scope", "my" },
		{ "machine-web.scope", "we" },
		{ "web2", "web" },
		{ "pod" UID, "3f2a7c1e" },
		{ "kubepods.slice", "" },
		{ "", "" },
		{ "", "box" },
		{ "pod", "pod1" },
		{ ".scope", "scope" },
		{ "\\x2", "x" },
		{ "\\xzz", "z" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		EXPECT_FALSE(cgroup_name__matches(pairs[i].leaf, pairs[i].name))
		{
			TH_LOG("%s is %s", pairs[i].leaf, pairs[i].name);
		}
	}
}

TEST(a_name_as_long_as_a_file_name_can_be_is_compared_whole)
{
	char leaf[300], name[300];

	memset(leaf, 'a', 255);
	leaf[255] = '\0';
	memcpy(name, leaf, sizeof(name));
	EXPECT_TRUE(cgroup_name__matches(leaf, name));
	name[254] = 'b';
	EXPECT_FALSE(cgroup_name__matches(leaf, name));
	memset(leaf, 'a', 299);
	leaf[299] = '\0';
	EXPECT_FALSE(cgroup_name__matches(leaf, name));
}

FIXTURE(tree)
{
	char root[32];
	char table[64];
	struct cgroup_mounts mounts;
	struct cgroup_list list;
};

FIXTURE_SETUP(tree)
{
	snprintf(self->root, sizeof(self->root), "/tmp/test_cgroup.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->root));
	snprintf(self->table, sizeof(self->table), "%s/mounts", self->root);
}

FIXTURE_TEARDOWN(tree)
{
	static const char *const dirs[] = { "/a/b/c", "/a/b", "/a", "/d", "/mounts" };
	char path[64];

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", self->root, dirs[i]);
		remove(path);
	}
	remove(self->root);
	cgroup_mounts__free(&self->mounts);
	cgroup_list__free(&self->list);
}

static int write_table(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	int err;

	if (!file)
		return -errno;
	err = fputs(text, file) < 0 ? -EIO : 0;
	return fclose(file) ? -EIO : err;
}

TEST_F(tree, mounts_are_found_with_spaces_in_their_paths_and_the_first_counts)
{
	ASSERT_EQ(0,
		  write_table(self->table, "proc /proc proc rw 0 0\n"
					   "cgroup /sys/cpu cgroup rw,cpu,cpuacct 0 0\n"
					   "none /sys/my\\040v1 cgroup rw,net_cls,perf_event 0 0\n"
					   "none /sys/v2 cgroup2 rw,nsdelegate 0 0\n"
					   "none /sys/again cgroup2 rw 0 0\n"));
	ASSERT_EQ(0, cgroup_mounts__read(&self->mounts, self->table));
	EXPECT_STREQ("/sys/my v1", self->mounts.path[CGROUP_PERF_EVENT]);
	EXPECT_STREQ("/sys/v2", self->mounts.path[CGROUP_V2]);
}

TEST_F(tree, without_mounts_there_are_none_and_a_missing_table_is_an_error)
{
	ASSERT_EQ(0, write_table(self->table, "proc /proc proc rw 0 0\n"));
	ASSERT_EQ(0, cgroup_mounts__read(&self->mounts, self->table));
	EXPECT_EQ(NULL, self->mounts.path[CGROUP_V2]);
	EXPECT_EQ(NULL, self->mounts.path[CGROUP_PERF_EVENT]);
	EXPECT_EQ(-ENOENT, cgroup_list__resolve(&self->list, &self->mounts, "a"));
	EXPECT_EQ(-ENOENT, cgroup_mounts__read(&self->mounts, "/no/such/table"));
}

/* Results of a walk: paths, in one string, and whether ids were those of stat(2). */
struct seen {
	const char *root;
	char paths[256];
	const char *skip;
	int stop_with;
	bool ids_right;
};

static int see(void *ctx, uint64_t id, const char *path)
{
	struct seen *seen = ctx;
	size_t len = strlen(seen->paths);
	struct stat stat_buf;
	char full[128];

	snprintf(full, sizeof(full), "%s%s", seen->root, path);
	if (stat(full, &stat_buf) || stat_buf.st_ino != id)
		seen->ids_right = false;
	snprintf(seen->paths + len, sizeof(seen->paths) - len, "%s ", path);
	if (seen->stop_with)
		return seen->stop_with;
	return seen->skip && !strcmp(path, seen->skip);
}

static int make_dirs(const char *root)
{
	static const char *const dirs[] = { "/a", "/a/b", "/a/b/c" };
	char path[64];

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", root, dirs[i]);
		if (mkdir(path, 0700))
			return -errno;
	}
	return 0;
}

TEST_F(tree, a_walk_tells_each_directory_with_its_path_and_inode)
{
	struct seen seen = { .root = self->root, .ids_right = true };

	ASSERT_EQ(0, make_dirs(self->root));
	ASSERT_EQ(0, write_table(self->table, "a file, not a cgroup"));
	EXPECT_EQ(0, cgroup__walk(self->root, see, &seen));
	EXPECT_STREQ("/ /a /a/b /a/b/c ", seen.paths);
	EXPECT_TRUE(seen.ids_right);
}

TEST_F(tree, a_walk_leaves_out_what_it_is_told_to_and_ends_with_the_error_of_its_callback)
{
	struct seen skips = { .root = self->root, .skip = "/a/b" };
	struct seen stops = { .root = self->root, .stop_with = -EIO };

	ASSERT_EQ(0, make_dirs(self->root));
	EXPECT_EQ(0, cgroup__walk(self->root, see, &skips));
	EXPECT_STREQ("/ /a /a/b ", skips.paths);
	EXPECT_EQ(-EIO, cgroup__walk(self->root, see, &stops));
	EXPECT_STREQ("/ ", stops.paths);
	EXPECT_EQ(-ENOENT, cgroup__walk("/no/such/root", see, &stops));
}

TEST_F(tree, directories_that_are_no_cgroups_are_refused_by_path)
{
	ASSERT_EQ(0, make_dirs(self->root));
	self->mounts.path[CGROUP_V2] = strdup(self->root);
	EXPECT_EQ(-ENOENT, cgroup_list__resolve(&self->list, &self->mounts, self->root));
	EXPECT_EQ(-ENOENT, cgroup_list__resolve(&self->list, &self->mounts, "/a/b"));
	EXPECT_EQ(-ENOENT, cgroup_list__resolve(&self->list, &self->mounts, "../../etc"));
	EXPECT_EQ(-EINVAL, cgroup_list__resolve(&self->list, &self->mounts, ""));
	EXPECT_EQ(0, self->list.nr);
}

/* Names need no cgroup file system, since the walk only looks at directories. */
TEST_F(tree, a_name_is_found_once_below_what_it_names_and_twice_is_an_error)
{
	struct stat stat_buf;
	char path[64];

	ASSERT_EQ(0, make_dirs(self->root));
	self->mounts.path[CGROUP_V2] = strdup(self->root);
	snprintf(path, sizeof(path), "%s/a/b", self->root);
	ASSERT_EQ(0, stat(path, &stat_buf));
	ASSERT_EQ(0, cgroup_list__resolve(&self->list, &self->mounts, "b,b"));
	ASSERT_EQ(1, self->list.nr);
	EXPECT_EQ(stat_buf.st_ino, self->list.refs[0].id);
	EXPECT_EQ(CGROUP_V2, self->list.refs[0].hierarchy);
	snprintf(path, sizeof(path), "%s/d", self->root);
	ASSERT_EQ(0, mkdir(path, 0700));
	snprintf(path, sizeof(path), "%s/d/b", self->root);
	ASSERT_EQ(0, mkdir(path, 0700));
	EXPECT_EQ(-ENOTUNIQ, cgroup_list__resolve(&self->list, &self->mounts, "b"));
	ASSERT_EQ(0, rmdir(path));
}

/* The cgroup of a path below the root of the tree. */
static struct cgroup_ref ref_of(const char *root, const char *path, enum cgroup_hierarchy hierarchy)
{
	struct cgroup_ref ref = { .hierarchy = hierarchy };
	struct stat stat_buf;
	char full[64];

	snprintf(full, sizeof(full), "%s%s", root, path);
	if (!stat(full, &stat_buf))
		ref.id = stat_buf.st_ino;
	return ref;
}

static bool is_dir(int fd, uint64_t id)
{
	struct stat stat_buf;

	return !fstat(fd, &stat_buf) && S_ISDIR(stat_buf.st_mode) && stat_buf.st_ino == id;
}

TEST_F(tree, directories_of_cgroups_are_opened_but_not_below_one_another)
{
	struct cgroup_ref refs[3];
	struct cgroup_dirs dirs;

	ASSERT_EQ(0, make_dirs(self->root));
	self->mounts.path[CGROUP_V2] = strdup(self->root);
	refs[0] = ref_of(self->root, "/a/b/c", CGROUP_V2);
	refs[1] = ref_of(self->root, "/a/b", CGROUP_V2);
	ASSERT_EQ(0, cgroup_dirs__open(&dirs, refs, 1, &self->mounts));
	ASSERT_EQ(1, dirs.nr);
	EXPECT_TRUE(is_dir(dirs.fds[0], refs[0].id));
	cgroup_dirs__close(&dirs);
	EXPECT_EQ(0, dirs.nr);
	/* A task of c would have two hits. */
	ASSERT_EQ(0, cgroup_dirs__open(&dirs, refs, 2, &self->mounts));
	ASSERT_EQ(1, dirs.nr);
	EXPECT_TRUE(is_dir(dirs.fds[0], refs[1].id));
	cgroup_dirs__close(&dirs);
	/* The root is above all. */
	refs[2] = ref_of(self->root, "", CGROUP_V2);
	ASSERT_EQ(0, cgroup_dirs__open(&dirs, refs, 3, &self->mounts));
	ASSERT_EQ(1, dirs.nr);
	EXPECT_TRUE(is_dir(dirs.fds[0], refs[2].id));
	cgroup_dirs__close(&dirs);
	/* One of them is gone. */
	refs[2].id = 1;
	EXPECT_EQ(-ENOENT, cgroup_dirs__open(&dirs, refs, 3, &self->mounts));
	EXPECT_EQ(0, dirs.nr);
}

TEST_F(tree, cgroups_of_a_hierarchy_that_perf_events_do_not_know_are_refused)
{
	struct cgroup_ref refs[2];
	struct cgroup_dirs dirs;

	ASSERT_EQ(0, make_dirs(self->root));
	self->mounts.path[CGROUP_V2] = strdup(self->root);
	self->mounts.path[CGROUP_PERF_EVENT] = strdup(self->root);
	refs[0] = ref_of(self->root, "/a", CGROUP_V2);
	refs[1] = ref_of(self->root, "/a", CGROUP_PERF_EVENT);
	EXPECT_EQ(-EXDEV, cgroup_dirs__open(&dirs, refs, 1, &self->mounts));
	EXPECT_EQ(0, dirs.nr);
	/* The same path in both. */
	ASSERT_EQ(0, cgroup_dirs__open(&dirs, refs, 2, &self->mounts));
	EXPECT_EQ(1, dirs.nr);
	cgroup_dirs__close(&dirs);
}

TEST_HARNESS_MAIN
