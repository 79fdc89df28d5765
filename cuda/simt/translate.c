/* simt-translate IN.cu OUT.cpp: the source step. Two things in CUDA C++ are not C++: launches and
 * dynamic shared memory. Both are rewritten in place, on the lines where they stand (and two words,
 * `static __shared__` and `__noinline__`, that no macro can replace):
 *
 *     kernel<T, 16><<<grid, block, bytes>>>(a, b);
 *  -> ::simt::launch("kernel<T, 16>", [=](auto... simt_args) { kernel<T, 16>(simt_args...); },
 *                    SIMT_ADDRESS(kernel<T, 16>), ::simt::Config(grid, block, bytes), a, b);
 *
 *     extern __shared__ float tile[];
 *  -> float *tile = reinterpret_cast<float *>(::simt::dynamic_shared_memory());
 *
 * Comments, strings, raw strings, character constants and continued lines are known, so that
 * nothing inside them is touched. What cannot be understood is refused with file and line. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum TokenKind { TOKEN_WORD, TOKEN_STRING, TOKEN_MARK, TOKEN_END } TokenKind;

typedef struct Token {
    TokenKind kind;
    size_t start, end; /* offsets into the text */
    int line;
} Token;

typedef struct Source {
    const char *path;
    char *text;
    size_t length;
    Token *tokens;
    size_t count, capacity;
} Source;

/* A replacement of text[start, end) by `with`; kept in order of start. */
typedef struct Edit {
    size_t start, end;
    char *with;
} Edit;

typedef struct Edits {
    Edit *items;
    size_t count, capacity;
} Edits;

static void refuse(const Source *source, int line, const char *message) {
    fprintf(stderr, "%s:%d: error: %s\n", source->path, line, message);
    exit(1);
}

static void *grow(void *items, size_t count, size_t *capacity, size_t item_bytes) {
    if (count < *capacity) {
        return items;
    }
    *capacity = *capacity == 0 ? 1024 : 2 * *capacity;
    items = realloc(items, *capacity * item_bytes);
    if (items == NULL) {
        fprintf(stderr, "simt-translate: out of memory\n");
        exit(1);
    }
    return items;
}

static void add_token(Source *source, TokenKind kind, size_t start, size_t end, int line) {
    source->tokens = grow(source->tokens, source->count, &source->capacity, sizeof(Token));
    source->tokens[source->count++] = (Token){kind, start, end, line};
}

/* The end of a string or character constant that opens at i. */
static size_t skip_quoted(const Source *source, size_t i, int line) {
    char quote = source->text[i++];
    while (i < source->length && source->text[i] != quote) {
        if (source->text[i] == '\n') {
            refuse(source, line, "a string or character constant has no end on its line");
        }
        i += source->text[i] == '\\' ? 2 : 1;
    }
    return i + 1;
}

/* The end of R"delimiter(...)delimiter" whose quote is at i. */
static size_t skip_raw(const Source *source, size_t i, int line) {
    char closing[24];
    const char *open = memchr(source->text + i, '(', source->length - i);
    size_t delimiter = open == NULL ? 99 : (size_t)(open - (source->text + i + 1));
    if (delimiter > 16) {
        refuse(source, line, "a raw string without its opening parenthesis");
    }
    snprintf(closing, sizeof closing, ")%.*s\"", (int)delimiter, source->text + i + 1);
    const char *end = strstr(open, closing);
    if (end == NULL) {
        refuse(source, line, "a raw string without its end");
    }
    return (size_t)(end - source->text) + strlen(closing);
}

static int count_lines(const char *text, size_t start, size_t end) {
    int lines = 0;
    for (size_t i = start; i < end; i++) {
        lines += text[i] == '\n';
    }
    return lines;
}

static bool is_raw_prefix(const char *word, size_t length) {
    return length > 0 && length <= 3 && word[length - 1] == 'R' && strchr("RLuU", word[0]) != NULL;
}

static bool starts_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Cuts the text into words (numbers too), strings and single marks; drops white space, comments. */
static void tokenize(Source *source) {
    const char *text = source->text;
    int line = 1;
    for (size_t i = 0; i < source->length;) {
        size_t end = i + 1;
        if (isspace((unsigned char)text[i]) || (text[i] == '\\' && text[i + 1] == '\n')) {
        } else if (text[i] == '/' && text[i + 1] == '/') {
            while (end < source->length && (text[end] != '\n' || text[end - 1] == '\\')) {
                end++;
            }
        } else if (text[i] == '/' && text[i + 1] == '*') {
            const char *close = strstr(text + i + 2, "*/");
            if (close == NULL) {
                refuse(source, line, "a comment without its end");
            }
            end = (size_t)(close - text) + 2;
        } else if (text[i] == '"' || text[i] == '\'') {
            end = skip_quoted(source, i, line);
            add_token(source, TOKEN_STRING, i, end, line);
        } else if (starts_word(text[i])) {
            bool number = isdigit((unsigned char)text[i]);
            /* 1'000'000 is one number: a quote between digits does not open a constant. */
            while (starts_word(text[end]) || (number && text[end] == '.') ||
                   (number && text[end] == '\'' && isalnum((unsigned char)text[end + 1]))) {
                end++;
            }
            TokenKind kind = TOKEN_WORD;
            if (text[end] == '"' && is_raw_prefix(text + i, end - i)) {
                end = skip_raw(source, end, line);
                kind = TOKEN_STRING;
            }
            add_token(source, kind, i, end, line);
        } else {
            add_token(source, TOKEN_MARK, i, end, line);
        }
        line += count_lines(text, i, end);
        i = end;
    }
    add_token(source, TOKEN_END, source->length, source->length, line);
}

