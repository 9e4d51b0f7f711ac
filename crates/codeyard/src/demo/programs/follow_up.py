# A later question, answered from what the session remembers: no tool is asked for the orders again.
sent = await tools.mailbox.list_sent(limit=1)
return {
    "customers_in_memory": len(per_customer),
    "orders_in_memory": len(orders),
    "subject_of_the_mail": sent["messages"][0]["subject"],
}
