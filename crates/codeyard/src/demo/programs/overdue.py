# Which customers pay late? Ten thousand orders are joined with the CRM here, so none of them reaches the model.
import asyncio

import pandas as pd

sheet, crm = await asyncio.gather(
    tools.orders.read_rows(sheet="orders", limit=10_000),
    tools.crm.list_customers(limit=1_000),
)
orders, customers = pd.DataFrame(sheet["rows"]), pd.DataFrame(crm["customers"])
late = orders[(orders.status == "open") & (orders.due_on < sheet["as_of"])].merge(customers, on="customer_id")
by_group = late.groupby(["tier", "region"]).amount.agg(["count", "sum"]).sort_values("sum", ascending=False)
tier, region = by_group.index[0]

worst = late[(late.tier == tier) & (late.region == region)]
per_customer = worst.groupby(["customer_id", "name"]).amount.agg(["count", "sum"]).sort_values("sum", ascending=False)
updates = [
    {"customer_id": number, "risk": "high", "payment_hold": True, "note": f"{row['count']} orders overdue"}
    for (number, _), row in per_customer.iterrows()
]
changed = await tools.crm.update_customers(updates=updates)
manager = worst.account_manager.iloc[0]
mail = await tools.mailbox.send_mail(
    to=[manager["email"]],
    subject=f"{len(updates)} {tier} customers in {region} are overdue",
    body=per_customer.reset_index().to_string(index=False),
)
return {
    "processed": len(orders) + len(customers),
    "overdue_orders": len(late),
    "worst_group": f"{tier} in {region}: {len(worst)} orders, {worst.amount.sum():,.2f} EUR",
    "customers_updated": changed["updated"],
    "mail": mail["message_id"],
}
