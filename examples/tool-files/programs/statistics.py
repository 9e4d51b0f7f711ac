users = query(sql="SELECT * FROM users")
active = [user for user in users if user["active"]]
ages = sorted(user["age"] for user in active)
print(f"users: {len(users)} total, {len(active)} active ({len(active) / len(users):.1%})")
print(f"ages of active users: {ages[0]} to {ages[-1]}, median {ages[len(ages) // 2]}")
