/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_JSON_TEXT_H
#define DENET_JSON_TEXT_H

#include <stdio.h>

/*
 * Prints a JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD, and "<" an escape,
 * so that the text can be embedded in HTML.
 */
void json_text__print(const char *text, FILE *out);

#endif /* DENET_JSON_TEXT_H */
