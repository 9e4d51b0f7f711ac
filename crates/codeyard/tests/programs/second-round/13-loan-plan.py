# Request: A loan of 250 000 at 3.6 % over 20 years: the monthly rate worked out by the calculator, a check of it against the plan of all months, and what the calculator says to 1/0 and to nonsense.
r = await tools.calculator.calculate(expression="250000 * (0.036/12) / (1 - (1 + 0.036/12) ** -240)")
rate = float(r["result"])
print("monthly rate:", round(rate, 2))
rest, interest = 250000.0, 0.0
for month in range(240):
    i = rest * 0.036 / 12
    interest += i
    rest -= rate - i
print("after 240 months", round(rest, 6), "is left; interest in all", round(interest, 2))
total = await tools.calculator.calculate(expression=f"{rate} * 240 - 250000")
print("the calculator on the interest:", round(float(total["result"]), 2), "- same:", abs(float(total["result"]) - interest) < 0.01)
for bad in ("1/0", "two plus apples", "__import__('os').getcwd()"):
    try:
        print(bad, "->", await tools.calculator.calculate(expression=bad))
    except Exception as e:
        print(bad, "-> refused:", type(e).__name__, str(e)[:150])
