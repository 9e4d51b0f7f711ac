//! The CRM: customers to read and change, kept while the process lives.

use std::sync::{Mutex, PoisonError};

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::data::{self, Customer, Region, Risk, Tier};
use crate::server::{self, CallError, Service, arguments, length, within};

const MAX_LISTED: usize = 1_000;
const MAX_UPDATES: usize = 1_000;
const MAX_NOTE: usize = 2_000;

/// Sorted by number.
pub(crate) struct Crm {
    customers: Mutex<Vec<Customer>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListCustomers {
    tier: Option<Tier>,
    region: Option<Region>,
    #[serde(default)]
    offset: usize,
    #[serde(default = "default_limit")]
    limit: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GetCustomer {
    customer_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Update {
    customer_id: String,
    risk: Option<Risk>,
    payment_hold: Option<bool>,
    note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Updates {
    updates: Vec<Update>,
}

fn default_limit() -> usize {
    50
}

impl Crm {
    pub(crate) fn new() -> Crm {
        Crm {
            customers: Mutex::new(data::customers()),
        }
    }

    fn list(&self, asked: &ListCustomers) -> Result<Value, CallError> {
        let limit = within("limit", asked.limit, MAX_LISTED)?;
        let customers = self.customers.lock().unwrap_or_else(PoisonError::into_inner);
        let matching: Vec<&Customer> = customers
            .iter()
            .filter(|customer| asked.tier.is_none_or(|tier| customer.tier == tier))
            .filter(|customer| asked.region.is_none_or(|region| customer.region == region))
            .collect();
        let page: Vec<&&Customer> = matching.iter().skip(asked.offset).take(limit).collect();
        Ok(json!({"total": matching.len(), "customers": page}))
    }

    fn get(&self, number: &str) -> Result<Value, CallError> {
        let customers = self.customers.lock().unwrap_or_else(PoisonError::into_inner);
        let customer = customers.iter().find(|customer| customer.customer_id == number);
        server::json(customer.ok_or_else(|| CallError::UnknownCustomer(number.to_owned()))?)
    }

    fn update(&self, updates: Vec<Update>) -> Result<Value, CallError> {
        length("updates", updates.len(), 1..=MAX_UPDATES)?;
        for note in updates.iter().filter_map(|update| update.note.as_ref()) {
            length("note", note.len(), 0..=MAX_NOTE)?;
        }
        let mut customers = self.customers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unknown = Vec::new();
        let count = updates.len();
        for update in updates {
            match customers
                .iter_mut()
                .find(|customer| customer.customer_id == update.customer_id)
            {
                Some(customer) => update.apply(customer),
                None => unknown.push(update.customer_id),
            }
        }
        Ok(json!({"updated": count - unknown.len(), "unknown": unknown}))
    }
}

impl Update {
    fn apply(self, customer: &mut Customer) {
        let Update {
            customer_id: _,
            risk,
            payment_hold,
            note,
        } = self;
        customer.risk = risk.unwrap_or(customer.risk);
        customer.payment_hold = payment_hold.unwrap_or(customer.payment_hold);
        if let Some(note) = note {
            customer.note = note;
        }
    }
}

impl Service for Crm {
    const NAME: &'static str = "crm";
    const DEFINITIONS: &'static str = include_str!("../tools/crm.json");
    const INSTRUCTIONS: &'static str =
        "Customers with their account managers; risk, payment hold and note can be changed.";

    fn call(&self, tool: &str, given: JsonObject) -> Result<Value, CallError> {
        match tool {
            "list_customers" => self.list(&arguments(given)?),
            "get_customer" => {
                let GetCustomer { customer_id } = arguments(given)?;
                self.get(&customer_id)
            }
            "update_customer" => {
                let update: Update = arguments(given)?;
                let customer_id = update.customer_id.clone();
                self.update(vec![update])?;
                self.get(&customer_id)
            }
            "update_customers" => {
                let Updates { updates } = arguments(given)?;
                self.update(updates)
            }
            _ => Err(CallError::UnknownTool(tool.to_owned())),
        }
    }
}
