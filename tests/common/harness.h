/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_HARNESS_H
#define DENET_TESTS_HARNESS_H

/*
 * The kernel's test harness. Its older versions define the functions of a FIXTURE without
 * static, which -Wmissing-prototypes, as this project builds, does not let pass.
 */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include <kselftest_harness.h>

#endif /* DENET_TESTS_HARNESS_H */
