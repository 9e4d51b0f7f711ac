try:
    temperature = get_weather(location="San Francisco")["temperature"]
except Exception as error:
    print(f"no weather today: {error}")
else:
    if temperature > 20:
        days = 0
        for day in get_forecast(location="San Francisco", days=14)["days"]:
            if day["temperature"] <= 20:
                break
            days += 1
        print(f"{temperature} degrees is above 20, and stays so for {days} more days")
    else:
        print(f"{temperature} degrees is not above 20: nothing to count")
