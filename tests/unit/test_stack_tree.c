/* SPDX-License-Identifier: GPL-2.0-only */
/* The tree of stacks, and the page that is drawn from it. */
#include "output/flamegraph/stack_tree.h"

#include <stdlib.h>
#include <string.h>

#include "common/example_profile.h"
#include "common/harness.h"
#include "output/flamegraph/flamegraph.h"

static int add(struct stack_tree *tree, uint32_t a, uint32_t b, uint64_t ns)
{
	uint32_t at = 0;
	int err = stack_tree__begin(tree, ns);

	if (!err)
		err = stack_tree__step(tree, a, ns, &at);
	return err || !b ? err : stack_tree__step(tree, b, ns, &at);
}

TEST(children_come_before_siblings_the_largest_first_but_below_the_root)
{
	static const struct {
		uint32_t name, depth;
		uint64_t ns;
	} want[] = { { 0, 0, 26 }, { 1, 1, 11 }, { 5, 2, 6 },
		     { 6, 2, 5 },  { 2, 1, 15 }, { 7, 2, 10 } };
	struct stack_tree tree = { 0 };
	unsigned int depth = 0;
	uint32_t node = 0;

	ASSERT_EQ(0, add(&tree, 1, 6, 5));
	ASSERT_EQ(0, add(&tree, 2, 7, 10));
	ASSERT_EQ(0, add(&tree, 1, 5, 4));
	ASSERT_EQ(0, add(&tree, 1, 5, 2));
	ASSERT_EQ(0, add(&tree, 2, 0, 5));
	ASSERT_EQ(0, stack_tree__sort(&tree));
	ASSERT_EQ(6, stack_tree__nr(&tree));
	for (size_t i = 0; i < 6; i++) {
		EXPECT_EQ(want[i].name, stack_tree__node(&tree, node)->name);
		EXPECT_EQ(want[i].depth, depth);
		EXPECT_EQ(want[i].ns, stack_tree__node(&tree, node)->ns[TREE_THIS]);
		node = stack_tree__following(&tree, node, &depth);
		EXPECT_EQ(i == 5, !node);
	}
	stack_tree__free(&tree);
}

static int write_page(const struct profile *profile, FILE *out)
{
	return flamegraph__write(profile, NULL, out);
}

/* With the same one, so that each node has its time twice. */
static int write_difference(const struct profile *profile, FILE *out)
{
	const struct flamegraph_other other = { profile, "before.data" };

	return flamegraph__write(profile, &other, out);
}

TEST(a_node_has_the_times_of_two_profiles)
{
	struct stack_tree tree = { 0 };
	unsigned int depth = 0;
	uint32_t node;

	ASSERT_EQ(0, add(&tree, 1, 0, 10));
	tree.side = TREE_OTHER;
	ASSERT_EQ(0, add(&tree, 1, 0, 4));
	ASSERT_EQ(0, add(&tree, 2, 0, 30));
	ASSERT_EQ(0, stack_tree__sort(&tree));
	EXPECT_EQ(10, stack_tree__node(&tree, 0)->ns[TREE_THIS]);
	EXPECT_EQ(34, stack_tree__node(&tree, 0)->ns[TREE_OTHER]);
	node = stack_tree__following(&tree, 0, &depth);
	EXPECT_EQ(10, stack_tree__node(&tree, node)->ns[TREE_THIS]);
	EXPECT_EQ(4, stack_tree__node(&tree, node)->ns[TREE_OTHER]);
	/* One side has nothing of it. */
	node = stack_tree__following(&tree, node, &depth);
	EXPECT_EQ(2, stack_tree__node(&tree, node)->name);
	EXPECT_EQ(0, stack_tree__node(&tree, node)->ns[TREE_THIS]);
	stack_tree__free(&tree);
}

TEST(a_difference_names_its_other_file)
{
	struct example_profile example = { .filter = { .events = 1 << PROFILE_ONCPU } };
	char *text;
	size_t size;

	ASSERT_EQ(0, example_profile__make(&example));
	text = example_profile__print(&example, write_difference, &size);
	ASSERT_NE(NULL, text);
	EXPECT_TRUE(strstr(text, "const data = {\"other\":\"before.data\",") != NULL);
	EXPECT_TRUE(strstr(text, "\"nodes\":[0,0,8,8,\n1,0,8,8,\n") != NULL);
	free(text);
	example_profile__free(&example);
}

TEST(the_page_has_the_data_in_its_place)
{
	struct example_profile example = { .filter = { .events = 1 << PROFILE_ONCPU |
								 1 << PROFILE_IDLE } };
	const char *data;
	char *text;
	size_t size;

	ASSERT_EQ(0, example_profile__make(&example));
	text = example_profile__print(&example, write_page, &size);
	ASSERT_NE(NULL, text);
	EXPECT_EQ(text, strstr(text, "<!DOCTYPE html>\n"));
	EXPECT_STREQ("</html>\n", text + size - 8);
	EXPECT_EQ(NULL, strstr(text, "@DATA@"));
	/* Nothing is fetched. */
	EXPECT_EQ(NULL, strstr(text, "http"));
	EXPECT_EQ(NULL, strstr(text, "src="));
	data = strstr(text, "const data = {\"other\":null,\n"
			    "\"names\":[\n\"running\",\n\"runnable\",\n\"blocked\",\n");
	ASSERT_NE(NULL, data);
	data = strstr(data, "\"nodes\":[");
	ASSERT_NE(NULL, data);
	EXPECT_EQ(data, strstr(data, "\"nodes\":[0,0,13,\n1,0,8,\n2,8,8,\n3,9,8,\n4,10,8,\n"
				     "1,4,5,\n2,6,5,\n3,7,5]};\n"));
	free(text);
	example_profile__free(&example);
}

TEST(a_page_without_samples)
{
	struct example_profile example = { .filter = { .from = 1 << 30 } };
	char *text;
	size_t size;

	ASSERT_EQ(0, example_profile__make(&example));
	text = example_profile__print(&example, write_page, &size);
	ASSERT_NE(NULL, text);
	EXPECT_TRUE(strstr(text, "\"nodes\":[]};\n") != NULL);
	free(text);
	example_profile__free(&example);
}

TEST_HARNESS_MAIN
