/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/utf8.h"

size_t utf8__bytes(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	static const struct {
		unsigned char from, to, second_from, second_to, bytes;
	} forms[] = {
		{ 0x01, 0x7f, 0, 0, 1 },       { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (*at < forms[i].from || *at > forms[i].to)
			continue;
		if (forms[i].bytes > 1 &&
		    (at[1] < forms[i].second_from || at[1] > forms[i].second_to))
			return 0;
		for (size_t j = 2; j < forms[i].bytes; j++) {
			if (at[j] < 0x80 || at[j] > 0xbf)
				return 0;
		}
		return forms[i].bytes;
	}
	return 0;
}
