/* SPDX-License-Identifier: GPL-2.0-only */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "base/clock.h"
#include "base/units.h"
#include "host/proc_stat.h"
#include "symbol/build_id.h"
#include "host/root_open.h"

/* Older harnesses define the set-up of a fixture without a prototype. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static unsigned char id[BUILD_ID_MAX + 8]; /* the rest must stay zero */

/* Appends a note and returns the new size. */
static size_t add_note(char *notes, size_t size, uint32_t type, const char *name, uint32_t id_size)
{
	Elf64_Nhdr note = { .n_namesz = (uint32_t)strlen(name) + 1,
			    .n_descsz = id_size,
			    .n_type = type };

	memcpy(notes + size, &note, sizeof(note));
	size += sizeof(note);
	memset(notes + size, 0, 64 + id_size);
	memcpy(notes + size, name, note.n_namesz);
	size += (note.n_namesz + 3) & ~3u;
	for (uint32_t i = 0; i < id_size; i++)
		notes[size++] = (char)(i + 1);
	return (size + 3) & ~(size_t)3;
}

TEST(id_is_found_behind_other_notes)
{
	char notes[512];
	size_t size = add_note(notes, 0, 1, "Xen", 3);

	size = add_note(notes, size, NT_GNU_BUILD_ID, "Linux", 20);
	size = add_note(notes, size, NT_GNU_ABI_TAG, "GNU", 16);
	EXPECT_EQ(-ENOENT, build_id__of_notes(notes, size, id));
	size = add_note(notes, size, NT_GNU_BUILD_ID, "GNU", 20);
	ASSERT_EQ(20, build_id__of_notes(notes, size, id));
	EXPECT_EQ(1, id[0]);
	EXPECT_EQ(20, id[19]);
	EXPECT_EQ(0, id[20]);
}

TEST(greatest_id_passes_and_one_byte_more_is_refused)
{
	char notes[512];

	EXPECT_EQ(BUILD_ID_MAX,
		  build_id__of_notes(notes,
				     add_note(notes, 0, NT_GNU_BUILD_ID, "GNU", BUILD_ID_MAX), id));
	memset(id, 0, sizeof(id));
	EXPECT_EQ(-EOVERFLOW,
		  build_id__of_notes(
			  notes, add_note(notes, 0, NT_GNU_BUILD_ID, "GNU", BUILD_ID_MAX + 1), id));
	EXPECT_EQ(0, id[0]);
	EXPECT_EQ(8, build_id__of_notes(notes, add_note(notes, 0, NT_GNU_BUILD_ID, "GNU", 8), id));
	EXPECT_EQ(-ENOENT,
		  build_id__of_notes(notes, add_note(notes, 0, NT_GNU_BUILD_ID, "GNU", 0), id));
}

TEST(no_cut_of_the_notes_is_read_beyond)
{
	char notes[512];
	size_t size = add_note(notes, 0, 1, "Xen", 3);
	size_t nr = 0;
	void *copy;

	size = add_note(notes, size, NT_GNU_BUILD_ID, "GNU", 18);
	/* Each in memory of its own size, for sanitizers. Two bytes of padding may lack. */
	for (size_t cut = 0; cut <= size; cut++) {
		copy = malloc(cut + !cut);
		ASSERT_NE(NULL, copy);
		memcpy(copy, notes, cut);
		nr += build_id__of_notes(copy, cut, id) == 18;
		free(copy);
	}
	EXPECT_EQ(3, nr);
}

TEST(sizes_that_overflow_are_refused)
{
	Elf64_Nhdr note = { .n_namesz = UINT32_MAX,
			    .n_descsz = UINT32_MAX,
			    .n_type = NT_GNU_BUILD_ID };
	char notes[64] = { 0 };

	memcpy(notes, &note, sizeof(note));
	EXPECT_EQ(-ENOENT, build_id__of_notes(notes, sizeof(notes), id));
	note.n_namesz = 4;
	memcpy(notes, &note, sizeof(note));
	memcpy(notes + sizeof(note), "GNU", 4);
	EXPECT_EQ(-ENOENT, build_id__of_notes(notes, sizeof(notes), id));
}

static int find_own_notes(struct dl_phdr_info *info, size_t size, void *ctx)
{
	int *len = ctx;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum && *len <= 0; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];

		if (phdr->p_type == PT_NOTE)
			*len = build_id__of_notes((void *)(info->dlpi_addr + phdr->p_vaddr),
						  phdr->p_memsz, id);
	}
	/* The first object is the program itself: the search ends with it. */
	return 1;
}

