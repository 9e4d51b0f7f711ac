//! The workbook: sheets of rows, read-only.

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::data::{self, AS_OF};
use crate::server::{self, CallError, Service, arguments, within};

const WORKBOOK: &str = "orders-2026.xlsx";
const MAX_ROWS: usize = 10_000;
/// Most different values of a column whose values are listed.
const FEW_VALUES: usize = 12;

/// Sheets, made at the server's start.
pub(crate) struct Orders {
    orders: Vec<Value>,
    products: Vec<Value>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Sheet {
    #[default]
    Orders,
    Products,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadRows {
    #[serde(default)]
    sheet: Sheet,
    #[serde(default)]
    offset: usize,
    #[serde(default = "default_limit")]
    limit: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Describe {
    #[serde(default)]
    sheet: Sheet,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn default_limit() -> usize {
    100
}

impl Orders {
    pub(crate) fn new() -> Orders {
        let rows = |rows: Result<Value, CallError>| match rows {
            Ok(Value::Array(rows)) => rows,
            _ => Vec::new(),
        };
        Orders {
            orders: rows(server::json(&data::orders())),
            products: rows(server::json(&data::products())),
        }
    }

    fn rows(&self, sheet: Sheet) -> &[Value] {
        match sheet {
            Sheet::Orders => &self.orders,
            Sheet::Products => &self.products,
        }
    }

    fn list_sheets(&self) -> Value {
        let sheet = |sheet: Sheet| {
            let rows = self.rows(sheet);
            json!({"name": sheet.name(), "rows": rows.len(), "columns": columns(rows)})
        };
        json!({"workbook": WORKBOOK, "as_of": AS_OF, "sheets": [sheet(Sheet::Orders), sheet(Sheet::Products)]})
    }

    fn read_rows(&self, ReadRows { sheet, offset, limit }: ReadRows) -> Result<Value, CallError> {
        let limit = within("limit", limit, MAX_ROWS)?;
        let all = self.rows(sheet);
        let rows: Vec<&Value> = all.iter().skip(offset).take(limit).collect();
        Ok(json!({"sheet": sheet.name(), "as_of": AS_OF, "total": all.len(), "offset": offset, "rows": rows}))
    }

    fn describe(&self, sheet: Sheet) -> Value {
        let rows = self.rows(sheet);
        let columns: Vec<Value> = columns(rows)
            .iter()
            .map(|name| describe_column(name, rows))
            .collect();
        json!({"sheet": sheet.name(), "rows": rows.len(), "columns": columns})
    }
}

impl Service for Orders {
    const NAME: &'static str = "orders";
    const DEFINITIONS: &'static str = include_str!("../tools/orders.json");
    const INSTRUCTIONS: &'static str = "The workbook with all orders of this year, read-only.";

    fn call(&self, tool: &str, given: JsonObject) -> Result<Value, CallError> {
        match tool {
            "list_sheets" => arguments(given).map(|Nothing {}| self.list_sheets()),
            "read_rows" => self.read_rows(arguments(given)?),
            "describe" => arguments(given).map(|Describe { sheet }| self.describe(sheet)),
            _ => Err(CallError::UnknownTool(tool.to_owned())),
        }
    }
}

impl Sheet {
    fn name(self) -> &'static str {
        match self {
            Sheet::Orders => "orders",
            Sheet::Products => "products",
        }
    }
}

fn columns(rows: &[Value]) -> Vec<&String> {
    let first = rows.first().and_then(Value::as_object);
    first.map(|row| row.keys().collect()).unwrap_or_default()
}

fn describe_column(name: &str, rows: &[Value]) -> Value {
    let mut values: Vec<&Value> = rows
        .iter()
        .map(|row| &row[name])
        .filter(|value| !value.is_null())
        .collect();
    let empty = rows.len() - values.len();
    values.sort_by(|one, other| match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        _ => one.as_str().cmp(&other.as_str()),
    });
    let (min, max) = (values.first().copied().cloned(), values.last().copied().cloned());
    values.dedup();
    let kind = match values.first() {
        Some(Value::Number(number)) if number.is_f64() => "number",
        Some(Value::Number(_)) => "integer",
        Some(_) if name.ends_with("_on") => "date",
        _ => "text",
    };
    let mut column = json!({"name": name, "type": kind, "empty": empty, "min": min, "max": max});
    if values.len() <= FEW_VALUES {
        column["values"] = json!(values);
    }
    column
}
