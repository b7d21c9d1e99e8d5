//! One HTTP exchange over `wasi:http`: a deadline for the whole of it, a limit for the answer, no
//! redirects (wasi:http follows none). Proxies are the business of whoever provides `wasi:http`.

use memdir_core::flow::{
    Bytes, Content, Effect, Failure, FailureCode, Header, HttpAnswer, Outcome,
};
use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, HeaderError, IncomingResponse, Method, OutgoingBody,
    OutgoingRequest, RequestOptions, Scheme, http_error_code,
};
use wasip2::io::poll::{Pollable, poll};
use wasip2::io::streams::StreamError;

/// Bytes asked for at once.
const CHUNK: u64 = 64 * 1024;

/// Performs an `http` effect.
pub fn exchange(effect: Effect) -> Outcome {
    let Effect::Http {
        method,
        url,
        headers,
        body,
        timeout_ms,
        max_bytes,
    } = effect
    else {
        return Outcome::Failed(invalid("this is no HTTP request"));
    };
    let request = Request {
        method,
        url,
        headers,
        body,
    };
    send_and_receive(&request, &Deadline::after(timeout_ms), max_bytes)
        .map_or_else(Outcome::Failed, Outcome::Http)
}

/// What is sent.
struct Request {
    method: String,
    url: String,
    headers: Vec<Header>,
    body: Option<Content>,
}

fn send_and_receive(
    request: &Request,
    deadline: &Deadline,
    max_bytes: u64,
) -> Result<HttpAnswer, Failure> {
    let outgoing = outgoing(request)?;
    let body = match &request.body {
        Some(content) => Some((refused(outgoing.body())?, content.as_bytes())),
        None => None,
    };
    let coming = handle(outgoing, Some(options(deadline)?)).map_err(|error| failure(&error))?;
    if let Some((body, bytes)) = body {
        send(body, bytes, deadline)?;
    }
    let response = wait(&coming, deadline)?;
    let headers = sorted(&response.headers());
    let status = response.status();
    let body = Bytes(receive(&response, max_bytes, deadline)?);
    Ok(HttpAnswer {
        status,
        headers,
        body,
    })
}

/// The end of the time for the whole exchange.
struct Deadline {
    nanoseconds: u64,
    timer: Pollable,
    timeout_ms: u64,
}

impl Deadline {
    fn after(timeout_ms: u64) -> Self {
        let nanoseconds = timeout_ms.saturating_mul(1_000_000);
        Self {
            nanoseconds,
            timer: subscribe_duration(nanoseconds),
            timeout_ms,
        }
    }

    /// Waits until `other` is ready.
    fn wait(&self, other: &Pollable) -> Result<(), Failure> {
        if poll(&[other, &self.timer]).contains(&0) {
            Ok(())
        } else {
            Err(self.passed())
        }
    }

    fn passed(&self) -> Failure {
        Failure::new(
            FailureCode::Timeout,
            format!("no answer within {} ms", self.timeout_ms),
        )
    }
}

fn outgoing(request: &Request) -> Result<OutgoingRequest, Failure> {
    let (scheme, rest) = match request.url.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (Scheme::Http, rest),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (Scheme::Https, rest),
        _ => {
            return Err(Failure::new(
                FailureCode::Unsupported,
                "only http:// and https:// can be asked",
            ));
        }
    };
    let rest = rest.split('#').next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let path = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    };
    let outgoing = OutgoingRequest::new(fields(request)?);
    refused(outgoing.set_method(&method(&request.method)))?;
    refused(outgoing.set_scheme(Some(&scheme)))?;
    refused(outgoing.set_authority(Some(authority)))?;
    refused(outgoing.set_path_with_query(Some(&path)))?;
    Ok(outgoing)
}

fn fields(request: &Request) -> Result<Fields, Failure> {
    let fields = Fields::new();
    let add = |name: &str, value: &str| {
        fields
            .append(name, value.as_bytes())
            .map_err(|error| match error {
                HeaderError::Forbidden => invalid(&format!("the header {name} is set by the host")),
                HeaderError::InvalidSyntax | HeaderError::Immutable => {
                    invalid(&format!("the header {name} is not valid"))
                }
            })
    };
    let is = |header: &Header, name: &str| header.name.eq_ignore_ascii_case(name);
    for header in &request.headers {
        if !is(header, "accept-encoding") {
            add(&header.name, &header.value)?;
        }
    }
    add("accept-encoding", "identity")?;
    let has_length = request
        .headers
        .iter()
        .any(|header| is(header, "content-length"));
    if let Some(body) = request.body.as_ref().filter(|_| !has_length) {
        add("content-length", &body.as_bytes().len().to_string())?;
    }
    Ok(fields)
}

