//! Serves the built book on this machine, for the pages that are opened over HTTP.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

/// Starts serving `folder`; the address has no slash at its end.
pub fn serve(folder: PathBuf) -> String {
    serve_under(folder, "")
}

/// Starts serving `folder` under a path like `/book`, and its 404.html where there is no page.
pub fn serve_under(folder: PathBuf, path: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            thread::spawn(move || answer(stream, &folder, path));
        }
    });
    format!("http://{address}{path}")
}

/// One request a connection; a browser that goes away is no failure.
fn answer(mut stream: TcpStream, folder: &Path, under: &str) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut request = String::new();
    reader.read_line(&mut request).ok()?;
    let mut header = String::new();
    while reader.read_line(&mut header).ok()? > 2 {
        header.clear();
    }
    let path = request.split_whitespace().nth(1)?;
    let path = path.split(['?', '#']).next()?;
    let file = match path.strip_prefix(under) {
        Some("/") => "index.html",
        Some(path) if !path.contains("..") => path.trim_start_matches('/'),
        _ => "",
    };
    let kind = match file.rsplit('.').next()? {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css",
        "js" => "text/javascript",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let (status, body) = match fs::read(folder.join(file)) {
        Ok(body) => ("200 OK", body),
        Err(_) => {
            let page = fs::read(folder.join("404.html"));
            ("404 Not Found", page.unwrap_or_default())
        }
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&body).ok()
}
