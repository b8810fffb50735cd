//! `session usage`

use crate::commands::appended;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use chrono::Utc;
use session_core::{Extension, Usage};

/// The flags of `usage`.
#[derive(Debug, clap::Args)]
#[command(after_help = "What is not given is unknown, which is not 0.\n\n\
Examples:\n  session usage @ --model m1 --response resp_7 --input 1200 --cached 1000 --output 80 --cost 0.0031")]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// The model
    #[arg(long)]
    model: Option<String>,
    /// The endpoint's id of the response; usage with the same id counts once
    #[arg(long, value_name = "ID")]
    response: Option<String>,
    /// Tokens of the request, those from a cache included
    #[arg(long, value_name = "TOKENS")]
    input: Option<u64>,
    /// Tokens of the request that came from a cache
    #[arg(long, value_name = "TOKENS")]
    cached: Option<u64>,
    /// Tokens of the response, those of reasoning included
    #[arg(long, value_name = "TOKENS")]
    output: Option<u64>,
    /// Tokens of the response that are reasoning
    #[arg(long, value_name = "TOKENS")]
    reasoning: Option<u64>,
    /// The price in US dollars
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    cost: Option<f64>,
}

fn dollars(text: &str) -> Result<f64, String> {
    let price = text.parse::<f64>().ok().filter(|price| price.is_finite() && *price >= 0.0);
    price.ok_or_else(|| format!("{text:?} is no price in dollars"))
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let usage = Usage {
        model: flags.model.clone().unwrap_or_default(),
        response: flags.response.clone().unwrap_or_default(),
        input: flags.input,
        cached: flags.cached,
        output: flags.output,
        reasoning: flags.reasoning,
        cost: flags.cost,
    };
    appended(context, "usage", &flags.session, Extension::Usage(usage).into_event(Utc::now().fixed_offset()))
}
