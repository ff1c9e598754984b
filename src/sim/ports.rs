//! A venue's own port, which is really closed while the venue refuses connections.

use super::{
    connection::Door,
    server::{Shared, accepted},
};
use quorate_actors::model::VenueId;
use std::{future::pending, io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpSocket},
    sync::watch,
    time::sleep,
};

const BACKLOG: u32 = 1024;
/// How long until a port that could not be opened again is tried once more.
const AGAIN: Duration = Duration::from_millis(100);

/// Opens a port, also one that was closed just before.
pub(super) fn open(at: SocketAddr) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(at)?;
    socket.listen(BACKLOG)
}

/// Keeps a venue's own port open and closed as its faults say, until the simulation stops.
pub(super) async fn keep(venue: VenueId, at: SocketAddr, listener: TcpListener, shared: Arc<Shared>) {
    tokio::select! {
        () = shared.stopped() => {}
        () = tend(venue, at, Some(listener), &shared) => {}
    }
}

async fn tend(venue: VenueId, at: SocketAddr, mut listener: Option<TcpListener>, shared: &Arc<Shared>) {
    let mut changes = shared.world.changes();
    let (down, told) = watch::channel(false);
    loop {
        changes.mark_unchanged();
        let now = shared.clock.now();
        let (refused, change) = shared.world.refused(venue.as_str(), now);
        let mut wake = change.map(|then| then.since(now));
        if refused {
            listener = None;
        } else if listener.is_none() {
            listener = open(at).inspect_err(|error| log::warn!("{venue}: own port {at} stays closed: {error}")).ok();
            wake = if listener.is_none() { Some(AGAIN) } else { wake };
        }
        // Told after the port is closed: who then connects anew is refused.
        down.send_if_modified(|state| std::mem::replace(state, refused) != refused);
        let accept = async {
            match &listener {
                Some(listener) => listener.accept().await,
                None => pending().await,
            }
        };
        let timer = async {
            match wake {
                Some(time) => sleep(time).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            Ok(()) = changes.changed() => {}
            () = timer => {}
            connection = accept => accepted(connection, Door::Own(venue.clone()), &told, shared).await,
        }
    }
}
