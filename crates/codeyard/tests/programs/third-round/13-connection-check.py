# Request: echo, add 17.5 and 24.75, weather of three cities, the sample image; check the sum with the calculator
import asyncio

cities = ["New York", "Chicago", "Los Angeles"]
echo, total, image, check, *weather = await asyncio.gather(
    tools.everything.echo(message="hello desk"),
    tools.everything.get_sum(a=17.5, b=24.75),
    tools.everything.get_tiny_image(),
    tools.calculator.calculate(expression="17.5 + 24.75"),
    *(tools.everything.get_structured_content(location=c) for c in cities),
)
show(image)
print("echo:", echo)
print("sum:", total)
print("calculator:", check.result, "- agrees:", float(check.result) == 42.25 and "42.25" in str(total))
[{"city": c, "temperature": w.temperature, "conditions": w.conditions, "humidity": w.humidity} for c, w in zip(cities, weather)]
