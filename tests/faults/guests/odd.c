/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process can see of itself, and what it can do to its descriptors: `odd MODE [PATH]`. */
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

F static void leaf(void)
{
    WORK();
}

F static void some_calls(void)
{
    for (int i = 0; i < 1000; i++)
        leaf();
}

static void *in_thread(void *arg)
{
    some_calls();
    return arg;
}

F static void thread_and_child(void)
{
    pthread_t t;
    int status = -1;
    pthread_create(&t, NULL, in_thread, NULL);
    pthread_join(t, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        some_calls();
        _exit(3);
    }
    waitpid(pid, &status, 0);
    dprintf(1, "child %d\n", status);
}

static void show_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    char seen[64] = {0};
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && atoi(e->d_name) < 64)
            seen[atoi(e->d_name)] = 1;
    for (int i = 0; i < 64; i++)
        if (seen[i] && (!d || i != dirfd(d)))
            dprintf(1, "fd %d\n", i);
    if (d)
        closedir(d);
    int fd = open("/dev/null", O_RDONLY);
    dprintf(1, "lowest %d\n", fd);
    close(fd);
}

static void show_status(void)
{
    static const char *const keys[] = {
        "SigPnd:", "ShdPnd:", "SigBlk:", "SigIgn:", "Uid:", "Umask:"};
    char line[512];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
            if (strncmp(line, keys[i], strlen(keys[i])) == 0)
                dprintf(1, "%s", line);
    if (f)
        fclose(f);
}

static void show_self(void)
{
    sigset_t set;
    show_files();
    show_status();
    sigprocmask(SIG_SETMASK, NULL, &set);
    for (int i = 1; i < 65; i++) {
        struct sigaction sa;
        if (sigaction(i, NULL, &sa) == 0)
            dprintf(1, "signal %d: %d %d\n", i, sigismember(&set, i), sa.sa_handler != SIG_DFL);
    }
    for (int i = 0; i < RLIMIT_NLIMITS; i++) {
        struct rlimit l;
        if (getrlimit(i, &l) == 0)
            dprintf(1, "limit %d: %llu %llu\n", i, (unsigned long long)l.rlim_cur,
                    (unsigned long long)l.rlim_max);
    }
    int r = (int)wait4(-1, NULL, WNOHANG, NULL);
    dprintf(1, "wait4 %d %d\n", r, errno);
    for (char **e = environ; *e; e++)
        dprintf(1, "%s\n", *e);
}

/* As daemons do. The grandchild lives on until somebody opens PATH, a FIFO, for writing. */
static int daemonize(const char *path)
{
    if (fork() != 0)
        return 5;
    setsid();
    if (fork() != 0)
        _exit(0);
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    some_calls();
    char c;
    int fd = open(path, O_RDONLY);
    (void)!read(fd, &c, 1);
    some_calls();
    _exit(0);
}

static void own_stderr(const char *path)
{
    close(2);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    dprintf(fd, "mine %d\n", fd);
    some_calls();
}

int main(int argc, char **argv)
{
    const char *mode = argv[1], *path = argc > 2 ? argv[2] : "";
    some_calls();
    if (strcmp(mode, "self") == 0)
        show_self();
    else if (strcmp(mode, "daemon") == 0)
        return daemonize(path);
    else if (strcmp(mode, "stderr") == 0)
        own_stderr(path);
    else if (strcmp(mode, "umask") == 0)
        umask(0777);
    else if (strcmp(mode, "chroot") == 0)
        dprintf(1, "chroot %d %d\n", chroot(path), chdir("/"));
    else if (strcmp(mode, "chdir") == 0)
        dprintf(1, "chdir %d\n", chdir(path));
    else if (strcmp(mode, "nofile") == 0)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)atoi(path), (rlim_t)atoi(path)});
    else if (strcmp(mode, "noproc") == 0 && setgid(65534) == 0 && setuid(65534) == 0)
        setrlimit(RLIMIT_NPROC, &(struct rlimit){1, 1});
    else if (strcmp(mode, "close") == 0)
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
    else if (strcmp(mode, "close-all") == 0)
        for (int fd = 1023; fd >= 0; fd--)
            close(fd);
    if (strcmp(mode, "noproc") != 0)
        thread_and_child();
    some_calls();
    return 6;
}
