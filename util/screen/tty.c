/* SPDX-License-Identifier: GPL-2.0-only */
/* Wide functions, and no macros with the names of others. */
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS
#include "screen/tty.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/units.h"
#include "screen/term_guard.h"

/* After ESC, the rest of a key's bytes comes within this time, in ms. */
#define ESCAPE_MS 25
/* How long the end waits for a terminal that takes nothing. */
#define LAST_BYTES_NS NSEC_PER_SEC

enum { FD_KEYS, FD_SIGNALS, FD_OUTPUT };

/* Those whose dispositions ncurses changes; the process has its own ways. */
static const int curses_signals[] = { SIGINT, SIGTERM, SIGTSTP, SIGWINCH };
#define NR_CURSES_SIGNALS (sizeof(curses_signals) / sizeof(curses_signals[0]))

struct tty {
	/*
	 * ncurses would wait for a terminal that takes nothing. It writes into memory, at a
	 * descriptor that was the terminal's when it began; from there it goes to output.
	 */
	FILE *curses_in, *curses_out;
	int memory;
	int output;	       /* does not block, where the terminal could be opened once more */
	struct buffer pending; /* what the terminal has still to take */
	SCREEN *screen;
	WINDOW *keys; /* reading them from another one would draw it */
	int signals;
	sigset_t old_mask;
	struct termios old_modes, modes;
	bool stale;
	bool utf8;
	bool colours;
	chtype styles[CANVAS_STYLES];
};

static int colour_of(enum canvas_style style)
{
	static const short basic[] = { COLOR_GREEN, COLOR_YELLOW, COLOR_RED,
				       COLOR_BLUE, COLOR_MAGENTA, COLOR_CYAN };
	static const short fine[] = { 71, 178, 167, 68, 139, 73 };

	if (style == STYLE_ALARM)
		style = STYLE_RED;
	if (style == STYLE_MATCH)
		style = STYLE_YELLOW;
	if (style < STYLE_GREEN)
		return -1;
	return COLORS >= 256 ? fine[style - STYLE_GREEN] : basic[style - STYLE_GREEN];
}

static void make_styles(struct tty *tty, bool colours)
{
	static const attr_t plain[CANVAS_STYLES] = {
		[STYLE_DIM] = A_DIM,	      [STYLE_TITLE] = A_BOLD,
		[STYLE_HEADING] = A_BOLD,     [STYLE_SELECTED] = A_REVERSE,
		[STYLE_MATCH] = A_UNDERLINE,  [STYLE_KEY] = A_BOLD,
		[STYLE_ALARM] = A_BOLD,
	};
	bool coloured = colours && has_colors() && start_color() == OK && COLORS >= 8;
	int background = coloured && use_default_colors() == OK ? -1 : COLOR_BLACK;

	tty->colours = coloured;
	for (int i = 0; i < CANVAS_STYLES; i++) {
		int colour = coloured ? colour_of((enum canvas_style)i) : -1;

		tty->styles[i] = plain[i];
		if (colour < 0 || init_pair((short)(i + 1), (short)colour, (short)background))
			continue;
		tty->styles[i] |= COLOR_PAIR(i + 1);
	}
}

/* Appends what a terminal does for a capability, without the pauses that old ones needed. */
static int add_capability(struct buffer *bytes, const char *text)
{
	int err = 0;

	if (!text || text == (const char *)-1)
		return 0;
	while (*text && !err) {
		if (!strncmp(text, "$<", 2) && strchr(text, '>'))
			text = strchr(text, '>') + 1;
		else
			err = buffer__append(bytes, text++, 1);
	}
	return err;
}

