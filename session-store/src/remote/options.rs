//! How an object store is used.

use std::time::Duration;

/// How an object store is used: by whom, how much at once, and how patiently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteOptions {
    /// What this machine is called: in manifests, in leases, and in what others are told.
    pub machine: String,
    /// How many objects are sent or fetched at once. Each takes up to 32 MiB of memory.
    pub parallel: usize,
    /// How often a request is tried: after a status that says so (429, 5xx), after a connection that broke, and, where
    /// that is harmless, after a time-out.
    pub tries: usize,
    /// How long a request is tried again, all in all.
    pub patience: Duration,
    /// The pause before the second try; each one after it is twice as long, with a random part.
    pub first_pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
    /// How long one try may take.
    pub request_timeout: Duration,
    /// Where the server is, if it is another one than the cloud's, such as `http://127.0.0.1:9000`. The environment may
    /// say it too. For S3 only.
    pub endpoint: Option<String>,
    /// Whether requests are not signed: for a server that asks for no credentials. For S3 only.
    pub anonymous: bool,
    /// Whether a store may be spoken to without TLS: for servers on this machine.
    pub allow_http: bool,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        RemoteOptions {
            machine: "unnamed".to_owned(),
            parallel: 4,
            tries: 8,
            patience: Duration::from_secs(120),
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(15),
            request_timeout: Duration::from_secs(60),
            endpoint: None,
            anonymous: false,
            allow_http: false,
        }
    }
}
