/* Writing and reading of checkpoints; the header's JSON is in checkpoint_header.c. */
#include "nn/checkpoint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/outfile.h"
#include "data/infile.h"
#include "nn/checkpoint_header.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files hold the little end first");

static const char MARK[8] = {'L', 'O', 'C', 'K', 'S', 'T', 'E', 'P'};
enum { FIXED_BYTES = 16, CHECKSUM_BYTES = 4 };

struct Checkpoint {
    char *path;
    unsigned char *bytes;
    size_t size;
    size_t tensors_at; /* offset of the first tensor */
    cJSON *header;
    CheckpointState state;
};

/* ---- writing -------------------------------------------------------------------------------- */

Status checkpoint_write_tensor(OutFile *out, const Run *run, const Tensor *tensor, float *host) {
    TRY(run_download(run, host, tensor));
    for (size_t i = 0; i < tensor->count; i++) {
        if (!isfinite(host[i])) {
            return fail_no("%s: not saved: after step %lld %s[%zu] is %g; the run has diverged: "
                           "lower --lr",
                           out->path, (long long)run->step, tensor->name, i, (double)host[i]);
        }
    }
    outfile_write(out, host, tensor->bytes);
    return STATUS_OK;
}

static Status write_tensors(OutFile *out, const Run *run) {
    size_t largest = 0;
    for (int i = 0; i < run->param_count; i++) {
        size_t bytes = run->params[i].param->bytes;
        largest = bytes > largest ? bytes : largest;
    }
    float *host = memory_alloc(largest);
    Status status = host != NULL ? STATUS_OK : fail("%s: no memory to save from", out->path);
    for (int i = 0; status == STATUS_OK && i < run->param_count; i++) {
        const RunParam *entry = &run->params[i];
        status = checkpoint_write_tensor(out, run, entry->param, host);
        for (int s = 0; status == STATUS_OK && s < run->optimizer->state_count; s++) {
            status = checkpoint_write_tensor(out, run, &entry->state[s], host);
        }
    }
    memory_free(host);
    return status;
}

Status checkpoint_save(const char *path, const Run *run, const CheckpointState *state) {
    OutFile out;
    char *header = checkpoint_header_make(run, state);
    if (header == NULL) {
        return fail("%s: no memory for the checkpoint's header", path);
    }
    uint32_t numbers[2] = {CHECKPOINT_VERSION, (uint32_t)strlen(header)};
    Status status = outfile_open(&out, path);
    if (status == STATUS_OK) {
        outfile_write(&out, MARK, sizeof MARK);
        outfile_write(&out, numbers, sizeof numbers);
        outfile_write(&out, header, numbers[1]);
        status = write_tensors(&out, run);
        uint32_t checksum = out.crc;
        outfile_write(&out, &checksum, sizeof checksum);
        if (status == STATUS_OK) {
            status = outfile_commit(&out);
        } else {
            outfile_abandon(&out);
        }
    }
    cJSON_free(header);
    return status;
}

/* ---- reading -------------------------------------------------------------------------------- */

bool checkpoint_is(const char *path) {
    char mark[sizeof MARK];
    FILE *file = fopen(path, "rbe");
    bool is = file != NULL && fread(mark, 1, sizeof mark, file) == sizeof mark &&
              memcmp(mark, MARK, sizeof mark) == 0;
    if (file != NULL) {
        fclose(file);
    }
    return is;
}

