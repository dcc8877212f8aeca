"""The formulas, beside the totals that the paper prints."""

import pytest

from experiments.top_k_w.message_model import Setting

TABLE = {
    "publication-flooding": ("255.00", "255.00"),
    "subscription-flooding": ("0.26", "2.81"),
    "covering": ("0.83", "2.10"),
    "rendezvous": ("5.20", "5.23"),
    "basic-gossip": ("25.60", "25.60"),
    "informed-gossip": ("25.60", "25.63"),
}


@pytest.mark.parametrize(("updates", "column"), [(0.0, 0), (1e4, 1)])
def test_the_routing_table_of_the_paper(updates, column):
    found = Setting(updates=updates).messages()
    totals = {name: f"{messages.total / 1e6:.2f}" for name, messages in found.items()}
    assert totals == {name: row[column] for name, row in TABLE.items()}


def test_nothing_comes_of_nothing():
    still = Setting(publications=0, subscriptions=0, updates=0, matches=0).messages()
    assert all(messages.total == 0 for messages in still.values())
