/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen/messages.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"

static void keep(void *ctx, enum log_level level, const char *text)
{
	struct messages *messages = ctx;
	struct message message = { .level = level };

	snprintf(message.text, sizeof(message.text), "%s", text);
	messages->time = clock__now_ns();
	if (messages->lines.len / sizeof(message) == MESSAGES_KEPT) {
		buffer__consume(&messages->lines, sizeof(message));
		messages->left_out++;
	}
	if (buffer__append(&messages->lines, &message, sizeof(message)))
		messages->left_out++;
}

void messages__begin(struct messages *messages)
{
	log__set_sink(keep, messages);
}

const struct message *messages__latest(const struct messages *messages)
{
	size_t nr = messages->lines.len / sizeof(struct message);

	return nr ? (const struct message *)(const void *)messages->lines.data + nr - 1 : NULL;
}

void messages__end(struct messages *messages)
{
	const struct message *message = (const void *)messages->lines.data;
	size_t nr = messages->lines.len / sizeof(*message);

	log__set_sink(NULL, NULL);
	if (messages->left_out)
		pr_warn("%" PRIu64 " earlier messages are left out", messages->left_out);
	for (size_t i = 0; i < nr; i++)
		log__write(message[i].level, message[i].text);
	buffer__free(&messages->lines);
	*messages = (struct messages){ 0 };
}
