/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_DEMANGLE_H
#define DENET_SYMBOL_DEMANGLE_H

/*
 * The name of a C++ or Rust symbol in its source, without parameters, as perf shows it; free with
 * free(). NULL: it is no such symbol, or no memory. The symbol may be hostile: to be called in a
 * confined child.
 */
char *demangle__symbol(const char *symbol);

#endif /* DENET_SYMBOL_DEMANGLE_H */
