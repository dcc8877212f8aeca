"""Equal parts of many documents become one object: less memory, and a policy is read once."""

from typing import Any

from pydantic import TypeAdapter, ValidationError

from shortlist.model.policy import Policy

POLICY: TypeAdapter[Policy] = TypeAdapter(Policy)
TEXTS = ("shortlist", "subscriber", "score", "norm", "combine")
"""Fields that many entries of a registry fill alike."""


class Sharing:
    """
    >>> sharing, policy = Sharing(), {"kind": "top-k", "k": 5}
    >>> one, other = ({"id": name, "policy": dict(policy)} for name in ("s1", "s2"))
    >>> sharing.share(one), sharing.share(other)
    (None, None)
    >>> one["policy"] is other["policy"]
    True
    """

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._policies: dict[str, Any] = {}

    def share(self, document: dict[str, Any]) -> None:
        """Replaces parts of a document by their equals of earlier ones."""
        for field in TEXTS:
            text = document.get(field)
            if type(text) is str:
                document[field] = self._texts.setdefault(text, text)
        policy = document.get("policy")
        if type(policy) in (dict, list):
            document["policy"] = self._policy(policy)

    def _policy(self, document: Any) -> Any:
        """The policy, or what is wrong as it stands, for the noun's own reader to complain about.

        Representations tell 1 from true, which are equal.
        """
        text = repr(document)
        if text not in self._policies:
            try:
                self._policies[text] = POLICY.validate_python(document)
            except ValidationError:
                return document
        return self._policies[text]
