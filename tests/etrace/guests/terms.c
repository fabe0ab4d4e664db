/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handles SIGTERM by itself: exits with status 7. A child that it forks has the default action, and
 * is killed by it; "ready" when that has happened. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_term(int signal)
{
    (void)signal;
    _exit(7);
}

int main(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM)
        return 1;
    signal(SIGTERM, on_term);
    if (write(1, "ready\n", 6) != 6)
        return 2;
    for (;;)
        pause();
}
