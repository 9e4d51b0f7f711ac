# What price must we charge to reach a profit of 5000, given 200 units and a cost of 35 each plus 1000 fixed?
book=DATA/files/price21.xlsx
mcp call excel.create_workbook path=$book sheets='["Model"]' overwrite=true > /dev/null
mcp call excel.write_range path=$book sheet=Model at=A1 rows='[["Price", 40], ["Units", 200], ["Unit cost", 35], ["Fixed", 1000], ["Profit", "=B2*(B1-B3)-B4"]]' > /dev/null
echo "profit now: $(mcp call excel.read_range path=$book sheet=Model range=B5 | jq '.values[0][0]')"
mcp call excel.goal_seek path=$book sheet=Model cell=B5 target=5000 changing_cell=B1
price=$(mcp call excel.read_range path=$book sheet=Model range=B1 | jq '.values[0][0]')
check=$(mcp call calculator.calculate expression="200 * ($price - 35) - 1000" | jq -r .result)
printf 'price %.2f gives a profit of %.0f\n' "$price" "$check"