static bool is_word(const Source *source, size_t t, const char *word) {
    const Token *token = &source->tokens[t];
    return token->kind == TOKEN_WORD && token->end - token->start == strlen(word) &&
           strncmp(source->text + token->start, word, strlen(word)) == 0;
}

static bool is_mark(const Source *source, size_t t, char mark) {
    return source->tokens[t].kind == TOKEN_MARK && source->text[source->tokens[t].start] == mark;
}

/* Three of the same mark with nothing between them. */
static bool is_triple(const Source *source, size_t t, char mark) {
    const Token *token = &source->tokens[t];
    return t + 2 < source->count && is_mark(source, t, mark) && is_mark(source, t + 1, mark) &&
           is_mark(source, t + 2, mark) && token[1].start == token->end &&
           token[2].start == token[1].end;
}

static void add_edit(Edits *edits, size_t start, size_t end, char *with) {
    edits->items = grow(edits->items, edits->count, &edits->capacity, sizeof(Edit));
    edits->items[edits->count++] = (Edit){start, end, with};
}

static char *copy_text(const char *text) {
    char *copy = strdup(text);
    if (copy == NULL) {
        fprintf(stderr, "simt-translate: out of memory\n");
        exit(1);
    }
    return copy;
}

/* Backwards from a closing mark to its opening one; refuses when there is none. Between < and >
 * whatever stands in parentheses is passed over: (a > b) closes nothing. */
static size_t match_backward(const Source *source, size_t t, char open, char close) {
    int depth = 0;
    for (size_t i = t;; i--) {
        if (close == '>' && is_mark(source, i, ')')) {
            i = match_backward(source, i, '(', ')');
        }
        depth += is_mark(source, i, close) ? 1 : is_mark(source, i, open) ? -1 : 0;
        if (depth == 0) {
            return i;
        }
        if (i == 0) {
            refuse(source, source->tokens[t].line, "a launch whose kernel's name has no beginning");
        }
    }
}

/* The first token of the kernel's expression that ends right before token t: a name with
 * qualifiers, template arguments, subscripts or parentheses: ns::k<T, 16>, table[i], (*pointer). */
static size_t kernel_start(const Source *source, size_t t) {
    size_t i = t - 1;
    for (;;) {
        while (is_mark(source, i, '>') || is_mark(source, i, ']') || is_mark(source, i, ')')) {
            char close = source->text[source->tokens[i].start];
            char open = close == '>' ? '<' : close == ']' ? '[' : '(';
            i = match_backward(source, i, open, close);
            if (open == '(' && (i == 0 || source->tokens[i - 1].kind != TOKEN_WORD)) {
                return i;
            }
            i--;
        }
        if (source->tokens[i].kind != TOKEN_WORD) {
            refuse(source, source->tokens[t].line, "<<< without the name of a kernel before it");
        }
        if (i >= 3 && is_mark(source, i - 1, '#') && is_mark(source, i - 2, '#')) {
            i -= 3; /* a name that a macro pastes together: op##_kernel */
        } else if (i >= 2 && is_mark(source, i - 1, ':') && is_mark(source, i - 2, ':')) {
            if (i == 2 ||
                (source->tokens[i - 3].kind != TOKEN_WORD && !is_mark(source, i - 3, '>'))) {
                return i - 2;
            }
            i -= 3;
        } else if (i >= 2 && is_mark(source, i - 1, '.')) {
            i -= 2;
        } else if (i >= 3 && is_mark(source, i - 1, '>') && is_mark(source, i - 2, '-')) {
            i -= 3;
        } else {
            return i;
        }
    }
}

static bool opens(const Source *source, size_t t) {
    return is_mark(source, t, '(') || is_mark(source, t, '[') || is_mark(source, t, '{');
}

static bool closes(const Source *source, size_t t) {
    return is_mark(source, t, ')') || is_mark(source, t, ']') || is_mark(source, t, '}');
}

