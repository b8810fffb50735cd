//! What the store promises, on real files and between real processes.

mod names;
