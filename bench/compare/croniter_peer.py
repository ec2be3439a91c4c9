"""Runs the set through croniter. cron_peer.cc describes the input and the output.

  croniter_peer.py pytz|dateutil SET

A zone comes in with an aware datetime. croniter documents two libraries that have zones, and its
answers depend on which of them it is.
"""

import datetime
import sys
import time

import dateutil.tz
import pytz
from croniter.croniter import CroniterError, croniter

load_zone = {"pytz": pytz.timezone, "dateutil": dateutil.tz.gettz}[sys.argv[1]]
expressions, instants, cases = [], [], []
for line in open(sys.argv[2], encoding="utf-8"):
    kind, *fields = line.rstrip("\n").split("\t")
    if kind == "zone":
        zone = load_zone(fields[0])
    elif kind == "expression":
        expressions.append(fields[0])
    elif kind == "instant":
        instants.append(datetime.datetime.fromtimestamp(int(fields[0]), zone))
    elif kind == "case":
        cases.append((fields[1], datetime.datetime.fromtimestamp(int(fields[0]), zone)))


def answer(text, after):
    """Prints the answer and returns whether there was one."""
    try:
        result = int(croniter(text, after).get_next(float))
    except CroniterError as error:
        result = f"! {error}"
    print("answer", int(after.timestamp()), text, result, sep="\t")
    return isinstance(result, int)


def mean_of_call(calls, one_pass):
    """The mean time of one call in nanoseconds, over as many passes as fill a second."""
    passes = 0
    begin = time.perf_counter_ns()
    while time.perf_counter_ns() < begin + 1e9:
        one_pass()
        passes += 1
    return round((time.perf_counter_ns() - begin) / (passes * calls), 1)


def parse_all():
    for text in answered:
        croniter(text, instants[0])


def next_all():
    for schedule in schedules:
        for instant in instants:
            schedule.get_next(float, start_time=instant)


for text, after in cases:
    answer(text, after)
answered = [text for text in expressions if all([answer(text, instant) for instant in instants])]
schedules = [croniter(text, instants[0]) for text in answered]
print("parse", mean_of_call(len(answered), parse_all), sep="\t")
print("next", mean_of_call(len(schedules) * len(instants), next_all), sep="\t")
