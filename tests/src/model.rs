//! A model that does what a script says: for what a real server cannot be made to do, such as to
//! keep silent until it is known that it was asked.
//!
//! It must never understand a request beyond where it ends.

use std::io::{BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// What a request is answered with.
#[derive(Clone, Debug)]
pub enum Says {
    /// A completion with this text.
    Text(String),
    /// Nothing, until the other side is gone.
    Nothing,
}

/// A scripted model.
pub struct ScriptedModel {
    url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl ScriptedModel {
    /// Says one thing after the other, and the last one from then on. It ends with the process.
    ///
    /// # Panics
    /// There is no loopback, or the script is empty.
    #[must_use]
    pub fn saying(script: Vec<Says>) -> Self {
        assert!(!script.is_empty(), "a script says something");
        let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback is there");
        let address = listener.local_addr().expect("it is bound");
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let heard = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (heard, script) = (Arc::clone(&heard), script.clone());
                std::thread::spawn(move || converse(stream, &heard, &script));
            }
        });
        Self {
            url: format!("http://{address}"),
            asked,
        }
    }

    /// Its address, without a version.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The bodies of the requests that arrived whole, oldest first.
    ///
    /// # Panics
    /// A thread of it has panicked.
    #[must_use]
    pub fn asked(&self) -> Vec<Value> {
        self.asked.lock().expect("no panic holds it").clone()
    }
}

fn converse(stream: TcpStream, heard: &Mutex<Vec<Value>>, script: &[Says]) {
    let mut writing = stream.try_clone().expect("a socket can be shared");
    let mut reading = BufReader::new(stream);
    while let Some(body) = request(&mut reading) {
        let nth = {
            let mut heard = heard.lock().expect("no panic holds it");
            heard.push(body);
            heard.len() - 1
        };
        match script.get(nth).or_else(|| script.last()) {
            Some(Says::Text(text)) => {
                let body = completion(text);
                let length = body.len();
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json";
                let reply = format!("{head}\r\nContent-Length: {length}\r\n\r\n{body}");
                if writing.write_all(reply.as_bytes()).is_err() {
                    return;
                }
            }
            Some(Says::Nothing) | None => {
                let _ = reading.read(&mut [0]);
                return;
            }
        }
    }
}

fn completion(text: &str) -> String {
    json!({
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
        }],
        "usage": {"prompt_tokens": 1_000, "completion_tokens": 500, "total_tokens": 1_500},
    })
    .to_string()
}

/// The body of the next request; `None` once the other side is gone.
fn request(from: &mut impl std::io::BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
