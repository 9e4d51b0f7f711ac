// Make a task tracker sheet: status dropdown, colour scale on the progress, frozen header, a note on the header, and describe it.
const path = "DATA/files/b2_34_tracker.xlsx";
const at = { path, sheet: "Tasks" };
await tools.excel.create_workbook({ path, sheets: ["Tasks"], overwrite: true });

enum Status { Open = "open", Doing = "in progress", Done = "done" }
const tasks: Array<[string, Status, number]> = [
  ["Write offer", Status.Done, 1],
  ["Order parts", Status.Doing, 0.4],
  ["Assemble", Status.Open, 0],
];
await tools.excel.write_range({ ...at, at: "A1", rows: [["Task", "Status", "Progress"], ...tasks] });
await tools.excel.format_range({ ...at, range: "A1:C1", style: { bold: true, fill_color: "#DDEBF7" } });
await tools.excel.format_range({ ...at, range: "C2:C4", style: { number_format: "0%" } });
await tools.excel.add_data_validation({ ...at, range: "B2:B20", rule: { type: "list", options: Object.values(Status) } });
await tools.excel.add_conditional_format({ ...at, range: "C2:C4", rule: { type: "color_scale", colors: ["#F8696B", "#FFEB84", "#63BE7B"] } });
await tools.excel.set_sheet_layout({ ...at, layout: { freeze_panes: "A2", column_widths_chars: { A: 24, B: 14 } } });
await tools.excel.set_note({ ...at, cell: "C1", text: "Share of the work that is done", author: "Agent" });

const d = await tools.excel.describe_sheet(at);
return {
  used: d.used_range,
  frozen: d.freeze_panes,
  validations: d.data_validations?.length ?? 0,
  formats: d.conditional_formats?.length ?? 0,
  notes: d.notes?.length ?? 0,
};
