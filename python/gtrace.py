# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads recordings of guesttrace, and directories of uftrace, through libgtrace.

    import gtrace

    with gtrace.open('boot.gtrace') as t:
        for call in t.calls(function='vfs_read', start=2.5, task='init'):
            print(f'{call.begin:.6f} {call.duration:.6f} {" > ".join(f.name for f in call.path)}')

Times that are given and returned are seconds, as floats; with the suffix _ns whole nanoseconds. Names of functions
and tasks may have * and ?. A recording that is damaged is read as far as it is whole: what was left out is in
`notices`; how far the recorder was not sure is in `anomalies`.

`Trace.array()` gives calls as a numpy array.
"""
import collections
import ctypes
import os
import queue
import signal
import sys
import threading

__all__ = ['Anomaly', 'Call', 'Error', 'Event', 'Function', 'Mark', 'Process', 'Row', 'Sum', 'Task', 'Trace', 'open', 'version']

ENTRY, EXIT, EVENT, LOST, _SPLIT, VCPU = range(6)  # of Event.kind
_RECURSIVE, _CLIPPED, _OPEN = 1, 2, 4
_NO_SYMBOL, _PLT, _HANDLER, _SUSPENDED = 1, 2, 4, 8
_WANT_PATH, _WANT_VALUES = 1, 2
_UNREAD, _INTEGER, _UNSIGNED, _REAL, _TEXT = range(5)


class Error(Exception):
    """What libgtrace says; `status` is its number (enum gtrace_status)."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


# ---- the library -----------------------------------------------------------------------------------------------------
# Structs as in gtrace/gtrace.h. Those with a size tell the library how much of them is known here.

_u32, _i32, _u64, _i64, _text = ctypes.c_uint32, ctypes.c_int32, ctypes.c_uint64, ctypes.c_int64, ctypes.c_char_p


class _Struct(ctypes.Structure):
    pass


class _Sized(ctypes.Structure):
    @classmethod
    def new(cls):
        made = cls()
        made.size = ctypes.sizeof(cls)
        return made


class _Error(_Sized):
    _fields_ = [('size', _u32), ('status', _i32), ('text', ctypes.c_char * 512)]


_NOTICE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, _text)


class _Options(_Sized):
    _fields_ = [('size', _u32), ('reserved', _u32), ('notice', _NOTICE), ('user', ctypes.c_void_p)]


class _Facts(_Sized):
    _fields_ = [('size', _u32), ('form', _u32), ('command', _text), ('program', _text), ('version', _text),
                ('first', _u64), ('last', _u64), ('records', _u64), ('bytes', _u64), ('has_exit_status', _i32),
                ('exit_status', _i32), ('incomplete', _i32), ('reserved', _i32)]


class _Task(_Sized):
    _fields_ = [('size', _u32), ('id', _u32), ('process', _u32), ('guest_pid', _u32), ('guest_tgid', _u32),
                ('reserved', _u32), ('name', _text), ('start', _u64)]


class _Process(_Sized):
    _fields_ = [('size', _u32), ('pid', _u32), ('program', _text), ('start', _u64)]


class _Function(_Sized):
    _fields_ = [('size', _u32), ('flags', _u32), ('name', _text), ('symbol', _text), ('module', _text),
                ('address', _u64), ('length', _u64), ('file', _text), ('line', _u32), ('reserved', _u32)]


class _Mark(_Sized):
    _fields_ = [('size', _u32), ('reserved', _u32), ('time', _u64), ('text', _text)]


class _Anomaly(_Sized):
    _fields_ = [('size', _u32), ('reserved', _u32), ('name', _text), ('count', _u64)]


class _Window(_Sized):
    _fields_ = [('size', _u32), ('depth', _u32), ('start', _u64), ('end', _u64), ('min_time', _u64),
                ('tasks', ctypes.POINTER(_text)), ('functions', ctypes.POINTER(_text)), ('wall', _u32), ('want', _u32),
                ('filter', ctypes.c_void_p)]


class _ExportOptions(_Sized):
    _fields_ = [('size', _u32), ('reserved', _u32), ('least', ctypes.c_double)]


class _Event(_Struct):
    _fields_ = [('time', _u64), ('begin', _u64), ('self', _i64), ('slept', _u64), ('task', _u32), ('function', _u32),
                ('depth', _u32), ('kind', ctypes.c_uint8), ('flags', ctypes.c_uint8), ('reserved', ctypes.c_uint8 * 2)]


