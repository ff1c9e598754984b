//! From what awc says to a typed [`Fault`].

use crate::model::{Fault, Phase, Reason};
use awc::error::{ConnectError, PayloadError, SendRequestError};
use std::{
    error::Error as _,
    io::{self, ErrorKind},
};

/// Reads an error that came instead of the head of an answer. `phase` is where the request stood; `secure` tells whether a TLS handshake was part of connecting.
pub(super) fn of_send(error: &SendRequestError, phase: Phase, secure: bool) -> Fault {
    match error {
        SendRequestError::Connect(ConnectError::Resolver(cause)) => {
            Fault::said(Reason::Dns, &format!("the name was not resolved: {cause}")).in_phase(Phase::Resolve)
        }
        SendRequestError::Connect(ConnectError::NoRecords | ConnectError::Unresolved) => {
            Fault::new(Reason::Dns, "the name has no address").in_phase(Phase::Resolve)
        }
        SendRequestError::Connect(ConnectError::Io(cause)) | SendRequestError::Send(cause) => of_io(cause, phase, secure),
        SendRequestError::Connect(ConnectError::Timeout) | SendRequestError::Timeout => timeout(phase),
        // awc's word for a stream that ends where the head is due.
        SendRequestError::Connect(ConnectError::Disconnected) => {
            Fault::new(Reason::Reset, "the connection was closed before an answer").in_phase(phase)
        }
        SendRequestError::Connect(ConnectError::SslIsNotSupported) => Fault::new(Reason::Tls, "no TLS in this build").in_phase(Phase::Tls),
        // Its type has no public name; an I/O error inside it does.
        SendRequestError::Response(cause) => match cause.source().and_then(|e| e.downcast_ref::<io::Error>()) {
            Some(cause) => of_io(cause, phase, secure),
            None => Fault::said(Reason::Protocol, &format!("not an HTTP answer: {cause}")).in_phase(phase),
        },
        other => Fault::said(Reason::Protocol, &other.to_string()).in_phase(phase),
    }
}

/// Reads an error that came in the body.
pub(super) fn of_body(error: &PayloadError) -> Fault {
    match error {
        PayloadError::Incomplete(Some(cause)) | PayloadError::Io(cause) => of_io(cause, Phase::Body, false),
        PayloadError::Incomplete(None) => truncated("the body ends early"),
        other => Fault::said(Reason::Protocol, &other.to_string()).in_phase(Phase::Body),
    }
}

/// Tells that the deadline passed where the request stood.
pub(super) fn timeout(phase: Phase) -> Fault {
    let detail = match phase {
        Phase::Resolve | Phase::Connect | Phase::Tls => "no connection in time",
        Phase::Request => "no answer in time",
        Phase::Body => "the body did not end in time",
    };
    Fault::new(Reason::Timeout, detail).in_phase(phase)
}

/// Tells that a body ends before its end.
pub(super) fn truncated(detail: &'static str) -> Fault {
    Fault::new(Reason::Truncated, detail).in_phase(Phase::Body)
}

fn of_io(error: &io::Error, phase: Phase, secure: bool) -> Fault {
    let tls = error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>());
    let reason = match (error.kind(), phase) {
        _ if tls => Reason::Tls,
        (ErrorKind::ConnectionRefused, _) => Reason::Refused,
        (ErrorKind::TimedOut, _) => Reason::Timeout,
        (ErrorKind::UnexpectedEof, Phase::Body) => Reason::Truncated,
        (
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::NotConnected
            | ErrorKind::WriteZero
            | ErrorKind::UnexpectedEof,
            _,
        ) => Reason::Reset,
        // A host name that no certificate can have.
        (ErrorKind::InvalidInput, Phase::Connect) if secure => Reason::Tls,
        // No route, no free port, no permission: the connection was not made.
        (_, Phase::Resolve | Phase::Connect | Phase::Tls) => Reason::Refused,
        // actix-http's chunk decoder says "invalid input".
        (ErrorKind::InvalidInput | ErrorKind::InvalidData, _) => Reason::Protocol,
        _ => Reason::Reset,
    };
    // A connect that is reset or broken off is a handshake: TCP alone would have been refused.
    let shaking = secure && phase == Phase::Connect && matches!(reason, Reason::Tls | Reason::Reset);
    Fault::said(reason, &error.to_string()).in_phase(if shaking { Phase::Tls } else { phase })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io_error(kind: ErrorKind) -> SendRequestError {
        SendRequestError::Connect(ConnectError::Io(io::Error::new(kind, "why")))
    }

    #[test]
    fn connecting_fails_with_its_reason_and_phase() {
        let rustls = || io::Error::new(ErrorKind::InvalidData, rustls::Error::HandshakeNotComplete);
        for (error, secure, reason, phase) in [
            (io_error(ErrorKind::ConnectionRefused), true, Reason::Refused, Phase::Connect),
            (io_error(ErrorKind::NetworkUnreachable), true, Reason::Refused, Phase::Connect),
            (io_error(ErrorKind::TimedOut), true, Reason::Timeout, Phase::Connect),
            (io_error(ErrorKind::ConnectionReset), true, Reason::Reset, Phase::Tls),
            (io_error(ErrorKind::ConnectionReset), false, Reason::Reset, Phase::Connect),
            (io_error(ErrorKind::UnexpectedEof), true, Reason::Reset, Phase::Tls),
            (io_error(ErrorKind::InvalidInput), true, Reason::Tls, Phase::Tls),
            (SendRequestError::Connect(ConnectError::Io(rustls())), true, Reason::Tls, Phase::Tls),
            (SendRequestError::Connect(ConnectError::NoRecords), true, Reason::Dns, Phase::Resolve),
            (SendRequestError::Connect(ConnectError::Resolver("no such host".into())), true, Reason::Dns, Phase::Resolve),
        ] {
            let fault = of_send(&error, Phase::Connect, secure);
            assert_eq!((fault.reason, fault.phase), (reason, Some(phase)), "{error:?}");
        }
    }

    #[test]
    fn a_request_and_a_body_fail_with_their_reason() {
        let rustls = io::Error::new(ErrorKind::InvalidData, rustls::Error::DecryptError);
        for (error, reason) in [
            (SendRequestError::Send(io::Error::new(ErrorKind::BrokenPipe, "pipe")), Reason::Reset),
            (SendRequestError::Send(rustls), Reason::Tls),
            (SendRequestError::Connect(ConnectError::Disconnected), Reason::Reset),
            (SendRequestError::Timeout, Reason::Timeout),
            (SendRequestError::TunnelNotSupported, Reason::Protocol),
        ] {
            let fault = of_send(&error, Phase::Request, true);
            assert_eq!((fault.reason, fault.phase), (reason, Some(Phase::Request)), "{error:?}");
        }
        for (error, reason) in [
            (PayloadError::Incomplete(None), Reason::Truncated),
            (PayloadError::Incomplete(Some(ErrorKind::UnexpectedEof.into())), Reason::Truncated),
            (PayloadError::Incomplete(Some(ErrorKind::ConnectionReset.into())), Reason::Reset),
            (PayloadError::Incomplete(Some(ErrorKind::InvalidInput.into())), Reason::Protocol),
            (PayloadError::UnknownLength, Reason::Protocol),
        ] {
            let fault = of_body(&error);
            assert_eq!((fault.reason, fault.phase), (reason, Some(Phase::Body)), "{error:?}");
        }
    }
}
