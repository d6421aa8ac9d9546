/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/end_time.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "wire.h"

/* Has the program run. 0 or a negative errno. */
static int run(const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(bpf_program__fd(program), &opts) ? -errno : 0;
}

uint64_t end_time__set(volatile __u64 *end_ns, const struct bpf_program *set_end)
{
	uint64_t end;
	int err;

	/* The page is there when the time counts. */
	*end_ns = 0;
	err = run(set_end);
	if (err)
		*end_ns = clock__now_ns() + WIRE_END_AHEAD_NS;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	end = *end_ns;
	while (clock__now_ns() <= end)
		;
	if (err)
		pr_verbose("the end of the recording was not set by a program: %s", strerror(-err));
	return end;
}
