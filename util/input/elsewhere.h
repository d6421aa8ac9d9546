/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_INPUT_ELSEWHERE_H
#define DENET_INPUT_ELSEWHERE_H

#include <stdbool.h>

#include "input/info.h"

/*
 * Whether the file is of another machine, or of this one before its last boot: by the name of the
 * host, and by when CLOCK_MONOTONIC began, which only seems later where the machine was suspended.
 * A file whose writer was killed tells nothing.
 */
bool input_info__is_elsewhere(const struct input_info *info);

#endif /* DENET_INPUT_ELSEWHERE_H */
