use rand::rngs::{OsRng, StdRng};
use rand::{RngCore, SeedableRng};
use sha2::{Digest, Sha256};

fn client(authority: reqwest::Certificate) -> reqwest::Result<reqwest::Client> {
    // ok: swarmgate.rust.tls-verification-off
    reqwest::Client::builder().add_root_certificate(authority).build()?;
    // ruleid: swarmgate.rust.tls-verification-off
    reqwest::Client::builder().danger_accept_invalid_certs(true).build()
}

fn digests(body: &[u8], password: &str) -> Vec<u8> {
    // ruleid: swarmgate.rust.weak-hash
    let etag = md5::compute(body);
    // ruleid: swarmgate.rust.password-fast-hash
    let stored = Sha256::digest(password.as_bytes());
    // ok: swarmgate.rust.weak-hash, swarmgate.rust.password-fast-hash
    let digest = Sha256::digest(body);
    [etag.to_vec(), stored.to_vec(), digest.to_vec()].concat()
}

fn new_session_token() -> u64 {
    // ruleid: swarmgate.rust.predictable-secret
    let mut random = StdRng::seed_from_u64(42);
    random.next_u64()
}

fn new_reset_token() -> u64 {
    // ok: swarmgate.rust.predictable-secret
    OsRng.next_u64()
}

fn shuffled_deck() -> u64 {
    // ok: swarmgate.rust.predictable-secret
    StdRng::seed_from_u64(42).next_u64()
}

fn validation(strict: bool) -> jsonwebtoken::Validation {
    // ok: swarmgate.rust.jwt-not-verified
    let mut validation = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::ES256);
    if !strict {
        // ruleid: swarmgate.rust.jwt-not-verified
        validation.insecure_disable_signature_validation();
    }
    validation
}
