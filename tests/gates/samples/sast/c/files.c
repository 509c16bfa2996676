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