/* What makes the terminal usable again, for a crash. */
static int arm_guard(const struct tty *tty)
{
	static const char *const capabilities[] = { "sgr0", "op", "rmkx", "cnorm", "rmcup" };
	struct buffer bytes = { 0 };
	char *alternate = tigetstr("rmcup"), *move = tigetstr("cup");
	int err = 0;

	for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]) && !err; i++)
		err = add_capability(&bytes, tigetstr(capabilities[i]));
	if (!err && (!alternate || alternate == (char *)-1)) {
		err = add_capability(&bytes, tparm(move, LINES - 1, 0));
		if (!err)
			err = buffer__append(&bytes, "\r\n", 2);
	}
	if (!err)
		err = term_guard__arm(STDOUT_FILENO, &tty->old_modes, bytes.data, bytes.len);
	buffer__free(&bytes);
	return err;
}

/* "" is what the environment says. Where that locale is missing, C.UTF-8 does as well. */
static bool set_locale(void)
{
	const char *name = getenv("LC_ALL");

	if (!name || !*name)
		name = getenv("LC_CTYPE");
	if (!name || !*name)
		name = getenv("LANG");
	if (!setlocale(LC_CTYPE, "") && name && (strstr(name, "UTF-8") || strstr(name, "utf8")))
		setlocale(LC_CTYPE, "C.UTF-8");
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static int block_signals(struct tty *tty)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	tty->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (tty->signals < 0)
		return -errno;
	sigprocmask(SIG_BLOCK, &set, &tty->old_mask);
	return 0;
}

static FILE *open_again(int fd, const char *mode)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *file = copy < 0 ? NULL : fdopen(copy, mode);

	if (!file && copy >= 0)
		close(copy);
	return file;
}

/* 0, or -ENOTSUP: no such terminal, or none that is good for it. */
static int begin_curses(struct tty *tty)
{
	struct sigaction old[NR_CURSES_SIGNALS];
	char *move;

	for (size_t i = 0; i < NR_CURSES_SIGNALS; i++)
		sigaction(curses_signals[i], NULL, &old[i]);
	tty->screen = newterm(NULL, tty->curses_out, tty->curses_in);
	for (size_t i = 0; i < NR_CURSES_SIGNALS; i++)
		sigaction(curses_signals[i], &old[i], NULL);
	if (!tty->screen)
		return -ENOTSUP;
	move = tigetstr("cup");
	if (!move || move == (char *)-1)
		return -ENOTSUP;
	if (dup2(tty->memory, fileno(tty->curses_out)) < 0)
		return -errno;
	fcntl(fileno(tty->curses_out), F_SETFD, FD_CLOEXEC);
	return 0;
}

/* Keys come one by one and are not shown; signals are those of the terminal. */
static void set_modes(struct tty *tty)
{
	tty->modes = tty->old_modes;
	tty->modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL | IEXTEN);
	tty->modes.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR);
	tty->modes.c_oflag &= ~(tcflag_t)ONLCR;
	tty->modes.c_lflag |= ISIG;
	tty->modes.c_cc[VMIN] = 1;
	tty->modes.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &tty->modes);
}

static int prepare(struct tty *tty)
{
	cbreak();
	noecho();
	nonl();
	typeahead(-1);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	tty->keys = newpad(1, 1);
	if (!tty->keys)
		return -ENOMEM;
	keypad(tty->keys, TRUE);
	nodelay(tty->keys, TRUE);
	tty->stale = true;
	return arm_guard(tty);
}

static int open_files(struct tty *tty)
{
	tty->curses_in = open_again(STDIN_FILENO, "r");
	tty->curses_out = open_again(STDOUT_FILENO, "w");
	tty->memory = memfd_create("screen", MFD_CLOEXEC);
	if (!tty->curses_in || !tty->curses_out || tty->memory < 0)
		return -errno;
	tty->output = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (tty->output < 0)
		tty->output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	return tty->output < 0 ? -errno : 0;
}

static void free_tty(struct tty *tty)
{
	if (tty->keys)
		delwin(tty->keys);
	if (tty->screen)
		delscreen(tty->screen);
	if (tty->curses_in)
		fclose(tty->curses_in);
	if (tty->curses_out)
		fclose(tty->curses_out);
	if (tty->memory >= 0)
		close(tty->memory);
	if (tty->output >= 0)
		close(tty->output);
	if (tty->signals >= 0) {
		close(tty->signals);
		sigprocmask(SIG_SETMASK, &tty->old_mask, NULL);
	}
	buffer__free(&tty->pending);
	free(tty);
}