fn method(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "CONNECT" => Method::Connect,
        "OPTIONS" => Method::Options,
        "TRACE" => Method::Trace,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_owned()),
    }
}

/// The deadline is ours; the limits of the host only must not be shorter.
fn options(deadline: &Deadline) -> Result<RequestOptions, Failure> {
    let options = RequestOptions::new();
    refused(options.set_connect_timeout(Some(deadline.nanoseconds)))?;
    refused(options.set_first_byte_timeout(Some(deadline.nanoseconds)))?;
    refused(options.set_between_bytes_timeout(Some(deadline.nanoseconds)))?;
    Ok(options)
}

/// Writes the body. A server that stops reading may still have answered, so that is not an error
/// here.
fn send(body: OutgoingBody, mut bytes: &[u8], deadline: &Deadline) -> Result<(), Failure> {
    let stream = refused(body.write())?;
    let ready = stream.subscribe();
    while !bytes.is_empty() {
        deadline.wait(&ready)?;
        let Ok(room) = stream.check_write() else {
            return Ok(());
        };
        let (now, later) =
            bytes.split_at(bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX)));
        if stream.write(now).is_err() {
            return Ok(());
        }
        bytes = later;
    }
    drop(ready);
    drop(stream);
    // An early end shows in the answer.
    let _ = OutgoingBody::finish(body, None);
    Ok(())
}

fn wait(coming: &FutureIncomingResponse, deadline: &Deadline) -> Result<IncomingResponse, Failure> {
    deadline.wait(&coming.subscribe())?;
    match coming.get() {
        Some(Ok(Ok(response))) => Ok(response),
        Some(Ok(Err(error))) => Err(failure(&error)),
        Some(Err(())) | None => Err(Failure::new(
            FailureCode::Network,
            "the host gave no answer",
        )),
    }
}

fn sorted(fields: &Fields) -> Vec<Header> {
    let mut headers: Vec<Header> = fields
        .entries()
        .into_iter()
        .map(|(name, value)| Header {
            name: name.to_ascii_lowercase(),
            // As in `fetch`, one character for each byte.
            value: value.into_iter().map(char::from).collect(),
        })
        .collect();
    headers.sort_by(|a, b| a.name.cmp(&b.name));
    headers
}

fn receive(
    response: &IncomingResponse,
    max_bytes: u64,
    deadline: &Deadline,
) -> Result<Vec<u8>, Failure> {
    let body = refused(response.consume())?;
    let stream = refused(body.stream())?;
    let ready = stream.subscribe();
    let mut bytes = Vec::new();
    loop {
        deadline.wait(&ready)?;
        match stream.read(CHUNK) {
            Ok(chunk) => bytes.extend(chunk),
            Err(StreamError::Closed) => return Ok(bytes),
            Err(StreamError::LastOperationFailed(error)) => {
                return Err(match http_error_code(&error) {
                    Some(code) => failure(&code),
                    None => Failure::new(FailureCode::Network, error.to_debug_string()),
                });
            }
        }
        if bytes.len() as u64 > max_bytes {
            return Err(Failure::new(
                FailureCode::TooLarge,
                format!("the answer is larger than {max_bytes} bytes"),
            ));
        }
    }
}

fn failure(error: &ErrorCode) -> Failure {
    let code = match error {
        ErrorCode::DnsTimeout
        | ErrorCode::ConnectionTimeout
        | ErrorCode::ConnectionReadTimeout
        | ErrorCode::ConnectionWriteTimeout
        | ErrorCode::HttpResponseTimeout => FailureCode::Timeout,
        ErrorCode::HttpRequestMethodInvalid | ErrorCode::HttpRequestUriInvalid => {
            FailureCode::Other
        }
        _ => FailureCode::Network,
    };
    Failure::new(code, error.to_string())
}

fn invalid(message: &str) -> Failure {
    Failure::new(FailureCode::Other, message)
}

/// `wasi:http` says no more than that it does not take a part of the request.
fn refused<T>(result: Result<T, ()>) -> Result<T, Failure> {
    result.map_err(|()| invalid("the URL, the method or the body is not valid"))
}