class _Value(_Struct):
    _fields_ = [('name', _text), ('text', _text), ('number', _u64), ('real', ctypes.c_double), ('kind', _u32),
                ('reserved', _u32)]


class _Call(_Struct):
    _fields_ = [('begin', _u64), ('end', _u64), ('self', _i64), ('slept', _u64), ('task', _u32), ('function', _u32),
                ('depth', _u32), ('flags', _u32), ('path', ctypes.POINTER(_u32)),
                ('arguments', ctypes.POINTER(_Value)), ('result', ctypes.POINTER(_Value)), ('n_path', _u32),
                ('n_arguments', _u32)]


class _Row(_Struct):
    _fields_ = [('begin', _u64), ('end', _u64), ('self', _i64), ('slept', _u64), ('task', _u32), ('function', _u32),
                ('depth', _u32), ('flags', _u32)]


class _Sum(_Struct):
    _fields_ = [('calls', _u64), ('open', _u64), ('total', _u64), ('self', _u64), ('slept', _u64), ('mean', _u64),
                ('longest', _u64), ('shortest', _u64), ('self_longest', _u64), ('self_shortest', _u64),
                ('index', _u32), ('functions', _u32)]


_EVENT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Event))
_CALLS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_trace, _err = ctypes.c_void_p, ctypes.POINTER(_Error)
_FUNCTIONS = {
    'version': (_u32, []),
    'open': (ctypes.c_int, [_text, ctypes.POINTER(_Options), ctypes.POINTER(_trace), _err]),
    'close': (None, [_trace]),
    'facts': (ctypes.c_int, [_trace, ctypes.POINTER(_Facts)]),
    'n_tasks': (ctypes.c_size_t, [_trace]),
    'task': (ctypes.c_int, [_trace, _u32, ctypes.POINTER(_Task)]),
    'n_processes': (ctypes.c_size_t, [_trace]),
    'process': (ctypes.c_int, [_trace, _u32, ctypes.POINTER(_Process)]),
    'n_functions': (ctypes.c_size_t, [_trace]),
    'function': (ctypes.c_int, [_trace, _u32, ctypes.POINTER(_Function)]),
    'n_marks': (ctypes.c_size_t, [_trace]),
    'mark': (ctypes.c_int, [_trace, ctypes.c_size_t, ctypes.POINTER(_Mark)]),
    'n_anomalies': (ctypes.c_size_t, [_trace]),
    'anomaly': (ctypes.c_int, [_trace, ctypes.c_size_t, ctypes.POINTER(_Anomaly)]),
    'statistic': (_u64, [_trace, _text]),
    'walk': (ctypes.c_int, [_trace, ctypes.POINTER(_Window), _EVENT, ctypes.c_void_p, _err]),
    'calls': (ctypes.c_int, [_trace, ctypes.POINTER(_Window), _CALLS, ctypes.c_void_p, _err]),
    'collect': (_i64, [_trace, ctypes.POINTER(_Window), ctypes.POINTER(ctypes.c_void_p), _err]),
    'sums': (_i64, [_trace, ctypes.POINTER(_Window), ctypes.c_int, ctypes.POINTER(ctypes.c_void_p),
                    ctypes.POINTER(ctypes.c_size_t), _err]),
    'free': (None, [ctypes.c_void_p]),
    'export_with': (ctypes.c_int, [_trace, ctypes.POINTER(_Window), ctypes.c_int, ctypes.POINTER(_ExportOptions),
                                   ctypes.c_int, _err]),
    'export_ctf': (ctypes.c_int, [_trace, ctypes.POINTER(_Window), ctypes.c_char_p, _err]),
    'filter_new': (ctypes.c_int, [_trace, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), _err]),
    'filter_add': (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int, _text, _err]),
    'filter_unused': (_text, [ctypes.c_void_p, ctypes.c_size_t]),
    'filter_free': (None, [ctypes.c_void_p]),
}


class _Library:
    """libgtrace.so.0, or what the environment variable GTRACE_LIBRARY names; loaded when it is first used."""

    def __init__(self):
        self.loaded = None

    def __getattr__(self, name):
        if self.loaded is None:
            path = os.environ.get('GTRACE_LIBRARY', 'libgtrace.so.0')
            try:
                self.loaded = ctypes.CDLL(path)
            except OSError as why:
                raise ImportError(f'{path}: {why}; install libgtrace0, or set GTRACE_LIBRARY to its path') from why
            for function, (result, arguments) in _FUNCTIONS.items():
                at = getattr(self.loaded, 'gtrace_' + function)
                at.restype, at.argtypes = result, arguments
        return getattr(self.loaded, 'gtrace_' + name)


