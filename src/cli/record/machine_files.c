/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine's files: see machine_files.h. */
#include "cli/record/machine_files.h"

#include <string.h>

/* One item of the list, its doubled commas single; *at goes after it. NULL: no more. */
static char *next_item(const char **at)
{
    if (!*at)
        return NULL;
    GString *item = g_string_new(NULL);
    const char *c = *at;
    for (; *c && (*c != ',' || c[1] == ','); c++) {
        if (*c == ',')
            c++;
        g_string_append_c(item, *c);
    }
    *at = *c ? c + 1 : NULL;
    return g_string_free(item, FALSE);
}

char *gt_record_machine_option(const char *list, const char *key)
{
    const size_t n = strlen(key);
    for (char *item; (item = next_item(&list)); g_free(item))
        if (strncmp(item, key, n) == 0 && item[n] == '=') {
            char *value = g_strdup(item + n + 1);
            g_free(item);
            return value;
        }
    return NULL;
}

static bool begins_with_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    return strncmp(list, word, n) == 0 && (list[n] == ',' || list[n] == '\0');
}

/* The file of an option and its value; NULL where the option names none. */
static char *file_of(const char *option, const char *value)
{
    if (strcmp(option, "kernel") == 0 || strcmp(option, "bios") == 0 ||
        strcmp(option, "pflash") == 0)
        return g_strdup(value);
    if (strcmp(option, "device") == 0 && begins_with_word(value, "loader"))
        return gt_record_machine_option(value, "file");
    g_autofree char *interface =
        strcmp(option, "drive") == 0 ? gt_record_machine_option(value, "if") : NULL;
    return interface && strcmp(interface, "pflash") == 0 ? gt_record_machine_option(value, "file")
                                                         : NULL;
}

static void add_file(GArray *list, char *path, bool kernel)
{
    const struct gt_record_machine_file file = {path, kernel};
    bool there = !g_file_test(path, G_FILE_TEST_IS_REGULAR);
    for (guint i = 0; i < list->len; i++)
        there =
            there || strcmp(g_array_index(list, struct gt_record_machine_file, i).path, path) == 0;
    if (there)
        g_free(path);
    else
        g_array_append_val(list, file);
}

static void clear_file(void *file)
{
    g_free(((struct gt_record_machine_file *)file)->path);
}

GArray *gt_record_machine_files(char *const *argv)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(struct gt_record_machine_file));
    g_array_set_clear_func(list, clear_file);
    for (; *argv && argv[1]; argv++) {
        if (**argv != '-')
            continue;
        const char *option = *argv + ((*argv)[1] == '-' ? 2 : 1);
        char *path = file_of(option, argv[1]);
        if (path)
            add_file(list, path, strcmp(option, "kernel") == 0);
    }
    return list;
}
