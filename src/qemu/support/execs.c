/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that a recorded program executes: see execs.h. */
#include "qemu/support/execs.h"

#include "base/error.h"
#include "base/page.h"
#include "base/qemu_environment.h"
#include "qemu/host.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* A file that is to be executed, as Linux sees it: a program, or a script and its interpreter. */

struct gt_exec_file {
    char *path;
    char *interpreter; /* of a script; NULL: a program */
    char *argument;    /* what stands behind it; NULL: nothing */
    bool follow;       /* the kernel would run it, with no other rights, and so would QEMU */
};

enum { HEAD = 256, PHDRS_MOST = 64 };

struct head {
    int fd;
    uint8_t bytes[HEAD]; /* the first ones; what the file does not have is 0 */
    size_t n;
    struct stat st;
};

static bool open_head(const char *path, struct head *h)
{
    memset(h, 0, sizeof *h);
    h->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (h->fd < 0)
        return false;
    ssize_t n = pread(h->fd, h->bytes, sizeof h->bytes, 0);
    h->n = n > 0 ? (size_t)n : 0;
    if (fstat(h->fd, &h->st) == 0 && S_ISREG(h->st.st_mode))
        return true;
    close(h->fd);
    return false;
}

static bool is_elf(const struct head *h)
{
    return h->n >= sizeof(Elf32_Ehdr) && memcmp(h->bytes, ELFMAG, SELFMAG) == 0;
}

static bool gains_rights(const struct head *h)
{
    return h->st.st_mode & (S_ISUID | S_ISGID) ||
           fgetxattr(h->fd, "security.capability", NULL, 0) > 0;
}

/* ---- programs ------------------------------------------------------------------------------ */

/* Of both classes alike. */
struct segment {
    uint64_t type, offset, size;
};

static bool read_segment(const struct head *h, size_t i, struct segment *out)
{
    Elf64_Ehdr eh;
    Elf64_Phdr ph;
    Elf32_Ehdr eh32;
    Elf32_Phdr ph32;
    if (h->bytes[EI_CLASS] == ELFCLASS64) {
        memcpy(&eh, h->bytes, sizeof eh);
        if (i >= eh.e_phnum || i >= PHDRS_MOST ||
            pread(h->fd, &ph, sizeof ph, (off_t)(eh.e_phoff + i * sizeof ph)) != sizeof ph)
            return false;
        *out = (struct segment){ph.p_type, ph.p_offset, ph.p_filesz};
        return true;
    }
    memcpy(&eh32, h->bytes, sizeof eh32);
    if (i >= eh32.e_phnum || i >= PHDRS_MOST ||
        pread(h->fd, &ph32, sizeof ph32, (off_t)(eh32.e_phoff + i * sizeof ph32)) != sizeof ph32)
        return false;
    *out = (struct segment){ph32.p_type, ph32.p_offset, ph32.p_filesz};
    return true;
}

/* Whether the file is a whole program whose dynamic linker is there. */
static bool is_program(const struct head *h)
{
    struct segment s;
    uint16_t type;
    bool loads = false;
    memcpy(&type, h->bytes + offsetof(Elf64_Ehdr, e_type), sizeof type);
    if (h->n < sizeof(Elf64_Ehdr) || h->bytes[EI_DATA] != ELFDATA2LSB ||
        (type != ET_EXEC && type != ET_DYN))
        return false;
    for (size_t i = 0; read_segment(h, i, &s); i++) {
        char linker[4096];
        loads |= s.type == PT_LOAD;
        if (s.type == PT_LOAD && s.size &&
            (s.offset > (uint64_t)h->st.st_size || s.size > (uint64_t)h->st.st_size - s.offset))
            return false;
        if (s.type != PT_INTERP)
            continue;
        if (s.size < 2 || s.size > sizeof linker ||
            pread(h->fd, linker, s.size, (off_t)s.offset) != (ssize_t)s.size ||
            linker[s.size - 1] || access(linker, X_OK) != 0)
            return false;
    }
    return loads;
}

/* The machines whose programs this host's processor runs. */
static bool is_native(uint16_t e_machine)
{
#if defined __x86_64__
    return e_machine == EM_X86_64 || e_machine == EM_386;
#elif defined __aarch64__
    return e_machine == EM_AARCH64;
#elif defined __riscv
    return e_machine == EM_RISCV;
#else
    return false;
#endif
}

/* ---- binfmt_misc --------------------------------------------------------------------------- */

