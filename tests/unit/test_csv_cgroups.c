/* SPDX-License-Identifier: GPL-2.0-only */
/* Ids of cgroups become the paths that lie beside the samples, and their containers. */
#include "top/csv_cgroups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/harness.h"

#define ID "abababababababababababababababababababababababababababababababab"

FIXTURE(cgroups)
{
	char dir[64];
	struct csv_cgroups *cgroups;
};

FIXTURE_SETUP(cgroups)
{
	snprintf(self->dir, sizeof(self->dir), "/tmp/denet-cgroups.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	self->cgroups = NULL;
}

FIXTURE_TEARDOWN(cgroups)
{
	char command[128];

	csv_cgroups__delete(self->cgroups);
	snprintf(command, sizeof(command), "rm -r %s", self->dir);
	ASSERT_EQ(0, system(command));
}

static int write_file(const char *dir, const char *hour, const char *lines)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/xcapture_cgroups_2026-01-31.%s.csv", dir, hour);
	file = fopen(path, "w");
	if (!file)
		return -1;
	fprintf(file, "CGROUP_ID,CGROUP_PATH\n%s", lines);
	return fclose(file);
}

static const char *path_of(const struct csv_cgroups *cgroups, const char *id, const char *own,
			   const char **container)
{
	const char *texts[TOP_COLUMNS];

	for (int i = 0; i < TOP_COLUMNS; i++)
		texts[i] = "";
	texts[TOP_COLUMN_CGROUP_ID] = id;
	texts[TOP_COLUMN_CGROUP] = own;
	csv_cgroups__put(cgroups, texts);
	*container = texts[TOP_COLUMN_CONTAINER];
	return texts[TOP_COLUMN_CGROUP];
}

TEST_F(cgroups, ids_become_paths_and_containers)
{
	const char *container;
	int err;

	ASSERT_EQ(0, write_file(self->dir, "10", "1,/a\n2,'/with, comma'\nx,/y\n3\n"));
	ASSERT_EQ(0, write_file(self->dir, "11", "1,/docker-" ID ".scope\n"));
	self->cgroups = csv_cgroups__read(self->dir, NULL, &err);
	ASSERT_NE(NULL, self->cgroups);
	/* That of the latest file. */
	EXPECT_STREQ("/docker-" ID ".scope", path_of(self->cgroups, "1", "", &container));
	EXPECT_STREQ("abababababab", container);
	EXPECT_STREQ("/with, comma", path_of(self->cgroups, "2", "", &container));
	EXPECT_STREQ("", container);
	EXPECT_STREQ("", path_of(self->cgroups, "3", "", &container));
	EXPECT_STREQ("", path_of(self->cgroups, "", "", &container));
	/* A sample's own path is not replaced. */
	EXPECT_STREQ("/own", path_of(self->cgroups, "1", "/own", &container));
}

TEST_F(cgroups, there_may_be_none)
{
	const char *container;
	int err;

	self->cgroups = csv_cgroups__read(self->dir, NULL, &err);
	ASSERT_NE(NULL, self->cgroups);
	EXPECT_STREQ("", path_of(self->cgroups, "1", "", &container));
}

TEST_HARNESS_MAIN
