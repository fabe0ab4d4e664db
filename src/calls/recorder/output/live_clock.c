/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace's newest time, for a process that watches the machine while it runs: 8 bytes in
 * OUTPUT/.now, in the host's byte order, mapped and written at each transfer. The file exists while
 * the machine runs, unless the time is the host's clock, which any process can read. `guesttrace
 * record` reads it when the guest prints a line (cli/record/console.c). With control= the time is
 * there in any case, in memory where there is no file.
 */
#include "calls/recorder/output/live_clock.h"
#include "calls/recorder/recorder.h"
#include "recording/texts/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* The trace does not need the file: errors are not reported. */
static void create_file(struct gt_recorder *r)
{
    if (r->guest.user || r->hot.host_clock || r->host.max_vcpus != 1)
        return;
    g_autofree char *path = g_strdup_printf("%s/" GT_LIVE_CLOCK_FILE, r->output.dir.path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    void *p = MAP_FAILED;
    const uint64_t none = 0; /* written: a mapped hole may fault on a full disk */
    if (write(fd, &none, sizeof none) == sizeof none)
        p = mmap(NULL, sizeof none, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p == MAP_FAILED) {
        unlink(path);
        return;
    }
    r->hot.live = (struct gt_recorder_live_clock){.now = p, .path = g_steal_pointer(&path)};
}

void gt_recorder_live_clock_create(struct gt_recorder *r)
{
    create_file(r);
    if (!r->hot.live.now && r->options.control)
        r->hot.live.now = g_new0(uint64_t, 1);
}

void gt_recorder_live_clock_remove(struct gt_recorder_live_clock *c)
{
    if (c->path)
        unlink(c->path);
}
