"""The process that workers are forked from: it imports what tasks need once, for all of them."""

from multiprocessing import forkserver, get_context
from multiprocessing.context import ForkServerContext

PRELOADED = "shortlist.live.preloaded"


def forking() -> ForkServerContext:
    """Makes processes that begin with what is preloaded."""
    context = get_context("forkserver")
    context.set_forkserver_preload([PRELOADED])
    return context


def begin_to_import() -> None:
    """Starts that process: it is ready when its workers are asked for, or sooner."""
    forking()
    forkserver.ensure_running()
