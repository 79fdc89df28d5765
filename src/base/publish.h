/* The last step of writing a file that nobody may ever see half: fsync, rename, fsync the folder.
 * After a crash at any moment the final name holds the old content or the whole new one. */
#ifndef LOCKSTEP_PUBLISH_H
#define LOCKSTEP_PUBLISH_H

#include "base/status.h"

/* Puts the file behind fd, written completely under the name temporary in the same folder, in
 * place as path. Closes nothing. On failure path is untouched and temporary is still there. */
Status publish_file(int fd, const char *temporary, const char *path);

/* STATUS_BAD for a failed system call on a file that is written: errno's text, and the cure for a
 * full disk, a read-only folder and a missing folder. */
Status publish_failure(const char *path, const char *action, int error);

#endif