TEST(id_of_the_own_program_is_that_of_its_memory)
{
	unsigned char of_file[BUILD_ID_MAX];
	char self[PATH_MAX];
	int len = 0, ret;
	ssize_t n;

	dl_iterate_phdr(find_own_notes, &len);
	if (len <= 0)
		SKIP(return, "the linker gives no build-ids");
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	ASSERT_LT(0, n);
	self[n] = '\0';
	ret = build_id__of_file(0, self, of_file);
	ASSERT_EQ(len, ret);
	EXPECT_EQ(0, memcmp(id, of_file, (size_t)len));
	ASSERT_EQ(len, build_id__of_file(getpid(), self, of_file));
	EXPECT_EQ(0, memcmp(id, of_file, (size_t)len));
}

FIXTURE(files)
{
	char dir[64];
	char path[160];
	pid_t pid; /* of the process in the other root; 0: none */
};

/* An ELF file of one program header, whose notes hold an id of this size. */
static void write_elf(const char *path, uint32_t id_size, size_t cut)
{
	struct {
		Elf64_Ehdr ehdr;
		Elf64_Phdr phdr;
		char notes[512];
	} file = { 0 };
	size_t notes_size = add_note(file.notes, 0, NT_GNU_BUILD_ID, "GNU", id_size);
	size_t size = offsetof(typeof(file), notes) + notes_size;
	FILE *out = fopen(path, "we");

	memcpy(file.ehdr.e_ident, ELFMAG, SELFMAG);
	file.ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	file.ehdr.e_ident[EI_DATA] =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	file.ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	file.ehdr.e_type = ET_DYN;
	file.ehdr.e_version = EV_CURRENT;
	file.ehdr.e_ehsize = sizeof(file.ehdr);
	file.ehdr.e_phoff = sizeof(file.ehdr);
	file.ehdr.e_phentsize = sizeof(file.phdr);
	file.ehdr.e_phnum = 1;
	file.phdr.p_type = PT_NOTE;
	file.phdr.p_offset = offsetof(typeof(file), notes);
	file.phdr.p_filesz = file.phdr.p_memsz = notes_size;
	file.phdr.p_align = 4;
	if (!out || fwrite(&file, 1, size - cut, out) != size - cut || fclose(out))
		abort();
}

