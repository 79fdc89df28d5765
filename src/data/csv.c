#include "data/csv.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/bytes.h"

enum { FIELD_BYTES = 64, CHUNK_BYTES = 1 << 16, MAX_COLUMNS = 1 << 20 };

/* Where the reading stands; one byte at a time goes through take_byte. */
typedef struct CsvReader {
    CsvTable *table;
    const char *path;
    char field[FIELD_BYTES]; /* text since the last comma, no final zero */
    size_t field_length;
    int column;            /* fields of this row that are done */
    size_t used, capacity; /* of table->values */
} CsvReader;

static Status store(CsvReader *csv, float value) {
    if (csv->used == csv->capacity) {
        size_t grown = csv->capacity == 0 ? 4096 : 2 * csv->capacity;
        float *values =
            grown > SIZE_MAX / 8 ? NULL : realloc(csv->table->values, grown * sizeof *values);
        if (values == NULL) {
            return fail("%s: out of memory after %d rows", csv->path, csv->table->row_count);
        }
        csv->table->values = values;
        csv->capacity = grown;
    }
    csv->table->values[csv->used++] = value;
    return STATUS_OK;
}

/* Only characters of decimal numbers first: strtof alone would take nan, inf and 0x10. */
static bool parse_number(float *value, const char *text) {
    char *end = NULL;
    if (text[0] == '\0' || text[strspn(text, "0123456789+-.eE")] != '\0') {
        return false;
    }
    *value = strtof(text, &end);
    return *end == '\0' && isfinite(*value);
}

/* Text that may hold anything, fit to stand in a message. */
static void make_printable(char *text) {
    for (; *text != '\0'; text++) {
        if (*text < ' ' || *text > '~') {
            *text = '?';
        }
    }
}

static Status end_field(CsvReader *csv) {
    float value = 0;
    const int row = csv->table->row_count, limit = row > 0 ? csv->table->column_count : MAX_COLUMNS;
    if (csv->column >= limit) {
        return fail("%s row %d (line %d): more than %d fields, expected %s; mend that line",
                    csv->path, row, row + 1, limit,
                    row > 0 ? "as many as in the first row" : "no more than these");
    }
    csv->field[csv->field_length] = '\0';
    if (!parse_number(&value, csv->field)) {
        make_printable(csv->field);
        return fail("%s row %d (line %d) column %d: '%s', expected a number%s", csv->path, row,
                    row + 1, csv->column + 1, csv->field,
                    row == 0 ? "; remove a header line" : "; mend that line");
    }
    csv->field_length = 0;
    csv->column++;
    return store(csv, value);
}

static Status end_row(CsvReader *csv) {
    CsvTable *table = csv->table;
    if (csv->field_length > 0 && csv->field[csv->field_length - 1] == '\r') {
        csv->field_length--;
    }
    TRY(end_field(csv));
    if (table->row_count == 0) {
        table->column_count = csv->column;
    }
    if (csv->column != table->column_count) {
        return fail("%s row %d (line %d): %d fields, expected %d as in the first row; mend that "
                    "line or get the file again",
                    csv->path, table->row_count, table->row_count + 1, csv->column,
                    table->column_count);
    }
    if (table->row_count == INT_MAX - 1) {
        return fail("%s: more than %d rows; split the file", csv->path, INT_MAX - 1);
    }
    table->row_count++;
    csv->column = 0;
    return STATUS_OK;
}

static Status take_byte(CsvReader *csv, char byte) {
    if (byte == ',') {
        return end_field(csv);
    }
    if (byte == '\n') {
        return end_row(csv);
    }
    if (csv->field_length == FIELD_BYTES - 1) {
        return fail("%s row %d (line %d) column %d: a field of more than %d characters, expected a "
                    "number; is this a CSV file?",
                    csv->path, csv->table->row_count, csv->table->row_count + 1, csv->column + 1,
                    FIELD_BYTES - 1);
    }
    csv->field[csv->field_length++] = byte != '\0' ? byte : '?'; /* or it would end the text */
    return STATUS_OK;
}

static Status read_rows(CsvReader *csv, ByteReader *reader) {
    char chunk[CHUNK_BYTES];
    size_t got = 0;
    do {
        TRY(bytes_read(reader, chunk, &got, sizeof chunk));
        for (size_t i = 0; i < got; i++) {
            TRY(take_byte(csv, chunk[i]));
        }
    } while (got == sizeof chunk);
    if (csv->field_length > 0 || csv->column > 0) { /* the last line may lack its newline */
        TRY(end_row(csv));
    }
    if (csv->table->row_count == 0) {
        return fail("%s: the file holds no rows; get it again", csv->path);
    }
    return STATUS_OK;
}

Status csv_read(CsvTable *table, const char *path) {
    ByteReader *reader = NULL;
    *table = (CsvTable){0};
    TRY(bytes_open(&reader, path));
    CsvReader csv = {.table = table, .path = path};
    Status status = read_rows(&csv, reader);
    bytes_close(reader);
    if (status != STATUS_OK) {
        csv_free(table);
    }
    return status;
}

void csv_free(CsvTable *table) {
    free(table->values);
    *table = (CsvTable){0};
}
