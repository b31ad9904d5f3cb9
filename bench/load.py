"""What a piece of work cost, and what else the machine did meanwhile; all of it read from /proc."""
import dataclasses
import os
import pathlib
import signal
import subprocess
import threading
import time

TICKS = os.sysconf('SC_CLK_TCK')
PROC = pathlib.Path('/proc')


@dataclasses.dataclass
class Cost:
    """Seconds, MiB; `others` is how many cores all other processes kept busy."""
    wall: float
    cpu: float
    rss: float
    others: float


class Failed(Exception):
    """A side that did not do its work; the bench goes on without it."""


def stat(pid):
    """Returns a process's parent and the ticks of it and of its children that have ended."""
    fields = (PROC / str(pid) / 'stat').read_text().rsplit(')', 1)[1].split()
    return int(fields[1]), int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])


def busy_ticks():
    user, nice, system, _idle, _wait, irq, softirq, steal = map(
        int, (PROC / 'stat').read_text().split('\n', 1)[0].split()[1:9])
    return user + nice + system + irq + softirq + steal


def our_ticks():
    """Returns the ticks of this process and of all that it started, ended ones too."""
    seen = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            try:
                seen[int(folder.name)] = stat(folder.name)
            except OSError:
                pass  # it has just ended, and is in its parent's count
    children = {}
    for pid, (parent, _, _) in seen.items():
        children.setdefault(parent, []).append(pid)
    ticks, left = 0, [os.getpid()]
    while left:
        pid = left.pop()
        ticks += sum(seen[pid][1:]) if pid in seen else 0
        left += children.get(pid, [])
    return ticks


class Others:
    """The load of other processes since it was made."""

    def __init__(self):
        self.start, self.busy, self.ours = time.monotonic(), busy_ticks(), our_ticks()

    def cores(self):
        seconds = time.monotonic() - self.start
        return max(0, busy_ticks() - self.busy - (our_ticks() - self.ours)) / TICKS / seconds


def run(command, timeout, log, **environment):
    """Runs a process of its own to its end and returns its cost; its output goes to a file, or nowhere."""
    others, start = Others(), time.monotonic()
    with open(os.devnull, 'wb') as nowhere, open(log, 'wb') as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=nowhere, stderr=errors, start_new_session=True,
            env={**os.environ, **environment})
    timed_out = threading.Event()

    def end():
        timed_out.set()
        os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(timeout, end)
    timer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        timer.cancel()
    wall = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if timed_out.is_set():
        raise Failed(f'not done within {timeout} s')
    if process.returncode:
        raise Failed(last_line(log) or f'ended with {process.returncode}')
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, others.cores())


def last_line(log):
    lines = pathlib.Path(log).read_text(errors='replace').strip().splitlines()
    return lines[-1][:300] if lines else ''


class Watch:
    """What a long-running process costs over a piece of its work."""

    def __init__(self, pid):
        self.pid = pid
        # Its peak is counted anew from here on: proc(5), clear_refs.
        (PROC / str(pid) / 'clear_refs').write_text('5')
        self.others, self.cpu, self.start = Others(), stat(pid)[1], time.monotonic()

    def cost(self):
        wall, cpu = time.monotonic() - self.start, (stat(self.pid)[1] - self.cpu) / TICKS
        return Cost(wall, cpu, self.peak(), self.others.cores())

    def peak(self):
        for line in (PROC / str(self.pid) / 'status').read_text().splitlines():
            if line.startswith('VmHWM'):
                return int(line.split()[1]) / 1024
        return 0.0
