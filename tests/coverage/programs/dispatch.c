/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interpreters that jump by a table of labels: GCC makes one jump of all of a function's. */
#include <stdio.h>

#define NEXT goto *labels[*code++]

static int lines(const unsigned char *code)
{
    static void *const labels[] = {&&add, &&dbl, &&neg, &&end};
    int acc = 1;
    NEXT;
add:
    acc += 3;
    NEXT;
dbl:
    acc *= 2;
    NEXT;
neg:
    acc = -acc;
    NEXT;
end:
    return acc;
}

static int one_line_each(const unsigned char *code)
{
    static void *const labels[] = {&&add, &&dbl, &&neg, &&end};
    int acc = 1;
    NEXT;
add:
    acc += 3;
    NEXT;
dbl:
    acc *= 2;
    NEXT;
neg:
    acc = -acc;
    NEXT;
end:
    return acc;
}

static int offsets(const unsigned char *code)
{
    static const int labels[] = {0, &&dbl - &&add, &&end - &&add};
    int acc = 1;
    goto *(&&add + labels[*code++]);
add:
    acc += 3;
    goto *(&&add + labels[*code++]);
dbl:
    acc *= 2;
    goto *(&&add + labels[*code++]);
end:
    return acc;
}

static int threaded(void)
{
    static void *labels[] = {&&add, &&dbl, &&end};
    static const unsigned char code[] = {0, 1, 0, 1, 1, 0, 2};
    static void *program[8], **pc = program;
    int acc = 1;
    for (int i = 0; i < 7; i++)
        program[i] = labels[code[i]];
    goto **pc++;
add:
    acc += 3;
    goto **pc++;
dbl:
    acc *= 2;
    goto **pc++;
end:
    return acc;
}

static int central(const unsigned char *code)
{
    static void *const labels[] = {&&add, &&dbl, &&end};
    int acc = 1;
    goto next;
add:
    acc += 3;
    goto next;
dbl:
    acc *= 2;
next:
    NEXT;
end:
    return acc;
}

static int branches(const unsigned char *code, int limit)
{
    static void *const labels[] = {&&add, &&dbl, &&end};
    int acc = 1;
    NEXT;
add:
    if (acc > limit)
        goto end;
    acc += 3;
    NEXT;
dbl:
    acc = acc > 5 ? acc * 2 : acc + 1;
    NEXT;
end:
    return acc;
}

int main(void)
{
    static const unsigned char four[] = {0, 1, 0, 2, 1, 0, 3}, three[] = {0, 1, 0, 1, 1, 0, 2};
    printf("%d %d %d\n", lines(four), one_line_each(four), offsets(three));
    printf("%d %d %d\n", threaded(), central(three), branches(three, 1000));
    return 0;
}