/* The token of >>> that ends the configuration opened before token t. */
static size_t config_end(const Source *source, size_t t) {
    int depth = 0;
    for (size_t i = t; source->tokens[i].kind != TOKEN_END; i++) {
        depth += opens(source, i) - closes(source, i);
        if (depth == 0 && is_triple(source, i, '>')) {
            return i;
        }
        if (depth < 0 || (depth == 0 && is_mark(source, i, ';'))) {
            break;
        }
    }
    refuse(source, source->tokens[t].line, "<<< without its >>>");
    return 0;
}

/* The token of the parenthesis that closes the one at t. */
static size_t match_forward(const Source *source, size_t t) {
    int depth = 0;
    for (size_t i = t; source->tokens[i].kind != TOKEN_END; i++) {
        depth += opens(source, i) - closes(source, i);
        if (depth == 0) {
            return i;
        }
    }
    refuse(source, source->tokens[t].line, "a launch whose arguments have no closing parenthesis");
    return 0;
}

/* text[start, end) with white space, line ends and quotes made fit for a string constant. */
static char *quoted_name(const char *text, size_t start, size_t end) {
    char *name = malloc(end - start + 1);
    size_t used = 0;
    for (size_t i = start; name != NULL && i < end; i++) {
        if (!isspace((unsigned char)text[i]) && text[i] != '\\' && text[i] != '"') {
            name[used++] = text[i];
        }
    }
    if (name == NULL) {
        fprintf(stderr, "simt-translate: out of memory\n");
        exit(1);
    }
    name[used] = '\0';
    return name;
}

/* Rewrites the launch whose <<< begins at token t; returns the token to go on with: launches may
 * stand in the arguments of launches only in device code, which is refused by the compiler. */
static size_t rewrite_launch(const Source *source, Edits *edits, size_t t) {
    const Token *tokens = source->tokens;
    if (t == 0) {
        refuse(source, tokens[t].line, "<<< without the name of a kernel before it");
    }
    size_t first = kernel_start(source, t), close = config_end(source, t + 3), open = close + 3;
    if (!is_mark(source, open, '(')) {
        refuse(source, tokens[close].line, ">>> without the kernel's arguments behind it");
    }
    size_t last = match_forward(source, open);
    size_t name_start = tokens[first].start, name_end = tokens[t - 1].end;
    char *name = quoted_name(source->text, name_start, name_end);
    size_t bytes = 2 * (name_end - name_start) + 128; /* the name stands in it twice at most */
    char *before = malloc(bytes), *after = malloc(bytes);
    if (before == NULL || after == NULL) {
        fprintf(stderr, "simt-translate: out of memory\n");
        exit(1);
    }
    snprintf(before, bytes, "::simt::launch(\"%s\", [=](auto... simt_args) { ", name);
    snprintf(after, bytes, "(simt_args...); }, SIMT_ADDRESS(%.*s), ::simt::Config(",
             (int)(name_end - name_start), source->text + name_start);
    for (char *c = after; *c != '\0'; c++) {
        *c = *c == '\n' ? ' ' : *c; /* the name's own line ends are there already */
    }
    free(name);
    add_edit(edits, name_start, name_start, before);
    add_edit(edits, tokens[t].start, tokens[t + 2].end, after);
    add_edit(edits, tokens[close].start, tokens[close + 2].end, copy_text(")"));
    add_edit(edits, tokens[open].start, tokens[open].end, copy_text(last == open + 1 ? "" : ", "));
    for (size_t i = open; i < last; i++) {
        if (is_word(source, i, "NULL")) { /* a plain 0 when copied; nullptr stays a pointer */
            add_edit(edits, tokens[i].start, tokens[i].end, copy_text("nullptr"));
        }
    }
    return last;
}

/* Does the brace at token t open a namespace or a linkage block, and not a function? */
static bool is_scope_brace(const Source *source, size_t t) {
    if (t >= 1 && source->tokens[t - 1].kind == TOKEN_STRING) {
        return t >= 2 && is_word(source, t - 2, "extern");
    }
    for (size_t i = t; i-- > 0 && t - i < 12;) {
        if (is_word(source, i, "namespace")) {
            return true;
        }
        if (source->tokens[i].kind != TOKEN_WORD && !is_mark(source, i, ':')) {
            return false;
        }
    }
    return false;
}

/* Rewrites `extern ... __shared__ ... type name[];` that begins at token t, if it is one. Returns
 * the token of its end, or t. */
