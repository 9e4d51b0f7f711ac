# Export a sheet with the expenses as CSV and sum the expenses per category from the CSV file.
book=DATA/files/expenses13.xlsx csv=DATA/files/expenses13.csv
mcp call excel.create_workbook path=$book sheets='["Expenses"]' overwrite=true >/dev/null &&
jq -n --arg p $book '{path: $p, sheet: "Expenses", at: "A1", rows: [
  ["Category", "Amount"], ["travel", 120.5], ["food", 34], ["travel", 60], ["office", 18.25], ["food", 12.5]]}' |
  mcp call excel.write_range - >/dev/null &&
mcp call excel.export_csv path=$book sheet=Expenses csv_path=$csv overwrite=true >/dev/null || { echo "cannot make the CSV" >&2; exit 1; }
mcp call filesystem.read_text_file path=$csv | jq -r .content | tr -d '\r' \
  | awk -F, 'NR > 1 && NF == 2 { sum[$1] += $2 } END { for (c in sum) printf "%s %.2f\n", c, sum[c] }' | sort -k2 -rn
