# Records with a record in each: the contact of every customer.
page = await tools.crm.list_customers(region="APAC", limit=20)
full = [await tools.crm.get_customer(customer_id=c.customer_id) for c in page.customers]
return [{"id": c.customer_id, "contact": c.contact, "tier": c.tier} for c in full]
