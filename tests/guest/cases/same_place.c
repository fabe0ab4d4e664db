/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code of one file, and later of another one at the same addresses (unmapped between, or mapped
 * over it): calls have the names of the file that was there at the time. The functions have other
 * names at the same offsets.
 *
 * before: one.bin -shared -fPIC -nostdlib -Wl,-z,noseparate-code -Wl,-e,one_outer -DPART=one
 * before: two.bin -shared -fPIC -nostdlib -Wl,-z,noseparate-code -Wl,-e,two_outer -DPART=two
 */
#include "guest.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PASTE(a, b) a##_##b
#define NAME(a, b)  PASTE(a, b)
#define PLACE       ((void *)0x70000000)

#ifdef PART
F static void NAME(PART, inner)(void)
{
    __asm__ volatile("");
}

void NAME(PART, outer)(void);

F void NAME(PART, outer)(void)
{
    NAME(PART, inner)();
    __asm__ volatile("");
}
#else
F static size_t use(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) < 0)
        return 0;
    char *at =
        mmap(PLACE, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
    close(fd);
    if (at != PLACE)
        return 0;
    ((void (*)(void))(at + ((Elf64_Ehdr *)at)->e_entry))();
    return (size_t)st.st_size;
}

int main(void)
{
    munmap(PLACE, use("one.bin"));
    use("two.bin");
    use("one.bin");
    munmap(PLACE, use("two.bin"));
    return 0;
}
#endif

/* calls:
main
  use
    one_outer
      one_inner
  use
    two_outer
      two_inner
  use
    one_outer
      one_inner
  use
    two_outer
      two_inner
 */
