/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The root folder that a process has at first: see root.h. The worker, whose table of descriptors
 * is not the process's, sends one through a socket of which it takes the other end. */
#include "base/root.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    dev_t dev;
    ino_t ino;
} first;

void gt_base_root_note(void)
{
    struct stat st;
    if (stat("/", &st) != 0)
        return;
    first.dev = st.st_dev;
    first.ino = st.st_ino;
}

/* Of the process's table; -1: the kernel refuses. */
static int descriptor_of_process(int fd)
{
#if defined SYS_pidfd_open && defined SYS_pidfd_getfd
    int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
    int copy = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, fd, 0);
    if (process >= 0)
        close(process);
    return copy;
#else
    (void)fd;
    return -1;
#endif
}

/* A byte and a descriptor. */
struct letter {
    char byte;
    struct iovec data;
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message;
};

static struct msghdr *write_letter(struct letter *l)
{
    *l = (struct letter){.data = {&l->byte, 1}};
    l->message = (struct msghdr){.msg_iov = &l->data,
                                 .msg_iovlen = 1,
                                 .msg_control = l->control.bytes,
                                 .msg_controllen = sizeof l->control.bytes};
    return &l->message;
}

static void send_root(void *arg)
{
    const int *to = arg;
    int end = descriptor_of_process(*to), root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct letter letter;
    struct msghdr *message = write_letter(&letter);
    struct cmsghdr *rights = CMSG_FIRSTHDR(message);
    *rights = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof root), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(rights), &root, sizeof root);
    if (end >= 0 && root >= 0)
        (void)!sendmsg(end, message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (end >= 0)
        close(end);
    if (root >= 0)
        close(root);
}

static int receive(int from)
{
    int fd = -1;
    struct letter letter;
    struct msghdr *message = write_letter(&letter);
    if (recvmsg(from, message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1)
        return -1;
    const struct cmsghdr *rights = CMSG_FIRSTHDR(message);
    if (rights && rights->cmsg_type == SCM_RIGHTS && rights->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(rights), sizeof fd);
    return fd;
}

int gt_base_root_lend(struct gt_thread_worker *w)
{
    struct stat st;
    int ends[2], fd = -1;
    if (first.ino == 0 || stat("/", &st) != 0 ||
        (st.st_dev == first.dev && st.st_ino == first.ino) ||
        socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    if (gt_thread_worker_call(w, send_root, &ends[0]) == 0)
        fd = receive(ends[1]);
    close(ends[0]);
    close(ends[1]);
    return fd;
}
