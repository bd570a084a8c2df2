//! Files that an interrupted training goes on from.
//!
//! A line of text, a line for each tensor, an empty line, the numbers as little-endian `f32`,
//! and the checksum of all that came before.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use candle_core::{Device, Tensor};

use crate::checksum::fnv1a;
use crate::error::{Error, Result};

const KIND: &str = "checkpoint of the lab, version 1";
const OUTCOME: &str = "outcome of the lab, version 1";
const REMEDY: &str = "delete it, and the training it belongs to starts from the beginning";

/// A training's state after some step.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// Number of steps done.
    pub step: usize,
    /// Everything the training carries from one step to the next.
    pub tensors: Vec<(String, Tensor)>,
}

/// Writes `checkpoint` to `path`.
///
/// # Errors
///
/// [`Error::File`] where the folder cannot be made or written.
pub fn save(path: &Path, identity: &str, checkpoint: &Checkpoint) -> Result<()> {
    let mut text = format!("{KIND}\n{identity}\n{}\n", checkpoint.step);
    let mut numbers = Vec::new();
    for (name, tensor) in &checkpoint.tensors {
        let shape: Vec<String> = tensor.dims().iter().map(usize::to_string).collect();
        text.push_str(&format!("{name} {}\n", shape.join("x")));
        for value in tensor.flatten_all()?.to_vec1::<f32>()? {
            numbers.extend_from_slice(&value.to_le_bytes());
        }
    }
    text.push('\n');
    let mut bytes = text.into_bytes();
    bytes.append(&mut numbers);
    let checksum = fnv1a(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    write(path, bytes)
}

/// Reads the checkpoint at `path`; `None` where there is no such file.
///
/// # Errors
///
/// [`Error::Damaged`], with the file's name, where the checksum is wrong or the file belongs to
/// something else than `identity`.
pub fn load(path: &Path, identity: &str, device: &Device) -> Result<Option<Checkpoint>> {
    let Some(bytes) = read(path)? else {
        return Ok(None);
    };
    let damaged = |found: &str| damaged(path, found);
    let (content, checksum) = bytes
        .split_last_chunk::<8>()
        .ok_or_else(|| damaged("it is empty"))?;
    if fnv1a(content) != u64::from_le_bytes(*checksum) {
        return Err(damaged("its checksum does not match its content"));
    }
    let end = content
        .windows(2)
        .position(|pair| pair == b"\n\n")
        .ok_or_else(|| damaged("it has no list of tensors"))?;
    let text = std::str::from_utf8(&content[..end]).map_err(|_| damaged("its head is no text"))?;
    let mut lines = text.lines();
    if lines.next() != Some(KIND) {
        return Err(damaged("it is of another kind or version"));
    }
    if lines.next() != Some(identity) {
        return Err(damaged("it belongs to other settings or other code"));
    }
    let step = lines.next().and_then(|line| line.parse().ok());
    let step = step.ok_or_else(|| damaged("it names no step"))?;
    let mut numbers = content[end + 2..].chunks_exact(4).map(number);
    let tensors = lines
        .map(|line| read_tensor(line, &mut numbers, device).ok_or_else(|| damaged(line)))
        .collect::<Result<_>>()?;
    Ok(Some(Checkpoint { step, tensors }))
}

/// Writes the numbers that a finished measurement showed, so that it is not done twice.
///
/// # Errors
///
/// [`Error::File`] where the folder cannot be made or written.
pub fn save_outcome(path: &Path, identity: &str, numbers: &[f64]) -> Result<()> {
    let mut text = format!("{OUTCOME}\n{identity}\n");
    for number in numbers {
        text.push_str(&format!("{number}\n"));
    }
    let checksum = fnv1a(text.as_bytes());
    text.push_str(&format!("{checksum:016x}\n"));
    write(path, text.into_bytes())
}

/// Reads the numbers at `path`; `None` where there is no such file.
///
/// # Errors
///
/// [`Error::Damaged`], with the file's name, where the checksum is wrong or the file belongs to
/// something else than `identity`.
pub fn load_outcome(path: &Path, identity: &str) -> Result<Option<Vec<f64>>> {
    let Some(bytes) = read(path)? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes).map_err(|_| damaged(path, "it is no text"))?;
    let lines: Vec<&str> = text.lines().collect();
    let (Some(checksum), true) = (lines.last(), lines.len() > 2) else {
        return Err(damaged(path, "it is too short"));
    };
    let content = text.strip_suffix(&format!("{checksum}\n")).unwrap_or("");
    if *checksum != format!("{:016x}", fnv1a(content.as_bytes())) {
        return Err(damaged(path, "its checksum does not match its content"));
    }
    if lines[..2] != [OUTCOME, identity] {
        return Err(damaged(path, "it belongs to other settings or other code"));
    }
    lines[2..lines.len() - 1]
        .iter()
        .map(|line| line.parse().map_err(|_| damaged(path, line)))
        .collect::<Result<_>>()
        .map(Some)
}

fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::File {
            path: path.into(),
            source,
        }),
    }
}

/// Writes beside `path` and moves there, so that an interruption leaves no half-written file.
fn write(path: &Path, bytes: Vec<u8>) -> Result<()> {
    let beside = path.with_extension("part");
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&beside, bytes))
        .and_then(|()| fs::rename(&beside, path))
        .map_err(|source| Error::File {
            path: path.into(),
            source,
        })
}

/// The tensor `kind name` of a checkpoint read from `path`.
pub(crate) fn tensor(
    path: &Path,
    tensors: &BTreeMap<String, Tensor>,
    kind: &str,
    name: &str,
) -> Result<Tensor> {
    let found = tensors.get(&format!("{kind} {name}")).cloned();
    found.ok_or_else(|| damaged(path, &format!("it holds no {kind} {name}")))
}

fn damaged(path: &Path, found: &str) -> Error {
    Error::Damaged {
        path: path.into(),
        found: found.into(),
        remedy: REMEDY,
    }
}

fn number(bytes: &[u8]) -> f32 {
    f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn read_tensor(
    line: &str,
    numbers: &mut impl Iterator<Item = f32>,
    device: &Device,
) -> Option<(String, Tensor)> {
    let (name, shape) = line.rsplit_once(' ')?;
    let sizes = shape.split('x').map(|size| size.parse().ok());
    let shape: Vec<usize> = sizes.collect::<Option<_>>()?;
    let count = shape.iter().product();
    let values: Vec<f32> = numbers.take(count).collect();
    if values.len() < count {
        return None;
    }
    let tensor = Tensor::from_vec(values, shape, device).ok()?;
    Some((name.into(), tensor))
}
