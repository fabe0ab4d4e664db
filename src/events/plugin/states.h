/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events are on: a word of a scoreboard for each event, of which each vCPU has a copy that
 * translated code tests.
 *
 * A thread that switches an event stores the words of all vCPUs, unless the scoreboard may move
 * just then: QEMU moves it for a vCPU that begins, a program's new thread. Such a change waits:
 * each vCPU takes it over at its next system call or when it waits for an interrupt, and all of
 * them when the new thread has begun.
 */
#ifndef GT_EVENTS_PLUGIN_STATES_H
#define GT_EVENTS_PLUGIN_STATES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_points;

enum { GT_POINTS_MAX_VCPUS = 4096 };

struct gt_points_states {
    bool no_words; /* one thread runs several vCPUs: code cannot test its vCPU's words */
    void *scoreboard;
    pthread_mutex_t lock;
    unsigned vcpus;    /* 1 + the highest number of a vCPU that began */
    unsigned cloning;  /* threads that are being made */
    uint64_t changes;  /* counts changes that were not stored for all vCPUs; atomic */
    uint64_t *current; /* of each vCPU: the changes that it has */
};

/* Before the events are registered. */
void gt_points_states_init(struct gt_points *p);
/* The events are registered: later changes are stored. */
void gt_points_states_begin(struct gt_points *p);

/* The host's events. */
void gt_points_on_vcpu_init(void *self, unsigned vcpu);
void gt_points_on_vcpu_idle(void *self, unsigned vcpu);
/* On a vCPU's thread, which may be behind. */
void gt_points_states_refresh(struct gt_points *p, unsigned vcpu);
/* A thread is about to be made; it was not made. */
void gt_points_states_clone(struct gt_points *p);
void gt_points_states_clone_failed(struct gt_points *p);
void gt_points_states_fork_child(struct gt_points *p);

#endif
