/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that does a step for each character of its input, and prints the character when it is
 * done:
 *
 *   w   a hundred times work(), which calls leaf() three times
 *   d   prints the lowest free descriptor
 *   f   forks a child that does step w, prints "child" and waits
 *   e   the child does it again and ends; prints its status
 *   s   a child executes the command of the arguments; prints its status
 *   x   executes the command
 *   q   ends
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline)) static

static int hold[2];

FUNCTION int leaf(int x)
{
    __asm__ volatile("");
    return x + 1;
}

FUNCTION int work(int x)
{
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += leaf(x);
    return sum;
}

FUNCTION void do_work(void)
{
    for (int i = 0; i < 100; i++)
        work(i);
}

FUNCTION void say(const char *text, int number)
{
    char line[64];
    int n = snprintf(line, sizeof line, text, number);
    if (write(1, line, n) != n)
        _exit(3);
}

FUNCTION void be_child(void)
{
    char c;
    close(hold[1]);
    do_work();
    say("child\n", 0);
    int ended = read(hold[0], &c, 1) == 0;
    do_work();
    _exit(ended ? 5 : 6);
}

FUNCTION void say_status(void)
{
    int status = 0;
    wait(&status);
    say("status %d\n", WEXITSTATUS(status));
}

FUNCTION void do_step(char c, char **command)
{
    switch (c) {
    case 'w':
        do_work();
        break;
    case 'd':
        hold[0] = open("/dev/null", O_RDONLY);
        say("descriptor %d\n", hold[0]);
        close(hold[0]);
        break;
    case 'f':
        if (pipe(hold) != 0 || fork() == 0)
            be_child();
        close(hold[0]);
        break;
    case 'e':
        close(hold[1]);
        say_status();
        break;
    case 's':
        if (fork() == 0) {
            execv(command[0], command);
            _exit(9);
        }
        say_status();
        break;
    case 'x':
        execv(command[0], command);
        _exit(9);
    }
}

int main(int argc, char **argv)
{
    char c;
    (void)argc;
    say("ready\n", 0);
    while (read(0, &c, 1) == 1 && c != 'q') {
        do_step(c, argv + 1);
        say("%c\n", c);
    }
    return 42;
}
