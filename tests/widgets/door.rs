//! The door between page and module, on the page's side: what `kit.js` does, in Rust.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::{env, fs};

use base64::Engine;
use wasmi::{Engine as Machine, Instance, Linker, Memory, Module, Store};

/// A module that is running.
pub struct Running {
    store: Store<()>,
    instance: Instance,
    memory: Memory,
}

/// Where the script of a module lies; `WIDGET_MODULES` names another folder to test.
pub fn script(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    match env::var_os("WIDGET_MODULES") {
        Some(folder) => root.join(folder).join(name).with_extension("js"),
        None if name == "reader" => root.join("src/config-reader.js"),
        None => root
            .join("code/widgets/page/modules")
            .join(name)
            .with_extension("js"),
    }
}

/// Starts the module of this name.
pub fn start(name: &str) -> Running {
    let script = fs::read_to_string(script(name)).expect("the script of the module");
    let text = script.split('\'').nth(3).expect("a string in the script");
    let packed = base64::engine::general_purpose::STANDARD.decode(text);
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed.expect("base64").as_slice())
        .read_to_end(&mut bytes)
        .expect("gzip");
    let machine = Machine::default();
    let module = Module::new(&machine, &bytes).expect("WebAssembly");
    let mut store = Store::new(&machine, ());
    let instance = Linker::new(&machine)
        .instantiate_and_start(&mut store, &module)
        .expect("a module that imports nothing");
    let memory = instance.get_memory(&store, "memory").expect("its memory");
    Running {
        store,
        instance,
        memory,
    }
}

impl Running {
    /// The functions that the module offers beside the door itself.
    pub fn functions(&self) -> Vec<String> {
        let door = ["memory", "input", "numbers", "text", "text_length"];
        let named = self.instance.exports(&self.store);
        named
            .map(|export| export.name().to_owned())
            .filter(|name| !name.starts_with("__") && !door.contains(&name.as_str()))
            .collect()
    }

    /// Asks a function; `Err` holds its refusal.
    pub fn ask(&mut self, function: &str, input: &[f64]) -> Result<(Vec<f64>, String), String> {
        let length = i32::try_from(input.len()).expect("a short input");
        let place = self.with_one("input", length) as usize;
        let bytes: Vec<u8> = input
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        self.memory
            .write(&mut self.store, place, &bytes)
            .expect("room for the input");
        let count = self.number(function);
        let (text, length) = (self.number("text"), self.number("text_length"));
        let text = String::from_utf8(self.read(text, length)).expect("UTF-8");
        if count < 0 {
            return Err(text);
        }
        let place = self.number("numbers");
        let numbers = self.read(place, count * 8);
        let numbers = numbers
            .chunks_exact(8)
            .map(|chunk| f64::from_le_bytes(chunk.try_into().expect("eight bytes")));
        Ok((numbers.collect(), text))
    }

    fn number(&mut self, function: &str) -> i32 {
        self.instance
            .get_typed_func::<(), i32>(&self.store, function)
            .unwrap_or_else(|error| panic!("{function}: {error}"))
            .call(&mut self.store, ())
            .unwrap_or_else(|error| panic!("{function}: {error}"))
    }

    fn with_one(&mut self, function: &str, argument: i32) -> i32 {
        self.instance
            .get_typed_func::<i32, i32>(&self.store, function)
            .and_then(|function| function.call(&mut self.store, argument))
            .unwrap_or_else(|error| panic!("{function}: {error}"))
    }

    fn read(&self, place: i32, length: i32) -> Vec<u8> {
        let mut bytes = vec![0; length as usize];
        self.memory
            .read(&self.store, place as usize, &mut bytes)
            .expect("bytes within the memory");
        bytes
    }
}
