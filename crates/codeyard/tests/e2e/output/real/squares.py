# Numbers with long fractions.
return [
    {"n": n, "root": float((await tools.calculator.calculate(expression=f"{n}**0.5")).result), "square": n * n}
    for n in range(1, 21)
]
