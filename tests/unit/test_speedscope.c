/* SPDX-License-Identifier: GPL-2.0-only */
/* speedscope's JSON, byte for byte but for the list of frames; tests/cli/report.bats parses it. */
#include "output/speedscope/speedscope.h"

#include <stdlib.h>
#include <string.h>

#include "common/example_profile.h"
#include "common/harness.h"

TEST(profiles_by_their_time)
{
	struct example_profile example = { .filter = { .events = 1 << PROFILE_OFFCPU |
								 1 << PROFILE_QUEUED } };
	const char *profiles;
	char *text;
	size_t size;

	ASSERT_EQ(0, example_profile__make(&example));
	text = example_profile__print(&example, speedscope__write, &size);
	ASSERT_NE(NULL, text);
	EXPECT_EQ(text, strstr(text, "{\"$schema\":"
				     "\"https://www.speedscope.app/file-format-schema.json\",\n"
				     "\"exporter\":\"denet-report " DENET_VERSION "\","
				     "\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[\n"));
	EXPECT_TRUE(strstr(text, "{\"name\":\"run;it\",\"file\":\"//anon\"}") != NULL);
	profiles = strstr(text, "\"profiles\"");
	ASSERT_NE(NULL, profiles);
	/* Labels in the order in which they were found: the kernel's, then those of files. */
	EXPECT_STREQ("\"profiles\":[\n"
		     "{\"type\":\"sampled\",\"name\":\"wor ker (5000001) offcpu-time\","
		     "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":9007199254740993,\n"
		     "\"samples\":[[2,5]],\n\"weights\":[9007199254740993]},\n"
		     "{\"type\":\"sampled\",\"name\":\"app (5000000) offcpu-time\","
		     "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":130,\n"
		     "\"samples\":[[2,3,4,1,0]],\n\"weights\":[130]},\n"
		     "{\"type\":\"sampled\",\"name\":\"app (5000000) queued-time\","
		     "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":20,\n"
		     "\"samples\":[[2,3,4,1,0]],\n\"weights\":[20]}]}\n",
		     profiles);
	free(text);
	example_profile__free(&example);
}

TEST_HARNESS_MAIN
