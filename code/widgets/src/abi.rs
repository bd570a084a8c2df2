//! The door between page and module, on the module's side.
//!
//! The page asks for room with `input`, writes its numbers there, calls a function by its name,
//! and reads the answer where `numbers`, `text` and `text_length` say. A function returns how many
//! numbers it wrote, or −1 where it refused; the text is then the refusal. Only one call is in
//! flight at a time: a page has one thread.
//!
//! A page carries only what it needs: a feature named after the chapter chooses its functions.

#![cfg(target_arch = "wasm32")]
// The names must reach the module's table of exports unchanged. Nothing here reads through a
// pointer: they are handed to the page, which stays within the lengths it is told.
#![allow(unsafe_code)]

use std::cell::RefCell;

use crate::{Answer, Export};

thread_local! {
    static INPUT: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Answer> = const { RefCell::new(Answer { numbers: Vec::new(), text: String::new() }) };
}

#[unsafe(no_mangle)]
extern "C" fn input(length: usize) -> *mut f64 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, f64::NAN);
        input.as_mut_ptr()
    })
}

#[unsafe(no_mangle)]
extern "C" fn numbers() -> *const f64 {
    ANSWER.with_borrow(|answer| answer.numbers.as_ptr())
}

#[unsafe(no_mangle)]
extern "C" fn text() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.text.as_ptr())
}

#[unsafe(no_mangle)]
extern "C" fn text_length() -> usize {
    ANSWER.with_borrow(|answer| answer.text.len())
}

fn call(export: Export) -> i32 {
    let answer = INPUT.with_borrow(|input| export(input));
    let (answer, count) = match answer {
        Ok(answer) => {
            let count = answer.numbers.len() as i32;
            (answer, count)
        }
        Err(error) => (
            Answer {
                numbers: Vec::new(),
                text: error.to_string(),
            },
            -1,
        ),
    };
    ANSWER.set(answer);
    count
}

#[cfg(feature = "attention")]
#[unsafe(no_mangle)]
extern "C" fn attention() -> i32 {
    call(crate::attention::attention)
}

#[cfg(feature = "sinusoidal")]
#[unsafe(no_mangle)]
extern "C" fn waves() -> i32 {
    call(crate::sinusoidal::waves)
}

#[cfg(feature = "sinusoidal")]
#[unsafe(no_mangle)]
extern "C" fn similarity() -> i32 {
    call(crate::sinusoidal::similarity)
}

#[cfg(feature = "rope")]
#[unsafe(no_mangle)]
extern "C" fn arrows() -> i32 {
    call(crate::rope::arrows)
}

#[cfg(feature = "rope")]
#[unsafe(no_mangle)]
extern "C" fn layouts() -> i32 {
    call(crate::rope::layouts)
}

#[cfg(feature = "learned-t5-alibi")]
#[unsafe(no_mangle)]
extern "C" fn bias() -> i32 {
    call(crate::bias::bias)
}

#[cfg(feature = "scaling")]
#[unsafe(no_mangle)]
extern "C" fn scaling() -> i32 {
    call(crate::scaling::scaling)
}

#[cfg(feature = "reader")]
#[unsafe(no_mangle)]
extern "C" fn config() -> i32 {
    call(crate::scaling::config)
}
