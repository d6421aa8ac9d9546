/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SCREEN_MESSAGES_H
#define DENET_SCREEN_MESSAGES_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/log.h"

#define MESSAGE_LEN 512
#define MESSAGES_KEPT 100

/* Messages of the log while a screen is there, which they would spoil. Zero-initialised: none. */
struct messages {
	struct buffer lines; /* struct message, the latest MESSAGES_KEPT */
	uint64_t left_out;
	uint64_t time; /* CLOCK_MONOTONIC, of the latest one */
};

struct message {
	enum log_level level;
	char text[MESSAGE_LEN];
};

/* Takes the messages of the log over. */
void messages__begin(struct messages *messages);

/* The latest one; NULL: there is none. */
const struct message *messages__latest(const struct messages *messages);

/* Gives them back to the log, which prints them; the screen is gone. */
void messages__end(struct messages *messages);

#endif /* DENET_SCREEN_MESSAGES_H */
