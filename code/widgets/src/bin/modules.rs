//! Compiles the crate to WebAssembly, once for each chapter, and writes the scripts that carry it.
//!
//! `cargo run -p widgets --bin modules` writes `code/widgets/page/modules/` and
//! `src/config-reader.js`; with a folder as argument it writes everything there instead. It takes
//! the toolchain in use where that has the target `wasm32-unknown-unknown`, and otherwise Debian's
//! packages `rustc-web`, `cargo-web` and `rust-web-src`, which build the standard library too and
//! make smaller modules: without the texts of panics, which no reader would see.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

const TARGET: &str = "wasm32-unknown-unknown";

fn main() -> Result<(), Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let elsewhere = env::args_os().nth(1).map(PathBuf::from);
    let folder = elsewhere
        .clone()
        .unwrap_or_else(|| here.join("page/modules"));
    fs::create_dir_all(&folder)?;
    let names: BTreeSet<&str> = widgets::EXPORTS
        .iter()
        .map(|(module, ..)| *module)
        .collect();
    for name in names {
        let bytes = fs::read(compile(here, name)?)?;
        let path = if name == "reader" && elsewhere.is_none() {
            // A page fetches this one by its address, so it is published beside the pages.
            here.join("../../src/config-reader.js")
        } else {
            folder.join(name).with_extension("js")
        };
        let script = script(name, &bytes)?;
        fs::write(&path, &script)?;
        println!(
            "{name}: {} bytes, as a script {}",
            bytes.len(),
            script.len()
        );
    }
    Ok(())
}

/// The module, compressed, as a string that a page opened from disk can hold.
fn script(name: &str, bytes: &[u8]) -> Result<String, Box<dyn Error>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes)?;
    let text = STANDARD.encode(packed.finish()?);
    Ok(format!(
        "// Made by `cargo run -p widgets --bin modules` from code/widgets/src.\n\
         (window.bookModules ??= {{}})['{name}'] = '{text}';\n"
    ))
}

/// Where the compiled module lies.
fn compile(here: &Path, name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let target = match env::var_os("CARGO_TARGET_DIR") {
        Some(chosen) => PathBuf::from(chosen),
        None => here.join("../../target"),
    };
    let target = target.join("modules");
    let mut build = if has_target()? {
        Command::new("cargo")
    } else {
        with_standard_library()?
    };
    build
        .args(["rustc", "--quiet", "--package", "widgets", "--lib"])
        .args(["--crate-type", "cdylib", "--features", name])
        .args(["--profile", "module", "--target", TARGET])
        .env("CARGO_TARGET_DIR", &target)
        .current_dir(here);
    if !build.status()?.success() {
        return Err(format!("the module {name} does not compile; see above").into());
    }
    Ok(target.join(TARGET).join("module/widgets.wasm"))
}

/// Whether the toolchain in use can compile for the web.
fn has_target() -> Result<bool, Box<dyn Error>> {
    Ok(sysroot()?.join("lib/rustlib").join(TARGET).is_dir())
}

fn sysroot() -> Result<PathBuf, Box<dyn Error>> {
    let output = Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()?;
    Ok(String::from_utf8(output.stdout)?.trim().into())
}

/// Debian's compiler and sources, with the linker of the toolchain in use.
fn with_standard_library() -> Result<Command, Box<dyn Error>> {
    for needed in [
        "/usr/bin/rustc",
        "/usr/bin/cargo",
        "/usr/lib/rustlib/src/rust",
    ] {
        if !Path::new(needed).exists() {
            return Err(format!(
                "no target {TARGET} and no {needed}: run `rustup target add {TARGET}`, \
                 or install Debian's rustc-web, cargo-web and rust-web-src"
            )
            .into());
        }
    }
    let linker = "lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld";
    let flags = "-Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none";
    let mut cargo = Command::new("/usr/bin/cargo");
    cargo
        .env("RUSTC", "/usr/bin/rustc")
        // The flags below and the building of std are not yet stable.
        .env("RUSTC_BOOTSTRAP", "1")
        .env(
            "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER",
            sysroot()?.join(linker),
        )
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", flags)
        .env_remove("RUSTUP_TOOLCHAIN")
        .args([
            "-Zbuild-std=std,panic_abort",
            "-Zbuild-std-features=optimize_for_size",
        ]);
    Ok(cargo)
}
