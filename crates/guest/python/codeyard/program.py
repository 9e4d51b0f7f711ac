"""Compiles a program: own line numbers, top-level `await` and `return`, value of the last expression."""

import ast
import gc
import linecache
import re
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT

# Receives the value of the last expression; the session removes it after the run.
VALUE = "__codeyard_value__"

# Prefix of programs' file names.
PREFIX = "<program-"
_SAVED = "<saved tool "
# Programs whose source is kept, so that tracebacks can show lines of earlier runs.
_KEPT_SOURCES = 256

_FENCE = re.compile(r"```(?:python3?|py)?", re.IGNORECASE)


# Certainly not an expression.
_STATEMENT = re.compile(
    r"\s*(?:#|@|[\w.\[\], ]+=[^=]|(?:import|from|return|raise|del|assert|with|for|while|if|def|class|async|try|pass)\b)"
)


def filename_of(number):
    """The file name of a run's program. It differs by run, so that each keeps its own source."""
    return f"{PREFIX}{number}>"


def is_program(filename):
    """Whether a file name is that of a program of this session."""
    return filename.startswith(PREFIX)


def saved_filename_of(name):
    return f"{_SAVED}{name}>"


def is_saved(filename):
    """Whether a file name is that of a saved tool."""
    return filename.startswith(_SAVED)


def number_of(filename):
    """The number in a name from `filename_of`."""
    return int(filename[len(PREFIX) : -1])


def unfenced(source):
    """A program without surrounding Markdown fences, with the same line numbers."""
    if not source.lstrip().startswith("```"):
        return source
    lines = source.rstrip().splitlines()
    begin = next(number for number, line in enumerate(lines) if line.strip())
    if begin == len(lines) - 1 or lines[-1].strip() != "```" or not _FENCE.fullmatch(lines[begin].strip()):
        return source
    lines[begin] = lines[-1] = ""
    return "\n".join(lines)


class Program:
    """A compiled program. Evaluating `code` gives a coroutine if `is_async`; `result` interprets the value."""

    def __init__(self, number, source):
        self.filename = filename_of(number)
        self.source = unfenced(source.removeprefix("\ufeff"))
        self.bridge_names = ()
        self.last_line = 1
        self.is_expression = False
        self._register(number)
        try:
            self.code = self._compile()
        except SyntaxError as error:
            raise self._with_text(error) from None
        except ValueError as error:  # a null byte, before 3.12
            raise SyntaxError(str(error), (self.filename, 1, 1, None)) from None
        except (MemoryError, RecursionError):
            raise SyntaxError("the program is nested too deeply", (self.filename, 1, 1, None)) from None
        self.is_async = bool(self.code.co_flags & _CO_COROUTINE)

    def _compile(self):
        if "\n" not in self.source and "mcp_" not in self.source and not _STATEMENT.match(self.source):
            # Most one-line programs are one expression, and this takes half the time.
            try:
                code = compile(self.source, self.filename, "eval", PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
            except SyntaxError:
                pass
            else:
                self.is_expression = True
                return code
        tree = _parse(self.source, self.filename)
        if "mcp_" in self.source:
            self.bridge_names = bridge_names(tree)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):
            self.last_line = last.lineno
            tree.body[-1] = _kept(last)
        if "return" in self.source:
            scope = _TopLevel(self.filename)
            scope.visit(tree)
            if scope.returns:
                return _compile_as_function(tree, scope, self.filename)
        return _compile(tree, self.filename)

    def _register(self, number):
        lines = self.source.splitlines(True)
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"  # as linecache reads files: tracebacks count on it where they put their marks
        linecache.cache[self.filename] = (len(self.source), None, lines, self.filename)
        linecache.cache.pop(filename_of(number - _KEPT_SOURCES), None)

    def _with_text(self, error):
        if error.text is None and error.lineno and error.filename == self.filename:
            error.text = linecache.getline(self.filename, error.lineno)
        return error

    def returned(self, value):
        """What the program's top-level `return` gave, from its code's value; `None` without one."""
        return None if self.is_expression or value is None else value[0]

    def result(self, value, names):
        """The program's result as `(found, value)`, from its code's value and its remaining names."""
        if not self.is_expression:
            if value is not None:
                return True, value[0]  # a top-level `return`
            value = names.pop(VALUE, None)
        return value is not None, value


def _parse(source, filename):
    """Parses while no garbage is collected.

    In Python 3.11 up to 3.11.7 and in 3.12 up to 3.12.1, the parser fails if a finalizer parses too, and each
    finalizer that prints a traceback does (CPython issue 106905).
    """
    collects = gc.isenabled()
    try:
        gc.disable()
        return ast.parse(source, filename)
    finally:
        if collects:
            gc.enable()


