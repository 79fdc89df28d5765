#include "base/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

Status publish_failure(const char *path, const char *action, int error) {
    static const struct {
        int error;
        const char *cure;
    } cures[] = {
        {ENOSPC, "; free some space and run it again"},
        {EDQUOT, "; free some of your quota and run it again"},
        {EACCES, "; choose a folder that you may write to"},
        {EPERM, "; choose a folder that you may write to"},
        {EROFS, "; choose a folder that you may write to"},
        {ENOENT, "; make its folder first"},
        {EFBIG, "; raise the limit on the size of files (ulimit -f) and run it again"},
        {ENAMETOOLONG, "; choose a shorter name"},
    };
    const char *cure = "";
    for (size_t i = 0; i < sizeof cures / sizeof cures[0]; i++) {
        if (cures[i].error == error) {
            cure = cures[i].cure;
        }
    }
    return fail("%s: cannot %s: %s%s", path, action, strerror(error), cure);
}

/* The rename itself lies in the folder: without this it may be lost with the power. Folders of some
 * file systems cannot be synced; the content is safe all the same. */
static void sync_folder_of(const char *path) {
    char folder[PATH_BYTES];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        snprintf(folder, sizeof folder, ".");
    } else {
        slash[slash == folder ? 1 : 0] = '\0';
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

Status publish_file(int fd, const char *temporary, const char *path) {
    if (fsync(fd) != 0) {
        return publish_failure(temporary, "write to the disk", errno);
    }
    if (rename(temporary, path) != 0) {
        return publish_failure(path, "put the new file in place", errno);
    }
    sync_folder_of(path);
    return STATUS_OK;
}
