"""What leaves shortlists, and what returns to them, for clients that keep a mirror."""

from dataclasses import dataclass
from typing import Any, Literal

from shortlist.engine.contents import Entry
from shortlist.model.publication import Publication
from shortlist.model.times import format_time

Reason = Literal["expired", "window", "outranked", "cancelled", "closed", "retracted", "restarted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A publication leaves what a shortlist shows."""

    time: int
    shortlist: str
    publication: Publication
    reason: Reason

    @property
    def order(self) -> tuple[int, int, str]:
        """As deliveries; those of an instant come behind its deliveries."""
        return self.time, self.publication.position, self.shortlist

    def document(self, with_data: bool = False) -> dict[str, Any]:
        """The JSON object that files hold."""
        return {
            "time": format_time(self.time),
            "shortlist": self.shortlist,
            "source": self.publication.source,
            "publication": self.publication.id,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """A publication that was outranked is shown again: it is not delivered twice."""

    time: int
    shortlist: str
    entry: Entry

    @property
    def order(self) -> tuple[int, int, str]:
        return self.time, self.entry.publication.position, self.shortlist

    def document(self, with_data: bool = False) -> dict[str, Any]:
        """The JSON object that files hold; it has what the delivery had, as it is now."""
        when = {"time": format_time(self.time), "shortlist": self.shortlist, "reason": "returned"}
        return when | self.entry.document(with_data)


Change = Departure | Return
"""What a mirror must hear of beside deliveries."""
