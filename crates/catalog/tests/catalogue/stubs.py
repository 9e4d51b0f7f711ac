"""Fails unless every Python file of a tree of stubs only defines types and functions, even when imported.

usage: stubs.py DIRECTORY, which holds `tools/<server>/<tool>.py`.
"""

import ast
import importlib
import pathlib
import sys
import types
import typing

USED = {"Any", "Literal", "TypedDict", "bool", "dict", "float", "int", "list", "str", "None"}


class Shape:
    """Checks which nodes are where they may be."""

    def __init__(self, path):
        self.path = path
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.names = USED | {node.name for node in self.tree.body if isinstance(node, ast.ClassDef)}
        self.names |= {target.id for node in self.tree.body if isinstance(node, ast.Assign) for target in node.targets}

    def check(self):
        for node in self.tree.body:
            if not self.is_statement(node):
                sys.exit(f"{self.path}:{node.lineno}: {ast.unparse(node)}")

    def is_statement(self, node):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                return True
            case ast.Import(names=[ast.alias(name="builtins", asname=None)]):
                return True
            case ast.ImportFrom(module="__future__" | "typing" | "mcp.stubs", level=0) | ast.ImportFrom(level=1):
                return True
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=names)):
                return all(isinstance(name, ast.Constant) for name in names)
            case ast.Assign(targets=[ast.Name(id="Text")], value=ast.Name(id="Any")):
                return True
            case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Name(id="TypedDict"))):
                return self.is_typed_dict(node.targets[0].id, node.value)
            case ast.ClassDef(decorator_list=[], body=body):
                return all(isinstance(base, ast.Name) and base.id in self.names for base in node.bases) and all(
                    isinstance(part, ast.Pass) or (isinstance(part, ast.AnnAssign) and self.is_type(part.annotation))
                    for part in body
                )
            case ast.AsyncFunctionDef(decorator_list=[ast.Call(func=ast.Name(id="tool"), args=args)], body=[ast.Expr(ast.Constant())]):
                return all(isinstance(arg, ast.Constant) for arg in args) and self.is_head(node)
        return False

    def is_typed_dict(self, name, call):
        constant, fields = call.args
        keys = all(isinstance(key, ast.Constant) for key in fields.keys)
        total = all(word.arg == "total" and isinstance(word.value, ast.Constant) for word in call.keywords)
        return constant.value == name and keys and total and all(map(self.is_type, fields.values))

    def is_head(self, node):
        arguments = node.args
        own = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *filter(None, [arguments.kwarg])]
        defaults = [default for default in [*arguments.defaults, *arguments.kw_defaults] if default is not None]
        return all(self.is_type(one.annotation) for one in own) and all(map(is_constant, defaults)) and self.is_type(node.returns)

    def is_type(self, node):
        match node:
            case ast.Constant(value=None):
                return True
            case ast.Constant(value=str(text)):
                return self.is_type(ast.parse(text, mode="eval").body)
            case ast.Name(id=name):
                return name in self.names
            case ast.Attribute(value=ast.Name(id="builtins"), attr=name):
                return name in USED
            case ast.BinOp(op=ast.BitOr()):
                return self.is_type(node.left) and self.is_type(node.right)
            case ast.Subscript(value=ast.Name(id="Literal"), slice=values):
                return all(map(is_constant, values.elts if isinstance(values, ast.Tuple) else [values]))
            case ast.Subscript(value=ast.Name(id="list" | "dict") | ast.Attribute(attr="list" | "dict"), slice=values):
                return all(map(self.is_type, values.elts if isinstance(values, ast.Tuple) else [values]))
        return False


def is_constant(node):
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def forbid(event, _):
    """Fails if a stub opens, starts or connects anything when imported; Python's own imports only read."""
    if event.split(".")[0] in ("os", "subprocess", "socket", "shutil", "ctypes") and event not in ("os.listdir", "os.scandir"):
        sys.exit(f"an import did {event}")


def declared(server, name):
    return lambda function: (TOOLS.append((server, name)), function)[1]


TOOLS = []
root = pathlib.Path(sys.argv[1])
files = sorted(root.glob("tools/*/*.py"))
for path in files:
    Shape(path).check()

stubs = types.ModuleType("mcp.stubs")
stubs.tool = declared
sys.modules["mcp"], sys.modules["mcp.stubs"] = types.ModuleType("mcp"), stubs
sys.path.insert(0, str(root))
sys.dont_write_bytecode = True
sys.addaudithook(forbid)
for path in files:
    if path.name == "__init__.py":
        importlib.import_module(f"tools.{path.parent.name}")
        continue
    module = importlib.import_module(f"tools.{path.parent.name}.{path.stem}")
    function = getattr(module, path.stem)
    typing.get_type_hints(function)
    for value in list(vars(module).values()):
        if typing.is_typeddict(value) and value.__module__ == module.__name__:
            typing.get_type_hints(value)
assert len(TOOLS) == len([path for path in files if path.name != "__init__.py"])
print(len(files), "files")
