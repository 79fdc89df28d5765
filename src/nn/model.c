/* Model files. One statement a line, # begins a comment:
 *
 *     input 1 28 28              shape of a sample: C H W, or one number of features
 *     linear fc1 128             kind, name, arguments
 *     relu act1
 *     linear fc2 10
 *     loss softmax_cross_entropy
 *
 * Shapes are worked out as the lines are read, so an impossible one is named where it stands. */
#include "nn/model.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 8, LINE_BYTES = 512, FILE_BYTES = 65536 };

/* What a line is part of while a model is read. */
typedef struct Reader {
    Model *model;
    const char *where;
    int line;
    bool has_input, has_loss;
} Reader;

static Status parse_size(const Reader *reader, const char *what, const char *word, int *size) {
    char *end;
    errno = 0;
    long value = strtol(word, &end, 10);
    if (end == word || *end != '\0' || errno != 0 || value < 1 || value > INT_MAX) {
        return fail("%s:%d: %s '%.40s': expected a whole number from 1 to %d", reader->where,
                    reader->line, what, word, INT_MAX);
    }
    *size = (int)value;
    return STATUS_OK;
}

static Status parse_input(Reader *reader, char **words, int count) {
    if (reader->has_input || reader->model->layer_count > 0) {
        return fail("%s:%d: input must come once, before the layers", reader->where, reader->line);
    }
    if (count != 2 && count != 4) {
        return fail("%s:%d: expected 'input FEATURES' or 'input C H W'", reader->where,
                    reader->line);
    }
    Shape declared = {.rank = count - 1};
    int declared_count = 0, given_count = 0;
    for (int i = 0; i < declared.rank; i++) {
        TRY(parse_size(reader, "input", words[i + 1], &declared.dim[i]));
    }
    TRY(shape_count(&declared_count, "input", declared));
    TRY(shape_count(&given_count, "data", reader->model->input));
    if (declared_count != given_count) {
        return fail("%s:%d: input: the model takes samples of %d numbers, the data has %d; change "
                    "the model's input or use other --data",
                    reader->where, reader->line, declared_count, given_count);
    }
    reader->model->input = declared;
    reader->has_input = true;
    return STATUS_OK;
}

static Status parse_loss(Reader *reader, char **words, int count) {
    static const char *const losses[] = {"softmax_cross_entropy"};
    if (reader->has_loss) {
        return fail("%s:%d: a second loss; a model has one", reader->where, reader->line);
    }
    if (count != 2 || strcmp(words[1], losses[0]) != 0) {
        return fail_at(fail_unknown("loss", count < 2 ? "" : words[1], losses, 1), "%s:%d",
                       reader->where, reader->line);
    }
    reader->has_loss = true;
    return STATUS_OK;
}

static Status check_layer_name(const Reader *reader, const char *name) {
    if (strlen(name) >= LAYER_NAME_BYTES) {
        return fail("%s:%d: layer name '%.40s': at most %d characters", reader->where, reader->line,
                    name, LAYER_NAME_BYTES - 1);
    }
    for (const char *c = name; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c) && *c != '_') {
            return fail("%s:%d: layer name '%s': use letters, digits and _", reader->where,
                        reader->line, name);
        }
    }
    for (int i = 0; i < reader->model->layer_count; i++) {
        const Layer *other = &reader->model->layers[i];
        if (strcmp(other->name, name) == 0) {
            return fail("%s:%d: layer name '%s' stands already on line %d; names must differ",
                        reader->where, reader->line, name, other->line);
        }
    }
    return STATUS_OK;
}

static Status parse_layer(Reader *reader, char **words, int count) {
    Model *model = reader->model;
    Layer layer = {.line = reader->line};
    Status status = layer_kind_find(&layer.kind, words[0]);
    if (status != STATUS_OK) {
        return fail_at(status, "%s:%d", reader->where, reader->line);
    }
    bool has_units = layer.kind->arguments[0] != '\0';
    if (count != (has_units ? 3 : 2)) {
        return fail("%s:%d: expected '%s NAME%s%s'", reader->where, reader->line, words[0],
                    has_units ? " " : "", layer.kind->arguments);
    }
    if (reader->has_loss) {
        return fail("%s:%d: layer %s behind the loss; the loss comes last", reader->where,
                    reader->line, words[1]);
    }
    if (model->layer_count == MODEL_MAX_LAYERS) {
        return fail("%s:%d: more than %d layers", reader->where, reader->line, MODEL_MAX_LAYERS);
    }
    TRY(check_layer_name(reader, words[1]));
    snprintf(layer.name, sizeof layer.name, "%s", words[1]);
    if (has_units) {
        TRY(parse_size(reader, layer.name, words[2], &layer.units));
    }
    layer.inp = model->layer_count == 0 ? model->input : model->layers[model->layer_count - 1].out;
    status = layer.kind->shape(&layer);
    if (status != STATUS_OK) {
        return fail_at(status, "%s:%d", reader->where, reader->line);
    }
    model->layers[model->layer_count++] = layer;
    return STATUS_OK;
}

