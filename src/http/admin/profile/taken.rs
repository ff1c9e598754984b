//! Samples of the whole process, by a timer that counts its processor time.

use super::{Form, busy};
use crate::error::{ApiError, Code};
use actix_web::{rt::time::sleep, web::block};
use flate2::{Compression, write::GzEncoder};
use pprof::{Frames, ProfilerGuard, ProfilerGuardBuilder, Report, protos::Message};
use std::{collections::HashMap, io::Write, time::Duration};

/// What a flame graph of nothing is.
const NOTHING: &str = concat!(
    r#"<svg xmlns="http://www.w3.org/2000/svg" width="640" height="60"><text x="20" y="35" font-family="sans-serif">"#,
    "No samples: the program took next to no processor time meanwhile</text></svg>"
);

/// Takes samples for so long and writes them.
pub(super) async fn taken(time: Duration, hz: i32, form: Form) -> Result<Vec<u8>, ApiError> {
    // To begin reads the symbols of the program, and to end looks them up: not on a thread that answers.
    let guard = match block(move || ProfilerGuardBuilder::default().frequency(hz).build()).await {
        Ok(Ok(guard)) => guard,
        // Another service in this process takes one: there is one timer.
        Ok(Err(pprof::Error::Running)) => return Err(busy()),
        Ok(Err(error)) => return Err(failed(&error)),
        Err(error) => return Err(failed(&error)),
    };
    sleep(time).await;
    block(move || written(guard, form)).await.map_err(|error| failed(&error))?.map_err(|error| failed(&error))
}

/// Ends the sampling, then looks up the names of what was sampled: while the samples are locked nobody can begin anew, or be told that it is too early.
fn written(guard: ProfilerGuard<'static>, form: Form) -> pprof::Result<Vec<u8>> {
    let sampled = guard.report().build_unresolved()?;
    drop(guard);
    let mut data = HashMap::new();
    for (frames, count) in sampled.data {
        let sum: &mut isize = data.entry(Frames::from(frames)).or_default();
        *sum = sum.saturating_add(count);
    }
    let report = Report { data, timing: sampled.timing };
    match form {
        Form::Protobuf => {
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            packed.write_all(&report.pprof()?.encode_to_vec())?;
            Ok(packed.finish()?)
        }
        Form::Flamegraph if report.data.is_empty() => Ok(NOTHING.as_bytes().to_vec()),
        Form::Flamegraph => {
            let mut options = pprof::flamegraph::Options::default();
            options.title = "Processor time of quorate".to_owned();
            let mut svg = Vec::new();
            report.flamegraph_with_options(&mut svg, &mut options)?;
            Ok(svg)
        }
    }
}

fn failed(error: &dyn std::error::Error) -> ApiError {
    log::error!("no profile: {error}");
    ApiError::new(Code::Internal, "the profile could not be taken, and that was logged")
}
