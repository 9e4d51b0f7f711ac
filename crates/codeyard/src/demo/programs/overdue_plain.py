# Which customers pay late? Ten thousand orders are joined with the CRM here, so none of them reaches the model.
import asyncio
from collections import defaultdict

sheet, crm = await asyncio.gather(
    tools.orders.read_rows(sheet="orders", limit=10_000),
    tools.crm.list_customers(limit=1_000),
)
orders, customers = sheet["rows"], {customer["customer_id"]: customer for customer in crm["customers"]}
late = [order for order in orders if order["status"] == "open" and order["due_on"] < sheet["as_of"]]
by_group = defaultdict(float)
for order in late:
    customer = customers[order["customer_id"]]
    by_group[customer["tier"], customer["region"]] += order["amount"]
tier, region = max(by_group, key=by_group.get)

per_customer = defaultdict(lambda: {"count": 0, "sum": 0.0})
for order in late:
    customer = customers[order["customer_id"]]
    if (customer["tier"], customer["region"]) == (tier, region):
        row = per_customer[order["customer_id"]]
        row["count"] += 1
        row["sum"] += order["amount"]
updates = [
    {"customer_id": number, "risk": "high", "payment_hold": True, "note": f"{row['count']} orders overdue"}
    for number, row in per_customer.items()
]
changed = await tools.crm.update_customers(updates=updates)
manager = customers[updates[0]["customer_id"]]["account_manager"]
mail = await tools.mailbox.send_mail(
    to=[manager["email"]],
    subject=f"{len(updates)} {tier} customers in {region} are overdue",
    body="\n".join(f"{number}: {row['count']} orders, {row['sum']:,.2f} EUR" for number, row in per_customer.items()),
)
worst = sum(row["count"] for row in per_customer.values())
return {
    "processed": len(orders) + len(customers),
    "overdue_orders": len(late),
    "worst_group": f"{tier} in {region}: {worst} orders, {by_group[tier, region]:,.2f} EUR",
    "customers_updated": changed["updated"],
    "mail": mail["message_id"],
}