_lib = _Library()


def version():
    """Of the library: (major, minor, patch)."""
    number = _lib.version()
    return number // 10000, number // 100 % 100, number % 100


def _str(text):
    return None if text is None else text.decode('utf-8', 'replace')


def _check(status, err):
    if status < 0:
        raise Error(status, _str(err.text) or f'error {status}')
    return status


# As enum gtrace_filter_option and enum gtrace_format have them.
_OPTIONS_OF_FILTERS = ('filter', 'notrace', 'caller_filter', 'hide', 'loc_filter', 'trigger', 'where', 'size_filter',
                       'depth', 'time_filter')
_FORMATS = ('perfetto', 'chrome', 'folded', 'folded-calls', 'speedscope', 'callgrind', 'pprof', 'firefox', 'perf')


class _Filter:
    """Filters of one pass, freed with it."""

    def __init__(self, handle, given, notices):
        self.made, self.notices = ctypes.c_void_p(), notices
        err = _Error.new()
        given = dict(given)
        glob = {'regex': 0, 'glob': 1}[given.pop('match', 'regex')]
        _check(_lib.filter_new(handle, glob, ctypes.byref(self.made), err), err)
        for option, values in given.items():
            if option not in _OPTIONS_OF_FILTERS:
                raise ValueError(f'filter: no option {option!r}; there are: match, {", ".join(_OPTIONS_OF_FILTERS)}')
            for value in [values] if isinstance(values, (str, int)) else values:
                _check(_lib.filter_add(self.made, _OPTIONS_OF_FILTERS.index(option), str(value).encode(), err), err)

    def note_unused(self):
        i = 0
        while line := _lib.filter_unused(self.made, i):
            self.notices.append(_str(line))
            i += 1

    def __del__(self):
        if self.made:
            _lib.filter_free(self.made)


# ---- what there is ---------------------------------------------------------------------------------------------------

Task = collections.namedtuple('Task', 'index id name process guest_pid guest_tgid start')
Process = collections.namedtuple('Process', 'index pid program start')
Mark = collections.namedtuple('Mark', 'time text')
Anomaly = collections.namedtuple('Anomaly', 'name count')
Row = collections.namedtuple('Row', [name for name, _ in _Row._fields_])
Sum = collections.namedtuple('Sum', 'function calls open total self slept shortest longest')


class Function(collections.namedtuple('Function', 'index name symbol module address length file line flags')):
    """A function: `name` is demangled, `symbol` as in the program's file `module`."""
    __slots__ = ()
    has_symbol = property(lambda self: not self.flags & _NO_SYMBOL)
    is_plt = property(lambda self: bool(self.flags & _PLT))
    is_handler = property(lambda self: bool(self.flags & _HANDLER))
    is_suspension = property(lambda self: bool(self.flags & _SUSPENDED))

    def __str__(self):
        return self.name


class _Times:
    __slots__ = ()
    begin = property(lambda self: self.begin_ns / 1e9)
    recursive = property(lambda self: bool(self.flags & _RECURSIVE), doc='the function is open further out')
    clipped = property(lambda self: bool(self.flags & _CLIPPED), doc='it began before, or ends after what was asked for')
    is_open = property(lambda self: bool(self.flags & _OPEN), doc='it never returned')


class Call(_Times, collections.namedtuple('Call', 'function task begin_ns end_ns self_ns slept_ns depth flags path '
                                                  'arguments result')):
    """A call. `duration` is time that ran, with what it called; `self` without; `slept` is time in which its task was
    suspended. `path` has its callers, the outermost first; `arguments` is a dict by name, `result` a value, None where
    none was recorded."""
    __slots__ = ()
    end = property(lambda self: self.end_ns / 1e9)
    duration_ns = property(lambda self: self.end_ns - self.begin_ns - self.slept_ns)
    duration = property(lambda self: self.duration_ns / 1e9)
    self = property(lambda self: self.self_ns / 1e9)
    slept = property(lambda self: self.slept_ns / 1e9)


