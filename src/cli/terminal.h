/* What the standard output can show, and frames of text redrawn in place on it. */
#ifndef LOCKSTEP_TERMINAL_H
#define LOCKSTEP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct Terminal {
    FILE *out;
    bool live;         /* a terminal that can redraw: not a file, not TERM=dumb */
    bool colour;       /* live, and NO_COLOR is not set; colour only ever repeats what text says */
    bool utf8;         /* the locale says so; plain ASCII otherwise */
    int width, height; /* columns, rows; 80 x 24 where they are unknown */
    int drawn;         /* lines of the frame that stands there now */
} Terminal;

/* Looks at `out` and the environment: TERM, NO_COLOR (no-color.org), LC_ALL, LC_CTYPE, LANG. */
Terminal terminal_of(FILE *out);

/* Reads the window's size again: people resize. */
void terminal_measure(Terminal *terminal);

typedef enum Style { STYLE_PLAIN, STYLE_BOLD, STYLE_FAINT, STYLE_GOOD, STYLE_BAD } Style;

/* Text in memory that grows as it is printed to; once memory runs out it stays as it is. */
typedef struct Frame {
    const Terminal *terminal;
    char *text;
    size_t used, capacity;
} Frame;

void frame_print(Frame *frame, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same in a style; without colour exactly what frame_print does. */
void frame_style(Frame *frame, Style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A bar of `columns` cells, share (0 to 1) of them filled, in eighths where the terminal has
 * UTF-8; padded with spaces. */
void frame_bar(Frame *frame, Style style, double share, int columns);

/* `text` indented by `indent` columns and broken at spaces to fit the terminal's width (100 at
 * most: longer lines are hard to read); ends with a newline. */
void frame_wrap(Frame *frame, int indent, const char *text);

void frame_free(Frame *frame); /* it may be printed to again afterwards */

/* Columns that text takes: UTF-8 sequences count once, escape sequences not at all. */
int text_columns(const char *text);

/* Shows the frame in the place of the one before, in a single write, lines cut at the width. The
 * cursor is hidden meanwhile. Only for a live terminal. */
void terminal_draw(Terminal *terminal, const Frame *frame);

/* Wipes the frame off and shows the cursor. Safe to call when nothing is drawn. */
void terminal_clear(Terminal *terminal);

/* From here on Ctrl-C (and SIGTERM, SIGHUP) makes terminal_stopped true instead of ending the
 * program; the second one ends it at once. Either way this terminal's cursor comes back. */
void terminal_catch_signals(const Terminal *terminal);
void terminal_restore_signals(void);
bool terminal_stopped(void);

#endif
