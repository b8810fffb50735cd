//! Where an object store is, and how it is reached.

use super::objects::Objects;
use super::refused::told;
use super::{RemoteError, RemoteOptions, RemoteResult};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzure, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorage, GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::{BackoffConfig, ClientConfigKey, RetryConfig};
use std::sync::Arc;

/// Opens the store at a place. Credentials come from the environment, or from the machine's role.
pub(super) fn open(place: &str, options: &RemoteOptions) -> RemoteResult<Objects> {
    let wrong = |reason: &str| RemoteError::Place { place: without_user(place), reason: reason.to_owned() };
    if let Some(dir) = place.strip_prefix("file://").or_else(|| place.starts_with('/').then_some(place)) {
        session_disk::create_dir_all(dir.as_ref()).map_err(crate::StoreError::from)?;
        let store = LocalFileSystem::new_with_prefix(dir).map_err(|error| wrong(&told(&error)))?;
        return Ok(Objects::new(Arc::new(store)));
    }
    let (scheme, rest) = place.split_once("://").ok_or_else(|| wrong("write it like s3://bucket/prefix"))?;
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.contains('@') {
        return Err(wrong("credentials belong into the environment"));
    }
    if bucket.is_empty() {
        return Err(wrong("the name of the bucket is missing"));
    }
    provide_tls();
    let built = match scheme {
        "s3" => s3(bucket, options).map(|store| Objects::paged(store, prefix)),
        "gs" => gcs(bucket, options).map(|store| Objects::paged(store, prefix)),
        "az" => azure(bucket, options).map(|store| Objects::paged(store, prefix)),
        _ => return Err(wrong("it begins with none of s3://, gs://, az://, file:// and /")),
    };
    built.map_err(|error| wrong(&told(&error)))
}

/// A store in the memory of this process.
pub(super) fn in_memory() -> Objects {
    Objects::new(Arc::new(InMemory::new()))
}

/// What stands before an `@` may be a password.
pub(super) fn without_user(place: &str) -> String {
    match (place.split_once("://"), place.rfind('@')) {
        (Some((scheme, _)), Some(at)) => format!("{scheme}://…{}", &place[at..]),
        _ => place.to_owned(),
    }
}

/// The settings of the environment stay, but for those that the options give.
fn settings(options: &RemoteOptions) -> Vec<(ClientConfigKey, String)> {
    let timeout = format!("{}ms", options.request_timeout.as_millis());
    let mut settings = vec![(ClientConfigKey::Timeout, timeout.clone()), (ClientConfigKey::ConnectTimeout, timeout)];
    if options.allow_http {
        settings.push((ClientConfigKey::AllowHttp, "true".to_owned()));
    }
    settings
}

fn s3(bucket: &str, options: &RemoteOptions) -> object_store::Result<AmazonS3> {
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry(options));
    if let Some(endpoint) = &options.endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    if options.anonymous {
        builder = builder.with_skip_signature(true);
    }
    let set = |builder: AmazonS3Builder, (key, value)| builder.with_config(AmazonS3ConfigKey::Client(key), value);
    settings(options).into_iter().fold(builder, set).build()
}

fn gcs(bucket: &str, options: &RemoteOptions) -> object_store::Result<GoogleCloudStorage> {
    let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket).with_retry(retry(options));
    let set =
        |builder: GoogleCloudStorageBuilder, (key, value)| builder.with_config(GoogleConfigKey::Client(key), value);
    settings(options).into_iter().fold(builder, set).build()
}

fn azure(container: &str, options: &RemoteOptions) -> object_store::Result<MicrosoftAzure> {
    let builder = MicrosoftAzureBuilder::from_env().with_container_name(container).with_retry(retry(options));
    let set = |builder: MicrosoftAzureBuilder, (key, value)| builder.with_config(AzureConfigKey::Client(key), value);
    settings(options).into_iter().fold(builder, set).build()
}

fn retry(options: &RemoteOptions) -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig { init_backoff: options.first_pause, max_backoff: options.longest_pause, base: 2.0 },
        max_retries: options.tries.saturating_sub(1),
        retry_timeout: options.patience,
    }
}

/// The cryptography that TLS uses, unless the program has chosen one already.
fn provide_tls() {
    // An error says that there is one.
    drop(rustls::crypto::ring::default_provider().install_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_password_is_not_told() {
        let options = RemoteOptions::default();
        let error = open("s3://key:secret@bucket/x", &options).expect_err("no credentials in a place");
        assert!(!error.to_string().contains("secret"), "{error}");
        for wrong in ["bucket", "ftp://bucket", "s3://", "s3:///x"] {
            assert!(matches!(open(wrong, &options), Err(RemoteError::Place { .. })), "{wrong}");
        }
    }
}
