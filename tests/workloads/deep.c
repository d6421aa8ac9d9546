/* SPDX-License-Identifier: GPL-2.0-only */
/* deep: sleeps for ever below main() and 110 calls of functions with long names. */
#include "known.h"

#include <unistd.h>

#define LEVELS 110

static int go_down_to_a_function_with_a_name_as_long_as_those_of_templates_are_which_is_odd(int n);

KNOWN static int
go_down_to_a_function_with_a_name_as_long_as_those_of_templates_are_which_is_even(int n)
{
	if (!n)
		return pause();
	return go_down_to_a_function_with_a_name_as_long_as_those_of_templates_are_which_is_odd(
		       n - 1) + 1;
}

KNOWN static int
go_down_to_a_function_with_a_name_as_long_as_those_of_templates_are_which_is_odd(int n)
{
	return go_down_to_a_function_with_a_name_as_long_as_those_of_templates_are_which_is_even(
		       n - 1) + 1;
}

int main(void)
{
	/* As many frames as levels. */
	return go_down_to_a_function_with_a_name_as_long_as_those_of_templates_are_which_is_odd(
		LEVELS - 1);
}
