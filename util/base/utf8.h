/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UTF8_H
#define DENET_UTF8_H

#include <stddef.h>

/* Bytes of the character that the text begins with; 0: it ends here, or is no UTF-8. */
size_t utf8__bytes(const char *text);

#endif /* DENET_UTF8_H */
