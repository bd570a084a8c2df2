//! Each widget, from disk and over HTTP, by keyboard and by pointer, beside the crate's own values.

use std::fs;
use std::path::Path;
use std::process::Command;

use widgets::Export;

use crate::driver::{Browser, RIGHT};
use crate::{book, server};

/// A widget and what this test does to it.
struct Case {
    page: &'static str,
    name: &'static str,
    function: Export,
    /// The settings in a link, and the input that they mean.
    link: (&'static str, fn() -> Vec<f64>),
    /// The control that gets one arrow key after that, and the input after it.
    step: (&'static str, fn() -> Vec<f64>),
    /// Where the pointer goes down and up, in parts of the drawing or of the control; what of.
    drag: (&'static str, [f64; 4]),
    /// A field, what is typed into it, and the input that this means.
    refused: (&'static str, &'static str, fn() -> Vec<f64>),
    /// The numbers that the table shows, row by row.
    table: fn(&[f64], &[f64]) -> Vec<f64>,
    /// The numbers that the code prints.
    printed: fn(&[f64], &[f64]) -> Vec<f64>,
}

const CASES: [Case; 7] = [
    Case {
        page: "attention",
        name: "attention",
        function: widgets::attention::attention,
        link: ("order=04231&mask=causal&signal=input", || {
            vec![1.0, 1.0, 0.0, 4.0, 2.0, 3.0, 1.0]
        }),
        step: (".token:first-child", || {
            vec![1.0, 1.0, 4.0, 0.0, 2.0, 3.0, 1.0]
        }),
        drag: (".tokens", [0.1, 0.5, 0.9, 0.5]),
        refused: ("", "", || vec![]),
        table: |_, numbers| {
            let side = |offset: usize| {
                (0..5).flat_map(move |row| {
                    let weights = offset + 5 * row;
                    let outputs = offset + 25 + 4 * row;
                    (weights..weights + 5).chain(outputs..outputs + 4)
                })
            };
            side(0)
                .chain(side(45))
                .map(|place| numbers[place])
                .collect()
        },
        printed: |_, numbers| {
            (0..5)
                .flat_map(|row| {
                    let (weights, outputs) = (45 + 5 * row, 70 + 4 * row);
                    (weights..weights + 5).chain(outputs..outputs + 4)
                })
                .map(|place| numbers[place])
                .collect()
        },
    },
    Case {
        page: "sinusoidal",
        name: "waves",
        function: widgets::sinusoidal::waves,
        link: ("position=126&d_model=128", || vec![126.0, 128.0]),
        step: ("input[type=range]", || vec![127.0, 128.0]),
        drag: (".live-drawing svg", [0.5, 0.4, 0.5, 0.5]),
        refused: ("d_model", "0", || vec![127.0, 0.0]),
        table: |input, numbers| {
            let (row, columns) = (input[0] as usize, input[1] as usize);
            let stamp = &numbers[row * columns..(row + 1) * columns];
            stamp
                .iter()
                .enumerate()
                .flat_map(|(i, &entry)| [i as f64, entry])
                .collect()
        },
        printed: |input, numbers| {
            let (row, columns) = (input[0] as usize, input[1] as usize);
            numbers[row * columns..(row + 1) * columns].to_vec()
        },
    },
    Case {
        page: "sinusoidal",
        name: "similarity",
        function: widgets::sinusoidal::similarity,
        link: ("position=9&d_model=512&base=500", || {
            vec![9.0, 512.0, 500.0]
        }),
        step: ("input[type=range]", || vec![10.0, 512.0, 500.0]),
        drag: (".live-drawing svg", [0.3, 0.6, 0.7, 0.6]),
        refused: ("d_model", "7", || vec![10.0, 7.0, 500.0]),
        table: |input, numbers| {
            let curve = numbers[input[1] as usize..].iter().enumerate();
            curve
                .flat_map(|(other, &similarity)| {
                    [other as f64, other as f64 - input[0], similarity]
                })
                .collect()
        },
        printed: |input, numbers| numbers[input[1] as usize..].to_vec(),
    },
    Case {
        page: "rope",
        name: "arrows",
        function: widgets::rope::arrows,
        link: ("query=104&key=107&frequency=0.5", || {
            vec![104.0, 107.0, 0.5]
        }),
        step: ("input[type=range]", || vec![105.0, 108.0, 0.5]),
        drag: (".live-drawing svg", [0.85, 0.86, 0.4, 0.86]),
        refused: ("frequency", "", || vec![105.0, 108.0, f64::NAN]),
        table: |_, numbers| numbers.to_vec(),
        printed: |_, numbers| numbers[..5].to_vec(),
    },
    Case {
        page: "rope",
        name: "layouts",
        function: widgets::rope::layouts,
        link: ("query=half&convert=yes", || vec![0.0, 1.0, 1.0, 1.0]),
        step: ("select", || vec![1.0, 1.0, 1.0, 1.0]),
        drag: ("", [0.0; 4]),
        refused: ("", "", || vec![]),
        table: |_, numbers| {
            let scores = numbers[1..40].iter().enumerate();
            scores
                .flat_map(|(i, &score)| [i as f64 + 2.0, i as f64, score, numbers[0]])
                .collect()
        },
        printed: |_, numbers| numbers[1..40].to_vec(),
    },
    Case {
        page: "learned-t5-alibi",
        name: "bias",
        function: widgets::bias::bias,
        link: ("scheme=t5&direction=bidirectional&heads=12&head=2", || {
            vec![1.0, 1.0, 12.0, 2.0, 40.0, 33.0]
        }),
        step: ("input[type=range]", || {
            vec![1.0, 1.0, 13.0, 2.0, 40.0, 33.0]
        }),
        drag: (".live-drawing svg", [0.2, 0.3, 0.3, 0.5]),
        refused: ("head", "99", || vec![1.0, 1.0, 13.0, 99.0, 40.0, 33.0]),
        table: |input, numbers| {
            let query = input[4] as usize;
            let row = numbers[query * 64..(query + 1) * 64].iter().enumerate();
            row.flat_map(|(key, &bias)| [key as f64, bias]).collect()
        },
        printed: |input, numbers| {
            let query = input[4] as usize;
            let mut row = numbers[query * 64..(query + 1) * 64].to_vec();
            row.push(numbers[64 * 64 + 2]);
            row
        },
    },
    Case {
        page: "scaling",
        name: "scaling",
        function: widgets::scaling::scaling,
        link: ("model=llama-3&scaling=ntk&factor=8&length=65536", || {
            vec![1.0, 2.0, 8.0, 65_536.0]
        }),
        step: ("select", || vec![2.0, 2.0, 8.0, 65_536.0]),
        drag: ("", [0.0; 4]),
        refused: ("factor", "-3", || vec![2.0, 2.0, -3.0, 65_536.0]),
        table: |_, numbers| scaling_rows(numbers, &[0, 1, 2, 3, 4], true),
        printed: |_, numbers| {
            let mut printed = vec![numbers[3]];
            printed.extend(scaling_rows(numbers, &[0, 1, 4], false));
            printed
        },
    },
];

fn scaling_rows(numbers: &[f64], lists: &[usize], counted: bool) -> Vec<f64> {
    let pairs = numbers[0] as usize;
    let mut rows = Vec::new();
    for pair in 0..pairs {
        rows.extend(counted.then_some(pair as f64));
        rows.extend(lists.iter().map(|list| numbers[6 + list * pairs + pair]));
    }
    rows
}

/// Both ways in which a reader opens a page.
fn addresses() -> [String; 2] {
    let book = book();
    [format!("file://{}", book.display()), server::serve(book)]
}

fn figure(name: &str) -> String {
    format!("figure[data-widget={name}]")
}

fn open(browser: &Browser, address: &str, case: &Case, settings: &str) {
    let query = if settings.is_empty() { "" } else { "?" };
    let (page, name) = (case.page, case.name);
    browser.open(&format!("{address}/{page}.html#{name}{query}{settings}"));
    let ready = format!(
        "return document.querySelector('{}')?.dataset.ready === ''",
        figure(name)
    );
    browser.wait(&ready);
}

/// The numbers in the table, which is opened with its key where it is closed.
fn table(browser: &Browser, name: &str) -> Vec<f64> {
    let figure = figure(name);
    let closed = format!("return document.querySelector('{figure} .numbers').hidden");
    if browser.run(&closed) == true {
        browser.keys(&format!("{figure} .actions button"), "t");
    }
    let cells = browser.text(&format!(
        "return [...document.querySelectorAll('{figure} tbody td')].map((cell) => cell.textContent).join('\\n')"
    ));
    cells
        .lines()
        .filter_map(|cell| cell.replace('−', "-").replace('∞', "inf").parse().ok())
        .collect()
}

fn assert_shown(what: &str, shown: &[f64], expected: &[f64]) {
    assert_eq!(shown.len(), expected.len(), "{what}");
    for (shown, expected) in shown.iter().zip(expected) {
        // Four decimals are the fewest that a table shows, three digits of a very small number.
        let close = (shown - expected).abs() <= 5.1e-5f64.max(5e-3 * expected.abs().min(1e-4));
        assert!(
            shown == expected || close,
            "{what}: {shown} shown, {expected} expected"
        );
    }
}

#[test]
#[ignore = "needs Chromium, chromedriver and the built book"]
fn every_widget_shows_the_crates_numbers() {
    let browser = Browser::start();
    browser.resize(1280, 1400);
    for address in addresses() {
        for case in &CASES {
            let (name, figure) = (case.name, figure(case.name));
            open(&browser, &address, case, case.link.0);
            let input = (case.link.1)();
            let numbers = (case.function)(&input).expect("a link that fits").numbers;
            let expected = (case.table)(&input, &numbers);
            assert_shown(name, &table(&browser, name), &expected);

            let before = browser.text("return location.pathname");
            browser.keys(&format!("{figure} {}", case.step.0), RIGHT);
            let input = (case.step.1)();
            let numbers = (case.function)(&input).expect("a step that fits").numbers;
            let expected = (case.table)(&input, &numbers);
            assert_shown(
                &format!("{name}, one key on"),
                &table(&browser, name),
                &expected,
            );
            let after = browser.text("return location.pathname");
            assert_eq!(before, after, "{name}: an arrow key turned the page");
            browser.wait(&format!("return location.hash.startsWith('#{name}?')"));
        }
    }
}

#[test]
#[ignore = "needs Chromium, chromedriver and the built book"]
fn every_drawing_follows_the_pointer() {
    let browser = Browser::start();
    browser.resize(1280, 1400);
    for address in addresses() {
        for case in CASES.iter().filter(|case| !case.drag.0.is_empty()) {
            let figure = figure(case.name);
            open(&browser, &address, case, "");
            let sentence =
                format!("return document.querySelector('{figure} .sentence').textContent");
            let before = browser.text(&sentence);
            let (part, [x0, y0, x1, y1]) = case.drag;
            let place = browser.run(&format!(
                "const box = document.querySelector('{figure} {part}').getBoundingClientRect();\
                 return [box.left, box.top, box.width, box.height]"
            ));
            let [left, top, width, height] =
                [0, 1, 2, 3].map(|i| place[i].as_f64().expect("a place"));
            let at = |x: f64, y: f64| (left + x * width, top + y * height);
            browser.drag(at(x0, y0), at(x1, y1));
            assert_ne!(browser.text(&sentence), before, "{}", case.name);
        }
    }
}

#[test]
#[ignore = "needs Chromium, chromedriver and the built book"]
fn bad_input_gets_the_crates_own_sentence_and_breaks_nothing() {
    let browser = Browser::start();
    browser.resize(1280, 1400);
    let [address, _] = addresses();
    for case in CASES.iter().filter(|case| !case.refused.0.is_empty()) {
        let figure = figure(case.name);
        open(&browser, &address, case, case.link.0);
        browser.keys(&format!("{figure} {}", case.step.0), RIGHT);
        let (field, typed, input) = case.refused;
        type_into(&browser, case.name, field, typed);
        let expected = (case.function)(&input()).expect_err("refused").to_string();
        let said = format!(
            "return document.getElementById(document.querySelector('{figure}').id + '-{field}-refusal').textContent"
        );
        assert_eq!(browser.text(&said), expected, "{}", case.name);
        browser.run(&format!(
            "document.querySelector('{figure} .actions button:nth-child(3)').click()"
        ));
        assert_eq!(browser.text(&said), "", "{}: the refusal stays", case.name);
    }
}

/// Puts a text into a field as typing does.
fn type_into(browser: &Browser, name: &str, field: &str, typed: &str) {
    let typed = serde_json::to_string(typed).expect("a string");
    browser.run(&format!(
        "const box = document.getElementById(document.querySelector('{}').id + '-{field}');\
         box.value = {typed}; box.dispatchEvent(new Event('input', {{bubbles: true}}))",
        figure(name)
    ));
}

#[test]
#[ignore = "needs Chromium, chromedriver and the built book"]
fn a_pasted_config_is_read_by_the_crate() {
    let browser = Browser::start();
    browser.resize(1280, 1400);
    let case = &CASES[6];
    let file = r#"{"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
        "rope_theta": 500000.0, "max_position_embeddings": 131072, "rope_scaling": {"rope_type":
        "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192}}"#;
    for address in addresses() {
        open(&browser, &address, case, "length=131072");
        for (text, fits) in [(file, true), ("no config at all", false), ("{}", false)] {
            type_into(&browser, "scaling", "config", text);
            let bytes = text.bytes().map(f64::from);
            let input: Vec<f64> = [131_072.0, 0.0].into_iter().chain(bytes).collect();
            let answer = widgets::scaling::config(&input);
            assert_eq!(answer.is_ok(), fits);
            match answer {
                Ok(answer) => {
                    browser.wait(
                        "return document.querySelector('figure[data-widget=scaling] .sentence')\
                         .textContent.startsWith('Pasted file (llama')",
                    );
                    let rows = scaling_rows(&answer.numbers, &[0, 1, 2, 3, 4], true);
                    assert_shown("config", &table(&browser, "scaling"), &rows);
                }
                Err(refusal) => {
                    let said = "return [...document.querySelectorAll('figure[data-widget=scaling] \
                                .refusal')].map((p) => p.textContent).join('')";
                    assert_eq!(browser.text(said), refusal.to_string());
                }
            }
        }
    }
}

#[test]
#[ignore = "needs Chromium, chromedriver and the built book; compiles the copied code"]
fn the_copied_code_prints_the_numbers_of_the_page() {
    let browser = Browser::start();
    browser.resize(1280, 1400);
    let [address, _] = addresses();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let project = tempfile::tempdir().expect("a folder");
    let manifest = format!(
        "[package]\nname = \"copied\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\nndarray = \"0.17\"\n\
         positional-encoding = {{ path = {:?} }}\n",
        root.join("code/positional-encoding")
    );
    fs::write(project.path().join("Cargo.toml"), manifest).expect("written");
    fs::copy(root.join("Cargo.lock"), project.path().join("Cargo.lock")).expect("copied");
    let programs = project.path().join("src/bin");
    fs::create_dir_all(&programs).expect("a folder");
    for case in &CASES {
        open(&browser, &address, case, case.link.0);
        let figure = figure(case.name);
        browser.run(&format!(
            "document.querySelector('{figure} .actions button:nth-child(2)').click()"
        ));
        let code = browser.text(&format!(
            "return document.querySelector('{figure} .code').textContent"
        ));
        fs::write(programs.join(case.name).with_extension("rs"), code).expect("written");
    }
    for case in &CASES {
        let run = Command::new(env!("CARGO"))
            .args(["run", "--quiet", "--bin", case.name])
            .current_dir(project.path())
            .env("CARGO_TARGET_DIR", root.join("target/copied"))
            .output()
            .expect("cargo runs");
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{}: {errors}", case.name);
        let text = String::from_utf8_lossy(&run.stdout);
        let words = text.split(|c: char| c.is_whitespace() || "[],:".contains(c));
        let printed: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
        let input = (case.link.1)();
        let numbers = (case.function)(&input).expect("a link that fits").numbers;
        let expected = (case.printed)(&input, &numbers);
        assert_eq!(printed.len(), expected.len(), "{}", case.name);
        for (printed, expected) in printed.iter().zip(&expected) {
            // Twelve decimals are printed.
            let close = (printed - expected).abs() < 1e-11 * expected.abs().max(1.0);
            assert!(
                printed == expected || close,
                "{}: {printed}, {expected}",
                case.name
            );
        }
    }
}

#[test]
#[ignore = "needs Chromium, chromedriver and the built book"]
fn a_page_stays_still_at_every_width() {
    let browser = Browser::start();
    let [address, _] = addresses();
    for width in [360, 560, 1280] {
        browser.resize(width, 900);
        for case in &CASES {
            open(&browser, &address, case, "");
            let wide = browser.run("return document.documentElement.scrollWidth <= innerWidth");
            assert_eq!(
                wide, true,
                "{} at {width}: the page scrolls sideways",
                case.name
            );
            let figure = figure(case.name);
            let kept = browser.run(&format!(
                "const figure = document.querySelector('{figure}');\
                 const live = figure.offsetHeight;\
                 const panel = figure.querySelector('.panel');\
                 figure.classList.remove('live'); panel.remove();\
                 figure.querySelector('.live-drawing').remove();\
                 return figure.offsetHeight - live"
            ));
            assert_eq!(kept, 0, "{} at {width}: the text below moves", case.name);
        }
    }
}

#[test]
#[ignore = "needs Chromium, chromedriver and the built book"]
fn a_widget_is_ready_and_answers_in_time() {
    let browser = Browser::start();
    browser.resize(1280, 1400);
    let [address, _] = addresses();
    for case in &CASES {
        open(&browser, &address, case, case.link.0);
        let ready = browser
            .run(&format!(
                "return performance.getEntriesByName('{}')[0].startTime - \
                 performance.getEntriesByType('navigation')[0].domInteractive",
                case.name
            ))
            .as_f64()
            .expect("a time");
        let figure = figure(case.name);
        // The fastest of many: what the script needs, not what else the machine is doing.
        let update = browser
            .run(&format!(
                "const box = document.querySelector('{figure} input, {figure} select');\
                 const event = box ? (box.tagName === 'SELECT' ? 'change' : 'input') : '';\
                 const times = Array.from({{length: 30}}, () => {{\
                   const start = performance.now(); box.dispatchEvent(new Event(event));\
                   return performance.now() - start; }});\
                 return Math.min(...times)"
            ))
            .as_f64()
            .expect("a time");
        println!(
            "{}: ready after {ready:.1} ms, an update takes {update:.2} ms",
            case.name
        );
        assert!(ready < 100.0, "{}: ready after {ready} ms", case.name);
        assert!(update < 4.0, "{}: an update takes {update} ms", case.name);
    }
}

#[test]
#[ignore = "needs Chromium, chromedriver and the built book"]
fn a_drawing_follows_the_theme_at_once() {
    let browser = Browser::start();
    browser.resize(1280, 1400);
    let [address, _] = addresses();
    for case in &CASES {
        open(&browser, &address, case, "");
        let mut colors = Vec::new();
        for theme in ["light", "rust", "coal", "navy", "ayu"] {
            let color = browser.text(&format!(
                "document.documentElement.classList.remove('light', 'rust', 'coal', 'navy', 'ayu');\
                 document.documentElement.classList.add('{theme}');\
                 const figure = document.querySelector('{}');\
                 const ink = getComputedStyle(figure.querySelector('.live-drawing text')).fill;\
                 return ink + ' on ' + getComputedStyle(figure).backgroundColor",
                figure(case.name)
            ));
            colors.push(color);
        }
        assert_ne!(colors[0], colors[3], "{}: light as navy", case.name);
        colors.sort();
        colors.dedup();
        assert_eq!(colors.len(), 5, "{}: {colors:?}", case.name);
    }
}

#[test]
#[ignore = "needs Chromium, chromedriver and the built book"]
fn nothing_is_loaded_from_elsewhere_and_the_printed_book_holds_still() {
    let browser = Browser::start();
    browser.resize(1280, 1400);
    let [from_disk, served] = addresses();
    for case in &CASES {
        open(&browser, &served, case, "");
        let others = browser.text(
            "return performance.getEntriesByType('resource').map((entry) => entry.name)\
             .filter((name) => !name.startsWith(location.origin) && !name.startsWith('data:')).join(' ')",
        );
        assert_eq!(others, "", "{}", case.page);
    }
    browser.open(&format!("{from_disk}/print.html"));
    let alive = browser.run("return document.querySelectorAll('.live, .panel').length");
    assert_eq!(alive, 0);
    let still = browser.run("return document.querySelectorAll('figure.widget.still').length");
    assert_eq!(still, CASES.len());
    browser.open(&format!("{from_disk}/notation.html"));
    assert_eq!(browser.run("return typeof kit"), "undefined");
}

#[test]
#[ignore = "needs Chromium, chromedriver and the built book; writes pictures to look at"]
fn pictures_of_every_widget() {
    let browser = Browser::start();
    let [address, _] = addresses();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/pictures");
    fs::create_dir_all(&folder).expect("a folder");
    for theme in ["light", "navy"] {
        browser.open(&format!("{address}/notation.html"));
        browser.run(&format!("localStorage.setItem('mdbook-theme', '{theme}')"));
        for width in [360, 1280] {
            browser.resize(width, 1100);
            for case in &CASES {
                open(&browser, &address, case, "");
                let file = format!("{}-{theme}-{width}.png", case.name);
                browser.picture(&folder.join(&file));
                let size = fs::metadata(folder.join(&file)).expect("a picture").len();
                assert!(size > 10_000, "{file} is empty");
            }
        }
    }
}
