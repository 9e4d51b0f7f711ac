//! Users' logins through `UserLogins`: one process renews, and what has ended is not stored.

use identity::Role;
use store::accounts::UserChange;
use store::logins::{BegunLogin, LoginRow, UserLogins};
use store::{Accounts, Database};
use types::{Principal, TenantId};

use crate::places::{Place, actor, in_each};

/// What an older database lacks.
pub const TABLES: [&str; 3] = ["logins", "login_links", "pending_logins"];

fn row(name: &str) -> LoginRow {
    LoginRow {
        user: identity::user(&TenantId::new("acme"), &format!("{name}@example.com")).expect("a user"),
        server: "far".to_owned(),
    }
}

fn logins(place: &Place) -> UserLogins {
    UserLogins::new(place.database.clone())
}

async fn user(place: &Place, user: &Principal) -> Accounts {
    let accounts = Accounts::new(Database::clone(&place.database));
    let made = accounts.by(actor()).create_user(user, Role::Developer).await;
    made.expect("a user");
    accounts
}

async fn stored(logins: &UserLogins, row: &LoginRow) -> Option<String> {
    logins.read(row).await.expect("read")
}

#[tokio::test]
async fn a_renewal_changes_only_the_login_that_it_began_with() {
    in_each(async |place| {
        let (one, other, row) = (logins(place), logins(place), row("ann"));
        user(place, &row.user).await;
        assert_eq!(one.insert(actor(), &row, "first", None).await, Ok(true));
        let lease = one.lease(&row).await.expect("asked").expect("nobody renews");
        assert_eq!(other.lease(&row).await, Ok(None));
        assert_eq!(one.update(&row, "renewed", lease).await, Ok(true));
        assert_eq!(stored(&other, &row).await.as_deref(), Some("renewed"));
        // Another login takes its place during the renewal.
        assert_eq!(other.insert(actor(), &row, "second", None).await, Ok(true));
        let later = other
            .lease(&row)
            .await
            .expect("asked")
            .expect("the lease has ended");
        assert_eq!(one.update(&row, "of the first", lease).await, Ok(false));
        // The earlier lease does not end the later one.
        one.release(&row, lease).await.expect("released");
        assert_eq!(one.lease(&row).await, Ok(None));
        assert_eq!(other.update(&row, "of the second", later).await, Ok(true));
        assert_eq!(other.revoke(actor(), &row).await, Ok(true));
        assert_eq!(other.update(&row, "of nothing", later).await, Ok(false));
        assert_eq!(stored(&one, &row).await, None);
    })
    .await;
}

#[tokio::test]
async fn a_login_under_way_is_stored_once_and_not_after_its_end() {
    in_each(async |place| {
        let (logins, row) = (logins(place), row("ben"));
        let accounts = user(place, &row.user).await;
        let begun = BegunLogin {
            row: row.clone(),
            browser: "browser".to_owned(),
            sealed: "sealed".to_owned(),
        };
        let begin = async |state: &str, taken: &str| {
            logins.begin(state, &begun).await.expect("begun");
            assert_eq!(logins.take_begun(state, taken).await, Ok(true));
            assert_eq!(
                logins.take_begun(state, "other").await,
                Ok(false),
                "it is used up"
            );
        };
        begin("a", "taken-a").await;
        assert_eq!(
            logins.insert(actor(), &row, "of another", Some("a")).await,
            Ok(false)
        );
        assert_eq!(
            logins.insert(actor(), &row, "login", Some("taken-a")).await,
            Ok(true)
        );
        assert_eq!(
            logins.insert(actor(), &row, "again", Some("taken-a")).await,
            Ok(false)
        );
        assert_eq!(stored(&logins, &row).await.as_deref(), Some("login"));
        // Revoked, and then disabled, while the browser is at the authorization server.
        begin("b", "taken-b").await;
        assert_eq!(logins.revoke(actor(), &row).await, Ok(true));
        assert_eq!(
            logins.insert(actor(), &row, "late", Some("taken-b")).await,
            Ok(false)
        );
        begin("c", "taken-c").await;
        let change = async |disabled| {
            let change = UserChange {
                disabled: Some(disabled),
                ..UserChange::default()
            };
            let changed = accounts.by(actor()).change_user(&row.user, change).await;
            changed.expect("changed");
        };
        change(true).await;
        assert_eq!(
            logins.insert(actor(), &row, "late", Some("taken-c")).await,
            Ok(false)
        );
        assert_eq!(logins.insert(actor(), &row, "key", None).await, Ok(false));
        change(false).await;
        assert_eq!(stored(&logins, &row).await, None);
    })
    .await;
}