/* Splits at white space, in place; a comment ends the line. */
static int split_words(char *line, char **words) {
    int count = 0;
    static const char spaces[] = " \t\r\n";
    char *rest;
    line[strcspn(line, "#")] = '\0';
    for (char *word = strtok_r(line, spaces, &rest); word != NULL;
         word = strtok_r(NULL, spaces, &rest)) {
        if (count < MAX_WORDS) {
            words[count] = word;
        }
        count++;
    }
    return count;
}

static Status parse_line(Reader *reader, char *line) {
    char *words[MAX_WORDS] = {NULL};
    int count = split_words(line, words);
    if (count == 0) {
        return STATUS_OK;
    }
    if (count > MAX_WORDS) {
        return fail("%s:%d: %d words; a statement has at most %d", reader->where, reader->line,
                    count, MAX_WORDS);
    }
    if (strcmp(words[0], "input") == 0) {
        return parse_input(reader, words, count);
    }
    if (strcmp(words[0], "loss") == 0) {
        return parse_loss(reader, words, count);
    }
    return parse_layer(reader, words, count);
}

/* What can be said only when the last line is read. */
static Status check_whole(const Reader *reader, int class_count) {
    const Model *model = reader->model;
    if (model->layer_count == 0) {
        return fail("%s: no layers; add lines such as 'linear fc1 128'", reader->where);
    }
    if (!reader->has_loss) {
        return fail("%s: no loss; end with 'loss softmax_cross_entropy'", reader->where);
    }
    const Layer *last = &model->layers[model->layer_count - 1];
    int outputs = 0;
    TRY(shape_count(&outputs, last->name, last->out));
    if (outputs != class_count) {
        return fail("%s:%d: layer %s has %d outputs, but the data has %d classes; give it %d",
                    reader->where, last->line, last->name, outputs, class_count, class_count);
    }
    return STATUS_OK;
}

Status model_parse(Model *model, const char *where, const char *text, Shape input,
                   int class_count) {
    *model = (Model){.input = input, .class_count = class_count};
    snprintf(model->name, sizeof model->name, "%s", where);
    Reader reader = {.model = model, .where = where};
    while (*text != '\0') {
        char line[LINE_BYTES];
        size_t length = strcspn(text, "\n");
        reader.line++;
        if (length >= sizeof line) {
            return fail("%s:%d: a line of %zu characters; at most %zu are read", where, reader.line,
                        length, sizeof line - 1);
        }
        memcpy(line, text, length);
        line[length] = '\0';
        TRY(parse_line(&reader, line));
        text += length + (text[length] == '\n');
    }
    return check_whole(&reader, class_count);
}

/* "784-128-10" as a model file's text: linear layers with ReLU between. */
static Status mlp_text(char *text, size_t text_bytes, const char *sizes) {
    size_t used = 0;
    int layer = 0;
    for (const char *at = sizes; *at != '\0'; layer++) {
        char *end;
        long size = strtol(at, &end, 10);
        if (!isdigit((unsigned char)*at) || size < 1 || size > INT_MAX ||
            (*end != '-' && *end != '\0') || (*end == '-' && end[1] == '\0') ||
            layer >= MODEL_MAX_LAYERS / 2) {
            return fail("model mlp:%.60s: expected sizes such as mlp:784-128-10, from the input's "
                        "to the number of classes",
                        sizes);
        }
        bool last = *end == '\0';
        if (layer == 0) {
            used += (size_t)snprintf(text + used, text_bytes - used, "input %ld\n", size);
        } else {
            used +=
                (size_t)snprintf(text + used, text_bytes - used, "linear fc%d %ld\n", layer, size);
        }
        if (layer > 0 && !last) {
            used += (size_t)snprintf(text + used, text_bytes - used, "relu act%d\n", layer);
        }
        at = last ? end : end + 1;
    }
    if (layer < 2) {
        return fail("model mlp:%.60s: expected at least two sizes, such as mlp:784-10", sizes);
    }
    snprintf(text + used, text_bytes - used, "loss softmax_cross_entropy\n");
    return STATUS_OK;
}

