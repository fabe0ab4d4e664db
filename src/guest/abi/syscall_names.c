/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of Linux system calls by number: see syscall_names.h. Numbers from Linux's uapi headers
 * (asm/unistd.h of each architecture, Linux 6.1); -1: the architecture does not have the call. */
#include "guest/abi/syscall_names.h"

#include <stddef.h>
#include <string.h>

enum { AARCH64, I386, RISCV64, X86_64, TARGETS };

static const char *const targets[TARGETS] = {
    [AARCH64] = "aarch64",
    [I386] = "i386",
    [RISCV64] = "riscv64",
    [X86_64] = "x86_64",
};

/* clang-format off */
static const struct {
    const char *name;
    int16_t number[TARGETS];
} table[] = {
    {"_llseek", {-1, 140, -1, -1}}, {"_newselect", {-1, 142, -1, -1}}, {"_sysctl", {-1, 149, -1, 156}},
    {"accept", {202, -1, 202, 43}}, {"accept4", {242, 364, 242, 288}}, {"access", {-1, 33, -1, 21}},
    {"acct", {89, 51, 89, 163}}, {"add_key", {217, 286, 217, 248}}, {"adjtimex", {171, 124, 171, 159}},
    {"afs_syscall", {-1, 137, -1, 183}}, {"alarm", {-1, 27, -1, 37}}, {"arch_prctl", {-1, 384, -1, 158}},
    {"bdflush", {-1, 134, -1, -1}}, {"bind", {200, 361, 200, 49}}, {"bpf", {280, 357, 280, 321}},
    {"break", {-1, 17, -1, -1}}, {"brk", {214, 45, 214, 12}}, {"capget", {90, 184, 90, 125}},
    {"capset", {91, 185, 91, 126}}, {"chdir", {49, 12, 49, 80}}, {"chmod", {-1, 15, -1, 90}},
    {"chown", {-1, 182, -1, 92}}, {"chown32", {-1, 212, -1, -1}}, {"chroot", {51, 61, 51, 161}},
    {"clock_adjtime", {266, 343, 266, 305}}, {"clock_adjtime64", {-1, 405, -1, -1}},
    {"clock_getres", {114, 266, 114, 229}}, {"clock_getres_time64", {-1, 406, -1, -1}},
    {"clock_gettime", {113, 265, 113, 228}}, {"clock_gettime64", {-1, 403, -1, -1}},
    {"clock_nanosleep", {115, 267, 115, 230}}, {"clock_nanosleep_time64", {-1, 407, -1, -1}},
    {"clock_settime", {112, 264, 112, 227}}, {"clock_settime64", {-1, 404, -1, -1}},
    {"clone", {220, 120, 220, 56}}, {"clone3", {435, 435, 435, 435}}, {"close", {57, 6, 57, 3}},
    {"close_range", {436, 436, 436, 436}}, {"connect", {203, 362, 203, 42}},
    {"copy_file_range", {285, 377, 285, 326}}, {"creat", {-1, 8, -1, 85}},
    {"create_module", {-1, 127, -1, 174}}, {"delete_module", {106, 129, 106, 176}},
    {"dup", {23, 41, 23, 32}}, {"dup2", {-1, 63, -1, 33}}, {"dup3", {24, 330, 24, 292}},
    {"epoll_create", {-1, 254, -1, 213}}, {"epoll_create1", {20, 329, 20, 291}},
    {"epoll_ctl", {21, 255, 21, 233}}, {"epoll_ctl_old", {-1, -1, -1, 214}},
    {"epoll_pwait", {22, 319, 22, 281}}, {"epoll_pwait2", {441, 441, 441, 441}},
    {"epoll_wait", {-1, 256, -1, 232}}, {"epoll_wait_old", {-1, -1, -1, 215}},
    {"eventfd", {-1, 323, -1, 284}}, {"eventfd2", {19, 328, 19, 290}}, {"execve", {221, 11, 221, 59}},
    {"execveat", {281, 358, 281, 322}}, {"exit", {93, 1, 93, 60}}, {"exit_group", {94, 252, 94, 231}},
    {"faccessat", {48, 307, 48, 269}}, {"faccessat2", {439, 439, 439, 439}},
    {"fadvise64", {223, 250, 223, 221}}, {"fadvise64_64", {-1, 272, -1, -1}},
    {"fallocate", {47, 324, 47, 285}}, {"fanotify_init", {262, 338, 262, 300}},
    {"fanotify_mark", {263, 339, 263, 301}}, {"fchdir", {50, 133, 50, 81}}, {"fchmod", {52, 94, 52, 91}},
    {"fchmodat", {53, 306, 53, 268}}, {"fchown", {55, 95, 55, 93}}, {"fchown32", {-1, 207, -1, -1}},
    {"fchownat", {54, 298, 54, 260}}, {"fcntl", {25, 55, 25, 72}}, {"fcntl64", {-1, 221, -1, -1}},
    {"fdatasync", {83, 148, 83, 75}}, {"fgetxattr", {10, 231, 10, 193}},
    {"finit_module", {273, 350, 273, 313}}, {"flistxattr", {13, 234, 13, 196}},
    {"flock", {32, 143, 32, 73}}, {"fork", {-1, 2, -1, 57}}, {"fremovexattr", {16, 237, 16, 199}},
    {"fsconfig", {431, 431, 431, 431}}, {"fsetxattr", {7, 228, 7, 190}},
    {"fsmount", {432, 432, 432, 432}}, {"fsopen", {430, 430, 430, 430}},
    {"fspick", {433, 433, 433, 433}}, {"fstat", {80, 108, 80, 5}}, {"fstat64", {-1, 197, -1, -1}},
    {"fstatat64", {-1, 300, -1, -1}}, {"fstatfs", {44, 100, 44, 138}}, {"fstatfs64", {-1, 269, -1, -1}},
    {"fsync", {82, 118, 82, 74}}, {"ftime", {-1, 35, -1, -1}}, {"ftruncate", {46, 93, 46, 77}},
    {"ftruncate64", {-1, 194, -1, -1}}, {"futex", {98, 240, 98, 202}},
    {"futex_time64", {-1, 422, -1, -1}}, {"futex_waitv", {449, 449, 449, 449}},
    {"futimesat", {-1, 299, -1, 261}}, {"get_kernel_syms", {-1, 130, -1, 177}},
    {"get_mempolicy", {236, 275, 236, 239}}, {"get_robust_list", {100, 312, 100, 274}},
    {"get_thread_area", {-1, 244, -1, 211}}, {"getcpu", {168, 318, 168, 309}},
    {"getcwd", {17, 183, 17, 79}}, {"getdents", {-1, 141, -1, 78}}, {"getdents64", {61, 220, 61, 217}},
    {"getegid", {177, 50, 177, 108}}, {"getegid32", {-1, 202, -1, -1}}, {"geteuid", {175, 49, 175, 107}},
    {"geteuid32", {-1, 201, -1, -1}}, {"getgid", {176, 47, 176, 104}}, {"getgid32", {-1, 200, -1, -1}},
    {"getgroups", {158, 80, 158, 115}}, {"getgroups32", {-1, 205, -1, -1}},
    {"getitimer", {102, 105, 102, 36}}, {"getpeername", {205, 368, 205, 52}},
    {"getpgid", {155, 132, 155, 121}}, {"getpgrp", {-1, 65, -1, 111}}, {"getpid", {172, 20, 172, 39}},
    {"getpmsg", {-1, 188, -1, 181}}, {"getppid", {173, 64, 173, 110}},
    {"getpriority", {141, 96, 141, 140}}, {"getrandom", {278, 355, 278, 318}},
    {"getresgid", {150, 171, 150, 120}}, {"getresgid32", {-1, 211, -1, -1}},
    {"getresuid", {148, 165, 148, 118}}, {"getresuid32", {-1, 209, -1, -1}},
    {"getrlimit", {163, 76, 163, 97}}, {"getrusage", {165, 77, 165, 98}},
    {"getsid", {156, 147, 156, 124}}, {"getsockname", {204, 367, 204, 51}},
    {"getsockopt", {209, 365, 209, 55}}, {"gettid", {178, 224, 178, 186}},
    {"gettimeofday", {169, 78, 169, 96}}, {"getuid", {174, 24, 174, 102}},
    {"getuid32", {-1, 199, -1, -1}}, {"getxattr", {8, 229, 8, 191}}, {"gtty", {-1, 32, -1, -1}},
    {"idle", {-1, 112, -1, -1}}, {"init_module", {105, 128, 105, 175}},
    {"inotify_add_watch", {27, 292, 27, 254}}, {"inotify_init", {-1, 291, -1, 253}},
    {"inotify_init1", {26, 332, 26, 294}}, {"inotify_rm_watch", {28, 293, 28, 255}},
    {"io_cancel", {3, 249, 3, 210}}, {"io_destroy", {1, 246, 1, 207}},
    {"io_getevents", {4, 247, 4, 208}}, {"io_pgetevents", {292, 385, 292, 333}},
    {"io_pgetevents_time64", {-1, 416, -1, -1}}, {"io_setup", {0, 245, 0, 206}},
    {"io_submit", {2, 248, 2, 209}}, {"io_uring_enter", {426, 426, 426, 426}},
    {"io_uring_register", {427, 427, 427, 427}}, {"io_uring_setup", {425, 425, 425, 425}},
    {"ioctl", {29, 54, 29, 16}}, {"ioperm", {-1, 101, -1, 173}}, {"iopl", {-1, 110, -1, 172}},
    {"ioprio_get", {31, 290, 31, 252}}, {"ioprio_set", {30, 289, 30, 251}}, {"ipc", {-1, 117, -1, -1}},
    {"kcmp", {272, 349, 272, 312}}, {"kexec_file_load", {294, -1, 294, 320}},
    {"kexec_load", {104, 283, 104, 246}}, {"keyctl", {219, 288, 219, 250}}, {"kill", {129, 37, 129, 62}},
    {"landlock_add_rule", {445, 445, 445, 445}}, {"landlock_create_ruleset", {444, 444, 444, 444}},
    {"landlock_restrict_self", {446, 446, 446, 446}}, {"lchown", {-1, 16, -1, 94}},
    {"lchown32", {-1, 198, -1, -1}}, {"lgetxattr", {9, 230, 9, 192}}, {"link", {-1, 9, -1, 86}},
    {"linkat", {37, 303, 37, 265}}, {"listen", {201, 363, 201, 50}}, {"listxattr", {11, 232, 11, 194}},
    {"llistxattr", {12, 233, 12, 195}}, {"lock", {-1, 53, -1, -1}},
    {"lookup_dcookie", {18, 253, 18, 212}}, {"lremovexattr", {15, 236, 15, 198}},
    {"lseek", {62, 19, 62, 8}}, {"lsetxattr", {6, 227, 6, 189}}, {"lstat", {-1, 107, -1, 6}},
    {"lstat64", {-1, 196, -1, -1}}, {"madvise", {233, 219, 233, 28}}, {"mbind", {235, 274, 235, 237}},
    {"membarrier", {283, 375, 283, 324}}, {"memfd_create", {279, 356, 279, 319}},
    {"memfd_secret", {447, 447, 447, 447}}, {"migrate_pages", {238, 294, 238, 256}},
    {"mincore", {232, 218, 232, 27}}, {"mkdir", {-1, 39, -1, 83}}, {"mkdirat", {34, 296, 34, 258}},
    {"mknod", {-1, 14, -1, 133}}, {"mknodat", {33, 297, 33, 259}}, {"mlock", {228, 150, 228, 149}},
    {"mlock2", {284, 376, 284, 325}}, {"mlockall", {230, 152, 230, 151}}, {"mmap", {222, 90, 222, 9}},
    {"mmap2", {-1, 192, -1, -1}}, {"modify_ldt", {-1, 123, -1, 154}}, {"mount", {40, 21, 40, 165}},
    {"mount_setattr", {442, 442, 442, 442}}, {"move_mount", {429, 429, 429, 429}},
    {"move_pages", {239, 317, 239, 279}}, {"mprotect", {226, 125, 226, 10}}, {"mpx", {-1, 56, -1, -1}},
    {"mq_getsetattr", {185, 282, 185, 245}}, {"mq_notify", {184, 281, 184, 244}},
    {"mq_open", {180, 277, 180, 240}}, {"mq_timedreceive", {183, 280, 183, 243}},
    {"mq_timedreceive_time64", {-1, 419, -1, -1}}, {"mq_timedsend", {182, 279, 182, 242}},
    {"mq_timedsend_time64", {-1, 418, -1, -1}}, {"mq_unlink", {181, 278, 181, 241}},
    {"mremap", {216, 163, 216, 25}}, {"msgctl", {187, 402, 187, 71}}, {"msgget", {186, 399, 186, 68}},
    {"msgrcv", {188, 401, 188, 70}}, {"msgsnd", {189, 400, 189, 69}}, {"msync", {227, 144, 227, 26}},
    {"munlock", {229, 151, 229, 150}}, {"munlockall", {231, 153, 231, 152}},
    {"munmap", {215, 91, 215, 11}}, {"name_to_handle_at", {264, 341, 264, 303}},
    {"nanosleep", {101, 162, 101, 35}}, {"newfstatat", {79, -1, 79, 262}},
    {"nfsservctl", {42, 169, 42, 180}}, {"nice", {-1, 34, -1, -1}}, {"oldfstat", {-1, 28, -1, -1}},
    {"oldlstat", {-1, 84, -1, -1}}, {"oldolduname", {-1, 59, -1, -1}}, {"oldstat", {-1, 18, -1, -1}},
    {"olduname", {-1, 109, -1, -1}}, {"open", {-1, 5, -1, 2}},
    {"open_by_handle_at", {265, 342, 265, 304}}, {"open_tree", {428, 428, 428, 428}},
    {"openat", {56, 295, 56, 257}}, {"openat2", {437, 437, 437, 437}}, {"pause", {-1, 29, -1, 34}},
    {"perf_event_open", {241, 336, 241, 298}}, {"personality", {92, 136, 92, 135}},
    {"pidfd_getfd", {438, 438, 438, 438}}, {"pidfd_open", {434, 434, 434, 434}},
    {"pidfd_send_signal", {424, 424, 424, 424}}, {"pipe", {-1, 42, -1, 22}},
    {"pipe2", {59, 331, 59, 293}}, {"pivot_root", {41, 217, 41, 155}},
    {"pkey_alloc", {289, 381, 289, 330}}, {"pkey_free", {290, 382, 290, 331}},
    {"pkey_mprotect", {288, 380, 288, 329}}, {"poll", {-1, 168, -1, 7}}, {"ppoll", {73, 309, 73, 271}},
    {"ppoll_time64", {-1, 414, -1, -1}}, {"prctl", {167, 172, 167, 157}}, {"pread64", {67, 180, 67, 17}},
    {"preadv", {69, 333, 69, 295}}, {"preadv2", {286, 378, 286, 327}},
    {"prlimit64", {261, 340, 261, 302}}, {"process_madvise", {440, 440, 440, 440}},
    {"process_mrelease", {448, 448, 448, 448}}, {"process_vm_readv", {270, 347, 270, 310}},
    {"process_vm_writev", {271, 348, 271, 311}}, {"prof", {-1, 44, -1, -1}},
    {"profil", {-1, 98, -1, -1}}, {"pselect6", {72, 308, 72, 270}},
    {"pselect6_time64", {-1, 413, -1, -1}}, {"ptrace", {117, 26, 117, 101}},
    {"putpmsg", {-1, 189, -1, 182}}, {"pwrite64", {68, 181, 68, 18}}, {"pwritev", {70, 334, 70, 296}},
    {"pwritev2", {287, 379, 287, 328}}, {"query_module", {-1, 167, -1, 178}},
    {"quotactl", {60, 131, 60, 179}}, {"quotactl_fd", {443, 443, 443, 443}}, {"read", {63, 3, 63, 0}},
    {"readahead", {213, 225, 213, 187}}, {"readdir", {-1, 89, -1, -1}}, {"readlink", {-1, 85, -1, 89}},
    {"readlinkat", {78, 305, 78, 267}}, {"readv", {65, 145, 65, 19}}, {"reboot", {142, 88, 142, 169}},
    {"recvfrom", {207, 371, 207, 45}}, {"recvmmsg", {243, 337, 243, 299}},
    {"recvmmsg_time64", {-1, 417, -1, -1}}, {"recvmsg", {212, 372, 212, 47}},
    {"remap_file_pages", {234, 257, 234, 216}}, {"removexattr", {14, 235, 14, 197}},
    {"rename", {-1, 38, -1, 82}}, {"renameat", {38, 302, -1, 264}}, {"renameat2", {276, 353, 276, 316}},
    {"request_key", {218, 287, 218, 249}}, {"restart_syscall", {128, 0, 128, 219}},
    {"riscv_flush_icache", {-1, -1, 259, -1}}, {"rmdir", {-1, 40, -1, 84}}, {"rseq", {293, 386, 293, 334}}, {"rt_sigaction", {134, 174, 134, 13}},
    {"rt_sigpending", {136, 176, 136, 127}}, {"rt_sigprocmask", {135, 175, 135, 14}},
    {"rt_sigqueueinfo", {138, 178, 138, 129}}, {"rt_sigreturn", {139, 173, 139, 15}},
    {"rt_sigsuspend", {133, 179, 133, 130}}, {"rt_sigtimedwait", {137, 177, 137, 128}},
    {"rt_sigtimedwait_time64", {-1, 421, -1, -1}}, {"rt_tgsigqueueinfo", {240, 335, 240, 297}},
    {"sched_get_priority_max", {125, 159, 125, 146}}, {"sched_get_priority_min", {126, 160, 126, 147}},
    {"sched_getaffinity", {123, 242, 123, 204}}, {"sched_getattr", {275, 352, 275, 315}},
    {"sched_getparam", {121, 155, 121, 143}}, {"sched_getscheduler", {120, 157, 120, 145}},
    {"sched_rr_get_interval", {127, 161, 127, 148}},
    {"sched_rr_get_interval_time64", {-1, 423, -1, -1}}, {"sched_setaffinity", {122, 241, 122, 203}},
    {"sched_setattr", {274, 351, 274, 314}}, {"sched_setparam", {118, 154, 118, 142}},
    {"sched_setscheduler", {119, 156, 119, 144}}, {"sched_yield", {124, 158, 124, 24}},
    {"seccomp", {277, 354, 277, 317}}, {"security", {-1, -1, -1, 185}}, {"select", {-1, 82, -1, 23}},
    {"semctl", {191, 394, 191, 66}}, {"semget", {190, 393, 190, 64}}, {"semop", {193, -1, 193, 65}},
    {"semtimedop", {192, -1, 192, 220}}, {"semtimedop_time64", {-1, 420, -1, -1}},
    {"sendfile", {71, 187, 71, 40}}, {"sendfile64", {-1, 239, -1, -1}},
    {"sendmmsg", {269, 345, 269, 307}}, {"sendmsg", {211, 370, 211, 46}},
    {"sendto", {206, 369, 206, 44}}, {"set_mempolicy", {237, 276, 237, 238}},
    {"set_mempolicy_home_node", {450, 450, 450, 450}}, {"set_robust_list", {99, 311, 99, 273}},
    {"set_thread_area", {-1, 243, -1, 205}}, {"set_tid_address", {96, 258, 96, 218}},
    {"setdomainname", {162, 121, 162, 171}}, {"setfsgid", {152, 139, 152, 123}},
    {"setfsgid32", {-1, 216, -1, -1}}, {"setfsuid", {151, 138, 151, 122}},
    {"setfsuid32", {-1, 215, -1, -1}}, {"setgid", {144, 46, 144, 106}}, {"setgid32", {-1, 214, -1, -1}},
    {"setgroups", {159, 81, 159, 116}}, {"setgroups32", {-1, 206, -1, -1}},
    {"sethostname", {161, 74, 161, 170}}, {"setitimer", {103, 104, 103, 38}},
    {"setns", {268, 346, 268, 308}}, {"setpgid", {154, 57, 154, 109}},
    {"setpriority", {140, 97, 140, 141}}, {"setregid", {143, 71, 143, 114}},
    {"setregid32", {-1, 204, -1, -1}}, {"setresgid", {149, 170, 149, 119}},
    {"setresgid32", {-1, 210, -1, -1}}, {"setresuid", {147, 164, 147, 117}},
    {"setresuid32", {-1, 208, -1, -1}}, {"setreuid", {145, 70, 145, 113}},
    {"setreuid32", {-1, 203, -1, -1}}, {"setrlimit", {164, 75, 164, 160}},
    {"setsid", {157, 66, 157, 112}}, {"setsockopt", {208, 366, 208, 54}},
    {"settimeofday", {170, 79, 170, 164}}, {"setuid", {146, 23, 146, 105}},
    {"setuid32", {-1, 213, -1, -1}}, {"setxattr", {5, 226, 5, 188}}, {"sgetmask", {-1, 68, -1, -1}},
    {"shmat", {196, 397, 196, 30}}, {"shmctl", {195, 396, 195, 31}}, {"shmdt", {197, 398, 197, 67}},
    {"shmget", {194, 395, 194, 29}}, {"shutdown", {210, 373, 210, 48}}, {"sigaction", {-1, 67, -1, -1}},
    {"sigaltstack", {132, 186, 132, 131}}, {"signal", {-1, 48, -1, -1}},
    {"signalfd", {-1, 321, -1, 282}}, {"signalfd4", {74, 327, 74, 289}},
    {"sigpending", {-1, 73, -1, -1}}, {"sigprocmask", {-1, 126, -1, -1}},
    {"sigreturn", {-1, 119, -1, -1}}, {"sigsuspend", {-1, 72, -1, -1}}, {"socket", {198, 359, 198, 41}},
    {"socketcall", {-1, 102, -1, -1}}, {"socketpair", {199, 360, 199, 53}},
    {"splice", {76, 313, 76, 275}}, {"ssetmask", {-1, 69, -1, -1}}, {"stat", {-1, 106, -1, 4}},
    {"stat64", {-1, 195, -1, -1}}, {"statfs", {43, 99, 43, 137}}, {"statfs64", {-1, 268, -1, -1}},
    {"statx", {291, 383, 291, 332}}, {"stime", {-1, 25, -1, -1}}, {"stty", {-1, 31, -1, -1}},
    {"swapoff", {225, 115, 225, 168}}, {"swapon", {224, 87, 224, 167}}, {"symlink", {-1, 83, -1, 88}},
    {"symlinkat", {36, 304, 36, 266}}, {"sync", {81, 36, 81, 162}},
    {"sync_file_range", {84, 314, 84, 277}}, {"syncfs", {267, 344, 267, 306}},
    {"sysfs", {-1, 135, -1, 139}}, {"sysinfo", {179, 116, 179, 99}}, {"syslog", {116, 103, 116, 103}},
    {"tee", {77, 315, 77, 276}}, {"tgkill", {131, 270, 131, 234}}, {"time", {-1, 13, -1, 201}},
    {"timer_create", {107, 259, 107, 222}}, {"timer_delete", {111, 263, 111, 226}},
    {"timer_getoverrun", {109, 262, 109, 225}}, {"timer_gettime", {108, 261, 108, 224}},
    {"timer_gettime64", {-1, 408, -1, -1}}, {"timer_settime", {110, 260, 110, 223}},
    {"timer_settime64", {-1, 409, -1, -1}}, {"timerfd_create", {85, 322, 85, 283}},
    {"timerfd_gettime", {87, 326, 87, 287}}, {"timerfd_gettime64", {-1, 410, -1, -1}},
    {"timerfd_settime", {86, 325, 86, 286}}, {"timerfd_settime64", {-1, 411, -1, -1}},
    {"times", {153, 43, 153, 100}}, {"tkill", {130, 238, 130, 200}}, {"truncate", {45, 92, 45, 76}},
    {"truncate64", {-1, 193, -1, -1}}, {"tuxcall", {-1, -1, -1, 184}}, {"ugetrlimit", {-1, 191, -1, -1}},
    {"ulimit", {-1, 58, -1, -1}}, {"umask", {166, 60, 166, 95}}, {"umount", {-1, 22, -1, -1}},
    {"umount2", {39, 52, 39, 166}}, {"uname", {160, 122, 160, 63}}, {"unlink", {-1, 10, -1, 87}},
    {"unlinkat", {35, 301, 35, 263}}, {"unshare", {97, 310, 97, 272}}, {"uselib", {-1, 86, -1, 134}},
    {"userfaultfd", {282, 374, 282, 323}}, {"ustat", {-1, 62, -1, 136}}, {"utime", {-1, 30, -1, 132}},
    {"utimensat", {88, 320, 88, 280}}, {"utimensat_time64", {-1, 412, -1, -1}},
    {"utimes", {-1, 271, -1, 235}}, {"vfork", {-1, 190, -1, 58}}, {"vhangup", {58, 111, 58, 153}},
    {"vm86", {-1, 166, -1, -1}}, {"vm86old", {-1, 113, -1, -1}}, {"vmsplice", {75, 316, 75, 278}},
    {"vserver", {-1, 273, -1, 236}}, {"wait4", {260, 114, 260, 61}}, {"waitid", {95, 284, 95, 247}},
    {"waitpid", {-1, 7, -1, -1}}, {"write", {64, 4, 64, 1}}, {"writev", {66, 146, 66, 20}},
};
/* clang-format on */

static int column(const char *target)
{
    for (int i = 0; i < TARGETS; i++)
        if (!strcmp(targets[i], target))
            return i;
    return -1;
}

const char *gt_abi_syscall_name(const char *target, uint64_t number)
{
    int i = column(target);

    for (size_t j = 0; i >= 0 && number <= INT16_MAX && j < sizeof table / sizeof table[0]; j++)
        if (table[j].number[i] == (int16_t)number)
            return table[j].name;
    return NULL;
}

int gt_abi_syscall_number(const char *target, const char *name)
{
    int i = column(target);

    for (size_t j = 0; i >= 0 && j < sizeof table / sizeof table[0]; j++)
        if (!strcmp(table[j].name, name))
            return table[j].number[i];
    return -1;
}
