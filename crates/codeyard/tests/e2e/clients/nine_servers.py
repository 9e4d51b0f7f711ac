import uuid

import matplotlib.pyplot as plt

desk = next(line for line in (await tools.filesystem.list_allowed_directories()).content.splitlines() if line.startswith("/"))
book = f"{desk}/files/{uuid.uuid4()}.xlsx"
await tools.excel.create_workbook(path=book, sheets=["Totals"])
answers = [
    desk,
    book,
    await tools.git.git_log(repo_path=f"{desk}/repo", max_count=1),
    await tools.sqlite.list_tables(),
    await tools.memory.read_graph(),
    await tools.time.convert_time(source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo"),
    await tools.calculator.calculate(expression="1 + 2"),
    await tools.thinking.sequentialthinking(thought="a", thoughtNumber=1, totalThoughts=1, nextThoughtNeeded=False),
    await tools.everything.echo(message="b"),
]
assert len(answers) == 9 and all(answer is not None for answer in answers)
plt.plot([1, 4, 9])
print("drawn")
return "nine servers answered"