struct tty *tty__open(bool colours, int *err)
{
	struct tty *tty;

	*err = -ENOTTY;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return NULL;
	*err = -ENOMEM;
	tty = calloc(1, sizeof(*tty));
	if (!tty)
		return NULL;
	tty->memory = tty->output = tty->signals = -1;
	*err = tcgetattr(STDIN_FILENO, &tty->old_modes) ? -errno : open_files(tty);
	tty->utf8 = set_locale();
	if (!*err)
		*err = begin_curses(tty);
	if (!*err)
		*err = block_signals(tty);
	if (!*err)
		*err = prepare(tty);
	if (*err) {
		tcsetattr(STDIN_FILENO, TCSADRAIN, &tty->old_modes);
		free_tty(tty);
		return NULL;
	}
	make_styles(tty, colours);
	set_modes(tty);
	return tty;
}

/* Writes as much as the terminal takes. */
static void flush(struct tty *tty)
{
	struct pollfd fd = { .fd = tty->output, .events = POLLOUT };
	ssize_t n;

	while (tty->pending.len && poll(&fd, 1, 0) > 0) {
		n = write(tty->output, tty->pending.data, tty->pending.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		/* A terminal that is gone takes everything. */
		buffer__consume(&tty->pending, n < 0 ? tty->pending.len : (size_t)n);
	}
}

/* Takes over what ncurses has written. 0 or a negative errno. */
static int take_output(struct tty *tty)
{
	int fd = fileno(tty->curses_out);
	off_t size = lseek(fd, 0, SEEK_END);
	char *room = size > 0 ? buffer__reserve(&tty->pending, (size_t)size) : NULL;
	ssize_t n;

	if (size <= 0)
		return 0;
	if (!room)
		return -ENOMEM;
	n = pread(fd, room, (size_t)size, 0);
	if (n > 0)
		tty->pending.len += (size_t)n;
	if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	flush(tty);
	return 0;
}

/* Leaves the screen for a while or for ever: what is still to be written is waited for. */
static void leave(struct tty *tty)
{
	uint64_t deadline = clock__now_ns() + LAST_BYTES_NS;
	struct pollfd fd = { .fd = tty->output, .events = POLLOUT };

	endwin();
	take_output(tty);
	while (tty->pending.len && clock__now_ns() < deadline) {
		poll(&fd, 1, 10);
		flush(tty);
	}
	/* Not TCSADRAIN, which would wait for a terminal that takes nothing. */
	tcsetattr(STDIN_FILENO, TCSANOW, &tty->old_modes);
}

void tty__close(struct tty *tty)
{
	if (!tty)
		return;
	leave(tty);
	term_guard__disarm();
	free_tty(tty);
}

static bool is_in_foreground(void)
{
	pid_t group = tcgetpgrp(STDIN_FILENO);

	return group < 0 || group == getpgrp();
}

static void follow_size(struct tty *tty)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	tty->stale = true;
}

/* In the background the screen would be drawn into another program's. */
static void come_back(struct tty *tty)
{
	while (!is_in_foreground())
		raise(SIGSTOP);
	set_modes(tty);
	follow_size(tty);
	clearok(curscr, TRUE);
}