FIXTURE_SETUP(files)
{
	snprintf(self->dir, sizeof(self->dir), "/tmp/denet-build-id-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
}

FIXTURE_TEARDOWN(files)
{
	static const char *const names[] = { "file",        "root/lib/file", "root/lib/link",
					     "root/lib/in", "root/lib",      "root",
					     "other" };
	char path[160];

	if (self->pid) {
		kill(self->pid, SIGKILL);
		waitpid(self->pid, NULL, 0);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", self->dir, names[i]);
		remove(path);
	}
	rmdir(self->dir);
}

#define PATH(self, name) \
	(snprintf((self)->path, sizeof((self)->path), "%s/%s", (self)->dir, name), (self)->path)

TEST_F(files, program_header_gives_the_id_up_to_the_greatest)
{
	const char *path = PATH(self, "file");

	write_elf(path, 20, 0);
	ASSERT_EQ(20, build_id__of_file(0, path, id));
	EXPECT_EQ(20, id[19]);
	write_elf(path, 16, 0);
	EXPECT_EQ(16, build_id__of_file(0, path, id));
	memset(id, 0, sizeof(id));
	write_elf(path, 21, 0);
	EXPECT_EQ(-EOVERFLOW, build_id__of_file(0, path, id));
	write_elf(path, 300, 0);
	EXPECT_EQ(-EOVERFLOW, build_id__of_file(0, path, id));
	EXPECT_EQ(0, id[0]);
}

TEST_F(files, notes_of_twelve_gigabytes_cost_neither_memory_nor_their_neighbours)
{
	const char *path = PATH(self, "file");
	struct build_id_query queries[2] = { { .path = path }, { .path = "/proc/self/exe" } };
	Elf64_Phdr phdr;
	struct rusage usage;
	FILE *file;

	write_elf(path, 20, 0);
	file = fopen(path, "r+e");
	ASSERT_NE(NULL, file);
	ASSERT_EQ(0, fseek(file, sizeof(Elf64_Ehdr), SEEK_SET));
	ASSERT_EQ(1, fread(&phdr, sizeof(phdr), 1, file));
	/* Behind the header is nothing but a hole, which reads as notes without end. */
	phdr.p_offset = 4096;
	phdr.p_filesz = phdr.p_memsz = 12ULL << 30;
	ASSERT_EQ(0, fseek(file, sizeof(Elf64_Ehdr), SEEK_SET));
	ASSERT_EQ(1, fwrite(&phdr, sizeof(phdr), 1, file));
	ASSERT_EQ(0, fclose(file));
	if (truncate(path, 13LL << 30))
		SKIP(return, "no sparse files of 13 GB in /tmp");
	ASSERT_EQ(0, build_id__query(queries, 2, 20000));
	EXPECT_GE(0, queries[0].len);
	EXPECT_NE(-ECANCELED, queries[1].len);
	ASSERT_EQ(0, getrusage(RUSAGE_CHILDREN, &usage));
	TH_LOG("the child had %ld kB", usage.ru_maxrss);
	EXPECT_GT(200000, usage.ru_maxrss);
}

TEST_F(files, cut_or_foreign_files_have_no_id)
{
	const char *path = PATH(self, "file");

	for (size_t cut = 1; cut < 150; cut++) {
		write_elf(path, 20, cut);
		EXPECT_GT(0, build_id__of_file(0, path, id));
	}
	ASSERT_EQ(0, truncate(path, 0));
	EXPECT_EQ(-ENOENT, build_id__of_file(0, path, id));
	ASSERT_EQ(0, unlink(path));
	EXPECT_EQ(-ENOENT, build_id__of_file(0, path, id));
	EXPECT_EQ(-ENOENT, build_id__of_file(0, "[vdso]", id));
	EXPECT_EQ(-ENOENT, build_id__of_file(0, "//anon", id));
	EXPECT_EQ(-ENOENT, build_id__of_file(0, "", id));
	EXPECT_EQ(-ENOENT, build_id__of_file(0, "/bin/sh/below", id));
}

/* Opening a FIFO for reading would wait for a writer: the test would never end. */
TEST_F(files, nothing_but_a_regular_file_is_opened)
{
	const char *path = PATH(self, "file");

	ASSERT_EQ(0, mkfifo(path, 0600));
	EXPECT_EQ(-EINVAL, build_id__of_file(0, path, id));
	EXPECT_EQ(-EINVAL, build_id__of_file(getpid(), path, id));
	EXPECT_EQ(-EINVAL, build_id__of_file(0, "/dev/zero", id));
	EXPECT_EQ(-EINVAL, build_id__of_file(0, self->dir, id));
}

TEST_F(files, process_that_is_gone_is_told_from_a_file_that_is)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(-ESRCH, build_id__of_file(pid, "/bin/sh", id));
}

/* Starts a process whose root is self->dir/root. False: not allowed here. */
static bool enter_root(FIXTURE_DATA(files) * self)
{
	int ready[2];
	char ok = 0;

	if (pipe2(ready, O_CLOEXEC))
		return false;
	self->pid = fork();
	if (!self->pid) {
		/* Without root, only in a user namespace of one's own. */
		if (geteuid() && unshare(CLONE_NEWUSER))
			_exit(1);
		if (chroot(PATH(self, "root")) || chdir("/"))
			_exit(1);
		if (write(ready[1], "y", 1) != 1)
			_exit(1);
		while (pause())
			;
	}
	close(ready[1]);
	if (read(ready[0], &ok, 1) != 1)
		ok = 0;
	close(ready[0]);
	return ok == 'y';
}

TEST_F(files, links_of_a_process_do_not_lead_out_of_its_root)
{
	char outside[160];

	ASSERT_EQ(0, mkdir(PATH(self, "root"), 0755));
	ASSERT_EQ(0, mkdir(PATH(self, "root/lib"), 0755));
	ASSERT_EQ(0, chmod(self->dir, 0755));
	write_elf(PATH(self, "root/lib/file"), 12, 0);
	snprintf(outside, sizeof(outside), "%s/other", self->dir);
	write_elf(outside, 20, 0);
	ASSERT_EQ(0, symlink(outside, PATH(self, "root/lib/link")));
	ASSERT_EQ(0, symlink("/lib/file", PATH(self, "root/lib/in")));
	if (!enter_root(self))
		SKIP(return, "cannot change the root of a process");

	EXPECT_EQ(12, build_id__of_file(self->pid, "/lib/file", id));
	EXPECT_EQ(12, build_id__of_file(self->pid, "/lib/in", id));
	EXPECT_EQ(12, build_id__of_file(self->pid, "/lib/../../lib/file", id));
	/* As /proc/PID/maps shows it to those outside. */
	EXPECT_EQ(12, build_id__of_file(self->pid, PATH(self, "root/lib/file"), id));
	EXPECT_EQ(-ENOENT, build_id__of_file(self->pid, "/lib/link", id));
	EXPECT_EQ(-ENOENT, build_id__of_file(self->pid, outside, id));
	EXPECT_EQ(20, build_id__of_file(0, outside, id));
}

