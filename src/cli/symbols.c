/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace symbols`: names the addresses of a recorded machine with files of symbols. */
#include "calls/repair/edit.h"
#include "cli/default_recording.h"
#include "names/placement/symbolize.h"
#include "names/processes/sysroot.h"
#include "recording/file_kind.h"

#include <stdio.h>

struct symbols_options {
    const char *dir, *sysroot;
    bool prefix;
};

static const struct gt_cli_option symbols_table[] = {
    {"dir", .type = GT_OPTION_FILE, .old = "-d", .value = "RECORDING",
     .help = "name the functions of this directory or compact file (default: the newer one "
             "of " GT_DEFAULT_FILE " and " GT_DEFAULT_DIRECTORY ")",
     .offset = offsetof(struct symbols_options, dir)},
    {"prefix-symbols", .type = GT_OPTION_FLAG,
     .help = "prefix each function with the file's name: fw.elf:main",
     .offset = offsetof(struct symbols_options, prefix)},
    {"sysroot", .type = GT_OPTION_DIR, .old = "-L", .value = "FOLDER",
     .help =
         "name the functions of the guest's processes from the programs and libraries in FOLDER",
     .offset = offsetof(struct symbols_options, sysroot)},
    {0},
};

/* One line a place; true where every source has one. */
static bool say_places(const struct gt_cli_command *self, const struct gt_places *places,
                       const struct gt_error *why, size_t n, char **operands)
{
    bool all = true;
    for (size_t i = 0; i < places->n; i++) {
        g_autofree char *text = gt_place_text(&places->place[i]);
        puts(text);
    }
    fflush(stdout);
    for (size_t i = 0; i < n; i++) {
        if (why[i].status == GT_OK)
            continue;
        gt_cli_command_fail(self, GT_EXIT_FAILED, "%s%s%s%s", why[i].text,
                            why[i].status == GT_E_NOT_FOUND ? "; give its load offset with " : "",
                            why[i].status == GT_E_NOT_FOUND ? operands[i] : "",
                            why[i].status == GT_E_NOT_FOUND ? ":OFFSET" : "");
        all = false;
    }
    return all;
}

/* A file that a reader of names refuses may be one of another kind. */
static int load(const char *argument, struct gt_image_symbol_source *out, struct gt_error *err)
{
    const unsigned reads = GT_FILE_IS(GT_FILE_UNKNOWN) | GT_FILE_IS(GT_FILE_TEXT) |
                           GT_FILE_IS(GT_FILE_ELF) | GT_FILE_IS(GT_FILE_GZIP) |
                           GT_FILE_IS(GT_FILE_ZSTD) | GT_FILE_IS(GT_FILE_XZ);
    const int status = gt_image_symbol_source_load(argument, out, err);
    return status == 0 || gt_recording_kind_check_at(argument, reads,
                                                     "a program or a kernel's names", err) == 0
               ? status
               : GT_E_FORMAT;
}

static int name_files(const struct gt_cli_command *self, const struct symbols_options *opt,
                      const struct gt_recording_records *at, size_t n, char **operands)
{
    g_autofree struct gt_image_symbol_source *source = g_new0(struct gt_image_symbol_source, n);
    g_autofree struct gt_error *why = g_new0(struct gt_error, n);
    struct gt_places places = {0};
    struct gt_error err = {0};
    int status = 0;
    size_t loaded = 0;
    while (loaded < n && status == 0) {
        status = load(operands[loaded], &source[loaded], &err);
        loaded += status == 0;
    }
    if (status == 0)
        status = gt_place_locate(at, source, n, &places, why, &err);
    if (status == 0)
        status = gt_place_symbolize(at->dir, &places, opt->prefix, &err);
    if (status < 0)
        gt_cli_command_fail(self, GT_EXIT_FAILED, "%s", err.text);
    else if (!say_places(self, &places, why, n, operands))
        status = GT_E_NOT_FOUND;
    gt_places_free(&places);
    for (size_t i = 0; i < loaded; i++)
        gt_image_symbol_source_clear(&source[i]);
    return status < 0 ? GT_EXIT_FAILED : GT_EXIT_DONE;
}

static int name_processes(const struct gt_cli_command *self, const struct symbols_options *opt,
                          const struct gt_recording_records *at)
{
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    struct gt_error err = {0};
    if (gt_sysroot_apply(at, opt->sysroot, opt->prefix, lines, &err) < 0)
        return gt_cli_command_fail(self, GT_EXIT_FAILED, "%s", err.text);
    for (guint i = 0; i < lines->len; i++)
        puts(lines->pdata[i]);
    return GT_EXIT_DONE;
}

static int run_symbols(const struct gt_cli_command *self, const void *options, size_t n,
                       char **operands)
{
    const struct symbols_options *opt = options;
    if (n == 0 && !opt->sysroot)
        return gt_cli_command_usage_error(self, "needs a file with symbols, or --sysroot");
    const char *path = gt_cli_default_recording(self, opt->dir, false);
    if (!path)
        return gt_cli_default_recording_missing(self);
    struct gt_repair_edit edit;
    struct gt_error err = {0};
    const struct gt_error_notices notices = gt_cli_command_notices(self);
    if (gt_repair_edit_open(path, true, &notices, &edit, &err) < 0)
        return gt_cli_command_fail(self, GT_EXIT_FAILED, "%s", err.text);
    int files = n ? name_files(self, opt, &edit.at, n, operands) : GT_EXIT_DONE;
    int processes = opt->sysroot ? name_processes(self, opt, &edit.at) : GT_EXIT_DONE;
    if (gt_repair_edit_close(&edit, true, &err) < 0)
        return gt_cli_command_fail(self, GT_EXIT_FAILED, "%s", err.text);
    return files ? files : processes;
}

const struct gt_cli_command gt_cli_command_symbols = {
    .name = "symbols",
    .summary = "name the functions of a recorded machine from files with symbols",
    .usage = (const char *const[]){"[--dir RECORDING] [--sysroot DIR] [FILE[:OFFSET]...]", NULL},
    .paragraphs =
        (const char *const[]){
            "A recording of a machine has addresses, not names: QEMU does not know which programs "
            "ran in the machine. FILE is an ELF program, a Linux kernel (vmlinux, Image, bzImage, "
            "compressed or not, System.map, a copy of /proc/kallsyms) or one of its modules (.ko).",
            "OFFSET (decimal, or hex after 0x) is added to the link addresses of FILE; a module is "
            "linked at 0. Without it, symbols searches the recording for kernels, modules and "
            "position-independent programs, and prints the places; other programs ran at their "
            "link addresses.",
            "A function without a name in its file is shown as FILE+0xOFFSET, counted from the "
            "start of the file's code; a function outside all files is shown by its address. If a "
            "file is given again its former places are removed; other files of earlier calls stay.",
            "With --sysroot each process of the guest gets a session of its own, with the names of "
            "the programs and libraries in FOLDER that ran in it, and of the kernel. Their "
            "addresses are found from the recorded calls; even stripped files can be found.",
            NULL},
    .spec = {.table = symbols_table},
    .options_size = sizeof(struct symbols_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_symbols,
};
