//! A server that answers with exactly these bytes and then ends the connection in one of four ways.
//!
//! For what a well-behaved HTTP server can't do: resets, halves, bytes that are no text. What can be said in
//! HTTP is said by `model_server.rs`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// How a connection ends after its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// In order.
    Close,
    /// With a reset: the client sees an error.
    Reset,
    /// Not at all, until the server is dropped.
    Hang,
}

/// What the server answers to one request.
#[derive(Debug, Clone)]
pub struct RawReply {
    /// Everything, status line and headers included.
    pub bytes: Vec<u8>,
    /// What comes after.
    pub end: End,
}

impl RawReply {
    /// Exactly these bytes.
    pub fn new(bytes: impl Into<Vec<u8>>, end: End) -> Self {
        Self { bytes: bytes.into(), end }
    }

    /// The head of an event stream, and these bytes as its beginning.
    pub fn events(body: impl AsRef<[u8]>, end: End) -> Self {
        let head =
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        Self::new([head.as_slice(), body.as_ref()].concat(), end)
    }
}

/// The running server. Each request is a connection of its own.
pub struct RawServer {
    address: SocketAddr,
    requests: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl RawServer {
    /// Starts a server that gives these replies in order, and the last one again and again.
    ///
    /// # Panics
    /// When there is no reply, or loopback has no free port.
    pub fn start(replies: Vec<RawReply>) -> Self {
        assert!(!replies.is_empty(), "a server needs a reply");
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let (requests, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, stop) = (Arc::clone(&requests), Arc::clone(&over));
        let thread = std::thread::spawn(move || serve(&listener, &replies, &count, &stop));
        Self { address, requests, over, thread: Some(thread) }
    }

    /// Returns the base URL: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns how many requests came so far.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Drop for RawServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the thread; an error means that it has ended.
        let _woken = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            // A panic there was printed by its own thread.
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, replies: &[RawReply], count: &AtomicUsize, over: &AtomicBool) {
    let hanging: Mutex<Vec<TcpStream>> = Mutex::default();
    while let Ok((stream, _)) = listener.accept() {
        if over.load(Ordering::SeqCst) {
            return;
        }
        let number = count.fetch_add(1, Ordering::SeqCst);
        let reply = &replies[number.min(replies.len() - 1)];
        // A client that goes away in between is part of some tests.
        if let Ok(stream) = answer(stream, reply) {
            hanging.lock().unwrap_or_else(PoisonError::into_inner).extend(stream);
        }
    }
}

/// Returns the connection when it is to stay open.
fn answer(stream: TcpStream, reply: &RawReply) -> std::io::Result<Option<TcpStream>> {
    read_request(&stream)?;
    (&stream).write_all(&reply.bytes)?;
    match reply.end {
        End::Close => Ok(None),
        End::Hang => Ok(Some(stream)),
        End::Reset => {
            let now = nix::libc::linger { l_onoff: 1, l_linger: 0 };
            nix::sys::socket::setsockopt(&stream, nix::sys::socket::sockopt::Linger, &now)?;
            wait_until_read(&stream);
            Ok(None)
        }
    }
}

/// A reset throws away what the client has not been sent; this waits until it has acknowledged all.
fn wait_until_read(stream: &TcpStream) {
    use std::os::fd::AsRawFd;
    let mut unsent: nix::libc::c_int = 1;
    while unsent > 0 {
        // SAFETY: the descriptor is open, and the kernel writes one int.
        #[expect(unsafe_code, reason = "TIOCOUTQ has no safe wrapper")]
        let result =
            unsafe { nix::libc::ioctl(stream.as_raw_fd(), nix::libc::TIOCOUTQ, &mut unsent) };
        if result != 0 {
            return;
        }
        std::thread::yield_now();
    }
}

fn read_request(stream: &TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    std::io::copy(&mut reader.take(length), &mut std::io::sink())?;
    Ok(())
}