static uint32_t number_at(const unsigned char *bytes) {
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

/* Mark and version first: a newer file may have another checksum. */
static Status check_envelope(const Checkpoint *file) {
    if (file->size < FIXED_BYTES + CHECKSUM_BYTES || memcmp(file->bytes, MARK, sizeof MARK) != 0) {
        return fail("%s: not a checkpoint of Lockstep (%zu bytes, no mark LOCKSTEP)", file->path,
                    file->size);
    }
    uint32_t version = number_at(file->bytes + 8);
    if (version != CHECKPOINT_VERSION) {
        return fail("%s: checkpoint of version %u; this Lockstep reads version %d", file->path,
                    version, CHECKPOINT_VERSION);
    }
    size_t covered = file->size - CHECKSUM_BYTES;
    uint32_t found = (uint32_t)crc32_z(0, file->bytes, covered);
    uint32_t expected = number_at(file->bytes + covered);
    if (found != expected) {
        return fail("%s: damaged or cut: its checksum is %08x, its content gives %08x; use an "
                    "older checkpoint",
                    file->path, expected, found);
    }
    if (number_at(file->bytes + 12) > covered - FIXED_BYTES) {
        return fail("%s: the header's length passes the file's end", file->path);
    }
    return STATUS_OK;
}

static Status parse(Checkpoint *file) {
    TRY(check_envelope(file));
    const char *text = (const char *)file->bytes + FIXED_BYTES;
    size_t length = number_at(file->bytes + 12);
    file->tensors_at = FIXED_BYTES + length;
    file->header = cJSON_ParseWithLength(text, length);
    if (file->header == NULL) {
        return fail("%s: the header is not JSON", file->path);
    }
    Status status = checkpoint_header_parse(&file->state, file->header);
    return status == STATUS_OK ? STATUS_OK : fail_at(status, "%s", file->path);
}

Status checkpoint_load(Checkpoint **checkpoint, const char *path) {
    Checkpoint *file = calloc(1, sizeof *file);
    if (file == NULL || (file->path = strdup(path)) == NULL) {
        free(file);
        return fail("%s: no memory to read it", path);
    }
    Status status = infile_read(&file->bytes, &file->size, path);
    if (status == STATUS_OK) {
        status = parse(file);
    }
    if (status != STATUS_OK) {
        checkpoint_free(file);
        return status;
    }
    *checkpoint = file;
    return STATUS_OK;
}

const CheckpointState *checkpoint_state(const Checkpoint *checkpoint) {
    return &checkpoint->state;
}

/* The index-th tensor of the file into one of the run's, which must be its twin. */
static Status restore_tensor(const Checkpoint *file, int index, size_t *at, const Run *run,
                             const Tensor *tensor) {
    TRY(checkpoint_header_check_tensor(file->header, index, tensor));
    if (tensor->bytes > file->size - CHECKSUM_BYTES - *at) {
        return fail("the file ends within %s", tensor->name);
    }
    TRY(run_upload(run, tensor, file->bytes + *at));
    *at += tensor->bytes;
    return STATUS_OK;
}

static Status restore_tensors(const Checkpoint *file, const Run *run) {
    size_t at = file->tensors_at;
    int index = 0;
    for (int i = 0; i < run->param_count; i++) {
        const RunParam *entry = &run->params[i];
        TRY(restore_tensor(file, index++, &at, run, entry->param));
        for (int s = 0; s < run->optimizer->state_count; s++) {
            TRY(restore_tensor(file, index++, &at, run, &entry->state[s]));
        }
    }
    if (at != file->size - CHECKSUM_BYTES) {
        return fail("%zu bytes behind the last tensor of the model; it is from another model",
                    file->size - CHECKSUM_BYTES - at);
    }
    return STATUS_OK;
}

Status checkpoint_restore(const Checkpoint *checkpoint, Run *run) {
    Status status = restore_tensors(checkpoint, run);
    if (status != STATUS_OK) {
        return fail_at(status, "%s", checkpoint->path);
    }
    run_seek(run, checkpoint->state.step);
    return run->backend.synchronize();
}

void checkpoint_free(Checkpoint *checkpoint) {
    if (checkpoint != NULL) {
        cJSON_Delete(checkpoint->header);
        free(checkpoint->bytes);
        free(checkpoint->path);
        free(checkpoint);
    }
}

char *data_fingerprint(char *text, size_t text_bytes, const Dataset *data) {
    const DataSplit *splits[2] = {&data->train, &data->test};
    uint32_t crc[2];
    for (int i = 0; i < 2; i++) {
        size_t count = (size_t)splits[i]->count;
        crc[i] = (uint32_t)crc32_z(0, splits[i]->pixels, count * dataset_image_size(data));
        crc[i] = (uint32_t)crc32_z(crc[i], (const Bytef *)splits[i]->labels,
                                   count * sizeof *splits[i]->labels);
    }
    snprintf(text, text_bytes, "%dx%dx%d/%d %d classes, train %d:%08x, test %d:%08x",
             data->channels, data->height, data->width, data->value_max, data->class_count,
             data->train.count, crc[0], data->test.count, crc[1]);
    return text;
}
