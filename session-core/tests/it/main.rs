//! The core against what the reference recorded, and against itself.

mod acceptance;
mod api_view;
mod codec;
mod damage;
mod defects;
mod directions;
#[cfg(feature = "interop")]
mod examples;
#[cfg(feature = "interop")]
mod export;
mod faults;
mod format_doc;
mod golden;
mod golden_values;
#[cfg(feature = "interop")]
mod import;
mod live;
mod memory;
mod meta;
mod oracle;
mod properties;
mod reading;
mod report;
mod search;
#[cfg(feature = "interop")]
mod story;
mod text;
mod timeline;
