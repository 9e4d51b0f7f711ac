"""Reads a JSON list of programs from standard input; refuses anything but imports, helpers and steps."""

import ast
import json
import sys

CALLS = {"given", "text"}


def check(program: str) -> None:
    # As bytes, because a file's comment can name another encoding.
    tree = ast.parse(program.encode())
    for node in tree.body:
        if isinstance(node, ast.Try):
            step(node)
        elif isinstance(node, ast.If):
            assert ast.unparse(node.test) == "failures"
        else:
            assert isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.Assign)), ast.dump(node)


def step(node: ast.Try) -> None:
    *before, call, show = node.body
    assert [ast.unparse(line) for line in before] in ([], ["unbroken()"])
    assert isinstance(call, ast.Assign) and isinstance(show, ast.Expr)
    value = call.value.elt if isinstance(call.value, ast.ListComp) else call.value
    assert isinstance(value, ast.Call) and not value.args, ast.dump(value)
    for argument in value.keywords:
        for inner in ast.walk(argument.value):
            assert not isinstance(inner, ast.Call) or inner.func.id in CALLS, ast.dump(inner)


for program in json.load(sys.stdin):
    check(program)
