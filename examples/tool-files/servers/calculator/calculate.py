"""Arithmetic from text, by a parser: nothing of it is ever run as a program."""

from __future__ import annotations

import math
import re

_LONGEST = 1000
_DEEPEST = 50
_LARGEST_BITS = 4096
_TOKEN = re.compile(r"(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z]+)|(\*\*|//|[-+*/%^(),])")
_SPELLINGS = str.maketrans({"×": "*", "÷": "/", "−": "-"})
_CONSTANTS = {"pi": math.pi, "e": math.e}


def calculate(expression: str) -> int | float:
    """Calculate the value of an arithmetic expression.

    It takes + - * / // % and ** or ^ with the usual precedence, parentheses, pi, e, and
    the functions abs, max, min, round, sqrt and sum.

    Args:
        expression: Arithmetic expression, such as "2 * (3 + 4)"
    """
    if len(expression) > _LONGEST:
        raise ValueError(f"the expression has {len(expression)} characters; at most {_LONGEST} are calculated")
    try:
        return _Parser(expression.translate(_SPELLINGS)).value()
    except OverflowError:
        raise ValueError("the result is too large") from None


class _Parser:
    """Parses an expression from left to right and computes it at once."""

    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.at = 0
        self.depth = 0

    def value(self) -> int | float:
        value = self.sum()
        if self.next():
            raise ValueError(f"'{self.next()}' is not expected at token {self.at + 1}")
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            return int(value)
        return value

    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        found = self.next()
        if found not in wanted:
            return ""
        self.at += 1
        return found

    def expect(self, wanted: str) -> None:
        if not self.take(wanted):
            raise ValueError(f"'{wanted}' is missing before {self.next() or 'the end'}")

    def sum(self) -> int | float:
        value = self.product()
        while sign := self.take("+", "-"):
            right = self.product()
            value = _bounded(value + right if sign == "+" else value - right)
        return value

    def product(self) -> int | float:
        value = self.signed()
        while sign := self.take("*", "/", "//", "%"):
            value = _bounded(_divided(value, sign, self.signed()))
        return value

    def signed(self) -> int | float:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ValueError(f"the expression is nested more than {_DEEPEST} deep")
        sign = self.take("+", "-")
        value = self.signed() if sign else self.power()
        self.depth -= 1
        return -value if sign == "-" else value

    def power(self) -> int | float:
        base = self.atom()
        if self.take("**", "^"):
            return _raised(base, self.signed())
        return base

    def atom(self) -> int | float:
        token = self.next()
        self.at += 1
        if token == "(":
            value = self.sum()
            self.expect(")")
            return value
        if token in _CONSTANTS:
            return _CONSTANTS[token]
        if token in _FUNCTIONS:
            return self.call(token)
        if token[:1].isalpha():
            known = ", ".join([*_FUNCTIONS, *_CONSTANTS])
            raise ValueError(f"'{token}' is not known; there are {known}")
        if not token:
            raise ValueError("a number is missing at the end")
        if not (token[0].isdigit() or token[0] == "."):
            raise ValueError(f"a number is missing before '{token}'")
        return _bounded(int(token) if token.isdigit() else float(token))

    def call(self, name: str) -> int | float:
        self.expect("(")
        values = [self.sum()]
        while self.take(","):
            values.append(self.sum())
        self.expect(")")
        try:
            return _bounded(_FUNCTIONS[name](*values))
        except TypeError:
            raise ValueError(f"{name} does not take {len(values)} numbers") from None


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        at += len(text[at:]) - len(text[at:].lstrip())
        found = _TOKEN.match(text, at)
        if not found:
            raise ValueError(f"{text[at]!r} at character {at + 1} is no part of an expression")
        tokens.append(found.group(found.lastindex or 0))
        at = found.end()
    if not tokens:
        raise ValueError("the expression is empty")
    return tokens


def _divided(left: int | float, sign: str, right: int | float) -> int | float:
    if sign == "*":
        return left * right
    if right == 0:
        raise ValueError("division by zero")
    if sign == "%":
        return left % right
    if sign == "//":
        return left // right
    exact = isinstance(left, int) and isinstance(right, int) and left % right == 0
    return left // right if exact else left / right


def _raised(base: int | float, exponent: int | float) -> int | float:
    if base == 0 and exponent < 0:
        raise ValueError("division by zero")
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * abs(exponent) > _LARGEST_BITS:
        raise ValueError("the result is too large")
    value = base**exponent
    if isinstance(value, complex):
        raise ValueError("the result is no real number")
    return _bounded(value)


def _root(value: int | float) -> float:
    if value < 0:
        raise ValueError("the square root of a negative number is no real number")
    return math.sqrt(value)


def _bounded(value: int | float) -> int | float:
    if isinstance(value, int) and value.bit_length() > _LARGEST_BITS:
        raise ValueError("the result is too large")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("the result is too large")
    return value


_FUNCTIONS = {
    "abs": abs,
    "max": lambda *values: max(values),
    "min": lambda *values: min(values),
    "round": lambda value, digits=0: round(value, int(digits)),
    "sqrt": _root,
    "sum": lambda *values: sum(values),
}
