#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int scratch(void) {
    char name[] = "/tmp/shop-XXXXXX";
    // ruleid: swarmgate.c.predictable-temporary-file
    char *guess = tmpnam(NULL);
    // ok: swarmgate.c.predictable-temporary-file
    return guess == NULL ? -1 : mkstemp(name);
}

void prepare(const char *path) {
    // ruleid: swarmgate.c.world-writable
    chmod(path, 0777);
    // ruleid: swarmgate.c.world-writable
    open(path, O_CREAT | O_WRONLY, 0666);
    // ok: swarmgate.c.world-writable
    chmod(path, 0640);
    // ok: swarmgate.c.world-writable
    umask(022);
}

int read_config(const char *path) {
    // ruleid: swarmgate.c.check-then-open
    if (access(path, R_OK) == 0) {
        FILE *file = fopen(path, "r");
        return file != NULL;
    }
    return 0;
}

int read_other(const char *path, const char *other) {
    // ok: swarmgate.c.check-then-open
    if (access(other, F_OK) == 0) {
        FILE *file = fopen(path, "r");
        return file != NULL;
    }
    return 0;
}

int keep_secret(const char *path) {
    // ruleid: swarmgate.c.secret-readable-by-others
    int open_to_all = open(path, O_WRONLY | O_CREAT, 0644);
    // ok: swarmgate.c.secret-readable-by-others
    int closed = open(path, O_WRONLY | O_CREAT, 0600);
    return open_to_all + closed;
}

int keep_report(const char *path) {
    // ok: swarmgate.c.secret-readable-by-others
    return open(path, O_WRONLY | O_CREAT, 0644);
}

void unpack(struct archive *in, struct archive *out, const char *folder) {
    struct archive_entry *entry;
    char target[4096];
    archive_write_disk_set_options(out, ARCHIVE_EXTRACT_TIME);
    while (archive_read_next_header(in, &entry) == ARCHIVE_OK) {
        snprintf(target, sizeof target, "%s/%s", folder, archive_entry_pathname(entry));
        // ruleid: swarmgate.c.archive-entry-path
        archive_entry_set_pathname(entry, target);
    }
}

void unpack_well(struct archive *in, struct archive *out, const char *folder) {
    struct archive_entry *entry;
    char target[4096];
    int flags = ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_SECURE_NODOTDOT;
    archive_write_disk_set_options(out, flags);
    while (archive_read_next_header(in, &entry) == ARCHIVE_OK) {
        snprintf(target, sizeof target, "%s/%s", folder, archive_entry_pathname(entry));
        // ok: swarmgate.c.archive-entry-path
        archive_entry_set_pathname(entry, target);
    }
}
