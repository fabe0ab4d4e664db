/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two processes whose signals have handlers: one before the fork, one in each process after it. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int handled;

static void before(int signal)
{
    handled += signal;
}

static void in_child(int signal)
{
    handled += signal;
}

static void in_parent(int signal)
{
    handled += signal;
}

static void handle(int number, void (*handler)(int))
{
    signal(number, handler);
    raise(number);
}

int main(void)
{
    int status;
    handle(SIGUSR1, before);
    pid_t child = fork();
    if (child == 0) {
        handle(SIGUSR2, in_child);
        return handled != SIGUSR1 + SIGUSR2;
    }
    waitpid(child, &status, 0);
    handle(SIGALRM, in_parent);
    return status != 0 || handled != SIGUSR1 + SIGALRM;
}
