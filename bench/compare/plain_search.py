"""Finds the next due minute of a cron expression in a plain way, under rules that can be changed.

With the rules as they stand it is a second opinion on dutiful. With one of them bent it says what a
library that breaks this rule would answer, and so what it is that a library gets wrong.
"""

import bisect
import dataclasses
import datetime
import functools

UTC = datetime.timezone.utc
DAY = datetime.timedelta(days=1)
YEARS_MAX = 30  # No expression of the set is due less often than every eight years.


@dataclasses.dataclass(frozen=True)
class Rules:
    skipped: str = "never"  # T3. Or at the "end of the gap", "later" or "earlier" by its length.
    repeated: str = "both"  # T4. Or only the "first", only the "second".
    days: str = "or"  # C4. Or "and".
    full_range: str = "restricted"  # C4. Or "star".
    missing_days: str = "missing"  # Or "run over": 31 February is looked at, and is in March.
    zone_rules: str = "for ever"  # T5. Or "until 2037", as the older half of a zone file has them.


@dataclasses.dataclass(frozen=True)
class Fields:
    minutes: list  # of the day
    days: frozenset
    months: frozenset
    weekdays: frozenset
    day_is_star: bool
    weekday_is_star: bool


def values(field, low, high):
    if field == "*":
        return frozenset(range(low, high + 1))
    result = set()
    for part in field.split(","):
        first, _, last = part.partition("-")
        result.update(range(int(first), int(last or first) + 1))
    return frozenset(result)


@functools.lru_cache(maxsize=None)
def parse(expression):
    minute, hour, day, month, weekday = expression.split()
    hours, minutes = sorted(values(hour, 0, 23)), sorted(values(minute, 0, 59))
    return Fields(
        minutes=[h * 60 + m for h in hours for m in minutes],
        days=values(day, 1, 31),
        months=values(month, 1, 12),
        weekdays=values(weekday, 0, 6),
        day_is_star=day == "*",
        weekday_is_star=weekday == "*",
    )


def day_matches(fields, month, day, weekday, rules):
    if month not in fields.months:
        return False
    day_is_star, weekday_is_star = fields.day_is_star, fields.weekday_is_star
    if rules.full_range == "star":
        day_is_star |= len(fields.days) == 31
        weekday_is_star |= len(fields.weekdays) == 7
    if rules.days == "and" or day_is_star or weekday_is_star:
        return day in fields.days and weekday % 7 in fields.weekdays
    return day in fields.days or weekday % 7 in fields.weekdays


def matching_days(fields, first, rules):
    """The days that an expression matches, as midnights, from a given day on."""
    day = first
    end = first + YEARS_MAX * 366 * DAY
    while day < end:
        if day_matches(fields, day.month, day.day, day.isoweekday(), rules):
            yield day
        day += DAY
        if day.day == 1 and rules.missing_days == "run over":
            last = day - DAY
            for missing in range(last.day + 1, 32):
                landing = last + (missing - last.day) * DAY
                if day_matches(fields, last.month, missing, landing.isoweekday(), rules):
                    day = landing
                    break


def seconds(moment):
    return int(moment.replace(tzinfo=UTC).timestamp())


class Search:
    def __init__(self, zone):
        self.zone = zone
        self.next = functools.lru_cache(maxsize=1000)(self.next)

    def local(self, instant):
        return datetime.datetime.fromtimestamp(instant, self.zone)

    def offset_of_local(self, local, fold, rules):
        if rules.zone_rules == "until 2037":
            local = min(local, datetime.datetime(2037, 12, 31))
        return int(local.replace(tzinfo=self.zone, fold=fold).utcoffset().total_seconds())

    def offset(self, instant, rules=Rules()):
        local = self.local(instant)
        return self.offset_of_local(local.replace(tzinfo=None), local.fold, rules)

    def civil(self, instant, rules):
        """The local time at an instant."""
        shown = datetime.datetime.fromtimestamp(instant + self.offset(instant, rules), UTC)
        return shown.replace(tzinfo=None)

    def instants(self, local, rules):
        """The instants at which the clocks show a local minute."""
        before = self.offset_of_local(local, 0, rules)
        after = self.offset_of_local(local, 1, rules)
        with_before, with_after = seconds(local) - before, seconds(local) - after
        if before == after:
            return [with_before]
        if before > after:  # The clocks were set back.
            return {
                "both": [with_before, with_after],
                "first": [with_before],
                "second": [with_after],
            }[rules.repeated]
        if rules.skipped == "end of the gap":
            gap = range(with_after, with_before + 1, 60)
            return [next(instant for instant in gap if self.offset(instant) == after)]
        return {"never": [], "later": [with_before], "earlier": [with_after]}[rules.skipped]

    def next(self, expression, after, rules=Rules()):
        """The first due instant after a given one, in seconds since 1970; None if there is none."""
        fields = parse(expression)
        today = self.local(after).replace(tzinfo=None, fold=0, hour=0, minute=0, second=0)
        for day in matching_days(fields, today, rules):
            offset = self.offset_of_local(day, 0, rules)
            if offset == self.offset_of_local(day + DAY, 0, rules):
                midnight = seconds(day) - offset
                position = bisect.bisect_right(fields.minutes, (after - midnight) // 60)
                due = [midnight + 60 * minute for minute in fields.minutes[position : position + 1]]
            else:
                due = [
                    instant
                    for minute in fields.minutes
                    for instant in self.instants(day + datetime.timedelta(minutes=minute), rules)
                    if instant > after
                ]
            if due:
                return min(due)
        return None
