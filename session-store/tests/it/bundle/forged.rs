//! Bundles made by hand, as nobody's program would make them.

use sha2::{Digest as _, Sha256};
use tar::{EntryType, Header};

/// An archive that is being put together.
#[derive(Default)]
pub(super) struct Forged {
    members: Vec<(String, String)>,
    tar: Vec<u8>,
    manifest: Option<String>,
}

pub(super) const HISTORY: &str =
    "{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"plant\"}}\n";

pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A header with its bytes behind it.
pub(super) fn entry(name: &str, type_: EntryType, bytes: &[u8]) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(type_);
    header.set_mode(0o600);
    header.set_mtime(0);
    header.set_size(bytes.len() as u64);
    header.set_cksum();
    let mut entry = [header.as_bytes(), bytes].concat();
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

pub(super) fn packed(tar: &[u8]) -> Vec<u8> {
    zstd::encode_all(tar, 3).expect("it is in memory")
}

impl Forged {
    /// A bundle of one session with nothing but a history.
    pub(super) fn good() -> Self {
        Forged::default().file("oaks/history.jsonl", HISTORY)
    }

    /// A file that is in the archive and in the manifest.
    pub(super) fn file(self, path: &str, text: &str) -> Self {
        self.listed(path, text).raw(&entry(path, EntryType::Regular, text.as_bytes()))
    }

    /// A file that is only in the manifest.
    pub(super) fn listed(mut self, path: &str, text: &str) -> Self {
        let (_, inner) = path.split_once('/').expect("it is in a session");
        let (bytes, sha256) = (text.len(), sha256(text.as_bytes()));
        let member = format!("{{\"path\":{inner:?},\"bytes\":{bytes},\"sha256\":\"{sha256}\"}}");
        self.members.push((path.to_owned(), member));
        self
    }

    /// Something that is only in the archive.
    pub(super) fn raw(mut self, entry: &[u8]) -> Self {
        self.tar.extend_from_slice(entry);
        self
    }

    /// With this manifest and no other.
    pub(super) fn manifest(mut self, manifest: &str) -> Self {
        self.manifest = Some(manifest.to_owned());
        self
    }

    /// The archive before it is packed.
    pub(super) fn tar(&self) -> Vec<u8> {
        let members: Vec<&str> = self.members.iter().map(|(_, member)| member.as_str()).collect();
        let manifest = self.manifest.clone().unwrap_or_else(|| {
            format!(
                "{{\"schema\":\"session/bundle.v1\",\"masked\":false,\"sessions\":[{{\"name\":\"oaks\",\"members\":[{}]}}]}}\n",
                members.join(",")
            )
        });
        [entry(".bundle.json", EntryType::Regular, manifest.as_bytes()), self.tar.clone(), vec![0; 1024]].concat()
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        packed(&self.tar())
    }
}
