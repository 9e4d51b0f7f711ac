# The demonstration's own server: a page of customers as it lists them.
return await tools.crm.list_customers(limit=25)
