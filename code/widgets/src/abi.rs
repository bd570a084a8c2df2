//! The door between page and module, on the module's side.
//!
//! The page asks for room with `input`, writes its numbers there, calls a function by its name,
//! and reads the answer where `numbers`, `text` and `text_length` say. A function returns how many
//! numbers it wrote, or −1 where it refused; the text is then the refusal. Only one call is in
//! flight at a time: a page has one thread.

#![cfg(target_arch = "wasm32")]
// The names must reach the module's table of exports unchanged. Nothing here reads through a
// pointer: they are handed to the page, which stays within the lengths it is told.
#![allow(unsafe_code)]

use std::cell::RefCell;

use crate::{Answer, Export, attention, sinusoidal};

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

#[unsafe(no_mangle)]
extern "C" fn attention() -> i32 {
    call(attention::attention)
}

#[unsafe(no_mangle)]
extern "C" fn waves() -> i32 {
    call(sinusoidal::waves)
}

#[unsafe(no_mangle)]
extern "C" fn similarity() -> i32 {
    call(sinusoidal::similarity)
}
