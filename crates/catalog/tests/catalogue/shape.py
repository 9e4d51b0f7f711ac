"""Fails unless every file of a directory holds nothing but docstrings, imports, names and wrappers."""

import ast
import pathlib
import sys


def allowed(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.ImportFrom(module="mcp", names=[ast.alias(name="runtime")]):
            return True
        case ast.ImportFrom(level=1):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List()):
            return True
        case ast.AsyncFunctionDef(body=[ast.Expr(value=ast.Constant(value=str())), ast.Return()]):
            return True
    return False


files = sorted(pathlib.Path(sys.argv[1]).glob("*.py"))
for path in files:
    text = path.read_text(encoding="utf-8")
    compile(text, str(path), "exec")
    for node in ast.parse(text).body:
        if not allowed(node):
            sys.exit(f"{path.name}:{node.lineno}: {ast.unparse(node)}\n{text}")
print(len(files), "files")
