//! Two machines that take turns on one session, and crash.

use super::{Clock, Machine, named, on_s3};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use session_store::remote::{PushOptions, RemoteError};
use session_testing::s3::{S3, Trouble};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// Takes the lease, brings in what is new, appends the next number, sends it. Gives the number if all of that was
/// acknowledged.
pub(super) fn turn(machine: &Machine, lease: Duration) -> Result<usize, RemoteError> {
    let name = named("demo");
    let lease = machine.remote.lease(&name, lease)?;
    match machine.pull("demo") {
        Ok(_) => {}
        Err(RemoteError::Diverged(_)) => {
            // A turn that crashed has left an event that nobody has seen, and another machine went on: it is put aside.
            let aside = format!("demo-{}", lease.fence());
            std::fs::rename(machine.path("demo"), machine.path(&aside)).expect("the name is free");
            machine.pull("demo")?;
        }
        Err(error) => return Err(error),
    }
    let next = machine.texts("demo").len();
    machine.says("demo", &format!("turn {next}"));
    lease.finish(&machine.session("demo"), &PushOptions::default())?;
    Ok(next)
}

#[test]
fn i38_two_machines_that_crash_at_random_write_one_history_in_order_each_event_once() {
    let turns = session_testing::usually(60, 500);
    let mut random = StdRng::seed_from_u64(7);
    let server = S3::start();
    let clock = Clock::new();
    let mut machines = [Machine::new(clock.of(on_s3(&server, "oak"))), Machine::new(clock.of(on_s3(&server, "elm")))];
    let (mut acknowledged, mut crashes, mut tries) = (Vec::new(), 0, 0);
    machines[0].create("demo");
    machines[0].says("demo", "turn 0");
    machines[0].push("demo").expect("it can be sent");
    while acknowledged.len() < turns {
        tries += 1;
        assert!(tries < turns * 20, "it goes on");
        let at = random.random_range(0..2);
        if random.random_bool(0.4) {
            let trouble = if random.random_bool(0.5) { Trouble::CutBefore } else { Trouble::CutAfter };
            server.dies_at(random.random_range(0..10), trouble);
        }
        match turn(&machines[at], MINUTE) {
            Ok(number) => acknowledged.push(number),
            Err(RemoteError::Leased { .. }) => clock.pass(MINUTE * 2),
            Err(RemoteError::Request { .. }) => {
                crashes += 1;
                // A process that died remembers nothing but what is on its disk.
                machines[at].remote = clock.of(on_s3(&server, ["oak", "elm"][at]));
            }
            Err(error) => panic!("{error}: {error:?}"),
        }
        server.recovers();
    }
    assert!(crashes > turns / 10, "{crashes} crashes");
    let ash = Machine::new(on_s3(&server, "ash"));
    ash.pull("demo").expect("it can be fetched");
    let texts = ash.texts("demo");
    let wanted: Vec<String> = (0..texts.len()).map(|number| format!("turn {number}")).collect();
    assert_eq!(texts, wanted, "in order, each once");
    assert!(acknowledged.windows(2).all(|pair| pair[0] < pair[1]), "no number was given twice");
    assert!(acknowledged.iter().all(|number| *number < texts.len()), "nothing that was acknowledged is lost");
}
