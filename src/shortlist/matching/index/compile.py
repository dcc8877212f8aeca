"""Large registries, parsed and compiled by several processes."""

import gc
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing import get_context

import numpy as np

from shortlist.language.errors import LanguageError
from shortlist.matching.blocks import Ints
from shortlist.matching.index.compiling import Compiling
from shortlist.matching.index.index import Index
from shortlist.matching.index.numbering import NOBODY
from shortlist.matching.index.segments import FULL, Segment
from shortlist.matching.index.terms import Request, Terms
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary

WORTH_IT = 2 * FULL
"""So many subscriptions are two pieces of work; fewer are done before other processes start."""

Progress = Callable[[int], object]
"""Hears now and then how many subscriptions are done."""


def compiled_index(
    subscriptions: Iterable[Subscription],
    vocabulary: Vocabulary,
    limits: Limits | None = None,
    processes: int | None = None,
    progress: Progress = lambda done: None,
) -> Index:
    """An index that matches as if the subscriptions had been added one by one.

    Many of them are shared out among so many processes, or as many as there are cores. Equal
    conditions are stored once if they are written alike, otherwise once for each piece of work.

    >>> flats = [Subscription(id=f"s{rent}", where=f"rent < {rent}") for rent in (700, 900)]
    >>> len(compiled_index(flats, Vocabulary()).numbering)
    2
    """
    index = Index(vocabulary, limits)
    processes = processes or os.cpu_count() or 1
    given = iter(subscriptions)
    first = list(islice(given, WORTH_IT))
    if processes == 1 or len(first) < WORTH_IT:
        for done, subscription in enumerate(chain(first, given), 1):
            index.add(subscription)
            if done % FULL == 0:
                progress(done)
    else:
        with ProcessPoolExecutor(processes, get_context("spawn"), _agree, (index.terms,)) as pool:
            _share_out(chain(first, given), index, pool, 2 * processes, progress)
    progress(len(index.numbering))
    return index


def _share_out(
    subscriptions: Iterable[Subscription],
    index: Index,
    pool: ProcessPoolExecutor,
    most: int,
    progress: Progress,
) -> None:
    """Lets others compile, at most so many pieces of work at a time, and shelves the results."""
    sharing: list[tuple[int, int]] = []
    begun: deque[tuple[Ints, int, Future[tuple[Segment, Ints]]]] = deque()

    def finish() -> None:
        numbers, entered, future = begun.popleft()
        try:
            segment, places = future.result()
        except _Wrong as error:
            raise LanguageError(*error.args) from None
        index.shelve(segment, numbers, places)
        progress(entered)

    for piece in _pieces(subscriptions, index, sharing):
        numbers, requests = np.fromiter(piece, np.int32), list(piece.values())
        begun.append((numbers, len(index.numbering), pool.submit(_compiled, requests)))
        if len(begun) > most:
            finish()
    while begun:
        finish()
    for number, sharer in sharing:
        index.share(number, sharer)


def _pieces(
    subscriptions: Iterable[Subscription], index: Index, sharing: list[tuple[int, int]]
) -> Iterator[dict[int, Request]]:
    """Requests by number, all different; who has someone else's condition, or none, is noted."""
    piece: dict[int, Request] = {}
    for subscription in subscriptions:
        request = index.terms.request(subscription)
        sharer = index.requests.find(request)
        number = index.enter(subscription, request, sharer)
        if sharer != NOBODY or request.where is None:
            sharing.append((number, sharer))
        else:
            piece[number] = request
        if len(piece) == FULL:
            yield piece
            piece = {}
    if piece:
        yield piece


class _Wrong(Exception):
    """The message and the column of a `LanguageError`, which cannot travel itself."""


_compiling: Compiling
"""Of a process of the pool, under what it was told to begin with."""


def _agree(terms: Terms) -> None:
    global _compiling  # noqa: PLW0603
    _compiling = Compiling(terms)
    gc.disable()  # trees and conditions have no cycles, and are many


def _compiled(requests: list[Request]) -> tuple[Segment, Ints]:
    try:
        conditions = [_compiling.read(request) for request in requests]
    except LanguageError as error:
        raise _Wrong(error.message, error.column) from None
    return _compiling.segment(filter(None, conditions))