static const struct {
    const char *name, *about; /* about is NULL: a later version's */
} presets[] = {
    {"mlp", "784-128-10 with ReLU: 101,770 weights (input and classes follow the data)"},
    {"cnn", NULL},
    {"gpt", NULL},
    {"audio", NULL},
};
enum { PRESET_COUNT = sizeof presets / sizeof presets[0], MLP_HIDDEN = 128 };

/* A name that is neither a file nor a preset of this version. */
static Status no_such_model(const char *name, int error) {
    const char *names[PRESET_COUNT];
    int count = 0;
    for (int i = 0; i < PRESET_COUNT; i++) {
        size_t length = strlen(presets[i].name);
        if (presets[i].about != NULL) {
            names[count++] = presets[i].name;
        } else if (strncmp(presets[i].name, name, length) == 0 &&
                   (name[length] == '\0' || name[length] == ':')) {
            return fail_missing("model %s: comes with a later version of Lockstep; use mlp, "
                                "mlp:784-512-256-10 or a model file",
                                name);
        }
    }
    if (strchr(name, '/') != NULL || strchr(name, '.') != NULL || error != ENOENT) {
        return fail("model %s: cannot read the file: %s", name, strerror(error));
    }
    return fail_at(fail_unknown("preset", name, names, count), "model %s: no file of that name",
                   name);
}

static Status load_file(Model *model, const char *path, Shape input, int class_count) {
    char text[FILE_BYTES] = "";
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return no_such_model(path, errno);
    }
    size_t length = fread(text, 1, sizeof text - 1, file);
    int error = errno;
    bool broken = ferror(file) != 0, longer = !feof(file);
    fclose(file);
    text[length] = '\0';
    if (broken || longer || strlen(text) != length) {
        return fail("model %s: %s%s", path,
                    broken   ? "cannot be read: "
                    : longer ? "too long for a model file"
                             : "holds a zero byte: not a text file",
                    broken ? strerror(error) : "");
    }
    return model_parse(model, path, text, input, class_count);
}

const char *model_preset(int index, const char **about) {
    if (index < 0 || index >= PRESET_COUNT || presets[index].about == NULL) {
        return NULL; /* those of later versions stand at the end */
    }
    *about = presets[index].about;
    return presets[index].name;
}

Status model_load(Model *model, const char *name_or_file, Shape input, int class_count) {
    char sizes[64], text[LINE_BYTES * 16] = "";
    int features;
    TRY(shape_count(&features, "data", input));
    if (strcmp(name_or_file, "mlp") == 0) {
        snprintf(sizes, sizeof sizes, "%d-%d-%d", features, MLP_HIDDEN, class_count);
        TRY(mlp_text(text, sizeof text, sizes));
    } else if (strncmp(name_or_file, "mlp:", 4) == 0) {
        TRY(mlp_text(text, sizeof text, name_or_file + 4));
    } else {
        return load_file(model, name_or_file, input, class_count);
    }
    return model_parse(model, name_or_file, text, input, class_count);
}

char *model_text(char *text, size_t text_bytes, const Model *model) {
    size_t used = (size_t)snprintf(text, text_bytes, "input");
    for (int i = 0; i < model->input.rank && used < text_bytes; i++) {
        used += (size_t)snprintf(text + used, text_bytes - used, " %d", model->input.dim[i]);
    }
    for (int i = 0; i < model->layer_count && used < text_bytes; i++) {
        const Layer *layer = &model->layers[i];
        used += (size_t)snprintf(text + used, text_bytes - used, "\n%s %s", layer->kind->name,
                                 layer->name);
        if (layer->units > 0 && used < text_bytes) {
            used += (size_t)snprintf(text + used, text_bytes - used, " %d", layer->units);
        }
    }
    if (used < text_bytes) {
        snprintf(text + used, text_bytes - used, "\nloss softmax_cross_entropy\n");
    }
    return text;
}

size_t model_param_count(const Model *model) {
    size_t count = 0;
    for (int i = 0; i < model->layer_count; i++) {
        LayerRun run = {.layer = &model->layers[i]};
        if (run.layer->kind->params != NULL && run.layer->kind->params(&run) == STATUS_OK) {
            for (int p = 0; p < run.param_count; p++) {
                count += run.param[p].count;
            }
        }
    }
    return count;
}
