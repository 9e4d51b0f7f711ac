//! Digests and random bytes.

use std::rc::Rc;

use hmac::{Hmac, Mac};
use md5::Md5;
use rquickjs::{Ctx, Exception, Function, Object, Result, TypedArray};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

use crate::bytes;
use crate::shared::Shared;

pub fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>, shared: &Rc<Shared>) -> Result<()> {
    let state = Rc::clone(shared);
    native.set(
        "random",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, count: usize| {
            random(ctx, count, &state)
        })?,
    )?;
    native.set("digest", Function::new(ctx.clone(), digest)?)?;
    native.set("hmac", Function::new(ctx.clone(), hmac)?)
}

fn random<'js>(ctx: Ctx<'js>, count: usize, shared: &Shared) -> Result<TypedArray<'js, u8>> {
    let mut drawn = vec![0; count];
    if getrandom::fill(&mut drawn).is_err() {
        return Err(Exception::throw_message(&ctx, "the system gives no random bytes"));
    }
    shared.inputs.borrow_mut().bytes.fill(&mut drawn);
    TypedArray::new(ctx, drawn)
}

fn digest<'js>(ctx: Ctx<'js>, algorithm: String, data: TypedArray<'js, u8>) -> Result<TypedArray<'js, u8>> {
    let data = bytes::copy(&ctx, &data)?;
    let digest = match algorithm.as_str() {
        "md5" => Md5::digest(&data).to_vec(),
        "sha1" => Sha1::digest(&data).to_vec(),
        "sha256" => Sha256::digest(&data).to_vec(),
        "sha384" => Sha384::digest(&data).to_vec(),
        "sha512" => Sha512::digest(&data).to_vec(),
        _ => return Err(unknown(&ctx)),
    };
    TypedArray::new(ctx, digest)
}

fn hmac<'js>(
    ctx: Ctx<'js>,
    algorithm: String,
    key: TypedArray<'js, u8>,
    data: TypedArray<'js, u8>,
) -> Result<TypedArray<'js, u8>> {
    let (key, data) = (bytes::copy(&ctx, &key)?, bytes::copy(&ctx, &data)?);
    let code = match algorithm.as_str() {
        "md5" => code::<Hmac<Md5>>(&key, &data),
        "sha1" => code::<Hmac<Sha1>>(&key, &data),
        "sha256" => code::<Hmac<Sha256>>(&key, &data),
        "sha384" => code::<Hmac<Sha384>>(&key, &data),
        "sha512" => code::<Hmac<Sha512>>(&key, &data),
        _ => return Err(unknown(&ctx)),
    };
    match code {
        Some(code) => TypedArray::new(ctx, code),
        None => Err(Exception::throw_message(&ctx, "the key cannot be used")),
    }
}

fn code<M: Mac + hmac::digest::KeyInit>(key: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    let mut mac = <M as Mac>::new_from_slice(key).ok()?;
    mac.update(data);
    Some(mac.finalize().into_bytes().to_vec())
}

fn unknown(ctx: &Ctx<'_>) -> rquickjs::Error {
    Exception::throw_message(ctx, "unknown algorithm")
}