TEST_F(files, both_ways_of_opening_find_the_same_and_one_refuses_links)
{
	int root, fd;

	ASSERT_EQ(0, mkdir(PATH(self, "root"), 0755));
	ASSERT_EQ(0, mkdir(PATH(self, "root/lib"), 0755));
	write_elf(PATH(self, "root/lib/file"), 12, 0);
	ASSERT_EQ(0, symlink("file", PATH(self, "root/lib/link")));
	root = open(PATH(self, "root"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	ASSERT_LE(0, root);
	fd = root_open__walk(root, "//lib/./file");
	EXPECT_LE(0, fd);
	close(fd);
	EXPECT_EQ(-ELOOP, root_open__walk(root, "/lib/link"));
	EXPECT_EQ(-EINVAL, root_open__walk(root, "/lib/../../other"));
	EXPECT_EQ(-ENOENT, root_open__walk(root, "/lib/none"));
	EXPECT_EQ(-ENOTDIR, root_open__walk(root, "/lib/file/below"));
	fd = root_open__resolve(root, "/lib/link");
	if (fd == -ENOSYS || fd == -EPERM)
		SKIP(return, "no openat2 here");
	EXPECT_LE(0, fd);
	close(fd);
	EXPECT_EQ(-ENOENT, root_open__resolve(root, "/lib/none"));
	close(root);
}

TEST_F(files, queries_are_all_answered_each_for_itself)
{
	struct build_id_query queries[4] = { 0 };
	char good[160];

	snprintf(good, sizeof(good), "%s", PATH(self, "file"));
	write_elf(good, 20, 0);
	queries[0].path = queries[3].path = good;
	queries[1].path = "/nonexistent";
	queries[2].path = self->dir;
	queries[3].pid = getpid();
	ASSERT_EQ(0, build_id__query(queries, 4, 20000));
	EXPECT_EQ(20, queries[0].len);
	EXPECT_EQ(20, queries[0].id[19]);
	EXPECT_EQ(-ENOENT, queries[1].len);
	EXPECT_EQ(-EINVAL, queries[2].len);
	EXPECT_EQ(20, queries[3].len);
	ASSERT_EQ(0, build_id__query(queries, 4, 0));
	/* The time was over before they were asked: no error of the files. */
	EXPECT_EQ(-ECANCELED, queries[0].len);
	EXPECT_EQ(-ECANCELED, queries[3].len);
}

TEST_F(files, a_process_that_was_born_after_the_one_that_is_meant_is_not_asked)
{
	struct build_id_query queries[2] = { 0 };
	char good[160];
	uint64_t born;

	snprintf(good, sizeof(good), "%s", PATH(self, "file"));
	write_elf(good, 20, 0);
	ASSERT_EQ(0, proc_stat__born(getpid(), &born));
	queries[0].path = queries[1].path = good;
	queries[0].pid = queries[1].pid = getpid();
	queries[0].alive = born - NSEC_PER_SEC;
	queries[1].alive = clock__now_ns();
	ASSERT_EQ(0, build_id__query(queries, 2, 20000));
	EXPECT_EQ(-ESRCH, queries[0].len);
	EXPECT_EQ(20, queries[1].len);
}

/*
 * A FUSE file system whose server never answers, in a mount namespace of its own: any access blocks
 * until the process is killed, as with a network file system whose server is gone. Returns the
 * server's descriptor, -1 where that is not possible.
 */
static int mount_dead(const char *dir)
{
	char options[128];
	int fd;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -1;
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (!mount("dead", dir, "fuse", MS_NOSUID | MS_NODEV, options))
		return fd;
	close(fd);
	return -1;
}

TEST_F(files, dead_file_system_costs_only_the_queries_that_touch_it)
{
	struct build_id_query queries[4] = { 0 };
	char good[160], dead[160];
	int fd;

	snprintf(good, sizeof(good), "%s", PATH(self, "file"));
	write_elf(good, 20, 0);
	ASSERT_EQ(0, mkdir(PATH(self, "root"), 0755));
	fd = mount_dead(PATH(self, "root"));
	if (fd < 0)
		SKIP(return, "cannot mount a FUSE file system here");
	snprintf(dead, sizeof(dead), "%s", PATH(self, "root/libdead.so"));
	queries[0].path = queries[2].path = dead;
	queries[1].path = queries[3].path = good;
	queries[2].pid = queries[3].pid = getpid();
	ASSERT_EQ(0, build_id__query(queries, 4, 4000));
	EXPECT_EQ(-ETIMEDOUT, queries[0].len);
	EXPECT_EQ(20, queries[1].len);
	EXPECT_EQ(-ETIMEDOUT, queries[2].len);
	EXPECT_EQ(20, queries[3].len);
	close(fd);
	umount2(PATH(self, "root"), MNT_DETACH);
}

/* Asks for one file: the length of its build-id or a negative errno. */
static int ask(struct build_id_query query)
{
	int err = build_id__query(&query, 1, 20000);

	return err ? err : query.len;
}

static int self_path(char *path, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", path, size - 1);

	path[len > 0 ? len : 0] = '\0';
	return len > 0 ? 0 : -errno;
}

TEST(a_name_that_went_over_to_another_file_has_no_build_id)
{
	struct build_id_query query = { .pid = getpid() };
	char path[PATH_MAX];
	struct stat st;

	ASSERT_EQ(0, self_path(path, sizeof(path)));
	ASSERT_EQ(0, stat(path, &st));
	query.path = path;
	EXPECT_EQ(20, ask(query));
	query.file.ino = st.st_ino;
	EXPECT_EQ(20, ask(query));
	query.file.ino++;
	EXPECT_EQ(-ESTALE, ask(query));
}

/* Device and inode of path, from its first line of /proc/self/maps. */
static struct file_id id_of_mapping(const char *path)
{
	FILE *file = fopen("/proc/self/maps", "re");
	struct file_id shown = { 0 };
	char line[PATH_MAX + 128];

	while (file && fgets(line, sizeof(line), file)) {
		if (strstr(line, path) && sscanf(line, "%*s %*s %*s %x:%x %" SCNu64, &shown.maj,
						 &shown.min, &shown.ino) == 3)
			break;
	}
	if (file)
		fclose(file);
	return shown;
}

TEST(a_file_of_a_process_that_has_ended_must_be_the_one_that_was_mapped)
{
	struct build_id_query query = { .elsewhere = true };
	char path[PATH_MAX];

	ASSERT_EQ(0, self_path(path, sizeof(path)));
	query.path = path;
	/* That both see the same files is no proof where inode numbers are. */
	for (int i = 0; i < 2; i++) {
		query.same_view = i;
		query.file = (struct file_id){ 0 };
		EXPECT_EQ(-ESTALE, ask(query));
		query.file = id_of_mapping(path);
		ASSERT_NE(0, query.file.ino);
		EXPECT_EQ(20, ask(query));
		query.file.min++;
		EXPECT_EQ(-ESTALE, ask(query));
		query.file.min--;
		query.file.ino++;
		EXPECT_EQ(-ESTALE, ask(query));
	}
}

TEST(the_vdso_has_a_build_id)
{
	if (!getauxval(AT_SYSINFO_EHDR))
		SKIP(return, "this process has no vDSO");
	EXPECT_EQ(20, build_id__of_vdso(id));
}

TEST(kernel_and_modules_are_read_from_sysfs)
{
	int ret = build_id__of_kernel(id);

	EXPECT_EQ(-EINVAL, build_id__of_module("", id));
	EXPECT_EQ(-EINVAL, build_id__of_module("..", id));
	EXPECT_EQ(-EINVAL, build_id__of_module("../kernel", id));
	EXPECT_EQ(-ENOENT, build_id__of_module("no_such_module", id));
	if (ret == -ENOENT)
		SKIP(return, "this kernel has no build-id");
	EXPECT_EQ(20, ret);
	EXPECT_EQ(0, id[20]);
}

TEST_HARNESS_MAIN
