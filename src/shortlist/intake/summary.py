"""What a registry holds, in numbers."""

from collections import Counter

from shortlist.intake.roster import Roster, registry_commands
from shortlist.model.registry import Registry


def summary(registry: Registry) -> dict[str, int]:
    """Counts by kind and by policy; a subscription's own shortlist counts as one.

    >>> from shortlist.intake.files import registry_from_documents
    >>> summary(registry_from_documents({"subscriptions": [{"id": "s", "where": "rent < 900"}]}))
    {'subscribers': 1, 'shortlists': 1, 'policy everything': 1, 'subscriptions': 1}
    """
    roster = Roster()
    for command in registry_commands(registry):
        roster.apply(command)
    shortlists = roster.shortlists.values()
    policies = Counter(shortlist.policy.kind for shortlist in shortlists)
    counts = {
        "declared attributes": len(registry.vocabulary.attributes),
        "fuzzy terms": sum(len(made.terms) for made in registry.vocabulary.attributes.values()),
        "subscribers": len({shortlist.subscriber for shortlist in shortlists}),
        "shortlists": len(shortlists),
        **{f"policy {kind}": count for kind, count in sorted(policies.items())},
        "with preferences": sum(bool(shortlist.prefers) for shortlist in shortlists),
        "subscriptions": len(registry.subscriptions),
        "advertisements": len(registry.advertisements),
    }
    return {name: count for name, count in counts.items() if count}
