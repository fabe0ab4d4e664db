# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads Perfetto's traces as far as guesttrace writes them: docs/formats/perfetto.md.

What is not of that form raises Failure: unknown fields, names and clocks that the state of a sequence does not have,
ends without a begin.
"""
import collections

from gttest.results import Failure, need

CLEARED, NEEDS = 1, 2
BEGIN, END, INSTANT = 1, 2, 3
CLOCK, TRACE_CLOCK = 64, 6

# Fields of the messages: {number: (name, type)}; a type is 'v', 't' or another message.
VALUE = {10: ('name', 't'), 3: ('uint_value', 'v'), 4: ('int_value', 'v'), 7: ('pointer_value', 'v'), 6: ('string_value', 't')}
EVENT = {9: ('type', 'v'), 10: ('name_iid', 'v'), 23: ('name', 't'), 4: ('debug_annotations', VALUE)}
NAMES = {2: ('event_names', {1: ('iid', 'v'), 2: ('name', 't')})}
DEFAULTS = {58: ('timestamp_clock_id', 'v'), 11: ('track_event_defaults', {11: ('track_uuid', 'v')})}
SNAPSHOT = {1: ('clocks', {1: ('clock_id', 'v'), 2: ('timestamp', 'v'), 3: ('is_incremental', 'v')})}
PROCESS = {1: ('pid', 'v'), 2: ('cmdline', 't'), 6: ('process_name', 't')}
THREAD = {1: ('pid', 'v'), 2: ('tid', 'v'), 5: ('thread_name', 't')}
DESCRIPTOR = {1: ('uuid', 'v'), 5: ('parent_uuid', 'v'), 2: ('name', 't'), 3: ('process', PROCESS),
              4: ('thread', THREAD)}
PACKET = {8: ('timestamp', 'v'), 10: ('trusted_packet_sequence_id', 'v'), 13: ('sequence_flags', 'v'), 6: ('clock_snapshot', SNAPSHOT),
          11: ('track_event', EVENT), 60: ('track_descriptor', DESCRIPTOR), 12: ('interned_data', NAMES),
          59: ('trace_packet_defaults', DEFAULTS)}
REPEATED = {'event_names', 'clocks', 'debug_annotations'}

Event = collections.namedtuple('Event', 'track time type name values')


# ---- protocol buffers --------------------------------------------------------------------------------

def varint(data, at, end):
    value = shift = 0
    while True:
        need(at < end and shift < 70, f'offset {at}: a varint is cut')
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data, at, end):
    """(number, value, offset of the value's end) of each: a number, or (begin, end)."""
    while at < end:
        key, at = varint(data, at, end)
        need(key & 7 in (0, 2), f'offset {at}: wire type {key & 7}')
        value, at = varint(data, at, end)
        if key & 7 == 2:
            need(at + value <= end, f'offset {at}: a field of {value} bytes is cut')
            value, at = (at, at + value), at + value
        yield key >> 3, value, at


def text(data, at):
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Failure(f'offset {at}: a text that is not UTF-8') from None


def message(data, begin, end, form):
    """{name: value}; lists of what may be repeated."""
    found = {}
    for number, value, at in fields(data, begin, end):
        need(number in form, f'offset {at}: unknown field {number}')
        name, kind = form[number]
        need(isinstance(value, int) == (kind == 'v'), f'offset {at}: type of {name}')
        if kind == 't':
            value = text(data[value[0]:value[1]], at)
        elif kind != 'v':
            value = message(data, *value, kind)
        if name in REPEATED:
            found.setdefault(name, []).append(value)
        else:
            need(name not in found, f'offset {at}: {name} twice')
            found[name] = value
    return found


def packets(data, begin=0):
    """(offset, {field: value}) of each packet; begin is where one begins."""
    at = begin
    while at < len(data):
        number, value, after = next(fields(data, at, len(data)))
        need(number == 1 and isinstance(value, tuple), f'offset {at}: no packet')
        yield at, message(data, *value, PACKET)
        at = after


def value_of(annotation):
    """(name, value): a text, a number, or of a pointer a text in hex."""
    name, left = annotation['name'], {k: v for k, v in annotation.items() if k != 'name'}
    need(len(left) == 1, 'a value of', left)
    (kind, value), = left.items()
    if kind == 'int_value' and value >> 63:
        value -= 1 << 64
    return name, hex(value) if kind == 'pointer_value' else value


# ---- traces ------------------------------------------------------------------------------------------

class Sequence:
    def __init__(self):
        self.time = self.track = None
        self.names = {}

    def clear(self, packet):
        self.names = {}
        self.track = packet['trace_packet_defaults']['track_event_defaults']['track_uuid']
        need(packet['trace_packet_defaults']['timestamp_clock_id'] == CLOCK, 'the default clock')
        clocks = {c['clock_id']: c for c in packet['clock_snapshot']['clocks']}
        need(set(clocks) == {CLOCK, TRACE_CLOCK}, 'clocks', clocks)
        need(clocks[CLOCK].get('is_incremental') and not clocks[TRACE_CLOCK].get('is_incremental'), 'clocks', clocks)
        need(clocks[CLOCK]['timestamp'] == clocks[TRACE_CLOCK]['timestamp'], 'clocks', clocks)
        need(self.time is None or clocks[CLOCK]['timestamp'] >= self.time, 'a snapshot goes back in time')
        self.time = clocks[CLOCK]['timestamp']


class Trace:
    """events: [Event] in the file's order. tracks: {uuid: descriptor}. skipped: packets before their sequence's
    first state, which only a part of a file may have."""

    def __init__(self, data, begin=0):
        self.events, self.tracks, self.skipped, self.states = [], {}, 0, 0
        self.sequences = collections.defaultdict(Sequence)
        for at, packet in packets(data, begin):
            try:
                self._take(packet)
            except (Failure, KeyError) as bad:
                raise Failure(f'packet at {at}: {packet}: {bad!r}') from None
        need(not self.skipped or begin, f'{self.skipped} packets before the state of their sequence')

    def _take(self, packet):
        sequence = self.sequences[packet['trusted_packet_sequence_id']]
        if 'track_descriptor' in packet:
            track = packet['track_descriptor']
            need(self.tracks.setdefault(track['uuid'], track) == track, 'a track of two forms')
            need('thread' not in track or len(track['thread']) == len(THREAD), 'a thread')
            need('parent_uuid' not in track or track['parent_uuid'] in self.tracks, 'no parent')
        elif packet.get('sequence_flags') == CLEARED:
            sequence.clear(packet)
            need(sequence.track in self.tracks, 'a state of a track that is not described')
            self.states += 1
        elif sequence.track is None:
            self.skipped += 1
        else:
            self._event(sequence, packet)

    def _event(self, sequence, packet):
        need(packet['sequence_flags'] == NEEDS, 'an event that needs no state')
        for name in packet.get('interned_data', {}).get('event_names', []):
            need(name['iid'] not in sequence.names and name['iid'], 'a name twice')
            sequence.names[name['iid']] = name['name']
        sequence.time += packet['timestamp']
        event = packet['track_event']
        name = sequence.names[event['name_iid']] if 'name_iid' in event else event.get('name')
        need(event['type'] in (BEGIN, END, INSTANT) and (name is None) == (event['type'] == END), 'an event')
        values = dict(value_of(v) for v in event.get('debug_annotations', []))
        self.events.append(Event(sequence.track, sequence.time, event['type'], name, values))

    def thread(self, track):
        """(pid, tid, name) of a task's track; None: another one."""
        thread = self.tracks[track].get('thread')
        return thread and (thread['pid'], thread['tid'], thread['thread_name'])

    def calls(self, ends_ok=False):
        """{tid: [(kind, time, depth, name)]}, kind 'enter' or 'leave'; with ends_ok, an end without a begin is left
        out."""
        out, stacks = collections.defaultdict(list), collections.defaultdict(list)
        for track, time, kind, name, _ in self.events:
            thread = self.thread(track)
            if not thread or kind == INSTANT:
                continue
            stack = stacks[track]
            if kind == BEGIN:
                out[thread[1]].append(('enter', time, len(stack), name))
                stack.append(name)
            elif stack:
                out[thread[1]].append(('leave', time, len(stack) - 1, stack.pop()))
            else:
                need(ends_ok, f'an end without a begin at {time}')
        need(not any(stacks.values()), 'begins without an end')
        return dict(out)

    def instants(self):
        """[(time, tid or track's name, text)]"""
        return [(e.time, (self.thread(e.track) or (0, self.tracks[e.track].get('name')))[1], e.name)
                for e in self.events if e.type == INSTANT]
