//! Response bodies, from tame to hostile, that log their call when they end or are dropped.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Sleep, sleep};

/// Delay before the connection breaks, so that the bytes sent so far leave the buffers.
const BEFORE_BREAKING: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) enum Stream {
    Pieces(VecDeque<Bytes>),
    /// Pieces that end before the declared length.
    Short {
        left: Option<Bytes>,
        promised: u64,
        timer: Pin<Box<Sleep>>,
    },
    Endless {
        piece: Bytes,
        times: u32,
    },
    Drip {
        left: Bytes,
        pause: Duration,
        timer: Pin<Box<Sleep>>,
    },
}

impl Stream {
    pub(crate) fn empty() -> Stream {
        Stream::Pieces(VecDeque::new())
    }

    pub(crate) fn pieces(pieces: Vec<Bytes>) -> Stream {
        Stream::Pieces(pieces.into_iter().filter(|piece| !piece.is_empty()).collect())
    }

    pub(crate) fn short(sent: Bytes, promised: u64) -> Stream {
        Stream::Short { left: Some(sent), promised, timer: Box::pin(sleep(BEFORE_BREAKING)) }
    }

    fn breaking(promised: u64) -> Stream {
        Stream::Short { left: None, promised, timer: Box::pin(sleep(BEFORE_BREAKING)) }
    }

    pub(crate) fn endless(piece: Bytes, times: u32) -> Stream {
        Stream::Endless { piece, times }
    }

    pub(crate) fn drip(bytes: Bytes, pause: Duration) -> Stream {
        Stream::Drip { left: bytes, pause, timer: Box::pin(sleep(pause)) }
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match self {
            Stream::Pieces(pieces) => Poll::Ready(pieces.pop_front()),
            Stream::Short { left: Some(bytes), .. } => {
                let sent = std::mem::take(bytes);
                *self = Stream::breaking(self.length().unwrap_or(0));
                Poll::Ready(Some(sent))
            }
            Stream::Short { left: None, timer, .. } => {
                ready!(timer.as_mut().poll(context));
                Poll::Ready(None)
            }
            Stream::Endless { piece, times } => {
                let more = times.checked_sub(1);
                *times = more.unwrap_or(0);
                Poll::Ready(more.map(|_| piece.clone()))
            }
            Stream::Drip { left, pause, timer } => {
                if left.is_empty() {
                    return Poll::Ready(None);
                }
                ready!(timer.as_mut().poll(context));
                timer.set(sleep(*pause));
                Poll::Ready(Some(left.split_to(1)))
            }
        }
    }

    fn length(&self) -> Option<u64> {
        match self {
            Stream::Pieces(pieces) => Some(pieces.iter().map(|piece| piece.len() as u64).sum()),
            Stream::Short { promised, .. } => Some(*promised),
            Stream::Endless { .. } | Stream::Drip { .. } => None,
        }
    }
}

/// A body that logs its call when it ends.
pub(crate) struct LoggedBody {
    stream: Stream,
    ending: Option<Box<dyn FnOnce(u64) + Send>>,
    sent: u64,
}

impl LoggedBody {
    /// Calls `ending` once, with the number of bytes sent, when the body ends.
    pub(crate) fn new(stream: Stream, ending: impl FnOnce(u64) + Send + 'static) -> LoggedBody {
        LoggedBody { stream, ending: Some(Box::new(ending)), sent: 0 }
    }
}

impl Drop for LoggedBody {
    fn drop(&mut self) {
        if let Some(ending) = self.ending.take() {
            ending(self.sent);
        }
    }
}

impl Body for LoggedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = ready!(self.stream.poll_next(context));
        if let Some(bytes) = &piece {
            self.sent += bytes.len() as u64;
        }
        Poll::Ready(piece.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.stream, Stream::Pieces(pieces) if pieces.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        self.stream.length().map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
