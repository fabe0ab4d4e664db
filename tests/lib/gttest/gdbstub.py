# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's gdbstub: registers by the names that plugins see, memory, breakpoints."""
import os
import re
import socket
import time
import xml.etree.ElementTree as xml

from gttest.results import Failure, need


class Stub:
    """A connection to `qemu-ARCH -g PATH`, which waits for it."""

    def __init__(self, path, child):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        end = time.monotonic() + 60
        while True:  # until QEMU listens
            try:
                self.socket.connect(path)
                break
            except OSError as error:
                need(child.poll() is None and time.monotonic() < end, 'no gdbstub at', path, error)
                time.sleep(0.01)
        self.file = self.socket.makefile('rb')
        self.ask('qSupported:xmlRegisters=i386')
        self.register = {}
        self.number = 0
        self.read_features('target.xml')

    def ask(self, text):
        data = text.encode()
        self.socket.sendall(b'$' + data + b'#%02x' % (sum(data) & 0xff))
        return self.answer()

    def answer(self):
        while True:
            byte = self.file.read(1)
            need(byte, 'the gdbstub closed the connection')
            if byte == b'$':
                break
        out = bytearray()
        while True:
            byte = self.file.read(1)
            if byte == b'#':
                break
            if byte == b'}':
                byte = bytes([self.file.read(1)[0] ^ 0x20])
            elif byte == b'*':  # run length
                out += out[-1:] * (self.file.read(1)[0] - 29)
                continue
            out += byte
        self.file.read(2)
        self.socket.sendall(b'+')
        return out.decode('latin-1')

    def document(self, name):
        text = ''
        while True:
            part = self.ask(f'qXfer:features:read:{name}:{len(text):x},ff0')
            need(part[:1] in ('l', 'm'), 'features', name, part)
            text += part[1:]
            if part[0] == 'l':
                return text

    def read_features(self, name):
        text = re.sub(r'<!DOCTYPE[^>]*>', '', self.document(name)).replace('xi:include', 'include')
        for node in xml.fromstring(text).iter():
            if node.tag.endswith('include'):
                self.read_features(node.attrib['href'])
            elif node.tag == 'reg':
                self.number = int(node.attrib.get('regnum', self.number))
                self.register[node.attrib['name']] = self.number
                self.number += 1

    def read_register(self, name):
        answer = self.ask(f'p{self.register[name]:x}')
        need(not answer.startswith('E') and answer, 'register', name, answer)
        return bytes.fromhex(answer)

    def read_memory(self, at, size):
        out = b''
        while size:
            part = min(size, 1024)
            answer = self.ask(f'm{at:x},{part:x}')
            if answer.startswith('E'):
                raise Failure(f'memory at {at:#x}: {answer}')
            out += bytes.fromhex(answer)
            at, size = at + part, size - part
        return out

    def write_memory(self, at, data):
        need(self.ask(f'M{at:x},{len(data):x}:{data.hex()}') == 'OK', 'memory at', hex(at))

    def set_break(self, at):
        need(self.ask(f'Z0,{at:x},1') == 'OK', 'breakpoint', hex(at))

    def remove_break(self, at):
        need(self.ask(f'z0,{at:x},1') == 'OK', 'breakpoint', hex(at))

    def resume(self):
        """True: it stopped; False: it ended."""
        return self.ask('vCont;c')[0] in 'TS'

    def let_go(self):
        """The program continues, and nobody waits for it. QEMU 10.0 crashes where it is asked to detach."""
        text = b'vCont;c'
        self.socket.sendall(b'$' + text + b'#%02x' % (sum(text) & 0xff))
        self.socket.shutdown(socket.SHUT_WR)  # or QEMU would wait at its end for the answer to what it says

    def kill(self):
        self.socket.sendall(b'$k#6b')
        self.socket.close()
        del self.file
        os.sched_yield()
