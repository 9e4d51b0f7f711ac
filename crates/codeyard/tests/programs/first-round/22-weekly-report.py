# Request: Write a markdown report report.md into my repository with today's date in Berlin, the total revenue and best region from the sales table and the number of commits, and commit it.
import asyncio, ast
repo = "/srv/desk/repo"
now, sales, log = await asyncio.gather(
    tools.time.get_current_time(timezone="Europe/Berlin"),
    tools.sqlite.read_query(query="SELECT region, SUM(revenue) AS revenue FROM sales GROUP BY region ORDER BY revenue DESC"),
    tools.git.git_log(repo_path=repo, max_count=1000),
)
sales = ast.literal_eval(sales)
expression = " + ".join(str(s["revenue"]) for s in sales)
total = (await tools.calculator.calculate(expression=expression))["result"]
commits = sum(line.startswith("Commit: ") for line in log.splitlines())
md = f"# Report {now['datetime'][:10]}\n\n- Total revenue: {total}\n- Best region: {sales[0]['region']} ({sales[0]['revenue']})\n- Commits so far: {commits}\n\n"
md += "| Region | Revenue |\n|---|---|\n" + "".join(f"| {s['region']} | {s['revenue']} |\n" for s in sales)
await tools.filesystem.write_file(path=f"{repo}/report.md", content=md)
await tools.git.git_add(repo_path=repo, files=["report.md"])
print(await tools.git.git_commit(repo_path=repo, message=f"Add report of {now['datetime'][:10]}"))
print(await tools.git.git_show(repo_path=repo, revision="HEAD:report.md"))
