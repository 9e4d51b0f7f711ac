//! The demonstration's fictional company: 500 customers and 10,000 orders, the same on every machine.

mod calendar;
mod draw;
mod names;

use serde::{Deserialize, Serialize};

pub use calendar::Day;
use draw::Draw;
use names::{COMPANY_ENDS, COMPANY_STARTS, FAMILY_NAMES, GIVEN_NAMES, MANAGERS, PRODUCTS};

/// Orders in the workbook.
pub const ORDERS: u32 = 10_000;
/// Customers in the CRM.
pub const CUSTOMERS: u32 = 500;
/// Export day of the workbook: open orders due before it are overdue.
pub const AS_OF: Day = Day::new(2026, 10, 31);
const FIRST_DAY: Day = Day::new(2026, 1, 1);

/// Sets a customer's order values and payment terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Tier {
    Enterprise,
    Business,
    Starter,
}

/// A customer's region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Region {
    Emea,
    Amer,
    Apac,
    Latam,
}

/// Risk of late payment, as the account manager sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Risk {
    Low,
    Medium,
    High,
}

/// A person with a mail address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Person {
    /// First and last name.
    pub name: String,
    /// Mail address.
    pub email: String,
}

/// One customer of the CRM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the tool definitions describe the fields")]
pub struct Customer {
    pub customer_id: String,
    pub name: String,
    pub tier: Tier,
    pub region: Region,
    pub contact: Person,
    pub account_manager: Person,
    pub risk: Risk,
    pub payment_hold: bool,
    pub note: String,
}

/// State of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum OrderStatus {
    Paid,
    Open,
    Cancelled,
}

/// A row of the workbook's `orders` sheet.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the tool definitions describe the fields")]
pub struct Order {
    pub order_id: String,
    pub customer_id: String,
    pub product: &'static str,
    pub quantity: u32,
    pub unit_price: f64,
    pub amount: f64,
    pub ordered_on: Day,
    pub due_on: Day,
    pub paid_on: Option<Day>,
    pub status: OrderStatus,
}

/// A row of the workbook's `products` sheet.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the tool definitions describe the fields")]
pub struct Product {
    pub product: &'static str,
    pub category: &'static str,
    pub unit_price: f64,
}

/// All products.
pub fn products() -> Vec<Product> {
    PRODUCTS
        .iter()
        .map(|(product, category, cents)| Product {
            product,
            category,
            unit_price: euros(u64::from(*cents)),
        })
        .collect()
}

/// Sorted by number.
pub fn customers() -> Vec<Customer> {
    (1..=CUSTOMERS).map(customer).collect()
}

/// Sorted by number.
pub fn orders() -> Vec<Order> {
    let customers: Vec<(Tier, Region)> = (1..=CUSTOMERS).map(place).collect();
    (1..=ORDERS).map(|number| order(number, &customers)).collect()
}

/// Drawn separately, because tier and region decide how a customer pays.
fn place(number: u32) -> (Tier, Region) {
    let mut draw = Draw::new("place", number);
    let tier = match draw.below(100) {
        0..20 => Tier::Enterprise,
        20..55 => Tier::Business,
        _ => Tier::Starter,
    };
    let region = match draw.below(100) {
        0..38 => Region::Emea,
        38..70 => Region::Amer,
        70..90 => Region::Apac,
        _ => Region::Latam,
    };
    (tier, region)
}

fn customer(number: u32) -> Customer {
    let (tier, region) = place(number);
    let mut draw = Draw::new("customer", number);
    let start = draw.pick(&COMPANY_STARTS);
    let name = format!("{start} {}", draw.pick(&COMPANY_ENDS));
    let (given, family) = (draw.pick(&GIVEN_NAMES), draw.pick(&FAMILY_NAMES));
    let domain = name.to_lowercase().replace(' ', "-");
    let (manager, address) = draw.pick(MANAGERS[region as usize]);
    Customer {
        customer_id: customer_id(number),
        name,
        tier,
        region,
        contact: Person {
            name: format!("{given} {family}"),
            email: format!(
                "{}.{}@{domain}.example",
                given.to_lowercase(),
                family.to_lowercase()
            ),
        },
        account_manager: Person {
            name: (*manager).to_owned(),
            email: (*address).to_owned(),
        },
        risk: Risk::Low,
        payment_hold: false,
        note: String::new(),
    }
}

