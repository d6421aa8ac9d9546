/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err_out.h"

#define LINE_ROOM 4096

struct finding {
	enum finding_weight weight;
	enum log_level level;
	bool whole; /* the line, without the program's name in front */
	char *text; /* escaped */
};

static struct finding *list_of(const struct findings *findings, size_t *nr)
{
	*nr = findings->list.len / sizeof(struct finding);
	return (struct finding *)(void *)findings->list.data;
}

static void print_finding(const struct finding *finding)
{
	char line[LINE_ROOM + 2];
	int len;

	if (!finding->whole) {
		log__write(finding->level, finding->text);
		return;
	}
	len = snprintf(line, sizeof(line), "%.*s\n", LINE_ROOM, finding->text);
	err_out__write(line, (size_t)len);
}

/* Without memory it is printed at once, in the wrong order. */
static void keep(struct findings *findings, const struct finding *finding)
{
	struct finding own = *finding;

	own.text = strdup(finding->text);
	if (own.text && !buffer__append(&findings->list, &own, sizeof(own)))
		return;
	free(own.text);
	print_finding(finding);
}

static enum finding_weight weight_of(enum log_level level)
{
	if (level == LOG_LOSS)
		return FINDING_LOST;
	return level == LOG_WARNING ? FINDING_NAMES : FINDING_NOTE;
}

/* The sink of the log. Notes on a session's progress are no findings. */
static void hear(void *ctx, enum log_level level, const char *text)
{
	const struct finding finding = { weight_of(level), level, false, (char *)text };
	struct findings *findings = ctx;
	bool warning = level == LOG_LOSS || level == LOG_WARNING;

	if (warning && log__level() < LOG_VERBOSE &&
	    (findings->ending || findings->printed >= FINDINGS_LIVE)) {
		keep(findings, &finding);
		return;
	}
	findings->printed += warning;
	log__write(level, text);
}

void findings__listen(struct findings *findings)
{
	log__set_sink(hear, findings);
}

void findings__hold(struct findings *findings)
{
	findings->ending = true;
}

void findings__warn(struct findings *findings, enum finding_weight weight, const char *format, ...)
{
	char text[LINE_ROOM / 4], safe[LINE_ROOM];
	struct finding finding = { weight, LOG_WARNING, false, safe };
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log__escape(safe, sizeof(safe), text);
	keep(findings, &finding);
}

void findings__add(struct findings *findings, enum finding_weight weight, const char *line)
{
	const struct finding finding = { weight, LOG_INFO, true, (char *)line };

	if (*line && log__level() >= LOG_INFO)
		keep(findings, &finding);
}

/* Takes the first one of the greatest weight; NULL: none is left. */
static struct finding *take_worst(struct findings *findings)
{
	struct finding *worst = NULL, *list;
	size_t nr;

	list = list_of(findings, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (list[i].text && (!worst || list[i].weight > worst->weight))
			worst = &list[i];
	}
	return worst;
}

size_t findings__print(struct findings *findings, size_t closing)
{
	size_t left_out = 0, taken = findings->printed + closing;
	struct finding *finding;

	/* One line is always reserved for the worst. */
	if (taken >= FINDINGS_LINES)
		taken = FINDINGS_LINES - 1;
	while ((finding = take_worst(findings))) {
		if (taken < FINDINGS_LINES || log__level() >= LOG_VERBOSE) {
			print_finding(finding);
			taken++;
			findings->printed++;
		} else {
			left_out++;
		}
		free(finding->text);
		finding->text = NULL;
	}
	findings->list.len = 0;
	return left_out;
}

void findings__free(struct findings *findings)
{
	findings__print(findings, 0);
	buffer__free(&findings->list);
	log__set_sink(NULL, NULL);
}
