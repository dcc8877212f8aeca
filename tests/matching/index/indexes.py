"""Indexes, drawn, and what they answer."""

import json

import numpy as np

from shortlist.intake.files import registry_from_documents
from shortlist.intake.lines import ItemReader
from shortlist.matching.index.index import Index
from shortlist.matching.values import Values
from tests.strategies import publications, registry


def drawn_registry(pick):
    return registry_from_documents(registry(pick, advertised=False))


def readers(registry, lines):
    values, read = Values(registry.vocabulary), ItemReader(registry.vocabulary)
    return [values.of(read.document(json.loads(line), 0)) for line in lines]


def drawn_readers(pick, registry, most=6):
    return readers(registry, publications(pick, most))


def filled(registry, subscriptions=None, make=Index, **options):
    matcher = make(registry.vocabulary, **options)
    for subscription in registry.subscriptions if subscriptions is None else subscriptions:
        matcher.add(subscription)
    return matcher


def answers(matcher, some):
    return [matcher.match(read) for read in some]


def slots_of(segment):
    return set(segment.slots.slots(np.arange(segment.slots.size)))
