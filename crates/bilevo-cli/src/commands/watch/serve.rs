//! The live page: a server that only this computer can reach.

use super::announce;
use super::seen::Watched;
use crate::Exit;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Maximum length of a request.
const REQUEST: usize = 8192;
/// Time limit for a browser to send its request and receive the page.
const PATIENCE: Duration = Duration::from_secs(2);

/// Serves the page until it is stopped.
pub(super) fn serve(watched: &mut Watched, every: Duration, stop: &AtomicBool) -> anyhow::Result<Exit> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let place = listener.local_addr()?;
    announce(&format!("http://{place}/"));
    while !stop.load(Ordering::Relaxed) {
        match listener.accept() {
            // A problem with one browser does not end the server.
            Ok((stream, _)) => drop(answer(stream, watched, every, place.port())),
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(Duration::from_millis(30)),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Exit::Done)
}

fn answer(mut stream: TcpStream, watched: &mut Watched, every: Duration, port: u16) -> anyhow::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while request.len() < REQUEST && !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut part)? {
            0 => break,
            read => request.extend_from_slice(&part[..read]),
        }
    }
    let (status, page) = match judge(&String::from_utf8_lossy(&request), port) {
        Ok(()) => ("200 OK", watched.look(every)?.html()?),
        Err(status) => (status, format!("<!DOCTYPE html><title>{status}</title><p>{status}")),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; img-src data:\r\nConnection: close\r\n\r\n",
        page.len()
    );
    stream.write_all(head.as_bytes())?;
    Ok(stream.write_all(page.as_bytes())?)
}

/// Serves only the page itself, and only to requests that name this computer: a page from elsewhere whose domain
/// points here names another host.
fn judge(request: &str, port: u16) -> Result<(), &'static str> {
    let mut lines = request.split("\r\n");
    let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, path, _] = first[..] else { return Err("400 Bad Request") };
    let host = lines.filter_map(|line| line.split_once(':')).find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let own = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    match (method, path) {
        _ if !host.is_some_and(|(_, host)| own.iter().any(|own| own == host.trim())) => Err("403 Forbidden"),
        ("GET", "/") => Ok(()),
        ("GET", _) => Err("404 Not Found"),
        _ => Err("405 Method Not Allowed"),
    }
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn only_the_page_and_only_from_here() {
        let ask = |line: &str, host: &str| judge(&format!("{line}\r\nHost: {host}\r\n\r\n"), 8080);
        assert_eq!(ask("GET / HTTP/1.1", "127.0.0.1:8080"), Ok(()));
        assert_eq!(ask("GET / HTTP/1.1", "localhost:8080"), Ok(()));
        assert_eq!(ask("GET / HTTP/1.1", "evil.example:8080"), Err("403 Forbidden"));
        assert_eq!(ask("GET /etc/passwd HTTP/1.1", "localhost:8080"), Err("404 Not Found"));
        assert_eq!(ask("POST / HTTP/1.1", "localhost:8080"), Err("405 Method Not Allowed"));
        assert_eq!(judge("", 8080), Err("400 Bad Request"));
        assert_eq!(judge("GET / HTTP/1.1\r\n\r\n", 8080), Err("403 Forbidden"));
    }
}
