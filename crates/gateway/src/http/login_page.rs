//! What the application shows to a browser during a login to an upstream server.

/// A browser's request during a login.
#[derive(Debug, Clone, Copy)]
pub struct LoginVisit<'a> {
    /// What the browser does.
    pub way: LoginWay,
    /// Of the link; empty for the callback.
    pub secret: &'a str,
    /// The text after `?`, not decoded.
    pub query: &'a str,
    /// The user's token in the form of the page; empty without one.
    pub token: &'a str,
    /// The cookie of [`LoginPage::Redirect`].
    pub cookie: Option<&'a str>,
}

/// What a browser does during a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginWay {
    /// Opens the link; this changes nothing.
    Show,
    /// Sends the form of the link's page.
    Begin,
    /// Returns from the authorization server.
    Callback,
}

/// The answer to a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginPage {
    /// A page.
    Page {
        /// The HTTP status.
        status: u16,
        /// The page.
        html: String,
    },
    /// Sends the browser to the authorization server, with a cookie that only this browser has.
    Redirect {
        /// The address.
        url: String,
        /// The cookie's value.
        cookie: String,
    },
}

impl LoginPage {
    /// A page with a sentence.
    pub fn told(status: u16, text: &str) -> LoginPage {
        LoginPage::Page {
            status,
            html: page(&format!("<p>{}</p>", escaped(text))),
        }
    }

    /// The page of a link: names user and server, and asks for the user's token.
    pub fn ask(user: &str, server: &str) -> LoginPage {
        let (user, server) = (escaped(user), escaped(server));
        LoginPage::Page {
            status: 200,
            html: page(&format!(
                "<p>Programs of <b>{user}</b> will act at <b>{server}</b> with the account in which you log in there.</p>\
                 <p>Go on only if you are {user} and have asked for this. Your token of Codeyard proves who you are.</p>\
                 <form method=\"post\"><label>Token <input type=\"password\" name=\"token\" required></label> \
                 <button>Log in at {server}</button></form>"
            )),
        }
    }
}

fn page(body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Codeyard login</title><h1>Codeyard</h1>{body}</html>\n"
    )
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
