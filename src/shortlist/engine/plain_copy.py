"""A shard once more, plain: it goes on from the same state, and can say why."""

from shortlist.engine.explanation import Question
from shortlist.engine.plain import PlainShard
from shortlist.engine.shard import Shard
from shortlist.matching.index.index import Index
from shortlist.selection.bank.plain_states import plain_state


def plain_copy(shard: Shard, question: Question, *, of_a_shard: bool = True) -> PlainShard:
    """One that does from now on what the shard would do; nothing happens to that.

    >>> from shortlist.engine.engine import Engine
    >>> from shortlist.intake.files import registry_from_documents
    >>> from shortlist.intake.reading import items_of
    >>> from shortlist.model.items import Wanted
    >>> from shortlist.model.publication import Publication
    >>> from shortlist.model.settings import Settings
    >>> best = {"id": "best", "score": "fit", "policy": {"kind": "top-k", "k": 1}}
    >>> engine = Engine(registry_from_documents({"subscriptions": [best]}), Settings(lateness=0))
    >>> attic, bedsit = (Publication(id=name, source="ads", time=n, position=n, data={"fit": fit})
    ...                  for n, (name, fit) in enumerate([("attic", 9), ("bedsit", 3)]))
    >>> _ = engine.process([attic])
    >>> copy = plain_copy(engine.shard, Question(shortlist="best"))
    >>> items = engine.admission.admit(items_of([bedsit], Wanted(data=True))[0]).items
    >>> _ = [*copy.run(items)]
    >>> copy.explainer.taken([])[0]["reason"]
    'a better one is still valid'
    """
    matching = shard.matching
    registry = matching.roster.registry()
    copy = PlainShard(registry, matching.limits, Index, question, of_a_shard=of_a_shard)
    for name, shortlist in matching.roster.shortlists.items():
        number = matching.shortlists.number(name)
        state = plain_state(shard.selecting, number, shortlist.policy)
        copy.selecting.selector(name).restore(state)
    return copy
