/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that execute others: see executed_test.py.
 *
 *   work N           calls leaf() N times
 *   killed           calls leaf() once, and kills itself
 *   memfd FILE N     executes a copy of FILE that has no name, by a descriptor that closes then
 *   removed FILE N   executes a copy of FILE that was removed
 *   fails FILE       executes what is none, then FILE's directory, and goes on
 *   limits FILE N    executes FILE with fewer descriptors than it had itself
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;
static volatile long count;

__attribute__((noinline)) static void leaf(void)
{
    count++;
}

static int copy_of(const char *file, int to)
{
    struct stat st;
    int from = open(file, O_RDONLY);
    if (from < 0 || fstat(from, &st) || sendfile(to, from, 0, (size_t)st.st_size) != st.st_size)
        return -1;
    fchmod(to, 0755);
    close(from);
    return to;
}

static int run_memfd(char **argv)
{
    int fd = copy_of(argv[2], memfd_create("nameless", MFD_CLOEXEC));
    char *words[] = {"another name", "work", argv[3], NULL};
    fexecve(fd, words, environ);
    return 1;
}

static int run_removed(char **argv)
{
    char path[] = "removed.XXXXXX";
    int fd = copy_of(argv[2], mkstemp(path)), again = open(path, O_RDONLY | O_CLOEXEC);
    char *words[] = {"another name", "work", argv[3], NULL};
    close(fd);
    unlink(path);
    fexecve(again, words, environ);
    return 1;
}

static int fail(char **argv)
{
    char *words[] = {argv[2], "work", "1", NULL};
    execv("/nonexistent", words);
    execv("/", words);
    execv("/etc/passwd", words);
    leaf();
    printf("%s\n", strerror(errno));
    return 0;
}

static int run_limited(char **argv)
{
    struct rlimit limit = {16, 16};
    char *words[] = {argv[2], "work", argv[3], NULL};
    setrlimit(RLIMIT_NOFILE, &limit);
    execv(argv[2], words);
    return 1;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "memfd"))
        return run_memfd(argv);
    if (!strcmp(how, "removed"))
        return run_removed(argv);
    if (!strcmp(how, "fails"))
        return fail(argv);
    if (!strcmp(how, "limits"))
        return run_limited(argv);
    long n = argc > 2 ? atol(argv[2]) : 1;
    for (long i = 0; i < n; i++)
        leaf();
    if (!strcmp(how, "killed"))
        raise(SIGKILL);
    printf("%s %ld\n", argv[0], count);
    for (char **v = environ; *v; v++)
        if (!strncmp(*v, "GUESTTRACE_", 11) || !strncmp(*v, "LD_", 3))
            puts(*v);
    return 0;
}
