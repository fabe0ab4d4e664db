/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that takes from its process what it may do, step by step, as sandboxes do, and calls
 * leaf() 1000 times after each; ends with status 3.
 *
 *     nofile  RLIMIT_NOFILE is 3      uid     it has no rights
 *     fsize   RLIMIT_FSIZE is 0       chroot  its root is the folder in $EMPTY
 *     fork    a child that calls leaf() 500 times, and ends with status 7: waits for it
 *     close   closes all descriptors but 0, 1 and 2
 */
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sum;

static __attribute__((noinline, noclone)) void leaf(void)
{
    sum++;
}

static void work(int n)
{
    for (int i = 0; i < n; i++)
        leaf();
}

static int limit(int what, unsigned most)
{
    const struct rlimit limit = {most, most};
    return setrlimit(what, &limit);
}

static int descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* The child has the descriptors that it has without a recorder. */
static int fork_and_wait(void)
{
    int status, n = descriptors();
    pid_t child = fork();
    if (child == 0) {
        work(500);
        _exit(descriptors() == n ? 7 : 8);
    }
    if (descriptors() != n)
        return 1;
    return child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7;
}

static int step(const char *name)
{
    if (strcmp(name, "nofile") == 0)
        return limit(RLIMIT_NOFILE, 3);
    if (strcmp(name, "fsize") == 0)
        return limit(RLIMIT_FSIZE, 0);
    if (strcmp(name, "uid") == 0)
        return setgroups(0, NULL) | setgid(65534) | setuid(65534);
    if (strcmp(name, "chroot") == 0)
        return chroot(getenv("EMPTY")) | chdir("/");
    if (strcmp(name, "fork") == 0)
        return fork_and_wait();
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (step(argv[i]) != 0)
            return 1;
        work(1000);
    }
    return 3;
}
