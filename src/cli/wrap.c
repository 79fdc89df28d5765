#include "cli/wrap.h"

#include <stdio.h>
#include <string.h>

enum { LINE_COLUMNS = 100 };

void wrap_print(int column, const char *text) {
    int at = column;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (at > column && at + 1 + length > LINE_COLUMNS) {
            printf("\n%*s", column, "");
            at = column;
        }
        printf("%s%.*s", at > column ? " " : "", length, text);
        at += length + (at > column);
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}
