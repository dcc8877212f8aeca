"""Output as files: of one run, each written once."""

import pytest

from shortlist.live.outlets import FolderOutlet, ForeignEntries
from shortlist.live.tables import REFUSALS, table_of

SOME = table_of([(7, "{}", "expected an id", "unreadable")], REFUSALS)
OTHERS = table_of([(8, "{}", "expected an id", "unreadable")], REFUSALS)


def test_the_output_of_another_run_is_not_taken_for_ones_own(tmp_path):
    FolderOutlet(tmp_path).reject(0, SOME)
    FolderOutlet(tmp_path).reject(0, SOME)
    with pytest.raises(ForeignEntries, match=r"000000000000.jsonl: expected .* another run"):
        FolderOutlet(tmp_path).reject(0, OTHERS)
