//! Sign-ons through `SignOns`: who signed on, what an issuer's report ends, and what it leaves.

use identity::{ExistingUsers, Grant, NewUsers, Role, SignOn, SignOnRules, TokenId, TokenSecret, TokenTeams};
use serde_json::json;
use store::accounts::{AccountError, NewToken, UserChange};
use store::sign_ons::{IssuerAccount, SignOut, SignedOut};
use store::{Accounts, SignOns};
use types::{Principal, TenantId};

use crate::places::{Place, actor, in_each};

const ISSUER: &str = "https://login.example";

/// What an older database lacks.
pub const TABLES: [&str; 4] = ["issuer_accounts", "sign_ons", "sign_outs", "sign_out_reports"];

fn tenant() -> TenantId {
    TenantId::new("acme")
}

fn user(name: &str) -> Principal {
    identity::user(&tenant(), &format!("{name}@example.com")).expect("a user")
}

/// A token of ann, issued at this second, in this session.
fn sign_on(name: &str, session: &str, issued: i64) -> SignOn {
    let rules = SignOnRules {
        user_claim: "email".to_owned(),
        new_users: NewUsers::Create,
        existing_users: ExistingUsers::Link,
        role: Role::Developer,
        claims: Vec::new(),
        scopes: Default::default(),
        agents: None,
    };
    let claims = json!({
        "iss": ISSUER, "sub": name, "sid": session, "email": format!("{name}@example.com"),
        "iat": issued, "exp": 4_000_000_000_i64,
    });
    rules
        .decide(claims.as_object().expect("an object"))
        .expect("a user")
}

fn report<'a>(id: &'a str, subject: Option<&'a str>, session: Option<&'a str>, issued: i64) -> SignOut<'a> {
    SignOut {
        issuer: ISSUER,
        subject,
        session,
        id,
        issued_ms: issued * 1000,
        until_ms: 4_000_000_000_000,
    }
}

struct Users {
    accounts: Accounts,
    sign_ons: SignOns,
}

impl Users {
    async fn new(place: &Place) -> Users {
        let users = Users {
            accounts: Accounts::new(place.database.clone()),
            sign_ons: SignOns::new(place.database.clone()),
        };
        for name in ["ann", "ben"] {
            let made = users
                .accounts
                .by(actor())
                .create_user(&user(name), Role::Developer)
                .await;
            made.expect("a user");
        }
        users
    }

    async fn note(&self, name: &str, session: &str, issued: i64) -> TokenId {
        let sign_on = sign_on(name, session, issued);
        self.sign_ons.bind(&user(name), &sign_on).await.expect("bound");
        assert!(self.sign_ons.note(&user(name), &sign_on).await.expect("noted"));
        sign_on.id()
    }

    /// An API token made with a sign-on or another token.
    async fn make(&self, name: &str, number: u8, made_by: &TokenId) -> Result<TokenId, AccountError> {
        let grant = Grant {
            owner: user(name),
            name: None,
            role: Role::Developer,
            teams: TokenTeams::Only([].into()),
            scopes: None,
            expires_ms: None,
        };
        let (hash, id) = (TokenSecret::new([!number; 32]).hash(), TokenId::new([number; 12]));
        let token = NewToken {
            hash: &hash,
            id: &id,
            grant: &grant,
            made_by: Some(made_by),
        };
        self.accounts
            .by(actor())
            .create_token(token)
            .await
            .map(|token| token.id)
    }

    async fn is_revoked(&self, id: &TokenId) -> bool {
        let token = self.accounts.token(&tenant(), id).await.expect("read");
        token.expect("a token").revoked_ms.is_some()
    }

    async fn is_signed_out(&self, name: &str, session: &str, issued: i64) -> bool {
        let found = self
            .sign_ons
            .find(&user(name), &sign_on(name, session, issued))
            .await;
        found.expect("read").is_signed_out
    }

    async fn end(&self, report: SignOut<'_>) -> SignedOut {
        self.sign_ons.end(&tenant(), report).await.expect("ended")
    }
}

#[tokio::test]
async fn a_sign_on_is_noted_and_its_address_stays_with_its_account() {
    in_each(async |place| {
        let users = Users::new(place).await;
        let of_ann = sign_on("ann", "s", 10);
        let before = users.sign_ons.find(&user("ann"), &of_ann).await.expect("read");
        assert!(before.user.is_some() && !before.is_noted, "{before:?}");
        assert_eq!(before.account, IssuerAccount::Unbound);
        users.note("ann", "s", 10).await;
        let found = users.sign_ons.find(&user("ann"), &of_ann).await.expect("read");
        assert!(found.is_noted && !found.is_signed_out, "{found:?}");
        assert_eq!(found.account, IssuerAccount::Own { followed_ms: 10_000 });
        let later = users
            .sign_ons
            .find(&user("ann"), &sign_on("ann", "s", 20))
            .await
            .expect("read");
        assert!(!later.is_noted, "{later:?}");
        // Other accounts with ann's address, of this issuer and of another; neither becomes ann.
        let other = SignOn {
            subject: "other".to_owned(),
            ..of_ann.clone()
        };
        let elsewhere = SignOn {
            issuer: "https://other.example".to_owned(),
            ..of_ann.clone()
        };
        for other in [other, elsewhere] {
            users.sign_ons.bind(&user("ann"), &other).await.expect("read");
            let found = users.sign_ons.find(&user("ann"), &other).await.expect("read");
            assert_eq!(found.account, IssuerAccount::OfOtherAccount, "{found:?}");
        }
        // Ann's account with ben's address.
        users.sign_ons.bind(&user("ben"), &of_ann).await.expect("read");
        let found = users.sign_ons.find(&user("ben"), &of_ann).await.expect("read");
        assert_eq!(found.account, IssuerAccount::OfOtherUser, "{found:?}");
        let stranger = users
            .sign_ons
            .find(&user("cleo"), &sign_on("cleo", "s", 1))
            .await
            .expect("read");
        assert_eq!((stranger.user, stranger.account), (None, IssuerAccount::Unbound));
    })
    .await;
}

