/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_JSON_TEXT_H
#define DENET_JSON_TEXT_H

#include <stdio.h>

/*
 * Prints a string of JSON with its quotes. What is no UTF-8 becomes U+FFFD, and "<" an escape, so
 * that the text can stand in a page, too.
 */
void json_text__print(const char *text, FILE *out);

#endif /* DENET_JSON_TEXT_H */
