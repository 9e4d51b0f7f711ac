//! Parses URLs as browsers do.

use rquickjs::prelude::Opt;
use rquickjs::{Ctx, Function, Object, Result};
use url::{Url, quirks};

pub fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("urlParse", Function::new(ctx.clone(), parse)?)?;
    native.set("urlSet", Function::new(ctx.clone(), set)?)
}

/// The parts of a URL; `None` if it is not valid.
fn parse<'js>(ctx: Ctx<'js>, input: String, base: Opt<Option<String>>) -> Result<Option<Object<'js>>> {
    let base = match base.0.flatten().map(|base| Url::parse(&base)) {
        Some(Err(_)) => return Ok(None),
        Some(Ok(base)) => Some(base),
        None => None,
    };
    let parsed = Url::options().base_url(base.as_ref()).parse(&input);
    parsed.ok().map(|url| parts(&ctx, &url)).transpose()
}

/// Sets one part of a URL and returns all parts; `None` if the result is not a valid URL.
fn set<'js>(ctx: Ctx<'js>, href: String, part: String, value: String) -> Result<Option<Object<'js>>> {
    let Ok(mut url) = Url::parse(&href) else {
        return Ok(None);
    };
    // An invalid part is ignored.
    let _ = match part.as_str() {
        "href" => return parse(ctx, value, Opt(None)),
        "protocol" => quirks::set_protocol(&mut url, &value),
        "username" => quirks::set_username(&mut url, &value),
        "password" => quirks::set_password(&mut url, &value),
        "host" => quirks::set_host(&mut url, &value),
        "hostname" => quirks::set_hostname(&mut url, &value),
        "port" => quirks::set_port(&mut url, &value),
        "pathname" => {
            quirks::set_pathname(&mut url, &value);
            Ok(())
        }
        "search" => {
            quirks::set_search(&mut url, &value);
            Ok(())
        }
        "hash" => {
            quirks::set_hash(&mut url, &value);
            Ok(())
        }
        _ => Ok(()),
    };
    parts(&ctx, &url).map(Some)
}

fn parts<'js>(ctx: &Ctx<'js>, url: &Url) -> Result<Object<'js>> {
    let parts = Object::new(ctx.clone())?;
    let values: [(&str, &str); 10] = [
        ("href", quirks::href(url)),
        ("protocol", quirks::protocol(url)),
        ("username", quirks::username(url)),
        ("password", quirks::password(url)),
        ("host", quirks::host(url)),
        ("hostname", quirks::hostname(url)),
        ("port", quirks::port(url)),
        ("pathname", quirks::pathname(url)),
        ("search", quirks::search(url)),
        ("hash", quirks::hash(url)),
    ];
    for (name, value) in values {
        parts.set(name, value)?;
    }
    parts.set("origin", quirks::origin(url))?;
    Ok(parts)
}
