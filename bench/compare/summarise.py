"""Prints what the peers answered: a table of times and ratios, then every kind of disagreement.

  summarise.py SET ANSWERS…

Why a peer disagrees is not looked up but tried out. Each suspicion bends one rule of a plain search
and says what would follow; a disagreement is put down to a suspicion, or to two, that says exactly
what the peer said. Where several do, it is the one that accounts for most of that peer's answers.
What none of them says is printed as unexplained. The same search with no rule bent is the judge
between dutiful and its peers.
"""

import collections
import sys
import zoneinfo

from plain_search import Search
from suspicions import explanations


def lines(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n").split("\t")


class Peer:
    def __init__(self, path):
        self.mean = {}
        self.answers = []  # of expression, instant, and the answer or a message that starts with !
        for kind, *fields in lines(path):
            if kind == "peer":
                self.name = fields[0]
            elif kind == "answer":
                after, expression, answer = fields
                self.answers.append(
                    (expression, int(after), answer if answer.startswith("!") else int(answer))
                )
            else:
                self.mean[kind] = float(fields[0])


class Comparison:
    def __init__(self, set_path, answer_paths):
        self.random_instants = set()
        for kind, *fields in lines(set_path):
            if kind == "zone":
                self.search = Search(zoneinfo.ZoneInfo(fields[0]))
            elif kind == "instant":
                self.random_instants.add(int(fields[0]))
        self.peers = sorted(map(Peer, answer_paths), key=lambda peer: peer.mean["next"])
        self.dutiful = next(peer for peer in self.peers if peer.name == "dutiful")
        self.peers.remove(self.dutiful)
        self.ours = {(text, after): answer for text, after, answer in self.dutiful.answers}

    def is_random(self, case):
        return case[1] in self.random_instants

    def disagreements(self, peer):
        return [case for case in peer.answers if case[2] != self.ours[case[:2]]]

    def print_table(self):
        print(
            "| library | parse, ns | ratio | next, ns | ratio"
            " | random set: compared | disagree | no answer"
            " | hard cases: compared | disagree | no answer |"
        )
        print("|---|" + "--:|" * 10)
        for peer in [self.dutiful] + self.peers:
            cells = [peer.name]
            for call in "parse", "next":
                ratio = peer.mean[call] / self.dutiful.mean[call]
                cells += [f"{peer.mean[call]:,.0f}", f"{ratio:,.0f} ×"]
            wrong = self.disagreements(peer)
            for random in True, False:
                total = sum(self.is_random(case) == random for case in peer.answers)
                here = [case for case in wrong if self.is_random(case) == random]
                none = sum(isinstance(case[2], str) for case in here)
                cells += [f"{total - none:,}", f"{len(here) - none:,}", f"{none:,}"]
            print("| " + " | ".join(cells) + " |")

    def judge(self):
        """The cases in which the plain search does not say what dutiful says."""
        disputed = {case[:2] for peer in self.peers for case in self.disagreements(peer)}
        disputed |= {case[:2] for case in self.dutiful.answers if not self.is_random(case)}
        wrong = [case for case in sorted(disputed) if self.search.next(*case) != self.ours[case]]
        print(
            f"\nA plain search that shares no code with dutiful judged the {len(disputed):,} cases"
            f" that are hard or disputed; it disagrees with dutiful in {len(wrong):,} of them."
        )
        return wrong

    def print_disagreements(self, peer):
        print(f"\n## {peer.name}\n")
        disagreements = self.disagreements(peer)
        if not disagreements:
            print("No disagreement.")
        candidates = {case: explanations(self.search, *case) for case in set(disagreements)}
        weight = collections.Counter(one for found in candidates.values() for one in found)
        groups = collections.defaultdict(list)
        for case in disagreements:
            groups[max(candidates[case], key=lambda one: weight[one])].append(case)
        for causes, cases in sorted(groups.items(), key=lambda group: -len(group[1])):
            random = sum(map(self.is_random, cases))
            title = ", and ".join(one.title for one in causes)
            hard = len(cases) - random
            print(f"**{title}** in {random:,} of the random set, {hard:,} of the hard cases.")
            print(*(one.why for one in causes), end="\n\n")
            self.print_example(peer, min(cases, key=lambda case: (len(case[0]), case[1])))

    def print_example(self, peer, case):
        expression, after, answer = case
        print(f"    {'expression':<30}{expression}")
        print(f"    {'from':<30}{self.show(after)}")
        print(f"    {'dutiful':<30}{self.show(self.ours[expression, after])}")
        print(f"    {peer.name:<30}{self.show(answer)}\n")

    def show(self, answer):
        return self.search.local(answer).isoformat() if isinstance(answer, int) else answer


def main():
    set_path, *answer_paths = sys.argv[1:]
    comparison = Comparison(set_path, answer_paths)
    comparison.print_table()
    wrong = comparison.judge()
    print(
        "\nThe hard cases are within hours of the transitions from 2024 to 2030, or at the end of"
        " February. Slow peers are asked about fewer of the random instants. An answer is wrong if"
        " it differs from RULES T2 to T5, C1 and C4, even if the peer documents the difference."
    )
    for peer in comparison.peers:
        comparison.print_disagreements(peer)
    for expression, after in wrong:
        print(f"dutiful is wrong: {expression} from {comparison.show(after)}", file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())
