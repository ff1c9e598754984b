//! The simulation's listeners: one port for all venues, and one of its own for each.

use super::{
    connection::{Door, serve},
    ports,
    tls::{Stream, Tls},
};
use quorate_actors::{
    clock::Clock,
    model::VenueId,
    sim::{FaultError, FaultSpec, Options, World},
};
use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinHandle,
};

/// How many connections are open at once; further ones are closed without an answer.
const CONNECTIONS_MAX: usize = 4096;
/// How long a listener rests after it could not accept.
const REST: Duration = Duration::from_millis(50);

/// Serves a simulated world over HTTP on loopback until it is stopped or dropped.
#[derive(Debug)]
pub struct Sim {
    /// The world that answers.
    pub world: Arc<World>,
    /// The shared port: venue `v` is at `<origin>/<v>`.
    pub origin: String,
    /// The port of each venue's own.
    pub own: Vec<(VenueId, String)>,
    clock: Clock,
    stop: watch::Sender<bool>,
    listening: Vec<JoinHandle<()>>,
}

/// What all connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) world: Arc<World>,
    pub(super) clock: Clock,
    pub(super) origin: String,
    pub(super) own: Vec<(VenueId, String)>,
    /// What the venues' own ports speak, if not plain HTTP.
    tls: Option<Tls>,
    /// The last packed body of spaces, with its length unpacked: packing one takes milliseconds.
    pub(super) bomb: Mutex<Option<(u64, bytes::Bytes)>>,
    slots: Arc<Semaphore>,
    stop: watch::Receiver<bool>,
}

impl Sim {
    /// Starts serving on the current tokio runtime: all venues at the listener, and each at a free port of its own.
    ///
    /// # Errors
    /// `InvalidInput` where an option is out of range or the listener is not on loopback; else what opening a port says.
    pub fn start(options: Options, listener: TcpListener) -> io::Result<Self> {
        Self::start_over(options, listener, None)
    }

    /// Starts serving, each venue's own port over TLS if that is given. The port of all venues, which has the simulation's own routes too, stays plain.
    ///
    /// # Errors
    /// As [`Sim::start`].
    pub fn start_over(options: Options, listener: TcpListener, tls: Option<Tls>) -> io::Result<Self> {
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{address}: expected a loopback address")));
        }
        let clock = Clock::start();
        let world = World::new(options, clock.now()).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let (stop, stopped) = watch::channel(false);
        let mut doors = Vec::new();
        for venue in world.venues() {
            let listener = ports::open(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
            doors.push((venue.clone(), listener.local_addr()?, listener));
        }
        let origin = format!("http://{address}");
        let scheme = if tls.is_some() { "https" } else { "http" };
        let own: Vec<_> = doors.iter().map(|(venue, at, _)| (venue.clone(), format!("{scheme}://{at}"))).collect();
        let shared = Arc::new(Shared {
            world: Arc::clone(&world),
            clock: clock.clone(),
            origin: origin.clone(),
            own: own.clone(),
            tls,
            bomb: Mutex::default(),
            slots: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
            stop: stopped,
        });
        let mut listening = vec![tokio::spawn(accept_all(listener, Arc::clone(&shared)))];
        for (venue, at, listener) in doors {
            listening.push(tokio::spawn(ports::keep(venue, at, listener, Arc::clone(&shared))));
        }
        Ok(Self { world, origin, own, clock, stop, listening })
    }

    /// Sets faults, all or none, and gives their numbers.
    ///
    /// # Errors
    /// [`FaultError`] of the first one that is refused.
    pub fn set_faults(&self, specs: Vec<FaultSpec>) -> Result<Vec<u64>, FaultError> {
        self.world.add_faults(specs, self.clock.now())
    }

    /// Closes all ports and connections, and returns once the ports are closed.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        for listening in self.listening {
            // A listener that panicked is closed as well.
            let _ = listening.await;
        }
    }
}

async fn accept_all(listener: TcpListener, shared: Arc<Shared>) {
    // Nobody ever closes the shared port: the sender is dropped, and what it said last stays.
    let (_, down) = watch::channel(false);
    tokio::select! {
        () = shared.stopped() => {}
        () = async {
            loop {
                accepted(listener.accept().await, Door::All, &down, &shared).await;
            }
        } => {}
    }
}

/// Serves a connection that was accepted, in a task of its own.
pub(super) async fn accepted(
    connection: io::Result<(TcpStream, SocketAddr)>,
    door: Door,
    down: &watch::Receiver<bool>,
    shared: &Arc<Shared>,
) {
    let Ok((stream, _)) = connection else {
        tokio::time::sleep(REST).await;
        return;
    };
    let Ok(slot) = Arc::clone(&shared.slots).try_acquire_owned() else { return };
    // Without it the connection works as well, only later.
    let _ = stream.set_nodelay(true);
    let (shared, down) = (Arc::clone(shared), down.clone());
    tokio::spawn(async move {
        tokio::select! {
            () = shared.stopped() => {}
            () = talk(stream, &shared, door, down) => {}
        }
        drop(slot);
    });
}

async fn talk(stream: TcpStream, shared: &Shared, door: Door, down: watch::Receiver<bool>) {
    let stream = match (&door, &shared.tls) {
        (Door::Own(_), Some(tls)) => tls.accept(stream).await,
        _ => Ok(Stream::Plain(stream)),
    };
    // Who cannot shake hands has gone already, or is gone now.
    if let Ok(stream) = stream {
        serve(stream, shared, door, down).await;
    }
}

impl Shared {
    /// Returns when the simulation is stopped or dropped.
    pub(super) async fn stopped(&self) {
        let _ = self.stop.clone().wait_for(|stopped| *stopped).await;
    }
}
