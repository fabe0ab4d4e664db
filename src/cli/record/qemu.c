/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU executables: see qemu.h. */
#include "cli/record/qemu.h"
#include "base/clock.h"

#include "cli/record/machine.h"
#include "names/image/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VERSION_WAIT_MS 5000

/* An ELF program that loads no plugins, and whose name is none that a QEMU has: qemu-img. */
static bool is_tool(const char *path, const char *base)
{
    if (g_str_has_prefix(base, "qemu-system-") ||
        gt_record_guest_target_is_name(base + strlen("qemu-")))
        return false;
    g_autoptr(GPtrArray) found = gt_image_program_search(path, true);
    struct gt_image_program p;
    if (found->len == 0 || gt_image_program_inspect(found->pdata[0], &p, NULL) < 0)
        return false;
    const bool tool = p.is_elf && !p.exports_plugins;
    gt_image_program_clear(&p);
    return tool;
}

bool gt_record_qemu_is_name(const char *path)
{
    g_autofree char *base = g_path_get_basename(path);
    return g_str_has_prefix(base, "qemu-") && !is_tool(path, base);
}

bool gt_record_qemu_is_user_name(const char *path)
{
    g_autofree char *base = g_path_get_basename(path);
    return g_str_has_prefix(base, "qemu-") &&
           gt_record_guest_target_is_name(base + strlen("qemu-"));
}

static int check_plugins(const char *path, struct gt_error *err)
{
    struct gt_image_program p;
    int status = gt_image_program_inspect(path, &p, err);
    if (status < 0)
        return status;
    if (access(path, X_OK) != 0)
        status = gt_error_errno(err, errno, "%s", path);
    else if (!p.is_elf && !p.shebang)
        status = gt_error_set(err, GT_E_FORMAT, "%s is neither an ELF program nor a script", path);
    else if (p.is_elf && !p.interpreter)
        status = gt_error_set(err, GT_E_UNSUPPORTED,
                              "%s is statically linked, so it cannot load plugins (Debian 13's"
                              " qemu-user is built like that). Build one that can with"
                              " `guesttrace setup-qemu`, or name a QEMU configured with"
                              " --enable-plugins with --qemu",
                              path);
    else if (p.is_elf && !p.exports_plugins)
        status = gt_error_set(err, GT_E_UNSUPPORTED,
                              "%s cannot load plugins: it is not a QEMU, or was configured with "
                              "--disable-plugins. Name another with --qemu",
                              path);
    gt_image_program_clear(&p);
    return status;
}

int gt_record_qemu_find(const char *name, char **path, struct gt_error *err)
{
    g_autoptr(GPtrArray) found = gt_image_program_search(name, true);
    struct gt_error first = {0};
    for (guint i = 0; i < found->len; i++) {
        const char *candidate = found->pdata[i];
        if (check_plugins(candidate, i ? NULL : &first) == 0) {
            *path = g_strdup(candidate);
            return 0;
        }
    }
    if (found->len)
        return gt_error_set(err, first.status, "%s", first.text);
    return gt_error_set(err, GT_E_NOT_FOUND,
                        "no %s in PATH (Debian: package qemu-user or qemu-system-*); name a QEMU"
                        " with --qemu",
                        name);
}

char *gt_record_qemu_version_in(const char *text)
{
    const char *at = strstr(text, "version ");
    unsigned major, minor, micro = 0;
    if (!at || sscanf(at, "version %3u.%3u.%3u", &major, &minor, &micro) < 2)
        return NULL;
    return g_strdup_printf("%u.%u.%u", major, minor, micro);
}

/* Reads until the end, the buffer's end or the deadline. */
static void read_all(int fd, char *buf, size_t size)
{
    const uint64_t start = gt_base_clock_monotonic();
    size_t used = 0;
    bool done = false;
    while (used < size - 1 && !done) {
        struct pollfd p = {fd, POLLIN, 0};
        long left = VERSION_WAIT_MS - (long)((gt_base_clock_monotonic() - start) / 1000000);
        int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            break;
        ssize_t n = read(fd, buf + used, size - 1 - used);
        if (n < 0 && errno == EINTR)
            continue;
        done = n <= 0;
        used += n > 0 ? (size_t)n : 0;
    }
    buf[used] = '\0';
}

