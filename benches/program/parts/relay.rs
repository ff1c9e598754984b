//! A distance put between two ends of this machine: what goes either way arrives later.
//!
//! On loopback a connection opens at once. From afar that takes a round trip: so long, what the caller sends first is held back.

use std::{io::Read, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc,
    time::{Instant, sleep_until},
};

/// Listens, says at which port, and passes on to another until standard input ends.
pub(super) async fn serve(to: u16, one_way: Duration) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    std::thread::spawn(|| {
        std::io::stdin().read_to_end(&mut Vec::new()).ok();
        std::process::exit(0);
    });
    loop {
        let (near, _) = listener.accept().await.unwrap();
        let open = Instant::now() + 2 * one_way;
        actix::spawn(async move {
            let far = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
            for stream in [&near, &far] {
                stream.set_nodelay(true).unwrap();
            }
            let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
            carry(near_in, far_out, open, one_way);
            carry(far_in, near_out, open, one_way);
        });
    }
}

/// Passes on what is read, each piece when it is due; the end of it too.
fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, open: Instant, one_way: Duration) {
    let (sender, mut under_way) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    actix::spawn(async move {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(length @ 1..) = from.read(&mut buffer).await {
            let due = Instant::now().max(open) + one_way;
            if sender.send((due, buffer[..length].to_vec())).is_err() {
                break;
            }
        }
    });
    actix::spawn(async move {
        while let Some((due, bytes)) = under_way.recv().await {
            sleep_until(due).await;
            if to.write_all(&bytes).await.is_err() {
                break;
            }
        }
    });
}
