//! `rate`: the rate of one pair with what it is made of, asked for once.

use super::{
    once::{AskingArgs, configured, run as run_once, sentence, start_for_rate, unknown},
    output::{Exit, fail, finish, look, say},
    quote::warn_simulated,
    receipt::render,
};
use crate::{
    config::Config,
    error::{ApiError, Code, Context},
    http::{
        State, pairs,
        rates::{self, Wanted},
    },
};
use clap::Args;
use quorate_actors::model::Pair;

/// Asks every venue for what a pair's rate is made of once, and shows the rate and how it came about
///
/// On a terminal it prints tables; elsewhere lines with tabs between, of which the first word says what follows: rate (pair, status, rate, time, receipt);
/// votes (all, those that count, their span and their median distance from the middle in bps); quote (venue, market, bid, ask, in the rate's currency, bps
/// from the middle, age in ms, whether it votes, decision, path); miss (venue, market, reason, detail); conversion (pair, status, rate, votes, markets left
/// out). The rate is made as the service would make it of the same configuration, without a past. No server is needed.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 ok, 1 failure, 2 usage, 3 some market of what is priced gave no quote and --strict, 4 the rate is refused, 5 configuration"
)]
pub(super) struct RateArgs {
    /// The pair, such as BTC-USD: base and quote, any case, with - _ : or / between
    pair: String,
    #[command(flatten)]
    asking: AskingArgs,
    /// Exits with 3 where some market of what is priced was asked and gave no quote
    #[arg(long)]
    strict: bool,
    /// Prints the receipt as GET /v1/rates/{pair} answers it, of a rate that is refused, too; where there is no receipt, the problem
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(args: &RateArgs) -> Exit {
    let config = match configured(&args.asking.source) {
        Ok(config) => config,
        Err(exit) => return exit,
    };
    let known = || config.pairs.iter().map(|p| p.pair).collect();
    match pairs::parse(&args.pair, known) {
        Ok(pair) => run_once(rate(args, &config, pair)),
        Err(error) => fail(Exit::Usage, &sentence(&error)),
    }
}

async fn rate(args: &RateArgs, config: &Config, pair: Pair) -> Result<Exit, Exit> {
    let state = start_for_rate(config)?;
    let wanted = Wanted::default_of(&args.asking.terms(config, &state)?);
    let published = match rates::ask_for_any(&state, pair, &wanted.terms).await {
        Ok(published) => published,
        Err(error) => return Ok(nothing(args, &state, &unknown(config, pair, error))),
    };
    let receipt = &published.receipt;
    let exit = match rates::refusal(&published, &wanted) {
        Some(code) => {
            say(&sentence(&rates::refused(&state, &published, &wanted.terms, code)));
            Exit::NoQuote
        }
        None if args.strict && receipt.misses.iter().any(|miss| receipt.outcome.prices_base(miss.pair)) => Exit::Partial,
        None => Exit::Ok,
    };
    if args.json {
        warn_simulated(state.simulated);
        return Ok(finish(&format!("{}\n", String::from_utf8_lossy(&receipt.bytes())), exit));
    }
    Ok(finish(&render(receipt, look()), exit))
}

/// Says why there is not even a receipt: on stderr, and with `--json` as the problem that the route answers.
fn nothing(args: &RateArgs, state: &State, error: &ApiError) -> Exit {
    let exit = if error.code() == Code::UnknownPair { Exit::NoQuote } else { Exit::Failure };
    say(&sentence(error));
    if !args.json {
        return exit;
    }
    warn_simulated(state.simulated);
    // There is no request; the engine's start is as near as can be.
    let context = Context { request_id: state.engine.boot(), simulated: state.simulated };
    finish(&format!("{}\n", String::from_utf8_lossy(&error.body(context))), exit)
}
