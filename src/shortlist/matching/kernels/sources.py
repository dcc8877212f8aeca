"""Find the sources of a kernel's machine code, and digest them.

numba compiles into a kernel what it uses of other files: the kernels that it calls, constants, the
fields of named tuples. Code that is kept on disk is therefore only right as long as none of these
files has changed.
"""

import hashlib
import os
import re
from functools import cache
from pathlib import Path

# The folder that this package is imported from, and how the names of its modules begin.
ROOT = str(Path(__file__).parents[3])
PACKAGE = "shortlist."
INIT = f"{os.sep}__init__.py"
# Imports at the top level of a module: kernels cannot import, and what the functions around them
# import for themselves (or only for a type checker) is not compiled.
IMPORT = re.compile(
    rb"^(?:from[ ]+([\w.]+)[ ]+import[ ]+(\([^)]*\)|[^\n]*)|import[ ]+([^\n]*))", re.MULTILINE
)
NAME = re.compile(r"[\w.]+")


@cache
def source_stamp(file: str) -> str:
    """Return a digest of a module's source and of every source that its kernels can reach.

    A source is read once in a process, when kernels that reach it are imported: when one of them is
    called, the file may have changed, and the code would be kept under the wrong stamp.
    """
    digests = sorted(_read(reached)[0] for reached in reachable(file))
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def reachable(file: str) -> set[str]:
    """Return the module's file and those of all modules that it imports, directly or not: of this
    package, and of the folder that the importing file is in. The version of everything else is a
    part of `compiling.VERSIONS`."""
    found, unread = {file}, [file]
    while unread:
        imported = _read(unread.pop())[1] - found
        found |= imported
        unread += imported
    return found


@cache
def _read(file: str) -> tuple[str, frozenset[str]]:
    """Return a source's digest and the files that it imports."""
    source, folder = Path(file).read_bytes(), os.path.dirname(file)
    files = set()
    for module, members, modules in IMPORT.findall(source):
        for name in [module.decode()] if module else NAME.findall(modules.decode()):
            imported = _file_of(name, folder)
            if imported is None:
                continue
            files.add(imported)
            if imported.endswith(INIT):
                # what is imported of a package may be a module
                of_package = (f"{name}.{each}" for each in NAME.findall(members.decode()))
                files |= {*filter(None, (_file_of(each, folder) for each in of_package))}
    return hashlib.sha256(source).hexdigest(), frozenset(files)


@cache
def _file_of(name: str, folder: str) -> str | None:
    """Return the file of a module that is imported by a file in a folder, if it is followed."""
    path = os.path.join(ROOT if f"{name}.".startswith(PACKAGE) else folder, *name.split("."))
    return next(filter(os.path.isfile, (f"{path}.py", f"{path}{INIT}")), None)
