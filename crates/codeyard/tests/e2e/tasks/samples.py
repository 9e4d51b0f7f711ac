"""Calls the sample tools as a program does, and prints wrong results."""

from servers.calculator import add, calculate, multiply
from servers.database import execute, list_tables, query
from servers.filesystem import list_directory, read_file, write_file
from servers.weather import get_forecast, get_weather

for expression, expected in {
    "5 + 3": 8,
    "2*(3+4)": 14,
    "-2**2": -4,
    "2 ^ 3 ^ 2": 512,
    "2**-1": 0.5,
    "10 / 5": 2,
    "7 % 4 - 10 // 3": 0,
    "sqrt(16) + max(1, 2, 3)": 7,
    "round(2.567, 2)": 2.57,
    "--3": 3,
    ".5 * 1e3": 500,
}.items():
    assert calculate(expression=expression) == expected, expression

for expression, expected in {
    "": "the expression is empty",
    "1 +": "a number is missing at the end",
    "((1": "')' is missing before the end",
    "5 $ 3": "'$' at character 3 is no part of an expression",
    "open('x')": "is no part of an expression",
    "__import__": "is no part of an expression",
    "spam + 1": "'spam' is not known",
    "1/0": "division by zero",
    "9**9**9": "the result is too large",
    "2**4000 + 0.5": "the result is too large",
    "sqrt(-1)": "no real number",
    "(" * 60 + "1" + ")" * 60: "nested more than 50 deep",
    "1" * 2000: "at most 1000 are calculated",
    "abs(1, 2)": "abs does not take 2 numbers",
}.items():
    try:
        value = calculate(expression=expression)
    except Exception as error:
        assert expected in str(error), (expression, str(error))
    else:
        raise AssertionError((expression, value))

assert (add(a=2, b=3), multiply(a=4, b=7)) == (5, 28)

weather = get_weather(location="San Francisco, CA")
assert (weather["temperature"], weather["condition"], weather["humidity"]) == (21, "sunny", 60), weather
assert get_weather(location="San Francisco", units="fahrenheit")["temperature"] == 69.8
assert get_weather(location="Oslo") == get_weather(location="Oslo")
assert len(get_forecast(location="Oslo", days=5)["days"]) == 5

write_file(path="deep/er/note.txt", content="Gr\u00fc\u00dfe", encoding="latin-1")
assert read_file(path="/workspace/deep/er/note.txt", encoding="latin-1") == "Gr\u00fc\u00dfe"
assert "deep/er/note.txt" in list_directory(recursive=True) and "deep/" in list_directory()
for path in ["../x", "/etc/passwd", "", "deep/../../etc/passwd"]:
    try:
        read_file(path=path)
    except Exception as error:
        assert "is outside of /workspace" in str(error) or "path is empty" in str(error), str(error)
    else:
        raise AssertionError(path)

assert list_tables() == ["users"]
assert len(query(sql="SELECT * FROM users")) == 1000
assert query(sql="SELECT count(*) AS n FROM users WHERE active = ?", parameters=[1]) == [{"n": 412}]
assert execute(sql="UPDATE users SET age = 30 WHERE id <= ?", parameters=[2]) == 2
try:
    query(sql="DELETE FROM users")
except Exception as error:
    assert "readonly" in str(error), str(error)
else:
    raise AssertionError("a query has changed something")
print("all hold")
