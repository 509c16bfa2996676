#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    int value;
    struct node *next;
};

void ask(void) {
    char line[64];
    char word[32];
    // ruleid: swarmgate.c.gets
    gets(line);
    // ok: swarmgate.c.gets
    fgets(line, sizeof line, stdin);
    // ruleid: swarmgate.c.unbounded-scanf
    scanf("%s", word);
    // ok: swarmgate.c.unbounded-scanf
    scanf("%31s", word);
    int number;
    // ok: swarmgate.c.unbounded-scanf
    scanf("%d", &number);
}

void greet(const char *name) {
    char buffer[32];
    // ruleid: swarmgate.c.unbounded-copy
    strcpy(buffer, name);
    // ok: swarmgate.c.unbounded-copy
    strcat(buffer, "!");
    // ruleid: swarmgate.c.unbounded-sprintf
    sprintf(buffer, "Hello %s", name);
    // ok: swarmgate.c.unbounded-sprintf
    snprintf(buffer, sizeof buffer, "Hello %s", name);
    // ok: swarmgate.c.unbounded-sprintf
    sprintf(buffer, "%d", 3);
}

int keep(const char *name) {
    char buffer[32];
    if (strlen(name) >= sizeof buffer) {
        return -1;
    }
    // ok: swarmgate.c.unbounded-copy
    strcpy(buffer, name);
    return buffer[0];
}

void join(char *target, size_t size, const char *source) {
    char local[64];
    // ruleid: swarmgate.c.length-of-source
    strncpy(target, source, strlen(source));
    // ok: swarmgate.c.length-of-source
    strncpy(target, source, size - 1);
    // ruleid: swarmgate.c.length-of-source
    strncat(local, source, sizeof(local));
    // ok: swarmgate.c.length-of-source
    strncat(local, source, sizeof(local) - strlen(local) - 1);
    // ruleid: swarmgate.c.size-of-pointer
    memset(target, 0, sizeof(target));
    // ok: swarmgate.c.size-of-pointer
    memset(target, 0, size);
    // ok: swarmgate.c.size-of-pointer
    memset(local, 0, sizeof(local));
}

char *copy(const char *text) {
    // ruleid: swarmgate.c.missing-terminator-byte
    char *short_copy = malloc(strlen(text));
    strcpy(short_copy, text);
    // ok: swarmgate.c.missing-terminator-byte
    char *whole = malloc(strlen(text) + 1);
    strcpy(whole, text);
    free(short_copy);
    return whole;
}

void close_twice(char *block) {
    // ruleid: swarmgate.c.double-free
    free(block);
    puts("closed");
    free(block);
}

void refill(char *block) {
    // ok: swarmgate.c.double-free
    free(block);
    block = malloc(16);
    free(block);
}

int drop(struct node *node) {
    // ruleid: swarmgate.c.use-after-free
    free(node);
    return node->value;
}

int drop_well(struct node *node) {
    int value = node->value;
    // ok: swarmgate.c.use-after-free
    free(node);
    return value;
}
