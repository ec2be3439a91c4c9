"""What a cron library may get wrong, and how one can tell from an answer that it does."""

import dataclasses
import itertools
from typing import Callable, Optional

from plain_search import Rules, parse


@dataclasses.dataclass(frozen=True)
class Suspicion:
    """A plain search that is wrong in one way: by a bent rule, or by what it does to the answer."""

    title: str
    why: str
    bent: dict = dataclasses.field(default_factory=dict, hash=False)
    twist: Optional[Callable] = None  # of search, rules, after, answer


def keep_offset(search, rules, after, answer):
    return answer + search.offset(answer, rules) - search.offset(after, rules)


def change_offset_twice(search, rules, after, answer):
    return answer - search.offset(answer, rules) + search.offset(after, rules)


def take_first_occurrence(search, rules, after, answer):
    return min(search.instants(search.civil(answer, rules), rules))


SKIPPED = "The clocks skip the minute, so it is not due that day, neither earlier nor later (T3)."

SUSPICIONS = [
    Suspicion(
        "a skipped minute runs when the gap ends",
        SKIPPED,
        {"skipped": "end of the gap"},
    ),
    Suspicion(
        "a skipped minute runs later",
        SKIPPED,
        {"skipped": "later"},
    ),
    Suspicion(
        "a skipped minute runs earlier",
        SKIPPED,
        {"skipped": "earlier"},
    ),
    Suspicion(
        "a repeated minute runs only the first time",
        "The minute occurs twice and is due both times (T4). Running it once is only a policy, not"
        " the default.",
        {"repeated": "first"},
    ),
    Suspicion(
        "a repeated minute runs only the second time",
        "The minute occurs twice and is due both times (T4). Even the policy that runs it once"
        " chooses the first occurrence.",
        {"repeated": "second"},
    ),
    Suspicion(
        "the second occurrence of a minute is answered with the first",
        "The minute is due both times (T4), but the answer does not distinguish the two. It is in"
        " the past, so a loop over the answers never advances.",
        twist=take_first_occurrence,
    ),
    Suspicion(
        "the offset of the question is kept",
        "The clocks change between the question and the answer. The library counts elapsed hours,"
        " so its answer is an hour before or after the minute that is due (T2).",
        twist=keep_offset,
    ),
    Suspicion(
        "a change of offset is corrected twice",
        "The library subtracts the difference although its steps already include it, so its answer"
        " is an hour before or after the minute that is due (T2).",
        twist=change_offset_twice,
    ),
    Suspicion(
        "the zone has no summer after 2037",
        "Its zone data lack the rule at the end of zone files, so from 2038 on every summer is off"
        " by an hour (T5).",
        {"zone_rules": "until 2037"},
    ),
    Suspicion(
        "a full range counts as a star",
        "`1-31` and `0-6` are not literally `*`, so the field is restricted, and either field may"
        " match (C4).",
        {"full_range": "star"},
    ),
    Suspicion(
        "day and weekday are joined by “and”",
        "If both fields are restricted, either may match (C4).",
        {"days": "and"},
    ),
    Suspicion(
        "days that February lacks run over into March",
        "The library treats 29, 30 or 31 February as a day that matches, ends up in March, and"
        " misses an earlier day that does match (C4).",
        {"missing_days": "run over"},
    ),
]


def combinable(pair):
    one, other = pair
    return not one.bent.keys() & other.bent.keys() and not (one.twist and other.twist)


PEER_IS_RIGHT = Suspicion("dutiful is wrong", "The search as it stands says what the peer said.")

# One suspicion explains better than two together, and none better than one.
BY_NUMBER = [
    [(PEER_IS_RIGHT,)],
    [(one,) for one in SUSPICIONS],
    [pair for pair in itertools.combinations(SUSPICIONS, 2) if combinable(pair)],
]


def predict(search, suspicions, expression, after):
    rules = Rules(**{name: value for one in suspicions for name, value in one.bent.items()})
    answer = search.next(expression, after, rules)
    for one in suspicions:
        if one.twist and answer is not None:
            answer = one.twist(search, rules, after, answer)
    return answer


def repeats_a_value(expression):
    lists = [field.split(",") for field in expression.split() if "-" not in field]
    return any(len(set(map(int, values))) < len(values) for values in lists if len(values) > 1)


def day_is_impossible(expression):
    fields = parse(expression)
    lengths = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
    longest = max(lengths.get(month, 31) for month in fields.months)
    return not fields.weekday_is_star and min(fields.days) > longest


@dataclasses.dataclass(frozen=True)
class Refusal:
    """Why there is no answer: the message says so, and it is true of the expression."""

    title: str
    why: str
    message: str
    condition: Callable


REFUSALS = [
    Refusal(
        "a list that repeats a value is rejected",
        "A list consists of numbers and ranges; a value may occur twice (C1).",
        "duplicate values",
        repeats_a_value,
    ),
    Refusal(
        "an impossible day hides the weekday",
        "No month of the expression has the day, but either field may match, and the weekday does"
        " (C4). The library searches for the two separately, and gives up if one is not found"
        " within fifty years.",
        "failed to find",
        day_is_impossible,
    ),
]

UNEXPLAINED = Suspicion("unexplained", "None of the suspicions says what the peer said.")


def explanations(search, expression, after, answer):
    """What may be the cause of a wrong answer, or of none. Each is a tuple of causes."""
    if isinstance(answer, str):
        found = [(one,) for one in REFUSALS if one.message in answer and one.condition(expression)]
        return found or [(UNEXPLAINED,)]
    for candidates in BY_NUMBER:
        found = [one for one in candidates if predict(search, one, expression, after) == answer]
        if found:
            return found
    return [(UNEXPLAINED,)]