def _kept(last):
    """The last expression as an assignment, built by hand: `copy_location` takes longer than `compile`."""
    line, column, end_line, end_column = last.lineno, last.col_offset, last.end_lineno, last.end_col_offset
    target = ast.Name(VALUE, _STORE)
    kept = ast.Assign([target], last.value)
    target.lineno = kept.lineno = line
    target.col_offset = kept.col_offset = column
    target.end_lineno = kept.end_lineno = end_line
    target.end_col_offset = kept.end_col_offset = end_column
    return kept


_STORE = ast.Store()
_CO_OPTIMIZED, _CO_NEWLOCALS, _CO_COROUTINE = 0x1, 0x2, 0x80


def _compile(tree, filename):
    return compile(tree, filename, "exec", flags=PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def _compile_as_function(tree, scope, filename):
    """Compiles a program with a top-level `return` as a function whose names are all global.

    An exception in its place would look like a failure to `with` blocks. The function's code is
    then evaluated like a module's, with the module's dict as its locals.
    """
    head, body = _split_head(tree.body)
    if scope.names:
        declaration = ast.Global(sorted(scope.names | {VALUE}))
        body.insert(0, ast.copy_location(declaration, body[0]))
    body = [_InFunction().visit(statement) for statement in body]
    kind = ast.AsyncFunctionDef if scope.awaits else ast.FunctionDef
    no_arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    function = kind(name="<module>", args=no_arguments, body=body, decorator_list=[], returns=None)
    if "type_params" in kind._fields:
        function.type_params = []
    tree.body = [*head, ast.copy_location(function, body[0])]
    module = _compile(ast.fix_missing_locations(tree), filename)
    code = next(const for const in module.co_consts if getattr(const, "co_name", "") == "<module>")
    return code.replace(co_flags=code.co_flags & ~(_CO_OPTIMIZED | _CO_NEWLOCALS))


def _split_head(body):
    """`__future__` imports and the docstring before them must stay at the head of the module."""
    futures = [
        index
        for index, statement in enumerate(body)
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    ]
    cut = futures[-1] + 1 if futures else 0
    return body[:cut], body[cut:]


class _TopLevel(ast.NodeVisitor):
    """Finds what a program does outside of functions and classes: returns, awaits and bound names."""

    def __init__(self, filename):
        self.filename = filename
        self.names = set()
        self.returns = False
        self.awaits = False

    def visit_Return(self, node):
        self.returns = True
        self.generic_visit(node)

    def visit_Await(self, node):
        self.awaits = True
        self.generic_visit(node)

    visit_AsyncFor = visit_AsyncWith = visit_Await

    def visit_Yield(self, node):
        raise SyntaxError("'yield' outside function", (self.filename, node.lineno, node.col_offset + 1, None))

    visit_YieldFrom = visit_Yield

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def visit_FunctionDef(self, node):
        self.names.add(node.name)
        for part in (*node.decorator_list, node.args, node.returns):
            if part is not None:
                self.visit(part)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self.visit(node.args)

    def visit_arg(self, node):
        if node.annotation is not None:
            self.visit(node.annotation)

    def visit_ClassDef(self, node):
        self.names.add(node.name)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)

    def visit_comprehension(self, node):
        # The target is local to the comprehension; only `:=` binds outside.
        self.awaits = self.awaits or bool(node.is_async)
        self.visit(node.iter)
        for condition in node.ifs:
            self.visit(condition)

    def visit_Import(self, node):
        for alias in node.names:
            if alias.name != "*":
                self.names.add((alias.asname or alias.name).partition(".")[0])

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node):
        self._bind(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node):
        self._bind(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node):
        self._bind(node.rest)
        self.generic_visit(node)

    def visit_Global(self, node):
        self.names.update(node.names)

    def _bind(self, name):
        if name is not None:
            self.names.add(name)


class _InFunction(ast.NodeTransformer):
    """Rewrites code that is invalid or means something else in a function body."""

    def visit_Return(self, node):
        # Boxed, so that `return None` is a result and a bare `return` is not.
        if node.value is not None:
            node.value = ast.copy_location(ast.Tuple([node.value], ast.Load()), node.value)
        return node

    def visit_AnnAssign(self, node):
        if not isinstance(node.target, ast.Name):
            return node
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_Global(self, node):
        return node if node.names and VALUE in node.names else ast.copy_location(ast.Pass(), node)

    def visit_ImportFrom(self, node):
        if node.names[0].name != "*":
            return node
        statement = f"from {'.' * node.level}{node.module or ''} import *"
        call = ast.parse(f"__import__('builtins').exec({statement!r}, globals())").body[0]
        return ast.copy_location(call, node)

    def _leave(self, node):
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _leave


def bridge_names(tree):
    """Names like `mcp_crm` that the program reads without binding: servers."""
    read, bound = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id.startswith("mcp_"):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
    return tuple(name for name in read - bound if name != "mcp_servers")
