# Request: Load orders.csv into the database as table "orders", give me the best month of each customer, and a pie chart of the revenue shares.
import ast
import pandas as pd
import matplotlib.pyplot as plt
# the table was filled by the first run
best = ast.literal_eval(await tools.sqlite.read_query(query="""SELECT customer, month, MAX(revenue) AS revenue FROM
    (SELECT customer, substr(date, 1, 7) AS month, ROUND(SUM(total), 2) AS revenue FROM orders GROUP BY 1, 2)
    GROUP BY customer ORDER BY revenue DESC"""))
print(pd.DataFrame(best).to_string(index=False))
shares = pd.DataFrame(ast.literal_eval(await tools.sqlite.read_query(query="SELECT customer, SUM(total) AS total FROM orders GROUP BY customer")))
fig, ax = plt.subplots()
ax.pie(shares["total"], labels=shares["customer"], autopct="%1.1f %%")
ax.set_title("Revenue shares")
show(fig)
