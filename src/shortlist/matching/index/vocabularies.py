"""Vocabularies as documents, to be saved with what was compiled under them."""

from typing import Any

from pydantic import TypeAdapter

from shortlist.model.paths import format_path, parse_path
from shortlist.model.vocabulary import Attribute, Vocabulary

_ATTRIBUTE = TypeAdapter(Attribute)


def document_of(vocabulary: Vocabulary) -> dict[str, Any]:
    """What a file could say about the vocabulary.

    >>> document_of(Vocabulary({("rent",): Attribute(type="number")}))
    {'rent': {'type': 'number'}}
    """
    return {
        format_path(path): _ATTRIBUTE.dump_python(attribute, mode="json", exclude_defaults=True)
        for path, attribute in vocabulary.attributes.items()
    }


def vocabulary_of(document: dict[str, Any]) -> Vocabulary:
    """The vocabulary that a document was made of.

    >>> vocabulary_of({"rent": {"type": "number"}})
    Vocabulary(attributes={('rent',): Attribute(type='number', many=False, terms={}, idf={})})
    """
    return Vocabulary(
        {
            parse_path(name): _ATTRIBUTE.validate_python(attribute)
            for name, attribute in document.items()
        }
    )