#[tokio::test]
async fn a_report_ends_its_session_with_the_tokens_made_in_it() {
    in_each(async |place| {
        let users = Users::new(place).await;
        let (one, other) = (
            users.note("ann", "one", 10).await,
            users.note("ann", "other", 10).await,
        );
        let of_ben = users.note("ben", "ben", 10).await;
        let made = users.make("ann", 1, &one).await.expect("a token");
        let further = users.make("ann", 2, &made).await.expect("a token");
        let for_ben = users.make("ben", 6, &one).await.expect("a token");
        let kept = users.make("ann", 3, &other).await.expect("a token");
        let of_ben = users.make("ben", 4, &of_ben).await.expect("a token");
        let ended = users.end(report("a", Some("ann"), Some("one"), 20)).await;
        assert_eq!(
            ended,
            SignedOut::Ended {
                sign_ons: 1,
                tokens: 2
            }
        );
        for (id, expected) in [
            (&made, true),
            (&further, true),
            (&kept, false),
            (&of_ben, false),
            (&for_ben, false),
        ] {
            assert_eq!(users.is_revoked(id).await, expected, "{id}");
        }
        assert!(
            users.is_signed_out("ann", "one", 30).await,
            "a session does not come back"
        );
        assert!(!users.is_signed_out("ann", "other", 10).await);
        assert!(!users.is_signed_out("ben", "ben", 10).await);
        assert!(matches!(
            users.make("ann", 5, &one).await,
            Err(AccountError::MakerRevoked)
        ));
        assert_eq!(users.sign_ons.open(&user("ann"), &one).await.expect("read"), None);
        assert!(
            users
                .sign_ons
                .open(&user("ann"), &other)
                .await
                .expect("read")
                .is_some()
        );
        // A request that was under way notes nothing any more.
        let late = users
            .sign_ons
            .note(&user("ann"), &sign_on("ann", "one", 15))
            .await;
        assert!(!late.expect("read"));
        let repeated = users.end(report("a", Some("ann"), Some("one"), 20)).await;
        assert_eq!(repeated, SignedOut::Repeated);
    })
    .await;
}

#[tokio::test]
async fn a_report_of_a_user_ends_every_earlier_session() {
    in_each(async |place| {
        let users = Users::new(place).await;
        users.note("ann", "one", 10).await;
        users.note("ann", "", 10).await;
        let ended = users.end(report("a", Some("ann"), None, 20)).await;
        assert_eq!(
            ended,
            SignedOut::Ended {
                sign_ons: 2,
                tokens: 0
            }
        );
        for (session, issued, expected) in [
            ("one", 10, true),
            ("two", 20, true),
            ("", 15, true),
            ("", 21, false),
            ("two", 21, false),
        ] {
            assert_eq!(
                users.is_signed_out("ann", session, issued).await,
                expected,
                "{session} {issued}"
            );
        }
        // Tokens that name no session end with any of the user's.
        users.note("ben", "", 10).await;
        let ended = users.end(report("b", Some("ben"), Some("s"), 20)).await;
        assert_eq!(
            ended,
            SignedOut::Ended {
                sign_ons: 1,
                tokens: 0
            }
        );
        assert!(users.is_signed_out("ben", "", 20).await && !users.is_signed_out("ben", "", 21).await);
    })
    .await;
}

#[tokio::test]
async fn users_without_a_credential_are_found() {
    in_each(async |place| {
        let users = Users::new(place).await;
        let both = [user("ann"), user("ben")];
        let gone = async || users.sign_ons.without_credentials(&both).await.expect("read");
        assert_eq!(gone().await, both);
        users.note("ann", "s", 10).await;
        let of_ben = users.note("ben", "b", 10).await;
        users.make("ben", 1, &of_ben).await.expect("a token");
        assert_eq!(gone().await, []);
        users.end(report("a", None, Some("s"), 20)).await;
        assert_eq!(gone().await, [user("ann")]);
        users.end(report("b", None, Some("b"), 20)).await;
        assert_eq!(gone().await, both);
        users.note("ann", "new", 30).await;
        assert_eq!(gone().await, [user("ben")]);
        let disable = UserChange {
            disabled: Some(true),
            ..UserChange::default()
        };
        let disabled = users
            .accounts
            .by(actor())
            .change_user(&user("ann"), disable)
            .await;
        disabled.expect("a user");
        assert_eq!(gone().await, both);
    })
    .await;
}
