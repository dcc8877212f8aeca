"""Numbers are given, found, taken back and listed as dictionaries and lists would have it."""

from random import Random

import numpy as np
import pytest

from shortlist.matching.index.numbering import NOBODY, Numbering, NumberTable, Sharers
from shortlist.matching.index.texts import stable_hash


@pytest.mark.parametrize("hashed", [stable_hash, len], ids=["spread", "alike"])
@pytest.mark.parametrize("seed", range(20))
def test_a_table_finds_what_a_dictionary_finds(hashed, seed):
    random, table, known = Random(seed), NumberTable(), {}
    words = [str(random.getrandbits(30)) for _ in range(80)]
    for step in range(600):
        word = random.choice(words)
        if word in known:
            number = known.pop(word)
            assert table.drop(number, hashed(word))
            assert not table.drop(number, hashed(word))
        else:
            known[word] = step
            table.put(step, hashed(word))
        numbers = {number: word for word, number in known.items()}
        wanted = random.choice(words)
        found = table.find(hashed(wanted), lambda one: numbers[one] == wanted)  # noqa: B023
        assert found == known.get(wanted, NOBODY)
        assert table.count == len(known)


@pytest.mark.parametrize("seed", range(50))
def test_names_follow_every_change(seed):
    random, numbering, known = Random(seed), Numbering(), {}
    for step in range(200):
        if known and random.random() < 0.4:
            name = random.choice(list(known))
            assert numbering.remove(name) == known.pop(name)
            with pytest.raises(KeyError):
                numbering.number(name)
        else:
            name = f"née {step}"
            known[name] = numbering.add(name)
            assert len(set(known.values())) == len(known)
        if random.random() < 0.2:
            names = numbering.names.column()
            assert {name: names[number].as_py() for name, number in known.items()} == {
                name: name for name in known
            }
            assert numbering.names.column() is names
        if random.random() < 0.05:
            numbering = Numbering(numbering.saved())
        assert len(numbering) == len(known)
        assert all(numbering.number(name) == number for name, number in known.items())
        assert all(numbering.names[number] == name for name, number in known.items())


def test_numbers_are_used_again():
    numbering = Numbering()
    for step in range(1000):
        assert numbering.add(f"new {step}") in (0, 1)
        if step:
            numbering.remove(f"new {step - 1}")
    assert len(numbering.names.column()) == 2


@pytest.mark.parametrize("seed", range(20))
def test_lists_hold_what_was_put_into_them(seed):
    random, sharers = Random(seed), Sharers()
    lists, heads = [[] for _ in range(4)], np.full(4, NOBODY, np.int32)
    free = list(range(60))
    random.shuffle(free)
    for _ in range(150):
        full = [number for number in range(4) if lists[number]]
        if full and random.random() < 0.4:
            which = random.choice(full)
            number = random.choice(lists[which])
            heads[which] = sharers.drop(number, int(heads[which]))
            lists[which].remove(number)
            free.append(number)
        elif len(free) > 3:
            some = [free.pop() for _ in range(random.randint(1, 3))]
            into = [random.randrange(4) for _ in some]
            sharers.reserve(60)
            sharers.put_all(np.array(some, np.int32), np.array(into, np.int32), heads)
            for number, which in zip(some, into, strict=True):
                lists[which].insert(0, number)
        assert [sharers.members(head).tolist() for head in heads] == lists
