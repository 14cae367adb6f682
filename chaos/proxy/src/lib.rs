//! A TCP proxy that breaks connections on purpose, each in the way it is told.
//!
//! A client that says what became of a request can only be believed when it was tried on every way
//! a connection ends: refused, reset before or after a byte left, cut in the middle of a reply, its
//! reply lost after the server had acted, closed by one side alone, too slow, silent. A server can
//! be made to do some of these; this proxy does all of them to any server, and writes down what it
//! did. It knows bytes and connections, and must never look into what the bytes say.
//!
//! A [`Fault`] is chosen for each connection: the next one of a queue ([`Proxy::next`]), or else
//! the first rule of the [`Plan`] that fits ([`Proxy::set`]). Without a fault, bytes, half-closes
//! and resets go through as they came. Every connection that has ended leaves a [`Record`]: the
//! bytes each way, the fault, whether it *hit*, and how it ended. Times are real ones: tests keep
//! them short and wait for records ([`Proxy::until_ended`]) and never for time.
//!
//! ```
//! use mainstay_fault_proxy::{Direction, End, Fault, Proxy};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! use tokio::net::{TcpListener, TcpStream};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = TcpListener::bind("127.0.0.1:0").await?;
//! let proxy = Proxy::to(server.local_addr()?).start().await?;
//! proxy.next(Fault::CutAfter { direction: Direction::Reply, bytes: 5, reset: false })?;
//!
//! let mut client = TcpStream::connect(proxy.addr()).await?;
//! let (mut served, _) = server.accept().await?;
//! served.write_all(b"hello, world").await?;
//! let mut heard = Vec::new();
//! client.read_to_end(&mut heard).await?;
//! assert_eq!(heard, b"hello");
//!
//! drop((client, served));
//! proxy.until_ended(1).await;
//! let record = &proxy.log()[0];
//! assert!(record.hit);
//! assert_eq!((record.reply.passed, &record.end), (5, &End::Fault));
//! # Ok(())
//! # }
//! ```

pub mod bounds;
mod connections;
mod error;
mod fault;
mod plan;
mod proxy;
mod record;
mod text;
mod totals;
mod upstream;

mod carry;
mod pump;
mod shared;
mod valve;

pub use connections::Connections;
pub use error::{PlanError, StartError};
pub use fault::{Delayed, Direction, Directions, Fault};
pub use plan::{Plan, Rule};
pub use proxy::{Builder, Proxy};
pub use record::{End, Passage, Record, Side};
pub use totals::Totals;
pub use upstream::{Upstream, UpstreamError};
