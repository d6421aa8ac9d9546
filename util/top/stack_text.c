/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/stack_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DOTS "..."
#define KERNEL_NAME 512 /* KSYM_NAME_LEN */

/* Whether a byte continues a character of UTF-8. */
static bool is_inside(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

void stack_text__put_name(const char *name, char frame[STACK_TEXT_FRAME])
{
	size_t len = strlen(name), head = (STACK_TEXT_FRAME - sizeof(DOTS)) / 2;
	size_t tail = len - head;

	if (len < STACK_TEXT_FRAME) {
		memcpy(frame, name, len + 1);
		return;
	}
	while (head && is_inside(name[head]))
		head--;
	while (is_inside(name[tail]))
		tail++;
	snprintf(frame, STACK_TEXT_FRAME, "%.*s" DOTS "%s", (int)head, name, name + tail);
}

/* Writes frames behind each other until room is used up. Returns how many. */
static uint32_t put_leaf_side(uint32_t nr, stack_name_fn name, const void *ctx, char *buf,
			      size_t room, size_t *at)
{
	char frame[STACK_TEXT_FRAME];
	uint32_t i;

	for (i = 0; i < nr; i++) {
		name(ctx, i, frame);
		if (*at + strlen(frame) + 2 > room)
			break;
		*at += (size_t)snprintf(buf + *at, room - *at, "%s%s", i ? ";" : "", frame);
	}
	return i;
}

/* Writes the outermost frames in front of the buffer's end. Returns where they begin. */
static size_t put_root_side(uint32_t nr, stack_name_fn name, const void *ctx, char *buf,
			    size_t begin, size_t size)
{
	char frame[STACK_TEXT_FRAME];
	size_t at = size - 1, len;

	buf[at] = '\0';
	while (nr--) {
		name(ctx, nr, frame);
		len = strlen(frame) + 1;
		if (at < begin + len)
			break;
		at -= len;
		buf[at] = ';';
		memcpy(buf + at + 1, frame, len - 1);
	}
	return at;
}

void stack_text__join(uint32_t nr, stack_name_fn name, const void *ctx, char *buf, size_t size)
{
	const size_t mark = strlen(";" STACK_TEXT_CUT);
	size_t at = 0, root;

	*buf = '\0';
	if (put_leaf_side(nr, name, ctx, buf, size, &at) == nr)
		return;
	at = 0;
	put_leaf_side(nr, name, ctx, buf, size / 2 - mark, &at);
	at += (size_t)snprintf(buf + at, size - at, ";" STACK_TEXT_CUT);
	root = put_root_side(nr, name, ctx, buf, at, size);
	memmove(buf + at, buf + root, size - root);
}

struct kernel_frames {
	const struct frames *frames;
	const struct top_names *names;
	bool offsets;
};

static void name_frame(const void *ctx, uint32_t i, char frame[STACK_TEXT_FRAME])
{
	const struct kernel_frames *kernel = ctx;
	const uint64_t ip = kernel->frames->ips[i];
	char text[KERNEL_NAME + 32];
	const char *name = NULL;
	uint64_t offset = 0;

	if (kernel->names->kallsyms)
		name = kallsyms__lookup(kernel->names->kallsyms, ip, &offset);
	if (!name)
		snprintf(text, sizeof(text), "0x%" PRIx64, ip);
	else if (kernel->offsets)
		snprintf(text, sizeof(text), "%s+0x%" PRIx64, name, offset);
	else
		snprintf(text, sizeof(text), "%s", name);
	stack_text__put_name(text, frame);
}

void stack_text__put_kernel(const struct frames *frames, const struct top_names *names,
			    bool offsets, char *buf, size_t size)
{
	const struct kernel_frames kernel = { frames, names, offsets };

	stack_text__join(frames->nr, name_frame, &kernel, buf, size);
}
