//! A fake model server on loopback that speaks Chat Completions, for tests, benches and trials.
//!
//! It plays the replies that it was given, in order, and records every request. It never sleeps: a
//! reply that must wait does so at a [`Gate`] that the test opens. It runs on a thread of its own,
//! so that both async and blocking tests can use it. As a program: `bin/fake_model_server.rs`.
//!
//! ```no_run
//! let gate = Gate::closed();
//! let server = ModelServer::builder()
//!     .reply(Reply::calls([Call::new("read_file", r#"{"path":"a.txt"}"#)]))
//!     .reply(Reply::text(["Done", "."]).gated(&gate))
//!     .start();
//! // … point Cairn at server.base_url() …
//! gate.open_all();
//! assert_eq!(server.requests().len(), 2);
//! ```

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

#[path = "model_server/reply.rs"]
mod reply;

pub use reply::{Call, Reply};
use reply::{answer, respond};

/// The id of the one model that the server lists unless told otherwise.
pub const MODEL: &str = "fake-model";

/// How long [`ModelServer::wait_for_requests`] waits before it fails the test.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where the parts of a reply wait. Clones are the same gate.
#[derive(Debug, Clone)]
pub struct Gate {
    permits: watch::Sender<u64>,
    used: Arc<Mutex<u64>>,
}

impl Gate {
    /// Returns a gate that lets nothing through yet.
    pub fn closed() -> Self {
        Self { permits: watch::Sender::new(0), used: Arc::default() }
    }

    /// Lets `count` more parts through.
    pub fn open(&self, count: u64) {
        self.permits.send_modify(|permits| *permits = permits.saturating_add(count));
    }

    /// Lets everything through from now on.
    pub fn open_all(&self) {
        self.permits.send_replace(u64::MAX);
    }

    async fn pass(&self) {
        let mut permits = self.permits.subscribe();
        let number = {
            let mut used = lock(&self.used);
            *used += 1;
            *used
        };
        // The sender is in `self`, so it lives; an error can't happen and would only open the gate.
        let _ = permits.wait_for(|permits| *permits >= number).await;
    }
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The path with its query.
    pub path: String,
    /// Name in lower case, and value.
    pub headers: Vec<(String, String)>,
    /// The JSON body; `null` where there was none.
    pub body: Value,
}

impl Recorded {
    /// Returns the first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the messages of the request.
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default()
    }
}

/// Makes a [`ModelServer`].
pub struct Builder {
    replies: VecDeque<Reply>,
    otherwise: Reply,
    models: Vec<String>,
    key: Option<String>,
    port: u16,
}

impl Builder {
    /// Adds the reply to the next request.
    pub fn reply(mut self, reply: Reply) -> Self {
        self.replies.push_back(reply);
        self
    }

    /// Adds replies to the next requests.
    pub fn replies(mut self, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.replies.extend(replies);
        self
    }

    /// Sets the reply to all requests after the last one that has a reply of its own.
    pub fn otherwise(mut self, reply: Reply) -> Self {
        self.otherwise = reply;
        self
    }

    /// Sets the ids that `GET …/models` lists.
    pub fn models<S: Into<String>>(mut self, ids: impl IntoIterator<Item = S>) -> Self {
        self.models = ids.into_iter().map(Into::into).collect();
        self
    }

    /// Answers 401 to every request without this key.
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// Listens on a fixed port instead of a free one.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Starts the server; it listens when this returns.
    ///
    /// # Panics
    /// When loopback has no free port or no thread can be started.
    pub fn start(self) -> ModelServer {
        let listener =
            TcpListener::bind(("127.0.0.1", self.port)).expect("loopback has a free port");
        listener.set_nonblocking(true).expect("a socket can be non-blocking");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            replies: Mutex::new(self.replies),
            otherwise: self.otherwise,
            models: self.models,
            key: self.key,
            requests: Mutex::default(),
            arrived: Condvar::new(),
            count: watch::Sender::new(0),
        });
        let (stop, stopped) = oneshot::channel();
        let state = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("fake-model-server".to_owned())
            .spawn(move || serve(listener, state, stopped))
            .expect("a thread can be started");
        ModelServer { address, shared, stop: Some(stop), thread: Some(thread) }
    }
}

