/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory, pointers to functions, longjmp out of a call, exit in the middle. */
/* clang-format off */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

static jmp_buf out;
static int depth;

static struct node *push(struct node *list, int value)
{
    struct node *n = malloc(sizeof *n);
    if (!n)
        abort();
    n->next = list;
    n->value = value;
    return n;
}

static struct node *reverse(struct node *list)
{
    struct node *done = NULL;
    while (list) {
        struct node *next = list->next;
        list->next = done;
        done = list;
        list = next;
    }
    return done;
}

static int twice(int x) { return 2 * x; }
static int less(int x) { return x - 1; }

static int (*const table[])(int) = {twice, less, twice};

static int apply(const struct node *list)
{
    int sum = 0;
    for (; list; list = list->next)
        sum += table[list->value % 3](list->value);
    return sum;
}

static void dive(int n)
{
    depth++;
    if (n == 0)
        longjmp(out, 1);
    dive(n - 1);
    depth = -1;
}

static void release(struct node *list)
{
    while (list) {
        struct node *next = list->next;
        free(list);
        list = next;
    }
}

static void leave(int status)
{
    printf("%d\n", depth);
    exit(status);
}

int main(void)
{
    struct node *list = NULL;
    for (int i = 0; i < 17; i++)
        list = push(list, i);
    list = reverse(list);
    int sum = apply(list);
    release(list);
    for (volatile int i = 0; i < 3; i++) {
        if (setjmp(out))
            continue;
        dive(i);
        depth = 0;
    }
    if (sum > 0)
        leave(0);
    return 1;
}
