# SPDX-License-Identifier: Apache-2.0
"""After a run under the preloaded library with FAULT_POWER=DIRECTORY has been killed: brings
DIRECTORY to a state in which a loss of power at that moment could have left it. Durable changes
(fsync) stay. A random initial part of the later changes to each file and each directory stays,
often none and sometimes all: writes and names reach the disk independently of each other, each in
its order; the last write that stays may be incomplete."""
import os
import pathlib
import shutil
import struct

CHANGE = struct.Struct("<QQQQ")
MAGIC = 0x4552414843574F50


def environment(directory, shim):
    return {"FAULT_POWER": str(directory), "LD_PRELOAD": str(shim)}


def _kept(dice, count):
    """The number of changes since the last fsync that reached the disk."""
    return dice.choice([0, 0, count, dice.randint(0, count)])


def _changes(log):
    data, at, changes = log.read_bytes(), 0, []
    while at + CHANGE.size <= len(data):
        magic, offset, old_size, count = CHANGE.unpack_from(data, at)
        at += CHANGE.size
        if magic != MAGIC or at + count > len(data):
            break  # killed while it was recorded, so it never happened
        changes.append((offset, old_size, data[at:at + count]))
        at += count
    return changes


def _take_back_bytes(path, changes, kept, halves):
    with open(path, "r+b") as file:
        for number in reversed(range(kept, len(changes))):
            offset, old_size, older = changes[number]
            size = file.seek(0, os.SEEK_END)
            if number == kept and halves and offset >= old_size and size > offset:
                file.truncate(offset + (size - offset) // 2)
                continue
            file.seek(offset)
            file.write(older)
            file.truncate(old_size)


def _is(path, inode):
    return os.path.lexists(path) and os.lstat(path).st_ino == inode


def _take_back_name(words):
    what, inode = words[0], int(words[1])
    if what == "create" and _is(words[2], inode):
        os.unlink(words[2])
    elif what == "mkdir" and _is(words[2], inode):
        shutil.rmtree(words[2])
    elif what == "unlink" and words[3] and not os.path.lexists(words[2]) and os.path.isdir(os.path.dirname(words[2])):
        os.link(words[3], words[2])
    elif what == "rename" and _is(words[3], inode):
        os.rename(words[3], words[2])
        if words[4]:
            os.link(words[4], words[3])


def lose(directory, dice):
    """Returns how many changes were lost."""
    record = pathlib.Path(directory) / ".power"
    paths = {os.lstat(path).st_ino: path for path in pathlib.Path(directory).rglob("*") if path.is_file() and path.name[:2] != "f_"}
    lost = 0
    for log in sorted(record.glob("f_*")):
        path, changes = paths.get(int(log.name[2:])), _changes(log)
        if path is None or not changes:
            continue
        kept = _kept(dice, len(changes))
        lost += len(changes) - kept
        _take_back_bytes(path, changes, kept, dice.random() < 0.5)
    for log in sorted(record.glob("d_*")):
        lines = [line.split("\t") for line in log.read_text().splitlines()]
        kept = _kept(dice, len(lines))
        lost += len(lines) - kept
        for words in reversed(lines[kept:]):
            _take_back_name(words)
    shutil.rmtree(record, ignore_errors=True)
    return lost
