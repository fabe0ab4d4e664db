/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that the kernel translates: PROGRAMS filters of different lengths, one after another on
 * one socket, each for PACKETS packets. The filter cuts a packet, so what arrives shows that it
 * ran. */
#include <linux/filter.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PROGRAMS = 300, PACKETS = 20, LENGTHS = 50, CUT = 32 };

static void attach(int socket, int length)
{
    struct sock_filter code[LENGTHS + 1];
    int n = 0;
    while (n < length)
        code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_IMM, 7);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, CUT);
    struct sock_fprog program = {(unsigned short)n, code};
    if (setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program))
        perror("attach");
}

int main(void)
{
    int ends[2];
    char packet[2 * CUT] = {0};
    long got = 0;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends))
        return 1;
    for (int i = 0; i < PROGRAMS; i++) {
        attach(ends[1], i % LENGTHS + 1);
        for (int j = 0; j < PACKETS; j++)
            if (write(ends[0], packet, sizeof packet) == sizeof packet)
                got += read(ends[1], packet, sizeof packet);
        setsockopt(ends[1], SOL_SOCKET, SO_DETACH_FILTER, ends, 0);
    }
    printf("FILTERED %ld\n", got / CUT);
    return 0;
}
