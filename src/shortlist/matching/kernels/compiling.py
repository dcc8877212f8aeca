"""How kernels are compiled: once for each kind of arrays, and kept on disk.

numba compiles a function anew for every combination of types that it is called with, which takes
seconds where much is called from it. It takes a number that is written down (`0`) or of four bytes
for a type of its own: then what starts at 0 and goes on would be compiled twice.
"""

import hashlib
import io
import os
import pickle
import secrets
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, TypeVar, overload

import llvmlite
import numba
import numpy as np
from llvmlite.binding import add_symbol, parse_bitcode
from numba.core import types
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.dispatcher import Dispatcher
from numba.core.environment import Environment
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime._nrt_python import c_helpers

from shortlist.matching.kernels.sources import source_stamp

Function = TypeVar("Function", bound=Callable[..., Any])
# Version of the files in which code is kept: code that was kept under an earlier one is not read.
FORMAT = 4
# What makes machine code of a kernel besides its sources. The name and the features of the CPU are
# in numba's own key: hosts that differ can share a folder, and each finds its own code there.
VERSIONS = (FORMAT, numba.__version__, llvmlite.__version__, np.__version__)
NARROW = (types.int8, types.int16, types.int32)


def number_functions() -> None:
    """Lets numba number functions as no other process does.

    In the name of what was compiled, rows of a table are known by a number, too, which every
    process gives to other rows. Of two processes, each of which has compiled a function for rows of
    its own, both would call it the same, and who loads both would run one for the other (numba's
    issue 10486). What is forked counts on from the same number, hence begins anew.
    """
    FunctionIdentity._unique_ids = count(secrets.randbits(60))


number_functions()
os.register_at_fork(after_in_child=number_functions)


class KeptCode(IndexDataCacheFile):
    """What was compiled of a function, by the types it is called with, in a file for each.

    numba numbers these files: of two processes that compile for different types at the same time
    both may take the same number, and one would then run the code of the other, on rows that are
    laid out otherwise. Here a file is named after what it is for, and is there before the index
    says so; the worst that processes do to each other is that one has to compile again.
    """

    def __init__(self, cache_path: str, filename_base: str, stamp: Any) -> None:
        super().__init__(cache_path, filename_base, stamp)
        # numba compares this before it reads the rest of an index, and the stamp only afterwards.
        # Reading an index that is out of date is in vain, and fails where a class has moved.
        self._version = stamp

    def load(self, key: Any) -> Any:
        try:
            return super().load(key)
        except OSError:
            raise
        except Exception:  # unpickling what is damaged, or names what is gone, may raise anything
            return None

    def _load_index(self) -> dict[Any, str]:
        try:
            overloads: dict[Any, str] = super()._load_index()
            return overloads
        except OSError:
            raise
        except Exception:  # as above: then everything is compiled anew
            return {}

    def save(self, key: Any, data: Any) -> None:
        name = self._data_name(hashlib.sha256(self._dump((self._source_stamp, key))).hexdigest())
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})

    def _load_data(self, name: str) -> Any:
        return _Unpickler(io.BytesIO(Path(self._data_path(name)).read_bytes())).load()

    def _data_name(self, digest: str) -> str:
        return self._index_name.replace(".nbi", f".{digest[:16]}.nbc")