fn order(number: u32, customers: &[(Tier, Region)]) -> Order {
    let mut draw = Draw::new("order", number);
    let customer = draw.below(CUSTOMERS) + 1;
    let (tier, region) = customers[customer as usize - 1];
    let (product, _, cents) = draw.pick(&PRODUCTS);
    let (most, terms) = match tier {
        Tier::Enterprise => (60, 60),
        Tier::Business => (20, 30),
        Tier::Starter => (5, 14),
    };
    let quantity = 1 + draw.below(most);
    let ordered_on = FIRST_DAY.plus(draw.below(AS_OF.since(FIRST_DAY)));
    let due_on = ordered_on.plus(terms);
    // The figures' story: large customers in Asia stopped paying on time, unnoticed.
    let late_in_hundred = match (tier, region) {
        (Tier::Enterprise, Region::Apac) => 24,
        (Tier::Enterprise, Region::Latam) => 11,
        (Tier::Enterprise, _) => 4,
        (Tier::Business, _) => 6,
        (Tier::Starter, _) => 3,
    };
    let paid_on = ordered_on.plus(2 + draw.below(terms + 5));
    let (status, paid_on) = match draw.below(100) {
        99 => (OrderStatus::Cancelled, None),
        chance if chance < late_in_hundred || paid_on > AS_OF => (OrderStatus::Open, None),
        _ => (OrderStatus::Paid, Some(paid_on)),
    };
    Order {
        order_id: format!("SO-{}", 100_000 + number),
        customer_id: customer_id(customer),
        product,
        quantity,
        unit_price: euros(u64::from(*cents)),
        amount: euros(u64::from(*cents) * u64::from(quantity)),
        ordered_on,
        due_on,
        paid_on,
        status,
    }
}

fn customer_id(number: u32) -> String {
    format!("C-{number:04}")
}

/// Amounts are whole cents; only the workbook shows fractions.
fn euros(cents: u64) -> f64 {
    u32::try_from(cents).map_or(f64::MAX, f64::from) / 100.0
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_figures_are_the_same_on_every_machine() {
        let customers = customers();
        let mut overdue: BTreeMap<String, (u32, f64)> = BTreeMap::new();
        for order in orders() {
            let number: usize = order.customer_id[2..].parse().expect("a number");
            let customer = &customers[number - 1];
            assert_eq!(customer.customer_id, order.customer_id);
            if order.status == OrderStatus::Open && order.due_on < AS_OF && customer.tier == Tier::Enterprise
            {
                let entry = overdue.entry(format!("{:?}", customer.region)).or_default();
                entry.0 += 1;
                entry.1 += order.amount;
            }
        }
        let text: Vec<String> = overdue
            .iter()
            .map(|(region, (count, sum))| format!("{region} {count} {sum:.2}"))
            .collect();
        assert_eq!(
            text,
            [
                "Amer 28 550532.50",
                "Apac 85 2194237.50",
                "Emea 22 138489.50",
                "Latam 20 424514.00"
            ]
        );
        // The demonstration shows that one region stands out.
        let worst = overdue["Apac"].1;
        assert!(
            overdue
                .iter()
                .all(|(region, (_, sum))| region == "Apac" || *sum < worst)
        );
    }

    #[test]
    fn rows_are_complete_and_consistent() {
        let orders = orders();
        assert_eq!(orders.len(), 10_000);
        assert_eq!(customers().len(), 500);
        for order in &orders {
            assert!(
                order.ordered_on >= FIRST_DAY && order.ordered_on < AS_OF && order.due_on > order.ordered_on
            );
            assert_eq!(
                order.paid_on.is_some(),
                order.status == OrderStatus::Paid,
                "{order:?}"
            );
            assert!(order.paid_on.is_none_or(|paid| paid <= AS_OF), "{order:?}");
        }
        let addresses: std::collections::BTreeSet<String> = customers()
            .into_iter()
            .map(|customer| customer.account_manager.email)
            .collect();
        assert!(addresses.iter().all(|address| address.ends_with(".example")));
    }
}
