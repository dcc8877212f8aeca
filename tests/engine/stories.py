"""Short timelines for tests: seconds in, deliveries out."""

import json

from shortlist.engine.replay import replay
from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Settings
from shortlist.model.times import format_time

SECOND = 1_000_000


def clock(seconds):
    return format_time(round(seconds * SECOND))


def publish(name, seconds, *, source="s", ends=None, audience=None, **data):
    document = {"id": name, "source": source, "time": clock(seconds), "data": data}
    if ends is not None:
        document["expirytime"] = clock(ends)
    if audience is not None:
        document["audience"] = audience
    return document


def command(verb, seconds, content):
    return {"time": clock(seconds), verb: content}


def told(registry, story, **settings):
    """What a story leads to; a registry is a document or the fields of a single subscription."""
    if "subscriptions" not in registry:
        registry = {"subscriptions": [{"id": "sub", **registry}]}
    lines = [json.dumps(document) for document in story]
    return replay(registry_from_documents(registry), lines, Settings(**settings))


def names(result):
    """The delivered publications, in order."""
    return [delivery.publication.id for delivery in result.deliveries]


def entries(result):
    """Publication, seconds, rank and cause of each delivery, in order."""
    return [
        (made.publication.id, made.time / SECOND, made.rank, made.cause)
        for made in result.deliveries
    ]
