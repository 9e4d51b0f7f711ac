import ast
import operator

_BY = {ast.Add: operator.add, ast.Mult: operator.mul}


def calculate(expression: str) -> float:
    """The value of an expression."""
    return _value(ast.parse(expression, mode="eval").body)


def _value(node):
    if isinstance(node, ast.Constant):
        return node.value
    return _BY[type(node.op)](_value(node.left), _value(node.right))
