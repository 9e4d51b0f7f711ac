//! Fictional names of companies, people and goods.

pub(super) const COMPANY_STARTS: [&str; 32] = [
    "Alder", "Amber", "Anchor", "Aurora", "Birch", "Bluefin", "Cascade", "Cedar", "Cobalt", "Copper",
    "Delta", "Ember", "Falcon", "Fjord", "Granite", "Harbor", "Heron", "Indigo", "Juniper", "Kestrel",
    "Lantern", "Maple", "Meridian", "Nimbus", "Onyx", "Orchard", "Pioneer", "Quartz", "Saffron", "Summit",
    "Tidal", "Willow",
];

pub(super) const COMPANY_ENDS: [&str; 16] = [
    "Analytics",
    "Biotech",
    "Construction",
    "Dairy",
    "Energy",
    "Foods",
    "Health",
    "Logistics",
    "Media",
    "Mobility",
    "Optics",
    "Paper",
    "Retail",
    "Robotics",
    "Textiles",
    "Travel",
];

pub(super) const GIVEN_NAMES: [&str; 24] = [
    "Aisha", "Amara", "Ana", "Bruno", "Carla", "Chen", "Daniel", "Elena", "Emeka", "Farid", "Grace", "Hana",
    "Ines", "Jonas", "Kofi", "Lena", "Mateo", "Mina", "Noor", "Oscar", "Priya", "Rosa", "Tomas", "Yuki",
];

pub(super) const FAMILY_NAMES: [&str; 24] = [
    "Abe", "Almeida", "Bauer", "Costa", "Diaz", "Eriksen", "Fischer", "Garcia", "Haddad", "Ito", "Jensen",
    "Kaya", "Lindgren", "Mensah", "Nair", "Okafor", "Petrov", "Quinn", "Rossi", "Sato", "Silva", "Tan",
    "Varga", "Wong",
];

/// By region, in the order of `Region`.
pub(super) const MANAGERS: [&[(&str, &str)]; 4] = [
    &[
        ("Greta Lindgren", "greta.lindgren@yard.example"),
        ("Omar Haddad", "omar.haddad@yard.example"),
    ],
    &[
        ("Ruth Coleman", "ruth.coleman@yard.example"),
        ("Luis Ortega", "luis.ortega@yard.example"),
    ],
    &[("Mei Tanaka", "mei.tanaka@yard.example")],
    &[("Paula Ribeiro", "paula.ribeiro@yard.example")],
];

/// Name, category, and price in cents.
pub(super) const PRODUCTS: [(&str, &str, u32); 8] = [
    ("Edge Gateway", "hardware", 48_900),
    ("Sensor Pack", "hardware", 12_450),
    ("Rack Controller", "hardware", 219_900),
    ("Fleet Licence", "software", 8_900),
    ("Insight Suite", "software", 64_000),
    ("Backup Vault", "software", 15_700),
    ("On-site Day", "service", 118_000),
    ("Support Plan", "service", 29_900),
];
