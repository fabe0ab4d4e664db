/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that a recorded program executes: see execs.h. */
#include "qemu/support/execs.h"

#include "base/page.h"
#include "qemu/host.h"
#include "qemu/support/exec_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS_MOST = 1 << 17, BYTES_MOST = 8 << 20, NAMES = 8, NAME = 200 };

/* What all processes of the recording share. */
struct outside {
    unsigned n, slots;
    bool is_valid[NAMES];
    char name[NAMES][NAME];
};

/* Of a file that has to be the same one still. */
struct identity {
    dev_t dev;
    ino_t ino;
};

static struct {
    bool follow;
    char *qemu;       /* path */
    GPtrArray *words; /* QEMU's own options that the next one has, too */
    char *program;    /* the guest's own, resolved */
    bool has_relative;
    struct identity root, mounts, here, binary;
    uid_t uid;
    gid_t gid;
    struct rlimit limit[RLIM_NLIMITS];
    struct outside *outside;
    unsigned slot; /* of the execve that is under way */
} state;

static const char version[] = "GUESTTRACE_QEMU_VERSION";

/* ---- at load ------------------------------------------------------------------------------- */

static struct identity identify(const char *path)
{
    struct stat st;
    struct identity none = {0};
    return stat(path, &st) == 0 ? (struct identity){st.st_dev, st.st_ino} : none;
}

static bool is_same(struct identity a, const char *path)
{
    struct identity now = identify(path);
    return a.ino != 0 && a.dev == now.dev && a.ino == now.ino;
}

