#include "data/fetch.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/publish.h"

enum {
    CONNECT_SECONDS = 20,
    STALL_SECONDS = 30, /* without a byte: given up */
    TERMINAL_MS = 100,  /* between two progress lines */
    PLAIN_MS = 5000,
};
static const double MB = 1e6, NS = 1e-9;

typedef struct Transfer {
    const Fetch *fetch;
    uint64_t offset, written; /* bytes in the file before, and added by this transfer */
    int write_error;          /* errno of a failed write; 0 is none */
    bool too_long;
    bool terminal; /* progress rewrites one line */
    uint64_t start_ns, shown_ns;
} Transfer;

static size_t take_content(char *content, size_t one, size_t count, void *user) {
    Transfer *transfer = user;
    (void)one; /* libcurl promises 1 */
    if (transfer->offset + transfer->written + count > transfer->fetch->limit) {
        transfer->too_long = true;
        return 0;
    }
    for (size_t done = 0; done < count;) {
        ssize_t wrote = write(transfer->fetch->fd, content + done, count - done);
        if (wrote < 0 && errno != EINTR) {
            transfer->write_error = errno;
            return 0;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
        transfer->written += wrote > 0 ? (uint64_t)wrote : 0;
    }
    return count;
}

static void show_progress(const Transfer *transfer, double total, double now) {
    double seconds = (double)(clock_now_ns() - transfer->start_ns) * NS;
    double rate = seconds > 0 ? now / seconds : 0, offset = (double)transfer->offset;
    fprintf(stderr, "%s%s  ", transfer->terminal ? "\r" : "", transfer->fetch->label);
    if (total > 0) {
        fprintf(stderr, "%3.0f %%  ", 100 * (offset + now) / (offset + total));
    }
    fprintf(stderr, "%.1f MB  %.2f MB/s", (offset + now) / MB, rate / MB);
    if (total > now && rate > 0) {
        fprintf(stderr, "  about %.0f s left", (total - now) / rate);
    }
    fprintf(stderr, "%s", transfer->terminal ? "\033[K" : "\n");
}

/* libcurl calls this often; total and now count this transfer alone. Returning 0 goes on. */
static int on_progress(void *user, curl_off_t total, curl_off_t now, curl_off_t up_total,
                       curl_off_t up_now) {
    Transfer *transfer = user;
    uint64_t pause_ns = (transfer->terminal ? TERMINAL_MS : PLAIN_MS) * 1000000ull;
    (void)up_total;
    (void)up_now;
    if (now > 0 && clock_now_ns() - transfer->shown_ns >= pause_ns) {
        transfer->shown_ns = clock_now_ns();
        show_progress(transfer, (double)total, (double)now);
    }
    return 0;
}

static void allow_protocols(CURL *curl) {
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https,file");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else /* the older names, deprecated since 7.85 */
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS,
                     (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS | CURLPROTO_FILE));
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static void set_options(CURL *curl, Transfer *transfer, char *error_text) {
    allow_protocols(curl);
    curl_easy_setopt(curl, CURLOPT_URL, transfer->fetch->url);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error_text);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "lockstep");
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
    curl_easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)transfer->offset);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_content);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, transfer);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, transfer->fetch->quiet ? 1L : 0L);
}

static Status judge(CURL *curl, CURLcode code, const Transfer *transfer, const char *error_text) {
    const Fetch *fetch = transfer->fetch;
    long answer = 0;
    if (transfer->write_error != 0) {
        return publish_failure(fetch->path, "write", transfer->write_error);
    }
    if (transfer->too_long) {
        return fail_no("%s: sends more than the %llu bytes that the file can have", fetch->url,
                       (unsigned long long)fetch->limit);
    }
    switch (code) {
    case CURLE_OK:
        return STATUS_OK;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        return fail("%s: no usable address; expected http://, https:// or file:// and a folder",
                    fetch->url);
    case CURLE_RANGE_ERROR:
    case CURLE_BAD_DOWNLOAD_RESUME:
        return fail_no("%s: the server cannot go on in the middle of a file", fetch->url);
    case CURLE_HTTP_RETURNED_ERROR:
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer);
        return fail_missing("%s: the server answers %ld%s", fetch->url, answer,
                            answer == 404 ? " (not found)" : "");
    case CURLE_PARTIAL_FILE:
        return fail_missing("%s: the answer ended early, after %llu bytes", fetch->url,
                            (unsigned long long)(transfer->offset + transfer->written));
    default:
        return fail_missing("%s: %s", fetch->url,
                            error_text[0] != '\0' ? error_text : curl_easy_strerror(code));
    }
}

Status fetch_url(const Fetch *fetch) {
    char error_text[CURL_ERROR_SIZE] = "";
    off_t end = lseek(fetch->fd, 0, SEEK_END);
    if (end < 0) {
        return publish_failure(fetch->path, "write", errno);
    }
    CURL *curl = curl_easy_init();
    if (curl == NULL) {
        return fail("libcurl does not start; out of memory?");
    }
    Transfer transfer = {.fetch = fetch,
                         .offset = (uint64_t)end,
                         .terminal = isatty(STDERR_FILENO) != 0,
                         .start_ns = clock_now_ns(),
                         .shown_ns = clock_now_ns()};
    set_options(curl, &transfer, error_text);
    Status status = judge(curl, curl_easy_perform(curl), &transfer, error_text);
    curl_easy_cleanup(curl);
    if (!fetch->quiet && transfer.written > 0) {
        show_progress(&transfer, status == STATUS_OK ? (double)transfer.written : 0,
                      (double)transfer.written);
        fputs(transfer.terminal ? "\n" : "", stderr);
    }
    return status;
}