/* The kernel does not stop whom no shell could continue. */
static void stop(struct tty *tty)
{
	sigset_t set;

	leave(tty);
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(SIGTSTP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* The user may have changed them. */
	if (is_in_foreground())
		tcgetattr(STDIN_FILENO, &tty->old_modes);
	come_back(tty);
}

static void read_signals(struct tty *tty)
{
	struct signalfd_siginfo info;
	bool stopped = false;

	while (read(tty->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGTSTP) {
			stop(tty);
			stopped = true;
		} else if (info.ssi_signo == SIGWINCH) {
			follow_size(tty);
		} else if (!stopped) {
			/* After SIGSTOP, of which the process is not told. */
			come_back(tty);
		}
	}
}

void tty__poll(const struct tty *tty, struct pollfd fds[TTY_FDS])
{
	fds[FD_KEYS] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	fds[FD_SIGNALS] = (struct pollfd){ .fd = tty->signals, .events = POLLIN };
	fds[FD_OUTPUT] = (struct pollfd){ .fd = tty->pending.len ? tty->output : -1,
					  .events = POLLOUT };
}

bool tty__handle(struct tty *tty, const struct pollfd fds[TTY_FDS])
{
	if (fds[FD_KEYS].revents & (POLLHUP | POLLERR | POLLNVAL))
		return false;
	read_signals(tty);
	flush(tty);
	return true;
}

static int key_of_code(wint_t code)
{
	static const struct {
		wint_t code;
		int key;
	} keys[] = {
		{ KEY_UP, SCREEN_KEY_UP },	   { KEY_DOWN, SCREEN_KEY_DOWN },
		{ KEY_LEFT, SCREEN_KEY_LEFT },	   { KEY_RIGHT, SCREEN_KEY_RIGHT },
		{ KEY_PPAGE, SCREEN_KEY_PAGE_UP }, { KEY_NPAGE, SCREEN_KEY_PAGE_DOWN },
		{ KEY_HOME, SCREEN_KEY_HOME },	   { KEY_END, SCREEN_KEY_END },
		{ KEY_FIND, SCREEN_KEY_HOME },	   { KEY_SELECT, SCREEN_KEY_END },
		{ KEY_LL, SCREEN_KEY_END },	   { KEY_ENTER, SCREEN_KEY_ENTER },
		{ KEY_BACKSPACE, SCREEN_KEY_BACKSPACE },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i].code == code)
			return keys[i].key;
	}
	return SCREEN_KEY_OTHER;
}

int tty__key(struct tty *tty)
{
	wint_t key;
	int kind = wget_wch(tty->keys, &key);

	if (kind == ERR)
		return SCREEN_KEY_NONE;
	if (kind == KEY_CODE_YES)
		return key_of_code(key);
	if (key == '\r')
		return SCREEN_KEY_ENTER;
	if (key == '\b')
		return SCREEN_KEY_BACKSPACE;
	return key ? (int)key : SCREEN_KEY_OTHER;
}

void tty__redraw(struct tty *tty)
{
	clearok(curscr, TRUE);
	tty->stale = true;
}

bool tty__is_stale(struct tty *tty)
{
	bool stale = tty->stale;

	tty->stale = false;
	return stale;
}

size_t tty__lines(const struct tty *tty)
{
	(void)tty;
	return (size_t)LINES;
}

size_t tty__columns(const struct tty *tty)
{
	(void)tty;
	return (size_t)COLS;
}

bool tty__has_utf8(const struct tty *tty)
{
	return tty->utf8;
}

bool tty__has_colours(const struct tty *tty)
{
	return tty->colours;
}

bool tty__is_ready(const struct tty *tty)
{
	return !tty->pending.len;
}

/* Cells of one style at once. Returns the column behind them. */
static size_t show_run(const struct tty *tty, const struct canvas *canvas, size_t line, size_t from)
{
	const struct canvas_cell *cells = &canvas->cells[line * canvas->columns];
	char text[1024];
	size_t len = 0, end = from;

	while (end < canvas->columns && cells[end].style == cells[from].style &&
	       len + sizeof(cells->text) < sizeof(text)) {
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", cells[end].text);
		end++;
	}
	attrset((int)tty->styles[cells[from].style]);
	mvaddstr((int)line, (int)from, text);
	return end;
}

int tty__show(struct tty *tty, const struct canvas *canvas)
{
	erase();
	for (size_t line = 0; line < canvas->lines; line++) {
		for (size_t column = 0; column < canvas->columns;)
			column = show_run(tty, canvas, line, column);
	}
	attrset(A_NORMAL);
	refresh();
	return take_output(tty);
}
