#!/usr/bin/python3
"""Turns the figures of the benchmarks into a report: JSON, Markdown and plots.

report.py FIGURES FOLDER: reads JSON lines, writes report.json, report.md and *.svg.
"""

import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

from plot import plot


IDENTIFYING = ("figure", "library", "daemon", "tasks", "commands", "running", "days", "events", "downtime")


def read(path):
    """The figures; of those that were measured in several rounds, the medians."""
    rounds = {}
    for line in Path(path).read_text().splitlines():
        if line.startswith("{"):
            figure = json.loads(line)
            key = tuple(figure.get(name) for name in IDENTIFYING)
            rounds.setdefault(key, []).append(figure)
    return [{name: median([f[name] for f in same]) for name in same[0]} for same in rounds.values()]


def median(values):
    return values[0] if isinstance(values[0], str) else statistics.median(values)


def machine():
    model = next(
        (line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
        platform.machine(),
    )
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
    memory = next(int(line.split()[1]) for line in open("/proc/meminfo") if line.startswith("MemTotal"))
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**20),
        "load": [round(load, 1) for load in os.getloadavg()],
        "date": datetime.date.today().isoformat(),
        "commit": commit.stdout.strip(),
    }


def number(value):
    if isinstance(value, str):
        return value
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def line_through(points):
    """fixed and each of time = fixed + each * n, with the least relative errors, and the greatest of these."""
    w = [(1 / t**2, n, t) for n, t in points]
    s0, s1, s2 = sum(v for v, _, _ in w), sum(v * n for v, n, _ in w), sum(v * n * n for v, n, _ in w)
    t0, t1 = sum(v * t for v, _, t in w), sum(v * n * t for v, n, t in w)
    each = (s0 * t1 - s1 * t0) / (s0 * s2 - s1 * s1)
    fixed = (t0 - each * s1) / s0
    return fixed, each, max(abs((fixed + each * n) / t - 1) for n, t in points)


def table(rows):
    columns = []
    for row in rows:
        columns += [key for key in row if key not in columns and key != "figure"]
    lines = ["| " + " | ".join(column.replace("_", " ") for column in columns) + " |"]
    lines.append("|" + "--:|" * len(columns))
    for row in rows:
        lines.append("| " + " | ".join(number(row[c]) if c in row else "" for c in columns) + " |")
    return lines


SECTIONS = [
    ("Initialize", "initialize.", "Cold: every task is new. Warm: every task is known. Overridden: one task in a"
     " hundred has a different retry delay. The limit is SQLite used directly, with the same rows in the same run."
     " The bare insert opens the file twice, once to create the tables. This is noticeable below 100,000 tasks, so"
     " ratios below 1 there mean nothing."),
    ("Initialize, instructions", "instructions.initialize", "Instructions of initialize() per task, including those"
     " of SQLite: all three cases above, one after the other. Instruction counts do not depend on other load on the"
     " machine."),
    ("Burst", "burst.", "Tasks with empty callbacks, all due at one instant. Each start is durable before it"
     " happens, and each end when it is counted. The limit is to update the same rows twice with SQLite directly,"
     " 4,096 per transaction."),
    ("Lateness", "lateness.", "One task among many on the real clock, due every 20 ms because of its retry delay. In"
     " the same seconds, a bare timerfd and a timerfd followed by one write and fdatasync are measured. A start is"
     " durable before it happens, so with SQLite the second is the limit."),
    ("Memory", "memory", "After initialize(), with SQLite and a separate callback for each task."),
    ("Stop", "stop", "Until stop() returns; the runs end when it is called. The limit is to free the list that was"
     " passed to initialize(), names and callbacks, because that is most of the work."),
    ("Recovery", "recovery", "From the start of a process until it has restarted the last interrupted run of its"
     " predecessor."),
    ("Downtime", "downtime", "From initialize() until the last task has started, after downtime of this length; all"
     " tasks are due every minute. Measured with a sink, whose events contain the number of missed pulses, and"
     " without one. The zone is America/New_York."),
    ("Idle", "idle.", "An hour in which nothing is due, compared with matching every expression each minute."),
    ("Answers", "observe.answer.", "One client asks a live daemon over the loopback, 40 times. Every task has run. At"
     " most 1,000 tasks have series in a scrape. `/metrics` has its limit with 1,000 tasks, and `/api/v1/tasks` with"
     " 10,000."),
    ("Lateness beside clients", "observe.lateness.", "Two daemons with the same tasks, which fail and are retried"
     " after delays that differ. In each round the load is on one of them, in the order A B B A. `own` are the tasks"
     " of the loaded daemon, `other` those of the other one in the same seconds, `quiet` those of both without a"
     " load. `start` is the instant that the daemon logs, in whole milliseconds; `command` is the clock that the"
     " command reads. `clients`: ten clients that ask for everything. `storm`: silent, unfinished and huge requests,"
     " and clients that never read. The limit is for the ratios of own to other."),
    ("Status", "status", "`status.writes`: the loop's share of the work of status() is to show what a step changes,"
     " here 4,096 starts, while a reader takes snapshots; `busy` is the time of the processor, which other work on"
     " the machine does not change. `status`: how late a task starts while a thread takes snapshots of its scheduler,"
     " and while that thread takes those of another scheduler."),
    ("Theory", "simulate.", "A year of tasks that run every minute, in virtual time, judged during the simulation."),
    ("Verify", "verify", "`dutiful verify` on a trace, and its peak memory."),
    ("Peers", "peer.", "`peer.burst`: empty callbacks without a store, all due at one instant. The libraries are"
     " measured one after the other, once each, on the real clock and without registration. APScheduler has eight"
     " threads; croner reports whole milliseconds. `peer.commands`: the same tiny command through /bin/sh, all due"
     " at one minute; the daemons are measured in adjacent minutes. cron stores nothing, opens a PAM session for"
     " each command and wakes up about a second after the minute. dutiful records each start and end in SQLite and"
     " runs 64 commands at a time. Ratios are relative to dutiful: above 1, dutiful needs less."),
]