static void exec_version(const char *path, int out)
{
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDERR_FILENO);
    }
    dup2(out, STDOUT_FILENO);
    execl(path, path, "--version", (char *)NULL);
    _exit(127);
}

char *gt_record_qemu_version(const char *path)
{
    int fd[2];
    char text[1024];
    if (pipe2(fd, O_CLOEXEC) != 0)
        return NULL;
    pid_t pid = fork();
    if (pid == 0)
        exec_version(path, fd[1]);
    close(fd[1]);
    if (pid < 0) {
        close(fd[0]);
        return NULL;
    }
    read_all(fd[0], text, sizeof text);
    kill(pid, SIGKILL); /* it has said what we want, or never will */
    close(fd[0]);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return gt_record_qemu_version_in(text);
}

void gt_record_qemu_append_value(GString *out, const char *value)
{
    for (const char *c = value; *c; c++) {
        if (*c == ',')
            g_string_append_c(out, ',');
        g_string_append_c(out, *c);
    }
}

void gt_record_qemu_append_path(GString *out, const char *name, const char *path)
{
    if (!path)
        return;
    g_autofree char *absolute = g_canonicalize_filename(path, NULL);
    g_string_append_printf(out, ",%s=", name);
    gt_record_qemu_append_value(out, absolute);
}

bool gt_record_qemu_uses_terminal(char *const *argv)
{
    for (; *argv; argv++) {
        const char *word = *argv + strspn(*argv, "-");
        if (strstr(word, "stdio") || strstr(word, "curses") || strcmp(word, "nographic") == 0)
            return true;
    }
    return false;
}

char *const *gt_record_qemu_program(char *const *words, const char **root)
{
    static const char *const alone[] = {"h",       "help",    "one-insn-per-tb",
                                        "perfmap", "jitdump", "singlestep",
                                        "strace",  "version", "xtensa-abi-call0"};
    for (; *words && **words == '-'; words++) {
        const char *name = *words + 1 + ((*words)[1] == '-');
        bool has_value = true;
        for (size_t i = 0; i < G_N_ELEMENTS(alone); i++)
            has_value = has_value && strcmp(name, alone[i]) != 0;
        if (!has_value)
            continue;
        if (!words[1])
            return NULL;
        words++;
        if (strcmp(name, "L") == 0)
            *root = *words;
    }
    return *words ? words : NULL;
}

/* ---- the one that scripts/qemus has built --------------------------------------------------- */

static bool is_newer(const char *path, const char *than)
{
    unsigned a[3] = {0}, b[3] = {0};
    g_autofree char *new = gt_record_qemu_version(path), *old = gt_record_qemu_version(than);
    if (!new || !old || sscanf(new, "%u.%u.%u", &a[0], &a[1], &a[2]) != 3 ||
        sscanf(old, "%u.%u.%u", &b[0], &b[1], &b[2]) != 3)
        return false;
    for (int i = 0; i < 2; i++)
        if (a[i] != b[i])
            return a[i] > b[i];
    return a[2] > b[2];
}

int gt_record_qemu_find_user(const char *target, char **path, bool *built, struct gt_error *err)
{
    g_autofree char *name = g_strconcat("qemu-", target, NULL);
    g_autofree char *own =
        g_build_filename(g_get_user_cache_dir(), "guesttrace", "qemus", "user", name, NULL);
    *path = NULL;
    *built = false;
    int status = gt_record_qemu_find(name, path, err);
    if (access(own, X_OK) != 0 || check_plugins(own, NULL) < 0 ||
        (status == 0 && !is_newer(own, *path)))
        return status;
    g_free(*path);
    *path = g_steal_pointer(&own);
    *built = true;
    return 0;
}