/* Options that say how the guest runs, and not whether QEMU logs or waits for a debugger. */
static bool is_kept(const char *name)
{
    static const char *const names[] = {"B",      "L", "R", "cpu",  "one-insn-per-tb", "p",
                                        "plugin", "r", "s", "seed", "singlestep",      "tb-size"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void keep(const char *word, const char *value)
{
    const char *name = word + strspn(word, "-");
    if (!is_kept(name))
        return;
    g_ptr_array_add(state.words, g_strdup(word));
    if (value)
        g_ptr_array_add(state.words, g_strdup(value));
    state.has_relative |= value && strcmp(name, "L") == 0 && *value != '/';
    const char *file = value && strcmp(name, "plugin") == 0 ? strstr(value, "file=") : NULL;
    state.has_relative |= file && file[strlen("file=")] != '/';
}

/* False: there is no plugin among them, as it came by QEMU_PLUGIN. */
static bool read_words(void)
{
    g_autofree char *text = NULL;
    gsize size = 0;
    if (!g_file_get_contents("/proc/self/cmdline", &text, &size, NULL) || !size)
        return false;
    const char *program = gt_host_program_in(text, size), *word = text + strlen(text) + 1;
    bool plugin = false;
    state.words = g_ptr_array_new();
    while (program && word < program) {
        bool has_value = gt_host_option_takes_value(word);
        const char *value = has_value ? word + strlen(word) + 1 : NULL;
        plugin |= strcmp(word + strspn(word, "-"), "plugin") == 0;
        keep(word, value);
        word = value ? value + strlen(value) + 1 : word + strlen(word) + 1;
    }
    state.program = program ? realpath(program, NULL) : NULL;
    return program && plugin;
}

bool gt_execs_is_child(void)
{
    bool child = false;
    gt_host_executed(&child);
    return child;
}

char *gt_execs_own_path(const char *path)
{
    unsigned n = gt_host_executed(NULL);
    return n ? g_strdup_printf("%s.%d.%u", path, (int)getpid(), n) : g_strdup(path);
}

static void read_limits(struct rlimit limit[RLIM_NLIMITS])
{
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (getrlimit((__rlimit_resource_t)i, &limit[i]) != 0)
            limit[i].rlim_cur = RLIM_INFINITY;
}

int gt_execs_init(bool follow, const char *output, struct gt_error *err)
{
    void *page = mmap(NULL, sizeof *state.outside, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    state.outside = page;
    state.qemu = g_file_read_link("/proc/self/exe", NULL);
    state.follow = follow && state.qemu && output && *output == '/' && read_words();
    state.root = identify("/");
    state.mounts = identify("/proc/self/ns/mnt");
    state.binary = state.qemu ? identify(state.qemu) : (struct identity){0};
    state.here = identify(".");
    state.uid = geteuid();
    state.gid = getegid();
    read_limits(state.limit);
    return 0;
}

/* ---- the call ------------------------------------------------------------------------------ */

static char *read_text(const struct gt_exec_memory *m, uint64_t addr, size_t *left)
{
    GString *text = g_string_new(NULL);
    char part[256];
    while (text->len < *left) {
        size_t n = GT_PAGE - (size_t)(addr % GT_PAGE);
        n = MIN(n, sizeof part);
        if (!m->read(m->self, addr, part, n))
            break;
        const char *end = memchr(part, 0, n);
        g_string_append_len(text, part, (gssize)(end ? (size_t)(end - part) : n));
        if (end && text->len < *left) {
            *left -= text->len + 1;
            return g_string_free(text, FALSE);
        }
        addr += n;
    }
    g_string_free(text, TRUE);
    return NULL;
}

/* NULL: it cannot be read, or is too large. */
static char **read_vector(const struct gt_exec_memory *m, uint64_t addr, size_t *left)
{
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    for (uint64_t word = 1; addr && words->len < WORDS_MOST; addr += m->word) {
        word = 0;
        char *text = NULL;
        if (!m->read(m->self, addr, &word, m->word) || (word && !(text = read_text(m, word, left))))
            break;
        g_ptr_array_add(words, text);
        if (!word)
            return (char **)g_ptr_array_free(words, FALSE);
    }
    g_ptr_array_free(words, TRUE);
    return addr ? NULL : g_new0(char *, 1);
}

/* The path by which this process can open the file; NULL: the call cannot be understood. */
static char *file_path(const struct gt_exec_call *c, const char *path)
{
    struct stat st;
    if (c->flags & ~AT_EMPTY_PATH)
        return NULL;
    if (!*path)
        return c->flags & AT_EMPTY_PATH ? g_strdup_printf("/proc/self/fd/%d", c->dir) : NULL;
    if (*path != '/' && c->dir != AT_FDCWD)
        return g_strdup_printf("/proc/self/fd/%d/%s", c->dir, path);
    g_autofree char *own = g_strdup_printf("/proc/%d/exe", (int)getpid());
    if (state.program && (strcmp(path, "/proc/self/exe") == 0 || strcmp(path, own) == 0 ||
                          strcmp(path, "/proc/thread-self/exe") == 0))
        return stat(state.program, &st) == 0 ? g_strdup(state.program) : NULL;
    return g_strdup(path);
}

/* A descriptor that QEMU's next program still has. */
static char *lasting_path(char *path)
{
    int fd;
    char after;
    if (sscanf(path, "/proc/self/fd/%d%c", &fd, &after) != 1 || !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
        return path;
    int copy = fcntl(fd, F_DUPFD, fd);
    g_free(path);
    return copy < 0 ? NULL : g_strdup_printf("/proc/self/fd/%d", copy);
}

static bool limits_hold(void)
{
    struct rlimit now[RLIM_NLIMITS];
    read_limits(now);
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (now[i].rlim_cur < state.limit[i].rlim_cur)
            return false;
    return true;
}

static bool can_reach_recording(void)
{
    return state.follow && geteuid() == state.uid && getegid() == state.gid &&
           is_same(state.root, "/") && is_same(state.mounts, "/proc/self/ns/mnt") &&
           is_same(state.binary, state.qemu) && (!state.has_relative || is_same(state.here, ".")) &&
           limits_hold();
}

/* ---- QEMU's words -------------------------------------------------------------------------- */

static void add(GPtrArray *to, const char *word)
{
    g_ptr_array_add(to, g_strdup(word));
}

/* A variable for the plugin, which -U takes away from the guest. */
static void add_own(GPtrArray *envp, GPtrArray *argv, const char *name, const char *value)
{
    add(argv, "-U");
    add(argv, name);
    if (value)
        g_ptr_array_add(envp, g_strdup_printf("%s=%s", name, value));
}

/* The loader's variables are the guest's, not QEMU's. False: one cannot be passed. */
static bool add_environment(struct gt_exec *e, char **guest, bool child, GPtrArray *argv)
{
    GPtrArray *envp = g_ptr_array_new();
    g_autofree char *messages = gt_host_messages_to();
    g_autofree char *executed =
        g_strdup_printf("%d:%u:%d", (int)getpid(), gt_host_executed(NULL) + 1, child);
    bool good = true;
    for (char **v = guest; *v; v++) {
        bool loader = g_str_has_prefix(*v, "LD_");
        good = good && !(loader && strchr(*v, ','));
        if (loader)
            add(argv, "-E");
        add(loader ? argv : envp, *v);
    }
    add_own(envp, argv, version, g_getenv(version));
    add_own(envp, argv, GT_HOST_MESSAGES_VARIABLE, messages);
    add_own(envp, argv, GT_HOST_EXECUTED_VARIABLE, executed);
    g_ptr_array_add(envp, NULL);
    e->envp = (char **)g_ptr_array_free(envp, FALSE);
    return good;
}

static bool make_words(struct gt_exec *e, const struct gt_exec_file *file, char **argv, char **envp,
                       bool child)
{
    GPtrArray *words = g_ptr_array_new();
    add(words, state.qemu);
    for (guint i = 0; i < state.words->len; i++)
        add(words, state.words->pdata[i]);
    bool good = add_environment(e, envp, child, words);
    add(words, "-0");
    add(words, file->interpreter ? file->interpreter : argv[0]);
    add(words, file->interpreter ? file->interpreter : file->path);
    if (file->argument)
        add(words, file->argument);
    if (file->interpreter)
        add(words, file->path);
    for (char **word = argv + 1; *word; word++)
        add(words, *word);
    g_ptr_array_add(words, NULL);
    e->argv = (char **)g_ptr_array_free(words, FALSE);
    return good;
}

/* ---- a QEMU that records ------------------------------------------------------------------- */

/* The file is in the folder of the plugin that this is. */
static bool is_our_plugin(const char *file)
{
    Dl_info self;
    if (!dladdr(&state, &self) || !self.dli_fname)
        return false;
    g_autofree char *name = g_path_get_basename(file), *folder = g_path_get_dirname(self.dli_fname);
    g_autofree char *ours = g_build_filename(folder, name, NULL);
    return g_str_has_suffix(name, ".so") && is_same(identify(ours), file);
}

static bool is_our_plugin_word(const char *value)
{
    g_autofree char *first = g_strndup(value, strcspn(value, ","));
    return is_our_plugin(g_str_has_prefix(first, "file=") ? first + strlen("file=") : first);
}

/* By the words before the program. */
static bool has_our_plugin(char *const *argv)
{
    for (size_t i = 1; argv[i] && *argv[i] == '-' && argv[i + 1]; i++) {
        if (strcmp(argv[i] + strspn(argv[i], "-"), "plugin") == 0 &&
            is_our_plugin_word(argv[i + 1]))
            return true;
        i += gt_host_option_takes_value(argv[i]);
    }
    return false;
}

struct gt_exec gt_execs_look(const struct gt_exec_call *call, const struct gt_exec_memory *memory)
{
    struct gt_exec e = {.kind = GT_EXEC_NONE};
    size_t left = BYTES_MOST;
    g_autofree char *path = read_text(memory, call->path, &left);
    if (!path)
        return e;
    g_strlcpy(e.name, *path ? path : "a descriptor", sizeof e.name);
    g_autofree char *real = file_path(call, path);
    struct gt_exec_file file;
    if (!real || gt_exec_file_read(real, memory->e_machine, &file) < 0)
        return e;
    e.kind = GT_EXEC_OUTSIDE;
    g_auto(GStrv) argv = NULL, envp = NULL;
    /* The kernel gives a script's interpreter a name that it can open again. */
    bool by_name = strcmp(real, path) == 0 || !file.interpreter;
    argv = read_vector(memory, call->argv, &left);
    if (argv && argv[0] && has_our_plugin(argv)) {
        e.kind = GT_EXEC_RECORDS;
    } else if (argv && argv[0] && file.follow && by_name && can_reach_recording() &&
               (envp = read_vector(memory, call->envp, &left))) {
        file.path = lasting_path(file.path);
        if (file.path && make_words(&e, &file, argv, envp, memory->child))
            e.kind = GT_EXEC_FOLLOW;
    }
    gt_exec_file_clear(&file);
    return e;
}

void gt_execs_run(struct gt_exec *e)
{
    execve(state.qemu, e->argv, e->envp);
    e->kind = GT_EXEC_OUTSIDE;
}

void gt_execs_clear(struct gt_exec *e)
{
    g_strfreev(e->argv);
    g_strfreev(e->envp);
    e->argv = e->envp = NULL;
}

/* ---- outside ------------------------------------------------------------------------------- */

void gt_execs_outside(const struct gt_exec *e)
{
    struct outside *o = state.outside;
    state.slot = NAMES;
    if (!o)
        return;
    __atomic_fetch_add(&o->n, 1, __ATOMIC_RELAXED);
    state.slot = __atomic_fetch_add(&o->slots, 1, __ATOMIC_RELAXED);
    if (state.slot >= NAMES)
        return;
    for (unsigned i = 0; i < state.slot; i++)
        if (__atomic_load_n(&o->is_valid[i], __ATOMIC_ACQUIRE) &&
            strncmp(o->name[i], e->name, NAME - 1) == 0)
            return;
    g_strlcpy(o->name[state.slot], e->name, NAME);
    __atomic_store_n(&o->is_valid[state.slot], true, __ATOMIC_RELEASE);
}

void gt_execs_failed(void)
{
    struct outside *o = state.outside;
    if (!o || __atomic_load_n(&o->n, __ATOMIC_RELAXED) == 0) /* it has been printed */
        return;
    __atomic_fetch_sub(&o->n, 1, __ATOMIC_RELAXED);
    if (state.slot < NAMES)
        __atomic_store_n(&o->is_valid[state.slot], false, __ATOMIC_RELEASE);
}

void gt_execs_report(void)
{
    struct outside *o = state.outside;
    unsigned n = o ? __atomic_exchange_n(&o->n, 0, __ATOMIC_RELAXED) : 0, named = 0;
    if (!n)
        return;
    unsigned slots = __atomic_load_n(&o->slots, __ATOMIC_RELAXED);
    g_autoptr(GString) names = g_string_new(NULL);
    for (unsigned i = 0; i < NAMES; i++) {
        if (!__atomic_load_n(&o->is_valid[i], __ATOMIC_ACQUIRE))
            continue;
        o->name[i][NAME - 1] = '\0';
        g_string_append_printf(names, "%s%s", named++ ? ", " : "", o->name[i]);
    }
    gt_host_message(
        "%u program%s that the guest executed ran outside QEMU and %s not recorded: %s%s", n,
        n == 1 ? "" : "s", n == 1 ? "is" : "are", names->str, slots > NAMES ? ", ..." : "");
}
