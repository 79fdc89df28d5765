#define _GNU_SOURCE /* strcasestr */
#include "cli/terminal.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SHOW_CURSOR "\033[?25h"
#define HIDE_CURSOR "\033[?25l"

enum { WRAP_COLUMNS = 100, FRAME_STEP_BYTES = 4096 };

/* ---- what it can show ------------------------------------------------------------------------ */

/* The first of these that is set and not empty decides the locale (POSIX, 8.2). */
static bool locale_is_utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0') {
            return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
        }
    }
    return false;
}

Terminal terminal_of(FILE *out) {
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    Terminal terminal = {.out = out, .utf8 = locale_is_utf8()};
    terminal.live = isatty(fileno(out)) && term != NULL && strcmp(term, "dumb") != 0;
    terminal.colour = terminal.live && (no_color == NULL || no_color[0] == '\0');
    terminal_measure(&terminal);
    return terminal;
}

void terminal_measure(Terminal *terminal) {
    struct winsize size = {0};
    terminal->width = 80;
    terminal->height = 24;
    if (ioctl(fileno(terminal->out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        terminal->width = size.ws_col;
        terminal->height = size.ws_row > 0 ? size.ws_row : 24;
    }
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void frame_vprint(Frame *frame, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    size_t needed = frame->used + (size_t)(length > 0 ? length : 0) + 1;
    if (needed > frame->capacity) {
        char *larger = realloc(frame->text, needed + FRAME_STEP_BYTES);
        if (larger == NULL) {
            return;
        }
        frame->text = larger;
        frame->capacity = needed + FRAME_STEP_BYTES;
    }
    vsnprintf(frame->text + frame->used, frame->capacity - frame->used, format, args);
    frame->used = needed - 1;
}

void frame_print(Frame *frame, const char *format, ...) {
    va_list args;
    va_start(args, format);
    frame_vprint(frame, format, args);
    va_end(args);
}

void frame_style(Frame *frame, Style style, const char *format, ...) {
    static const char *const codes[] = {[STYLE_PLAIN] = "",
                                        [STYLE_BOLD] = "\033[1m",
                                        [STYLE_FAINT] = "\033[2m",
                                        [STYLE_GOOD] = "\033[32m",
                                        [STYLE_BAD] = "\033[31m"};
    bool styled = frame->terminal->colour && style != STYLE_PLAIN;
    va_list args;
    frame_print(frame, "%s", styled ? codes[style] : "");
    va_start(args, format);
    frame_vprint(frame, format, args);
    va_end(args);
    frame_print(frame, "%s", styled ? "\033[0m" : "");
}

void frame_bar(Frame *frame, Style style, double share, int columns) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    char bar[4 * 128] = "";
    int limit = columns < 100 ? columns : 100;
    int parts = (int)(share * limit * 8.0 + 0.5);
    parts = parts < 0 ? 0 : parts > 8 * limit ? 8 * limit : parts;
    int cells = frame->terminal->utf8 ? parts / 8 : (parts + 4) / 8;
    for (int i = 0; i < cells; i++) {
        strcat(bar, frame->terminal->utf8 ? "█" : "#");
    }
    if (frame->terminal->utf8 && parts % 8 > 0) {
        strcat(bar, eighths[parts % 8]);
        cells++;
    }
    frame_style(frame, style, "%s", bar);
    frame_print(frame, "%*s", columns - cells, "");
}

void frame_wrap(Frame *frame, int indent, const char *text) {
    int limit =
        frame->terminal->width - 1 < WRAP_COLUMNS ? frame->terminal->width - 1 : WRAP_COLUMNS;
    int column = 0;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        char word[256];
        snprintf(word, sizeof word, "%.*s", length, text);
        int width = text_columns(word);
        if (column > 0 && column + 1 + width > limit) {
            frame_print(frame, "\n");
            column = 0;
        }
        frame_print(frame, "%*s%s", column == 0 ? indent : 1, "", word);
        column += (column == 0 ? indent : 1) + width;
        text += length + (int)strspn(text + length, " ");
    }
    frame_print(frame, "\n");
}

void frame_free(Frame *frame) {
    free(frame->text);
    *frame = (Frame){.terminal = frame->terminal};
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Steps over one escape sequence or character; adds the columns that it takes. */
static const char *next_character(const char *text, int *columns) {
    if (*text == '\033') {
        return text + strcspn(text, "mhlKJA") + 1;
    }
    *columns += 1;
    do {
        text++;
    } while (((unsigned char)*text & 0xC0u) == 0x80u);
    return text;
}

int text_columns(const char *text) {
    int columns = 0;
    while (*text != '\0') {
        text = next_character(text, &columns);
    }
    return columns;
}

/* ---- drawing in place ----------------------------------------------------------------------- */

static void go_up(Frame *screen, int lines) {
    if (lines > 0) {
        frame_print(screen, "\033[%dA\r", lines);
    }
}

/* One line, cut at the width and wiped to the window's edge. A line may not touch the last column:
 * there some terminals wrap at once. */
static const char *draw_line(Frame *screen, const char *text, int width) {
    const char *end = text + strcspn(text, "\n");
    const char *cut = text;
    int columns = 0;
    while (cut < end && columns < width - 1) {
        cut = next_character(cut, &columns);
    }
    bool cut_short = cut < end;
    frame_print(screen, "%.*s%s\033[K\n", (int)(cut - text), text,
                cut_short && screen->terminal->colour ? "\033[0m" : "");
    return *end == '\n' ? end + 1 : end;
}

void terminal_draw(Terminal *terminal, const Frame *frame) {
    Frame screen = {.terminal = terminal};
    const char *text = frame->text == NULL ? "" : frame->text;
    int lines = 0;
    frame_print(&screen, HIDE_CURSOR);
    go_up(&screen, terminal->drawn);
    while (*text != '\0' && lines < terminal->height - 1) {
        text = draw_line(&screen, text, terminal->width);
        lines++;
    }
    frame_print(&screen, "\033[J"); /* what a longer frame left below */
    fwrite(screen.text, 1, screen.used, terminal->out);
    fflush(terminal->out);
    terminal->drawn = lines;
    frame_free(&screen);
}

void terminal_clear(Terminal *terminal) {
    if (terminal->live) {
        if (terminal->drawn > 0) {
            fprintf(terminal->out, "\033[%dA\r\033[J", terminal->drawn);
        }
        fputs(SHOW_CURSOR, terminal->out);
        fflush(terminal->out);
    }
    terminal->drawn = 0;
}

/* ---- signals -------------------------------------------------------------------------------- */

static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
enum { CAUGHT_COUNT = sizeof caught / sizeof caught[0] };
static volatile sig_atomic_t stop_signal;
static int cursor_file = -1; /* where the cursor is to come back; -1: nowhere */
static struct sigaction before[CAUGHT_COUNT];

/* Only what a signal handler may call: write, _exit. */
static void on_signal(int signal_number) {
    if (cursor_file >= 0) {
        ssize_t written = write(cursor_file, SHOW_CURSOR, sizeof SHOW_CURSOR - 1);
        (void)written; /* nothing can be done about it here */
    }
    if (stop_signal != 0 && signal_number != SIGPIPE) { /* which each print to it brings again */
        _exit(128 + signal_number);
    }
    stop_signal = signal_number;
}

void terminal_catch_signals(const Terminal *terminal) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    stop_signal = 0;
    cursor_file = terminal->live ? fileno(terminal->out) : -1;
    for (int i = 0; i < CAUGHT_COUNT; i++) {
        sigaction(caught[i], &action, &before[i]);
        if (before[i].sa_handler == SIG_IGN) { /* nohup */
            sigaction(caught[i], &before[i], NULL);
        }
    }
}

void terminal_restore_signals(void) {
    for (int i = 0; i < CAUGHT_COUNT; i++) {
        sigaction(caught[i], &before[i], NULL);
    }
}

bool terminal_stopped(void) {
    return stop_signal != 0;
}
