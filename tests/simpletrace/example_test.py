#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The example analysis (examples/block-latency), against the same latencies computed here."""
import random

from gttest import cases, paths
from traces import Trace

EXAMPLE = paths.built('simpletrace', 'block-latency')
EVENTS = '''\
virtio_blk_req_complete(void *vdev, void *req, int status) "vdev %p req %p status %d"
virtio_blk_handle_write(void *vdev, void *req, uint64_t sector, size_t nsectors) "vdev %p"
virtio_blk_handle_read(void *vdev, void *req, uint64_t sector, size_t nsectors) "vdev %p"
other(void)
'''
BEGIN = {'read': 'virtio_blk_handle_read', 'write': 'virtio_blk_handle_write'}
DONE = 'virtio_blk_req_complete'


class Example(cases.ScratchCase):
    def setUp(self):
        super().setUp()
        self.events = self.write('events', EVENTS)

    def run_example(self, data, status=0):
        done = self.must(EXAMPLE, self.events, self.write('trace', data), status=status)
        return done.stdout.splitlines(), done.stderr

    def test_latencies(self):
        rng = random.Random(3)
        ids = {BEGIN['read']: 0, BEGIN['write']: 1, DONE: 2, 'other': 3}
        t = Trace()
        for name, ident in ids.items():
            t.map(ident, name)
        now, under_way, figures, unknown = 10**12, {}, {}, 0
        for _ in range(5000):
            now += rng.randrange(1, 10**5)
            device = rng.choice((0x7f0000001000, 0x7f0000002000))
            if rng.random() < 0.02:
                t.event(2, now, 1, DONE, [('vdev', device), ('req', 8), ('status', 0)])
                unknown += 1
            elif rng.random() < 0.5 or not under_way:
                req = rng.randrange(1, 5000) * 64 + 0x55550000
                if req in under_way:
                    continue
                way, sectors = rng.choice(('read', 'write')), rng.randrange(1, 257)
                t.event(ids[BEGIN[way]], now, 1, BEGIN[way],
                        [('vdev', device), ('req', req), ('sector', 1), ('nsectors', sectors)])
                under_way[req] = (device, way, now)
                row = figures.setdefault((hex(device), way), [0, []])
                row[0] += sectors * 512
            else:
                req = rng.choice(list(under_way))
                device, way, start = under_way.pop(req)
                t.event(2, now, 1, DONE, [('vdev', device), ('req', req), ('status', 0)])
                figures[hex(device), way][1].append(now - start)
        t.dropped(now, 1, 5)
        lines, _ = self.run_example(t.data)
        self.assertEqual(lines[-1], f'{unknown} completions of unknown requests, 5 events lost')
        rows = {tuple(line.split()[:2]): line.split()[2:] for line in lines[1:-1]}
        self.assertEqual(set(rows), set(figures))
        for key, (size, times) in figures.items():
            requests, shown, mean, half, most, longest = rows[key]
            self.assertEqual((int(requests), int(shown), longest),
                             (len(times), size, '%.3f' % (max(times) / 1000)))
            self.assertAlmostEqual(float(mean), sum(times) / len(times) / 1000, delta=0.01)
            for bound, share in ((half, 0.5), (most, 0.99)):
                below = sum(ns < float(bound) * 1000 for ns in times) / len(times)
                self.assertGreaterEqual(below, share)

    def test_damaged(self):
        t = Trace().map(2, DONE)
        t.event(2, 5, 1, DONE, [('vdev', 1), ('req', 8), ('status', 0)]).event(9, 6, 1, None, [])
        t.event(2, 7, 1, DONE, [('vdev', 1), ('req', 8), ('status', 0)])
        lines, err = self.run_example(t.data[:-1], status=1)
        self.assertIn('event id 9 was not mapped', err) # the first of two errors
        self.assertTrue(lines[-1].startswith('1 completions'))
        lines, _ = self.run_example(t.data, status=1) # what comes behind a bad record is seen
        self.assertTrue(lines[-1].startswith('2 completions'))


if __name__ == '__main__':
    cases.main()