class Event(_Times, collections.namedtuple('Event', 'kind time_ns function task begin_ns self_ns slept_ns depth flags')):
    """One event: `kind` is ENTRY, EXIT, EVENT, LOST or VCPU. `function` is a Function; of an EVENT its number, of LOST how many
    records were lost (0: not known), of VCPU the vCPU on which the task runs from here on, until it is suspended."""
    __slots__ = ()
    time = property(lambda self: self.time_ns / 1e9)


def _value_of(v):
    if v.kind == _INTEGER:
        return ctypes.c_int64(v.number).value
    if v.kind == _UNSIGNED:
        return v.number
    if v.kind == _REAL:
        return v.real
    return None if v.kind == _UNREAD else _str(v.text)


class Trace:
    """An open recording; use it in a with statement, or call close()."""

    def __init__(self, path):
        self._handle = None
        self.path = os.fspath(path)
        self.notices = []
        self._notice = _NOTICE(lambda user, line: self.notices.append(_str(line)))
        options, err, out = _Options.new(), _Error.new(), _trace()
        options.notice = self._notice
        _check(_lib.open(os.fsencode(self.path), options, ctypes.byref(out), err), err)
        self._handle = out
        self._lock = threading.Lock()
        self._functions = []
        self._names = {}
        facts = _Facts.new()
        _lib.facts(out, facts)
        self.command, self.program = _str(facts.command), _str(facts.program)
        self.recorder = _str(facts.version)
        self.first_ns, self.last_ns = facts.first, facts.last
        self.records, self.bytes = facts.records, facts.bytes
        self.exit_status = os.waitstatus_to_exitcode(facts.exit_status) if facts.has_exit_status else None
        self.incomplete = bool(facts.incomplete)
        self.tasks = [self._task(i) for i in range(_lib.n_tasks(out))]
        self.processes = [self._process(i) for i in range(_lib.n_processes(out))]
        self.marks = [self._mark(i) for i in range(_lib.n_marks(out))]
        self.anomalies = [self._anomaly(i) for i in range(_lib.n_anomalies(out))]

    first = property(lambda self: self.first_ns / 1e9)
    last = property(lambda self: self.last_ns / 1e9)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def close(self):
        """Closes it; what was read stays valid."""
        if self._handle:
            with self._lock:
                handle, self._handle = self._handle, None
                _lib.close(handle)

    @property
    def handle(self):
        if not self._handle:
            raise ValueError(f'{self.path}: the recording is closed')
        return self._handle

    def _task(self, index):
        t = _Task.new()
        _lib.task(self.handle, index, t)
        return Task(index, t.id, _str(t.name), t.process, t.guest_pid, t.guest_tgid, t.start / 1e9)

    def _process(self, index):
        p = _Process.new()
        _lib.process(self.handle, index, p)
        return Process(index, p.pid, _str(p.program), p.start / 1e9)

    def _mark(self, index):
        m = _Mark.new()
        _lib.mark(self.handle, index, m)
        return Mark(m.time / 1e9, _str(m.text))

    def _anomaly(self, index):
        a = _Anomaly.new()
        _lib.anomaly(self.handle, index, a)
        return Anomaly(_str(a.name), a.count)

    def statistic(self, name):
        """A number that the recorder has kept, as 'calls' and 'lost_records'."""
        return _lib.statistic(self.handle, name.encode())

    def function(self, index):
        """The Function of an index, as arrays have them."""
        while index >= len(self._functions):
            f = _Function.new()
            if _lib.function(self.handle, len(self._functions), f) < 0:
                raise IndexError(f'{self.path}: there is no function {index}')
            self._functions.append(Function(len(self._functions), _str(f.name), _str(f.symbol), _str(f.module), f.address,
                                            f.length, _str(f.file), f.line, f.flags))
        return self._functions[index]

    @property
    def functions(self):
        """All that were met; a pass must have ended: sums() makes one."""
        n = _lib.n_functions(self.handle)
        return [self.function(i) for i in range(n)]

    # ---- passes ----

    def _window(self, function, task, start, end, depth, min_time, wall, chosen=None, want=0):
        w = _Window.new()
        w.start = _ns(start)
        w.end = 0 if end is None else max(_ns(end), 1)
        w.depth, w.min_time, w.wall, w.want = depth or 0, _ns(min_time), bool(wall), want
        w.keep = []  # what the pointers point to
        if chosen:
            w.keep.append(_Filter(self.handle, chosen, self.notices))
            w.filter = w.keep[0].made
        w.end_pass = w.keep[0].note_unused if chosen else lambda: None
        for field, chosen in ('functions', function), ('tasks', task):
            if chosen is not None:
                names = [chosen] if isinstance(chosen, (str, int, Function, Task)) else list(chosen)
                texts = [_pattern(name) for name in names] + [None]
                array = (_text * len(texts))(*texts)
                w.keep.append(array)
                setattr(w, field, ctypes.cast(array, ctypes.POINTER(_text)))
        return w

    def calls(self, function=None, *, task=None, start=0, end=None, depth=None, min_time=0, wall=False, filter=None,
              values=True, path=True):
        """Calls in the order in which they end; an iterator, which reads as it goes. `function` and `task` are a name or
        several; `start`, `end` and `min_time` seconds. `wall`: time in which a task was suspended belongs to its calls.
        `filter`: a dict of the command's options of docs/filters.md, as {'notrace': ['a', 'b'], 'where': 'count>4k'}; a
        pattern that matches nothing is in `notices`. Without `values` and `path` it is faster."""
        want = (_WANT_VALUES if values else 0) | (_WANT_PATH if path else 0)
        window = self._window(function, task, start, end, depth, min_time, wall, filter, want)

        def convert(at, n, stride):
            return [self._call(_Call.from_address(at + i * stride), values) for i in range(n)]

        def run(give):
            callback = _CALLS(lambda user, at, n, stride: give(lambda: convert(at, n, stride)))
            err = _Error.new()
            status = _lib.calls(self.handle, window, callback, None, err)
            if status == 0:
                window.end_pass()
            return status, err
        return self._iterate(run)

    def _call(self, c, values):
        path = tuple(self.function(c.path[i]) for i in range(c.n_path)) if c.path else ()
        arguments, result = {}, None
        if values:
            arguments = {_str(c.arguments[i].name): _value_of(c.arguments[i]) for i in range(c.n_arguments)}
            result = _value_of(c.result[0]) if c.result else None
        return Call(self.function(c.function), self.tasks[c.task], c.begin, c.end, c.self, c.slept, c.depth, c.flags, path,
                    arguments, result)

    def events(self, *, task=None, start=0, end=None, depth=None, min_time=0, wall=False, filter=None):
        """All events in order of time; an iterator, which reads as it goes."""
        window = self._window(None, task, start, end, depth, min_time, wall, filter)
        some = []

        def convert():
            made = [self._event(*e) for e in some]
            some.clear()
            return made

        def run(give):
            def take(_, event):
                e = event[0]
                some.append((e.kind, e.time, e.function, e.task, e.begin, e.self, e.slept, e.depth, e.flags))
                return give(convert) if len(some) == 1024 else 0
            callback, err = _EVENT(take), _Error.new()
            status = _lib.walk(self.handle, window, callback, None, err)
            if some and status >= 0:
                give(convert)
            if status == 0:
                window.end_pass()
            return status, err
        return self._iterate(run)

    def _event(self, kind, time, function, task, *rest):
        return Event(kind, time, self.function(function) if kind in (ENTRY, EXIT) else function, self.tasks[task], *rest)

    def _iterate(self, run):
        """Yields what `run` gives. The library calls back, so it runs in a thread of its own, a few batches ahead."""
        batches = queue.Queue(4)
        ended = threading.Event()

        def put(what):
            while not ended.is_set():
                try:
                    batches.put(what, timeout=0.1)
                    return 0
                except queue.Full:
                    pass
            return 1

        def give(make):
            try:
                return put(('some', make()))
            except BaseException as why:  # ctypes would print it and go on
                put(('failed', why))
                return 1

        def work():
            try:
                with self._lock:
                    status, err = run(give)
                    put(('done', None) if status >= 0 else ('failed', Error(status, _str(err.text))))
            except BaseException as why:
                put(('failed', why))
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            while True:
                what, batch = batches.get()
                if what == 'done':
                    return
                if what == 'failed':
                    raise batch
                yield from batch
        finally:
            ended.set()
            thread.join()

    def sums(self, function=None, *, task=None, start=0, end=None, depth=None, min_time=0, wall=False, filter=None):
        """A Sum for each function, the longest `self` first: how often it was called, and seconds."""
        window = self._window(function, task, start, end, depth, min_time, wall, filter)
        stride = ctypes.c_size_t()

        def read(handle, w, out, err):
            return _lib.sums(handle, w, 0, out, ctypes.byref(stride), err)
        found = [Sum(self.function(s.index), s.calls, s.open, s.total / 1e9, s.self / 1e9, s.slept / 1e9,
                     s.shortest / 1e9, s.longest / 1e9)
                 for s in self._rows(read, window, _Sum, stride)]
        return sorted(found, key=lambda s: (-s.self, s.function.name))

    def _rows(self, function, window, kind, stride=None):
        err, out = _Error.new(), ctypes.c_void_p()
        with self._lock:
            n = _check(function(self.handle, window, ctypes.byref(out), err), err)
        window.end_pass()
        size = stride.value if stride else ctypes.sizeof(kind)
        try:
            if size == ctypes.sizeof(kind):
                return (kind * n).from_buffer_copy((ctypes.c_char * (n * size)).from_address(out.value)) if n else []
            return [kind.from_buffer_copy((ctypes.c_char * ctypes.sizeof(kind)).from_address(out.value + i * size))
                    for i in range(n)]
        finally:
            _lib.free(out)

    def export(self, path, format, *, task=None, start=0, end=None, depth=None, min_time=0, wall=False, filter=None,
               least=0):
        """Writes the file `path` in a format of another tool: perfetto, chrome, folded, folded-calls, speedscope,
        callgrind, pprof, firefox or perf; or ctf, a directory. It gets its name when it is complete. `least`: of
        folded, speedscope, firefox and perf, paths with less than this share of all (0.0001) are added to their
        callers'."""
        if format == 'ctf':
            if least:
                raise ValueError('export: ctf has each call, none is left out: no `least`')
            window = self._window(None, task, start, end, depth, min_time, wall, filter)
            err = _Error.new()
            with self._lock:
                _check(_lib.export_ctf(self.handle, window, os.fsencode(path), err), err)
            window.end_pass()
            return
        if format not in _FORMATS:
            raise ValueError(f'export: no format {format!r}; there are: {", ".join(_FORMATS)}')
        window = self._window(None, task, start, end, depth, min_time, wall, filter)
        err, options, new = _Error.new(), _ExportOptions.new(), f'{os.fspath(path)}.{os.getpid()}'
        options.least = least
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with self._lock:
                _check(_lib.export_with(self.handle, window, _FORMATS.index(format), options, fd, err), err)
            os.replace(new, path)
        except BaseException:
            os.unlink(new)
            raise
        finally:
            os.close(fd)
        window.end_pass()

    def array(self, function=None, *, task=None, start=0, end=None, depth=None, min_time=0, wall=False, filter=None):
        """Calls by their beginning, read on all processors: the fields begin, end, self and slept in ns, task and
        function (indexes: see `tasks` and `function()`), depth, flags. A numpy array; where numpy is not installed a
        list of Row."""
        window = self._window(function, task, start, end, depth, min_time, wall, filter)
        rows = self._rows(_lib.collect, window, _Row)
        try:
            import numpy
        except ImportError:
            return [Row(*(getattr(row, name) for name in Row._fields)) for row in rows]
        kind = numpy.dtype([(name, _DTYPES[ctype]) for name, ctype in _Row._fields_])
        return numpy.frombuffer(rows, dtype=kind) if len(rows) else numpy.zeros(0, dtype=kind)


_DTYPES = {_u32: 'u4', _i32: 'i4', _u64: 'u8', _i64: 'i8'}


def _ns(seconds):
    return 0 if seconds is None else round(seconds * 1e9)


def _pattern(name):
    if isinstance(name, Function):
        return name.symbol.encode()
    if isinstance(name, Task):
        return str(name.id).encode()
    return str(name).encode()


def open(path):  # as gzip.open
    """Opens a recording: a Trace."""
    return Trace(path)


def main():
    """python3 -m gtrace RECORDING [FUNCTION]: its functions, or the calls of one."""
    if len(sys.argv) not in (2, 3):
        print(main.__doc__, file=sys.stderr)
        return 2
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        with open(sys.argv[1]) as t:
            if len(sys.argv) == 2:
                for s in t.sums():
                    print(f'{s.calls:10} {s.total:14.9f} {s.self:14.9f}  {s.function}')
            else:
                for c in t.calls(sys.argv[2]):
                    print(f'{c.begin:.9f} {c.duration:.9f} {c.task.name} {c.function} {c.arguments} {c.result}')
    except Error as why:
        print(f'gtrace: {why}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
