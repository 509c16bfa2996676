#include <libxml/parser.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#define USAGE "usage: tool NAME\n"

void report(const char *text, int code) {
    // ruleid: swarmgate.c.format-string
    printf(text);
    // ruleid: swarmgate.c.format-string
    syslog(LOG_ERR, text);
    // ok: swarmgate.c.format-string
    printf("%s", text);
    // ok: swarmgate.c.format-string
    fprintf(stderr, USAGE);
    // ok: swarmgate.c.format-string
    printf("done\n");
}

int main(int argc, char **argv) {
    char command[256];
    snprintf(command, sizeof command, "convert in.png %s", argv[1]);
    // ruleid: swarmgate.c.command-injection
    system(command);
    char name[64];
    fgets(name, sizeof name, stdin);
    // ruleid: swarmgate.c.command-injection
    FILE *pipe = popen(name, "r");
    // ok: swarmgate.c.command-injection
    system("sync");
    char *args[] = {"convert", "in.png", argv[1], NULL};
    // ok: swarmgate.c.command-injection
    execv("/usr/bin/convert", args);
    return pipe == NULL;
}

int count(sqlite3 *db, const char *tenant) {
    char sql[256];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM orders WHERE tenant = '%s'", tenant);
    // ruleid: swarmgate.c.sql-built-from-strings
    sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_stmt *statement;
    // ok: swarmgate.c.sql-built-from-strings
    sqlite3_prepare_v2(db, "SELECT count(*) FROM orders WHERE tenant = ?", -1, &statement, NULL);
    return sqlite3_bind_text(statement, 1, tenant, -1, SQLITE_STATIC);
}

xmlDocPtr load(const char *path) {
    // ok: swarmgate.c.xxe
    xmlReadFile(path, NULL, XML_PARSE_NONET);
    // ruleid: swarmgate.c.xxe
    return xmlReadFile(path, NULL, XML_PARSE_NOENT | XML_PARSE_DTDLOAD);
}

FILE *listing(const char *folder, int depth) {
    char line[256];
    char fixed[64];
    snprintf(line, sizeof line, "ls -l %s", folder);
    // ruleid: swarmgate.c.shell-command-built
    FILE *all = popen(line, "r");
    snprintf(fixed, sizeof fixed, "find . -maxdepth %d", depth);
    // ok: swarmgate.c.shell-command-built
    FILE *some = popen(fixed, "r");
    return some ? some : all;
}

int checked_listing(const char *folder) {
    char line[256];
    if (!is_safe_name(folder)) return -1;
    snprintf(line, sizeof line, "ls -l %s", folder);
    // ok: swarmgate.c.shell-command-built
    return system(line);
}

int run_wrapper(const char *command) {
    // ok: swarmgate.c.shell-command-built
    return system(command);
}

int goes_home(const char *netloc, const char *domain) {
    // ruleid: swarmgate.c.host-compared-by-part
    if (strstr(netloc, domain) != NULL) {
        return 1;
    }
    // ok: swarmgate.c.host-compared-by-part
    if (strcmp(netloc, domain) == 0) {
        return 1;
    }
    // ok: swarmgate.c.host-compared-by-part
    if (strstr(netloc, ":") != NULL) {
        return 0;
    }
    return 0;
}

void greeting(char *page, size_t size, const char *name, int visits) {
    // ruleid: swarmgate.c.page-built
    snprintf(page, size, "<html><body>Hello %s</body></html>", name);
    // ok: swarmgate.c.page-built
    snprintf(page, size, "<html><body>%d visits</body></html>", visits);
    // ok: swarmgate.c.page-built
    snprintf(page, size, "Hello %s", name);
}

void named(xmlXPathContextPtr context, const char *name, int number) {
    char path[256];
    char numbered[64];
    snprintf(path, sizeof path, "//user[name='%s']", name);
    // ruleid: swarmgate.c.xpath-built
    xmlXPathEvalExpression((const xmlChar *)path, context);
    snprintf(numbered, sizeof numbered, "//user[%d]", number);
    // ok: swarmgate.c.xpath-built
    xmlXPathEvalExpression((const xmlChar *)numbered, context);
}

int claims(const char *text, const unsigned char *key, int size) {
    jwt_t *token;
    // ruleid: swarmgate.c.token-not-verified
    if (jwt_decode(&token, text, NULL, 0) == 0) {
        return 1;
    }
    // ok: swarmgate.c.token-not-verified
    return jwt_decode(&token, text, key, size);
}
