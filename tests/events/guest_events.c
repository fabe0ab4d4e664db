/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest that prints its own events, as the lines of the backend log have them. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENT __attribute__((noipa))

EVENT int ten(int a, const char *s, unsigned char c, long d, uint64_t e, short f, int8_t g, void *h,
              unsigned int i, long j)
{
    printf("ten a=%d s=%s c=%u d=%ld e=%" PRIu64 " f=%d g=%d h=%p i=%u j=%ld\n", a, s, c, d, e, f,
           g, h, i, j);
    return a - 5;
}

EVENT bool few(bool a, uint16_t b, size_t c, ssize_t d, int32_t e, uint32_t f, int16_t g, uint8_t h,
               bool i, int8_t j)
{
    printf("few a=%d b=%u c=%zu d=%zd e=%d f=%u g=%d h=%u i=%d j=%d\n", a, b, c, d, e, f, g, h, i,
           j);
    return !a;
}

EVENT uint64_t wide(uint64_t x)
{
    printf("wide x=0x%" PRIx64 "\n", x);
    return x * 3;
}

uint64_t another_wide(uint64_t x) __attribute__((alias("wide")));

/* Its caller prints the event: the string may be anywhere. */
EVENT void text(const char *s)
{
    __asm__ volatile("" : : "r"(s));
}

EVENT void work(void)
{
    __asm__ volatile("");
}

static void strings(void)
{
    long page = sysconf(_SC_PAGESIZE);
    char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static char big[2000];
    munmap(two + page, page);
    memcpy(two + page - 3, "end", 3);
    memset(big, 'x', sizeof big - 1);
    text("plain");
    printf("text s=plain\n");
    text("new\nline\x7f");
    printf("text s=new\\x0aline\\x7f\n");
    text("");
    printf("text s=\n");
    text(NULL);
    printf("text s=(null)\n");
    text((const char *)0x10);
    printf("text s=<0x10>\n");
    text(two + page - 3); /* without an end */
    printf("text s=end\n");
    text(two + page);
    printf("text s=<0x%" PRIxPTR ">\n", (uintptr_t)(two + page));
    text(big); /* what is kept of a string */
    printf("text s=%.512s\n", big);
}

static void child(void)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        work();
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

/* A round of work for each byte that comes. */
static void rounds(void)
{
    char key;
    while (write(1, ">", 1) == 1 && read(0, &key, 1) == 1 && key != 'q')
        work();
}

int main(int argc, char **argv)
{
    static const int64_t values[] = {0,
                                     1,
                                     -1,
                                     127,
                                     -128,
                                     255,
                                     32767,
                                     -32768,
                                     INT32_MAX,
                                     INT32_MIN,
                                     INT64_MAX,
                                     INT64_MIN,
                                     0x123456789abcdef};
    if (argc > 1 && strcmp(argv[1], "rounds") == 0) {
        rounds();
        return 0;
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        int64_t v = values[i];
        printf("ten_done ret=%d\n", ten((int)v, "hello", (unsigned char)v, v, (uint64_t)v, (short)v,
                                        (int8_t)v, (void *)(uintptr_t)v, (unsigned)v, -v));
        printf("few_done ret=%d\n", few(v & 1, (uint16_t)v, (size_t)v, v, (int32_t)v, (uint32_t)v,
                                        (int16_t)v, (uint8_t)v, v > 0, (int8_t)v));
        printf("wide_done ret=0x%" PRIx64 "\n", wide((uint64_t)v));
    }
    strings();
    child();
    return 0;
}