GROWTH = [
    ("initialize.cold", "seconds", 1_000),
    ("initialize.warm", "seconds", 1_000),
    ("initialize.overridden", "seconds", 1_000),
    ("burst.memory", "recorded_seconds", 100),
    ("burst.sqlite", "recorded_seconds", 100),
]


def growth(figures):
    lines = []
    for name, key, least in GROWTH:
        points = [(f["tasks"], f[key]) for f in figures if f["figure"] == name and f["tasks"] >= least]
        if len(points) > 2:
            fixed, each, off = line_through(points)
            lines.append(
                f"| {name} | {points[0][0]:,} to {points[-1][0]:,} |"
                f" {number(1e3 * fixed)} ms | {number(1e6 * each)} µs | {100 * off:.0f} % |"
            )
    if not lines:
        return []
    return [
        "## Growth",
        "",
        "The line time = fixed + each × tasks with the smallest relative errors, and the largest deviation from it."
        " The budgets of the theory allow linear growth. The fixed part is mostly the disk: a few calls of"
        " fdatasync().",
        "",
        "| figure | tasks | fixed | each | farthest |",
        "|---|--:|--:|--:|--:|",
        *lines,
        "",
    ]


def plots(figures, folder):
    def series(name, key):
        points = [(f["tasks"], f[key]) for f in figures if f["figure"] == name and key in f]
        return points if len(points) > 1 else None

    wanted = {
        "initialize": ("initialize()", [
            ("cold", "initialize.cold", "seconds"),
            ("bare insert", "initialize.cold", "bare_insert_seconds"),
            ("warm", "initialize.warm", "seconds"),
            ("bare scan", "initialize.warm", "bare_scan_seconds"),
        ]),
        "burst": ("all due at one instant, until every end is recorded", [
            ("SQLite", "burst.sqlite", "recorded_seconds"),
            ("bare updates", "burst.sqlite", "bare_updates_seconds"),
            ("in memory", "burst.memory", "recorded_seconds"),
        ]),
        "first-start": ("all due at one instant, until the first has started", [
            ("SQLite", "burst.sqlite", "first_start_seconds"),
            ("in memory", "burst.memory", "first_start_seconds"),
        ]),
    }
    written = []
    for name, (title, lines) in wanted.items():
        found = [(label, points) for label, f, key in lines if (points := series(f, key))]
        if found:
            (folder / f"{name}.svg").write_text(plot(title, "tasks", "seconds", found))
            written.append((name, title))
    return written


def main():
    figures = read(sys.argv[1])
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    host = machine()
    (folder / "report.json").write_text(json.dumps({"machine": host, "figures": figures}, indent=1) + "\n")

    lines = [
        "# Benchmarks",
        "",
        f"Commit {host['commit']}, {host['date']}, {host['processor']}, {host['cores']} cores, {host['memory_gib']} GiB;"
        f" load average at the end {host['load'][0]} over one minute, {host['load'][2]} over fifteen.",
        "",
        "The machine is shared: a load above the number of cores means that other work was running, and times are"
        " longer than on a dedicated machine, by 50 % or more. Compare ratios within a run, and instruction counts."
        " Figures measured in several rounds are medians. `./do bench` creates this report.",
        "",
    ]
    drawn = plots(figures, folder)
    for name, title in drawn:
        lines += [f"![{title}]({name}.svg)", ""]
    for title, prefix, words in SECTIONS:
        rows = [f for f in figures if f["figure"].startswith(prefix)]
        if not rows:
            continue
        lines += [f"## {title}", "", words, ""]
        for name in dict.fromkeys(f["figure"] for f in rows):
            lines += [f"`{name}`", "", *table([f for f in rows if f["figure"] == name]), ""]
    lines += growth(figures)
    texts = sorted(Path(sys.argv[1]).parent.glob("*.txt"))
    for text in texts:
        lines += [f"## {text.stem.capitalize()}", "", "```", text.read_text().rstrip(), "```", ""]
    (folder / "report.md").write_text("\n".join(lines).rstrip() + "\n")


main()