struct Shared {
    replies: Mutex<VecDeque<Reply>>,
    otherwise: Reply,
    models: Vec<String>,
    key: Option<String>,
    requests: Mutex<Vec<Recorded>>,
    arrived: Condvar,
    count: watch::Sender<usize>,
}

/// The running server. Dropping it closes all connections.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl ModelServer {
    /// Begins a server that replies "Done." to everything.
    pub fn builder() -> Builder {
        Builder {
            replies: VecDeque::new(),
            otherwise: Reply::text(["Done."]),
            models: vec![MODEL.to_owned()],
            key: None,
            port: 0,
        }
    }

    /// Returns the base URL: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Adds a reply while the server runs.
    pub fn push(&self, reply: Reply) {
        lock(&self.shared.replies).push_back(reply);
    }

    /// Returns the chat requests so far, in order of arrival.
    pub fn requests(&self) -> Vec<Recorded> {
        lock(&self.shared.requests).clone()
    }

    /// Blocks until `count` chat requests have arrived and returns them.
    ///
    /// # Panics
    /// When they do not arrive within half a minute.
    pub fn wait_for_requests(&self, count: usize) -> Vec<Recorded> {
        let requests = lock(&self.shared.requests);
        let (requests, timeout) = self
            .shared
            .arrived
            .wait_timeout_while(requests, PATIENCE, |requests| requests.len() < count)
            .unwrap_or_else(PoisonError::into_inner);
        assert!(!timeout.timed_out(), "only {} of {count} requests arrived", requests.len());
        requests.clone()
    }

    /// Waits until `count` chat requests have arrived and returns them.
    pub async fn received(&self, count: usize) -> Vec<Recorded> {
        let mut arrived = self.shared.count.subscribe();
        let _ = arrived.wait_for(|arrived| *arrived >= count).await;
        self.requests()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic there was printed by its own thread.
            let _ = thread.join();
        }
    }
}

fn serve(listener: TcpListener, state: Arc<Shared>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).expect("the socket is good");
        let app = Router::new()
            .route("/v1/chat/completions", post(chat))
            .route("/v1/models", get(models))
            .with_state(state);
        tokio::select! {
            result = async { axum::serve(listener, app).await } => {
                result.expect("the server runs until it is stopped");
            }
            _ = stopped => {}
        }
    });
    // Replies that hang are dropped with their connections.
    runtime.shutdown_background();
}

async fn models(State(state): State<Arc<Shared>>, request: Request) -> Response<Body> {
    if let Some(refusal) = refusal(&state, request.headers()) {
        return refusal;
    }
    let list: Vec<Value> =
        state.models.iter().map(|id| json!({"id": id, "object": "model"})).collect();
    let body = json!({"object": "list", "data": list}).to_string();
    respond(200, &[("content-type".to_owned(), "application/json".to_owned())], Body::from(body))
}

async fn chat(State(state): State<Arc<Shared>>, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let headers = head.headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let recorded = Recorded {
        path: head.uri.to_string(),
        headers: headers.collect(),
        body: serde_json::from_slice(&bytes).unwrap_or(Value::Null),
    };
    let number = {
        let mut requests = lock(&state.requests);
        requests.push(recorded);
        requests.len()
    };
    state.arrived.notify_all();
    state.count.send_replace(number);
    if let Some(refusal) = refusal(&state, &head.headers) {
        return refusal;
    }
    let reply = lock(&state.replies).pop_front().unwrap_or_else(|| state.otherwise.clone());
    answer(reply, number, None)
}

fn refusal(state: &Shared, headers: &axum::http::HeaderMap) -> Option<Response<Body>> {
    let key = state.key.as_ref()?;
    let given = headers.get("authorization").and_then(|value| value.to_str().ok());
    if given == Some(format!("Bearer {key}").as_str()) {
        return None;
    }
    match Reply::error(401, "Incorrect API key provided") {
        Reply::Status { code, headers, body } => Some(respond(code, &headers, Body::from(body))),
        _ => None,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
