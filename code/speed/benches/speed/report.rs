//! What criterion and `peers.py` measured, side by side.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::{fs, io};

use serde_json::Value;

use crate::python;

/// Removes what an earlier run has measured, so that nothing old stands beside the new.
pub fn clear(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Milliseconds by group and by who took part.
type Times = BTreeMap<String, BTreeMap<String, f64>>;

pub fn print(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut times = read(folder)?;
    for line in python::measure(times.keys())? {
        let row = times.entry(line.group).or_default();
        row.insert(line.who, line.milliseconds);
    }
    println!("\nMedian in milliseconds, and how many times as long as the quickest of ours takes.");
    for (group, row) in &times {
        println!("\n{group}");
        let ours = |who: &str| who.starts_with("in place") || who.starts_with("book");
        let quickest = row
            .iter()
            .filter(|(who, _)| ours(who))
            .map(|(_, time)| *time);
        let quickest = quickest.fold(f64::INFINITY, f64::min);
        let mut row: Vec<_> = row.iter().collect();
        row.sort_by(|a, b| a.1.total_cmp(b.1));
        for (who, time) in row {
            println!("  {who:<26} {time:>10.1} {:>8.2}", time / quickest);
        }
    }
    Ok(())
}

/// The medians that criterion has left in `folder/GROUP/WHO/new`.
fn read(folder: &Path) -> Result<Times, Box<dyn Error>> {
    let mut times = Times::new();
    let groups = match fs::read_dir(folder) {
        Ok(groups) => groups,
        // A filter that fits nothing, or a run that only lists the names.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(times),
        Err(error) => return Err(error.into()),
    };
    for group in groups {
        for of_one in fs::read_dir(group?.path())? {
            let new = of_one?.path().join("new");
            let (Ok(names), Ok(estimates)) = (
                fs::read(new.join("benchmark.json")),
                fs::read(new.join("estimates.json")),
            ) else {
                continue;
            };
            let names: Value = serde_json::from_slice(&names)?;
            let estimates: Value = serde_json::from_slice(&estimates)?;
            let text = |key: &str| names[key].as_str().unwrap_or_default().to_owned();
            let nanoseconds = estimates["median"]["point_estimate"].as_f64();
            let nanoseconds = nanoseconds.ok_or("criterion left no median")?;
            let row = times.entry(text("group_id")).or_default();
            row.insert(text("function_id"), nanoseconds / 1e6);
        }
    }
    Ok(times)
}
