"""Prints, as a JSON list, the names that a program on standard input defines or uses from Python in all its parts."""

import json
import symtable
import sys


def used(table: symtable.SymbolTable, imported: set[str]) -> set[str]:
    """The module's names, those that its functions use from it, and those of its comprehensions."""
    is_own = table.get_type() == "module" or table.get_name() == "listcomp"
    names = {symbol.get_name() for symbol in table.get_symbols() if is_own or symbol.is_global()}
    for inner in table.get_children():
        # A function's own comprehensions see no tools.
        if is_own or inner.get_name() != "listcomp":
            names |= used(inner, imported)
    return {name for name in names if name.isidentifier()} - imported


top = symtable.symtable(sys.stdin.read(), "program", "exec")
tools = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_imported()} - {"json", "sys"}
print(json.dumps(sorted(used(top, tools))))
