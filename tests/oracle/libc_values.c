/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of the C library and of system calls' wrappers, for libc_values_test.py: with files that
 * are there and not, numbers of each sign, texts that are empty, long and with quotes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[64];

int main(int argc, char **argv)
{
    const char *own = argv[argc - 1];
    FILE *f = fopen("/nonexistent/passwd", "r");
    int fd = dup2(open(own, O_RDONLY), 50);
    ssize_t n = read(fd, text, 4);

    n += (ssize_t)strlen(own + strlen(own)) + (ssize_t)strlen("a text of some words");
    n += lseek(fd, 100, SEEK_SET) + lseek(fd, -4, SEEK_END) + lseek(-1, 5, SEEK_CUR);
    n += close(fd) + close(-1) + close(fd);
    n += access("/", R_OK | X_OK) + access("/nonexistent", F_OK);
    n += open("/nonexistent", O_RDONLY) + (ssize_t)read(77, text, 1 << 20);
    n += write(1, "out\n", 4) + write(-5, text, 0);
    char *p = malloc(123456), *q = calloc(7, 9);
    p = realloc(p, 17);
    strncpy(p, "copied", 7);
    n += strcmp(p, "copier") + strncmp(p, own, 3) + memcmp(p, "cop", 3) + atoi("-12345") +
         abs((int)n - 7);
    n += strtol("7fffffffffffffff", NULL, 16) != 0;
    n += strchr(p, 'd') - p + (strstr(p, "pie") == NULL);
    n += setenv("GT_LIBC", "value of it", 1) + (getenv("GT_LIBC") != NULL) +
         (getenv("GT_NONE") == NULL);
    memset(text, 'x', 10);
    n += unlink("/nonexistent/file") + chdir("/nonexistent") +
         rename("/nonexistent/a", "/nonexistent/b") + isatty(0);
    free(q);
    free(p);
    f = fopen(own, "rb");
    n += (ssize_t)fread(text, 1, 8, f) + fseek(f, 3, SEEK_SET) + ftell(f) + fclose(f);
    return n == 0;
}
