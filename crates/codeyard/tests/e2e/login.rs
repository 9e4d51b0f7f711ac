//! Logins to remote servers, with a real authorization server and a gate that accepts only its tokens.

mod attempts;
mod lives;
mod refusals;

use std::path::PathBuf;

use serde_json::{Value, json};
use test_support::oauth::{Guarded, Login, LoginEnded, browse};
use test_support::{Codeyard, CommandOutput, Way, run};

/// A call of the server's tool.
const CALL: [&str; 3] = ["call", "far.add", r#"{"a": 2, "b": 3}"#];

/// A codeyard with one server, `far`, that requires a login.
struct Yard {
    codeyard: Codeyard,
    guarded: Guarded,
}

impl Yard {
    async fn new() -> Yard {
        Yard::with(json!({})).await
    }

    /// As `new`, with these fields in the definition.
    async fn with(oauth: Value) -> Yard {
        let guarded = Guarded::start(Way::Modern).await.unwrap();
        let entry = json!({"url": guarded.url(), "oauth": oauth});
        let codeyard = Codeyard::new().unwrap().server_json("far", entry);
        Yard { codeyard, guarded }
    }

    /// Logs in as a person who agrees.
    async fn log_in(&self, arguments: &[&str]) -> LoginEnded {
        match self.begin(arguments).await {
            Ok(login) => {
                browse(&login.url).await.unwrap();
                login.end().await.unwrap()
            }
            Err(ended) => ended,
        }
    }

    async fn begin(&self, arguments: &[&str]) -> Result<Login, LoginEnded> {
        let arguments = [&["far"], arguments].concat();
        Login::begin(&self.codeyard, &arguments).await.unwrap()
    }

    /// A codeyard with a login.
    async fn logged_in() -> Yard {
        let yard = Yard::new().await;
        let ended = yard.log_in(&[]).await;
        assert!(ended.is_done, "{}", ended.told);
        yard
    }

    async fn run(&self, arguments: &[&str]) -> CommandOutput {
        run(&self.codeyard, arguments, "").await
    }

    /// Calls a tool of the server in a separate process.
    async fn call(&self) -> CommandOutput {
        self.run(&CALL).await
    }

    #[track_caller]
    fn works(called: &CommandOutput) {
        assert_eq!(called.code, 0, "{}", called.err);
        assert!(called.out.contains('5'), "{}", called.out);
    }

    #[track_caller]
    fn fails(called: &CommandOutput, expected: &str) {
        assert_eq!(called.code, 4, "{}{}", called.out, called.err);
        assert!(called.err.contains(expected), "{expected}\n---\n{}", called.err);
    }

    /// The server's row in `codeyard servers`.
    async fn row(&self) -> Value {
        self.run(&["servers", "--json"]).await.json()["servers"][0].clone()
    }

    fn file(&self) -> PathBuf {
        self.codeyard.data_directory().join("logins/far.json")
    }

    fn login(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.file()).unwrap()).unwrap()
    }

    /// Changes the stored login, as time or another user would.
    fn change(&self, place: &str, value: Value) {
        let mut login = self.login();
        *login.pointer_mut(place).unwrap() = value;
        std::fs::write(self.file(), login.to_string()).unwrap();
    }

    /// Expires the access token.
    fn expire(&self) {
        self.change("/tokens/expires_at", json!(1));
    }
}
