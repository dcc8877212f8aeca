"""Arrays of which kernels keep no count.

numba counts who holds an array, in one atomic step for each array of each call: where small kernels
hand around tuples of many, most of the time goes there.
"""

from typing import Any

from llvmlite.ir import Constant
from numba import types
from numba.extending import intrinsic


def _typed_borrowed(_context: Any, given: Any) -> Any:
    """The same array, or tuple of arrays."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _uncounted(context, builder, given, arguments[0])

    return given(given), generate


borrowed: Any = intrinsic(_typed_borrowed)
"""An array, or a tuple of arrays, for as long as whoever called from Python holds it. What a kernel
returns, and what it has made itself, must not be borrowed."""


def _uncounted(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = Constant(array.meminfo.type, None)
        array.parent = Constant(array.parent.type, None)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        kinds: Any = kind  # numba does not say that it can be gone through
        parts = [
            _uncounted(context, builder, each, builder.extract_value(value, at))
            for at, each in enumerate(kinds)
        ]
        return context.make_tuple(builder, kind, parts)
    return value
