//! Tokens that nobody has: of the form that providers give theirs, and made of letters that a counter chose.
//!
//! They are put together at run time, so that no scanner of this repository takes them for real.

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Letters and digits without an order that anybody would see.
pub(crate) fn mixed(len: usize, seed: u32) -> String {
    of(LETTERS, len, seed)
}

/// The same from some letters.
pub(crate) fn of(letters: &[u8], len: usize, seed: u32) -> String {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(97);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        char::from(letters[state as usize % letters.len()])
    };
    (0..len).map(|_| next()).collect()
}

pub(crate) fn github() -> String {
    ["gh", "p_", &mixed(36, 1)].concat()
}

/// A private key, over several lines.
pub(crate) fn private_key() -> String {
    let body: Vec<String> = (0..12).map(|n| mixed(64, 100 + n)).collect();
    let (begin, end) =
        (["-----BEG", "IN RSA PRIV", "ATE KEY-----"].concat(), ["-----E", "ND RSA PRIV", "ATE KEY-----"].concat());
    format!("{begin}\n{}\n{end}", body.join("\n"))
}

/// A rule's name, and a text with one secret between `‹` and `›`.
pub(crate) fn corpus() -> Vec<(&'static str, String)> {
    let hex = |len, seed| of(b"0123456789abcdef", len, seed);
    let upper = |len, seed| of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", len, seed);
    let secret = |parts: &[&str]| format!("‹{}›", parts.concat());
    let jwt = ["ey", "JhbGciOiJIUzI1NiJ9", ".ey", "JzdWIiOiJvYWsiLCJuIjo3fQ", ".", &mixed(43, 9)];
    vec![
        ("github-pat", format!("export TOKEN={}", secret(&["gh", "p_", &mixed(36, 1)]))),
        ("github-fine-grained-pat", format!("uses {} here", secret(&["github", "_pat_", &mixed(82, 2)]))),
        ("aws-access-token", format!("key {}.", secret(&["AK", "IA", &upper(16, 3)]))),
        ("aws-secret-access-key", format!("AWS_SECRET_ACCESS_KEY={}", secret(&[&mixed(40, 4)]))),
        ("anthropic-api-key", format!("with {}", secret(&["sk-", "ant-", "api03-", &mixed(93, 5), "AA"]))),
        ("anthropic-token", format!("with {}", secret(&["sk-", "ant-", "oat01-", &mixed(95, 5)]))),
        ("openai-token", format!("with {}", secret(&["sk-", "proj-", &mixed(74, 6)]))),
        ("openrouter-api-key", format!("with {}", secret(&["sk-", "or-", "v1-", &hex(64, 7)]))),
        ("groq-api-key", format!("with {}", secret(&["gs", "k_", &mixed(52, 8)]))),
        ("xai-api-key", format!("with {}", secret(&["xa", "i-", &mixed(80, 8)]))),
        ("replicate-api-token", format!("with {}", secret(&["r", "8_", &mixed(37, 8)]))),
        ("jwt", format!("cookie: session={};", secret(&jwt))),
        ("slack-bot-token", format!("slack {}", secret(&["xo", "xb-", "123456789012-123456789012-", &mixed(24, 10)]))),
        ("gitlab-pat", format!("gitlab {}", secret(&["gl", "pat-", &mixed(20, 11)]))),
        (
            "npm-access-token",
            format!("_authToken={}", secret(&["np", "m_", &of(b"abcdefghijklmnopqrstuvwxyz0123456789", 36, 12)])),
        ),
        ("pypi-upload-token", format!("pypi {}", secret(&["py", "pi-", "AgEIcHlwaS5vcmc", &mixed(60, 13)]))),
        ("stripe-access-token", format!("stripe {}", secret(&["sk", "_live_", &mixed(24, 14)]))),
        ("gcp-api-key", format!("maps {}", secret(&["AI", "za", &mixed(35, 15)]))),
        (
            "huggingface-access-token",
            format!(
                "hub {}",
                secret(&["h", "f_", &of(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", 34, 16)])
            ),
        ),
        (
            "sendgrid-api-token",
            format!("mail {}", secret(&["S", "G.", &of(b"abcdefghijklmnopqrstuvwxyz0123456789", 66, 17)])),
        ),
        ("telegram-bot-api-token", format!("telegram bot token: {}", secret(&["12345678", "90:A", &mixed(34, 18)]))),
        (
            "age-secret-key",
            format!("age {}", secret(&["AGE-SEC", "RET-KEY-1", &of(b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58, 19)])),
        ),
        (
            "cloudflare-api-key",
            format!("cloudflare_key = \"{}\"", secret(&[&of(b"abcdefghijklmnopqrstuvwxyz0123456789", 40, 20)])),
        ),
        ("generic-api-key", format!("\"api_key\": \"{}\"", secret(&[&mixed(32, 21)]))),
        ("password-assignment", format!("DB_PASSWORD={}", secret(&["Tr3e-", &mixed(9, 22), "!"]))),
        ("password-assignment", format!("password: '{}'", secret(&["Lin", "den#", "4711"]))),
        ("url-password", format!("postgres://oak:{}@db.example.org:5432/trees", secret(&["hunt", "er2"]))),
        ("url-password", format!("redis://:{}@cache/0", secret(&["b1rch", "leaf"]))),
        ("url-query-secret", format!("https://example.org/?user=oak&password={}&x=1", secret(&["hunt", "er2"]))),
        ("authorization-header", format!("-H 'Authorization: Bearer {}'", secret(&[&mixed(40, 23)]))),
        ("authorization-header", format!("authorization: Basic {}", secret(&["b2Frcz", "pIdW50ZXIyIQ"]))),
    ]
}
