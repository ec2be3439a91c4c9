"""Gives commands that are due at one minute to a daemon, and prints how long after it they started.

daemon_peer.py cron|dutiful COMMANDS FOLDER CRON PROGRAMS: in a process namespace of its own, where
every process but this one, its parent and the daemon is one that the daemon started. Both daemons
hand the command to /bin/sh, and have the bounds that they have by default: dutiful 64 commands at one
time, cron none. cron stores nothing; dutiful records each start and each end in SQLite, and logs it.
"""

import array
import json
import os
import subprocess
import sys
import time
from pathlib import Path

LIMIT = 60  # seconds after the minute


def cron(commands, command, at, folder, program):
    line = f"{at.tm_min} {at.tm_hour} * * * root {command}\n"
    Path("/etc/cron.d/bench").write_text('MAILTO=""\n' + line * commands)
    return subprocess.Popen([program, "-f"])


def dutiful(commands, command, at, folder, program):
    tasks = Path(folder, "tasks.toml")
    task = f'cron = "{at.tm_min} {at.tm_hour} * * *"\n'
    tasks.write_text(
        f'[defaults]\nretry = "1h"\nrun = "{command}"\n'
        + "".join(f'[[task]]\nname = "task {i}"\n{task}' for i in range(commands))
    )
    with open(Path(folder, "log"), "w") as log:
        return subprocess.Popen([program, "run", tasks], stdout=log)


def processes():
    return sum(name.isdigit() for name in os.listdir("/proc"))


def most_resident_mib(process):
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def wait(daemon, due, happened, what):
    """How many seconds after the minute it happened."""
    while not happened():
        if daemon.poll() is not None:
            sys.exit(f"daemon_peer: the daemon has ended with {daemon.returncode}")
        if time.time() > due + LIMIT:
            sys.exit(f"daemon_peer: {what} took more than {LIMIT} s")
        time.sleep(0.002)
    return time.time() - due


def main():
    name, commands, folder, cron_program, programs = sys.argv[1:]
    commands = int(commands)
    stamps = Path(folder, "stamps")
    stamps.touch()
    command = f"{programs}/stamp {stamps}"

    # Ten seconds are enough to read the list of commands, which is not measured.
    due = (int(time.time()) + 10 + 59) // 60 * 60
    start, program = (cron, cron_program) if name == "cron" else (dutiful, f"{programs}/dutiful")
    daemon = start(commands, command, time.gmtime(due), folder, program)
    time.sleep(due - 1 - time.time())
    idle = processes()

    wait(daemon, due, lambda: stamps.stat().st_size == 8 * commands, "starting them")
    ended = wait(daemon, due, lambda: processes() == idle, "ending them")
    figure = {"daemon": "Debian's cron" if name == "cron" else name, "commands": commands}
    starts = array.array("q", stamps.read_bytes())
    late = sorted(start / 1e9 - due for start in starts)
    figure |= {
        "first_start_seconds": late[0],
        "median_start_seconds": late[commands // 2],
        "last_start_seconds": late[-1],
        "first_to_last_seconds": late[-1] - late[0],
        "ended_seconds": ended,
    }
    if name == "dutiful":
        log = Path(folder, "log")
        figure["recorded_seconds"] = wait(
            daemon, due, lambda: log.read_text().count('"TaskRunCompleted"') == commands, "recording their ends"
        )
    figure["resident_mib"] = most_resident_mib(daemon.pid)
    daemon.terminate()
    daemon.wait()
    print(json.dumps({key: round(value, 6) if isinstance(value, float) else value for key, value in figure.items()}))


main()