class _Unpickler(pickle.Unpickler):
    """Imports no module for an environment: only object mode, which no kernel is in, looks up what
    is global there, and numba would import much of itself."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        return _environment if name == "_rebuild_env" else found


def _environment(module: str, constants: list[Any], name: str) -> Environment:
    """One for each function that was compiled into some kernels."""
    made = Environment._memo.get(name)
    if made is None:
        made = Environment({"__name__": module})
        made.consts[:] = constants
        made.env_name = name
        Environment._memo[name] = made
    return made


class KeptLibrary(JITCodeLibrary):
    """Code that runs as it was kept. What others need to be compiled with it is read when somebody
    is: numba reads that first, which takes most of what it takes to load a kernel."""

    _unread: bytes | None = None
    _read: Any = None

    @property
    def _shared_module(self) -> Any:
        if self._unread is not None:
            self._read, self._unread = parse_bitcode(self._unread), None
            self._codegen._engine._load_defined_symbols(self._read)
        return self._read

    @_shared_module.setter
    def _shared_module(self, module: Any) -> None:
        self._read = module

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> "KeptLibrary":
        name, _, (code, unread) = state
        self = cls(codegen, name)
        self.enable_object_caching()
        self._set_compiled_object(code)
        self._finalize_final_module()
        self._unread = unread
        return self


class KeptResults(CompileResultCacheImpl):
    """Makes functions of what was kept."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        codegen, (_, described, *_) = target_context.codegen(), payload
        codegen._engine._defined_symbols.add(described.llvm_cpython_wrapper_name)
        before = codegen._library_class
        codegen._library_class = KeptLibrary  # whoever loads holds numba's lock
        try:
            return super().rebuild(target_context, payload)
        finally:
            codegen._library_class = before


@cache
def name_runtime() -> None:
    """Tells LLVM where the functions of numba's runtime are, which kept code calls."""
    for name, address in c_helpers.items():
        add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


class KernelCache(FunctionCache):
    """Keeps what is compiled of one function, whose source has a stamp."""

    _impl_class = KeptResults

    def __init__(self, function: Any, stamp: str) -> None:
        super().__init__(function)
        base = self._impl.filename_base
        self._cache_file = KeptCode(self.cache_path, base, (*VERSIONS, stamp))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Without what numba knows of Python's and numpy's functions, or compiles for its runtime:
        only who compiles asks for it, and looks it up then."""
        name_runtime()
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class Kernel(CPUDispatcher):
    """A function that other kernels call with whole numbers of eight bytes only."""

    _kept: KernelCache | None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._stamp = source_stamp(self.py_func.__code__.co_filename)

    def _compilation_chain_init_hook(self) -> None:
        """Without a look through all that is installed for what extends numba: no kernel needs
        it."""

    @property
    def _cache(self) -> KernelCache:
        """Looked for where it is needed: most processes call few of all kernels."""
        if self._kept is None:
            self._kept = KernelCache(self.py_func, self._stamp)
        return self._kept

    @_cache.setter
    def _cache(self, _: object) -> None:
        """numba begins without one."""
        self._kept = None

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return super().get_call_template(
            tuple(widened(each) for each in args),
            {name: widened(each) for name, each in kws.items()},
        )


def kept_in(function: Any) -> Path:
    """Return the folder in which a kernel's code is kept, with that of the kernels beside it."""
    return Path(function._cache.cache_path)


def compiled_for() -> tuple[str, ...]:
    """Return the platform, the CPU and its features, as numba knows kept code by them."""
    return tuple(cpu_target.target_context.codegen().magic_tuple())


def widened(argument: Any) -> Any:
    """The type that an argument is passed as.

    >>> widened(types.int32), widened(types.literal(0)), widened(types.literal(True))
    (int64, int64, bool)
    >>> widened(types.uint32), widened(types.float64)
    (uint32, float64)
    """
    if isinstance(argument, types.IntegerLiteral) or argument in NARROW:
        return types.int64
    return types.boolean if isinstance(argument, types.BooleanLiteral) else argument


@overload
def kernel(function: Function) -> "Dispatcher[Function]": ...
@overload
def kernel(**options: Any) -> "Callable[[Function], Dispatcher[Function]]": ...
def kernel(function: Any = None, **options: Any) -> Any:
    """Compiles a function when it is called first; what numba's `njit` takes can be set, too."""
    if function is None:
        return lambda function: kernel(function, **options)
    # nobody hands kernels to C
    settings = {"nopython": True, "boundscheck": None, "no_cfunc_wrapper": True, **options}
    return Kernel(py_func=function, locals={}, targetoptions=settings)
