#include "cli/wrap.h"

#include <string.h>

#include "cli/terminal.h"

enum { LINE_COLUMNS = 100 };

int wrap_columns(FILE *out) {
    Terminal terminal = terminal_of(out);
    return terminal.live && terminal.width <= LINE_COLUMNS ? terminal.width - 1 : LINE_COLUMNS;
}

void wrap_print(FILE *out, int column, const char *text) {
    int at = column, limit = wrap_columns(out);
    while (*text != '\0') {
        int length = (int)strcspn(text, " \n");
        if (at > column && at + 1 + length > limit) {
            fprintf(out, "\n%*s", column, "");
            at = column;
        }
        fprintf(out, "%s%.*s", at > column ? " " : "", length, text);
        at += length + (at > column);
        text += length;
        text += strspn(text, " ");
        if (*text == '\n') {
            fprintf(out, "\n%*s", column, "");
            at = column;
            text++;
        }
    }
    fprintf(out, "\n");
}