static uint8_t hex_at(const char *text, size_t i)
{
    return (uint8_t)(g_ascii_xdigit_value(text[2 * i]) << 4 |
                     g_ascii_xdigit_value(text[2 * i + 1]));
}

static const char *value_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at && (at == text || at[-1] == '\n') ? at + strlen(key) : NULL;
}

/* Whether an entry of binfmt_misc, as the kernel shows it, is for a file that begins so. */
static bool entry_matches(const char *text, const struct head *h)
{
    const char *magic = value_of(text, "magic "), *mask = value_of(text, "mask ");
    const char *at = value_of(text, "offset ");
    size_t offset = at ? strtoul(at, NULL, 10) : 0;
    size_t n = magic ? strspn(magic, "0123456789abcdef") / 2 : 0;
    if (!g_str_has_prefix(text, "enabled") || n == 0 || offset > h->n || n > h->n - offset ||
        (mask && strspn(mask, "0123456789abcdef") / 2 != n))
        return false;
    for (size_t i = 0; i < n; i++)
        if ((h->bytes[offset + i] ^ hex_at(magic, i)) & (mask ? hex_at(mask, i) : 0xff))
            return false;
    return true;
}

static bool has_binfmt(const struct head *h)
{
    static const char folder[] = "/proc/sys/fs/binfmt_misc";
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    bool found = false;
    while (dir && !found && (name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(folder, name, NULL), *text = NULL;
        found = g_file_get_contents(path, &text, NULL, NULL) && entry_matches(text, h);
    }
    return found;
}

/* ---- both ---------------------------------------------------------------------------------- */

static bool is_for(const struct head *h, uint16_t e_machine)
{
    uint16_t machine;
    memcpy(&machine, h->bytes + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
    return machine == e_machine && is_program(h) && (is_native(e_machine) || has_binfmt(h));
}

/* The interpreter of a script and what stands behind it, as the kernel takes them. */
static bool read_interpreter(const struct head *h, struct gt_exec_file *out)
{
    char line[HEAD + 1];
    memcpy(line, h->bytes, h->n);
    line[h->n] = '\0';
    size_t end = strcspn(line, "\n");
    if (end == h->n && h->n == HEAD) /* it may have been cut */
        return false;
    line[end] = '\0';
    char *words = g_strstrip(line + 2);
    size_t name = strcspn(words, " \t");
    char *rest = words + name + strspn(words + name, " \t");
    if (!name)
        return false;
    out->interpreter = g_strndup(words, name);
    out->argument = *rest ? g_strdup(rest) : NULL;
    return true;
}

static int read_script(const struct head *h, uint16_t e_machine, struct gt_exec_file *out)
{
    struct head of;
    if (!read_interpreter(h, out) || access(out->interpreter, X_OK) != 0 ||
        !open_head(out->interpreter, &of))
        return GT_E_FORMAT;
    /* An interpreter that is a script itself is left to the kernel. */
    out->follow = is_elf(&of) && is_for(&of, e_machine) && !gains_rights(&of);
    close(of.fd);
    return 0;
}

static bool may_only_execute(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static void exec_file_clear(struct gt_exec_file *f)
{
    g_free(f->path);
    g_free(f->interpreter);
    g_free(f->argument);
    *f = (struct gt_exec_file){0};
}

/* Of the file at the path, for a QEMU of that machine; free with exec_file_clear. A negative
 * status: it cannot be read, or the kernel would refuse it. */
static int exec_file_read(const char *path, uint16_t e_machine, struct gt_exec_file *out)
{
    struct head h;
    *out = (struct gt_exec_file){0};
    if (!open_head(path, &h))
        return may_only_execute(path) ? 0 : GT_E_NOT_FOUND;
    int status = 0;
    out->path = g_strdup(path);
    if (is_elf(&h))
        out->follow = is_for(&h, e_machine) && !gains_rights(&h);
    else if (h.n > 2 && memcmp(h.bytes, "#!", 2) == 0)
        status = read_script(&h, e_machine, out);
    else
        status = has_binfmt(&h) ? 0 : GT_E_FORMAT;
    close(h.fd);
    if (status < 0)
        exec_file_clear(out);
    return status;
}

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
    add_own(envp, argv, GT_QEMU_VERSION_VARIABLE, g_getenv(GT_QEMU_VERSION_VARIABLE));
    if (!g_environ_getenv(guest, GT_SLICE_VARIABLE))
        add_own(envp, argv, GT_SLICE_VARIABLE, GT_SLICE_VALUE);
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
    if (!real || exec_file_read(real, memory->e_machine, &file) < 0)
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
    exec_file_clear(&file);
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