static size_t rewrite_shared(const Source *source, Edits *edits, size_t t, bool in_function) {
    const Token *tokens = source->tokens;
    size_t end = t;
    bool shared = false;
    while (tokens[end].kind != TOKEN_END && !is_mark(source, end, ';') &&
           !is_mark(source, end, '{')) {
        shared |= is_word(source, end, "__shared__");
        end++;
    }
    if (!shared || !is_mark(source, end, ';')) {
        return t;
    }
    if (end < t + 5 || !is_mark(source, end - 1, ']') || !is_mark(source, end - 2, '[') ||
        tokens[end - 3].kind != TOKEN_WORD) {
        refuse(source, tokens[t].line,
               "extern __shared__ is understood as: extern __shared__ TYPE NAME[];");
    }
    char type[512] = "", out[1400];
    size_t used = 0, name = end - 3;
    for (size_t i = t; i < name && used < sizeof type - 2; i++) {
        if (is_word(source, i, "__align__") || is_word(source, i, "alignas")) {
            i = match_forward(source, i + 1);
        } else if (!is_word(source, i, "extern") && !is_word(source, i, "__shared__")) {
            used += (size_t)snprintf(type + used, sizeof type - used, "%.*s ",
                                     (int)(tokens[i].end - tokens[i].start),
                                     source->text + tokens[i].start);
        }
    }
    int name_length = (int)(tokens[name].end - tokens[name].start);
    const char *name_text = source->text + tokens[name].start;
    if (in_function) {
        snprintf(out, sizeof out,
                 "%s*%.*s = reinterpret_cast<%s*>(::simt::dynamic_shared_memory())", type,
                 name_length, name_text, type);
    } else {
        snprintf(out, sizeof out, "static ::simt::DynamicShared<%s> %.*s", type, name_length,
                 name_text);
    }
    /* Line ends inside the declaration stay, behind it. */
    for (int lines = count_lines(source->text, tokens[t].start, tokens[end].start); lines > 0;
         lines--) {
        strncat(out, "\n", sizeof out - strlen(out) - 1);
    }
    add_edit(edits, tokens[t].start, tokens[end].start, copy_text(out));
    return end;
}

static void find_edits(const Source *source, Edits *edits) {
    enum { MAX_DEPTH = 512 };
    bool scope[MAX_DEPTH]; /* of each open brace: a namespace, not a function */
    int depth = 0, functions = 0;
    for (size_t t = 0; t < source->count; t++) {
        if (is_mark(source, t, '{') && depth < MAX_DEPTH) {
            scope[depth] = is_scope_brace(source, t);
            functions += !scope[depth++];
        } else if (is_mark(source, t, '}') && depth > 0) {
            functions -= !scope[--depth];
        } else if (is_triple(source, t, '<')) {
            t = rewrite_launch(source, edits, t);
        } else if (is_word(source, t, "extern")) {
            t = rewrite_shared(source, edits, t, functions > 0);
        } else if (is_word(source, t, "static") && is_word(source, t + 1, "__shared__")) {
            add_edit(edits, source->tokens[t].start, source->tokens[t].end, copy_text(""));
        } else if (is_word(source, t, "__noinline__") && t > 0 && !is_mark(source, t - 1, '(')) {
            /* Not a macro: the standard library's headers say __attribute__((__noinline__)). */
            add_edit(edits, source->tokens[t].start, source->tokens[t].end,
                     copy_text("__attribute__((noinline))"));
        }
    }
}

static void read_source(Source *source, const char *path) {
    FILE *file = fopen(path, "rb");
    size_t capacity = 0;
    source->path = path;
    if (file == NULL) {
        fprintf(stderr, "simt-translate: %s: cannot be read\n", path);
        exit(1);
    }
    for (;;) {
        source->text = grow(source->text, source->length + 1, &capacity, 1);
        size_t got = fread(source->text + source->length, 1, capacity - source->length - 1, file);
        source->length += got;
        if (got == 0) {
            break;
        }
    }
    source->text[source->length] = '\0';
    fclose(file);
}

/* Line ends that an edit swallows come back behind it, so that every line keeps its number. */
static void write_result(const Source *source, const Edits *edits, FILE *out) {
    size_t at = 0;
    fprintf(out, "#line 1 \"%s\"\n", source->path);
    for (size_t i = 0; i < edits->count; i++) {
        const Edit *edit = &edits->items[i];
        fwrite(source->text + at, 1, edit->start - at, out);
        fputs(edit->with, out);
        at = edit->end;
    }
    fwrite(source->text + at, 1, source->length - at, out);
}

int main(int argc, char **argv) {
    Source source = {0};
    Edits edits = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: simt-translate IN.cu OUT.cpp\n");
        return 2;
    }
    read_source(&source, argv[1]);
    tokenize(&source);
    find_edits(&source, &edits);
    FILE *out = fopen(argv[2], "wb");
    if (out == NULL) {
        fprintf(stderr, "simt-translate: %s: cannot be written\n", argv[2]);
        return 1;
    }
    write_result(&source, &edits, out);
    if (fclose(out) != 0) {
        fprintf(stderr, "simt-translate: %s: cannot be written; is the disk full?\n", argv[2]);
        return 1;
    }
    return 0;
}
