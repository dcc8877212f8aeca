"""The largest few of many numbers."""

from typing import Any

from shortlist.matching.kernels.compiling import kernel


@kernel
def keep_largest(heap: Any, size: int, number: Any) -> int:
    """Adds a number to the largest ones so far, of which the smallest stands first.

    `heap` has room for as many as are wanted, of which `size` are there; the answer is how many
    are there now.

    >>> import numpy as np
    >>> heap, size = np.zeros(3), 0
    >>> for number in [4.0, 1.0, 3.0, 5.0, 2.0]:
    ...     size = keep_largest(heap, size, number)
    >>> float(heap[0]), size
    (3.0, 3)
    """
    if size < heap.size:
        place = size
        while place > 0 and heap[(place - 1) // 2] > number:
            heap[place] = heap[(place - 1) // 2]
            place = (place - 1) // 2
        heap[place] = number
        return size + 1
    if number > heap[0]:
        place, child = 0, 1
        while child < size:
            if child + 1 < size and heap[child + 1] < heap[child]:
                child += 1
            if heap[child] >= number:
                break
            heap[place] = heap[child]
            place, child = child, 2 * child + 1
        heap[place] = number
    return size
