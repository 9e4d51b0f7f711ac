//! A task's own words: references are not texts, and other languages are not read.

use crate::tools::{calls, planned, samples};

#[test]
fn words_for_a_thing_are_no_text() {
    let tools = samples(&[]);
    let asks = |text: &str| {
        let told = calls(&planned(&tools, text)).join("; ");
        assert!(
            told.contains("filesystem.write_file needs 'content': "),
            "{text}: {told}"
        );
    };
    asks("Read notes.txt and write the first line to notes.txt");
    asks("Get weather for Oslo and write the forecast to f.txt");
    asks("Add 2 and 3, then multiply 4 by 5, then write the sum to s.txt");
    asks("Calculate 5 + 3 and save the total to total.txt");
    asks("Save the sum of 2 and 3 to s.txt");
    asks("Save the page at https://example.com to f.txt");
    asks("Write my notes to f.txt");
    asks("Write her notes to f.txt");
    asks("Write Ann's notes to f.txt");
    asks("Write the file's first line to f.txt");
    asks("Write those notes to f.txt");
    asks("Write a poem to poem.txt");
    asks("Write all lines to f.txt");
    asks("Write one line to f.txt");
    asks("Write half of the file to f.txt");
    asks("Write down the first line to f.txt");
    asks("Write what he said to f.txt");
    asks("Write the Gettysburg Address to f.txt");
    asks("Write the API_KEY to f.txt");
    asks("Write hello world to f.txt");
    asks("Please save buy milk to f.txt");
    let writes = |text: &str, content: &str| {
        let call = format!("filesystem.write_file(path=\"f.txt\", content={content})");
        let calls = calls(&planned(&tools, text));
        assert_eq!(calls.last(), Some(&call), "{text}: {calls:?}");
    };
    writes("Write Milk to f.txt", "\"Milk\"");
    writes("Write the text \"the first line\" to f.txt", "\"the first line\"");
    writes("Write API_KEY to f.txt", "\"API_KEY\"");
    writes("Write https://example.com to f.txt", "\"https://example.com\"");
    writes("Write 2 + 3 to f.txt", "\"2 + 3\"");
    writes("Calculate 5 + 3 and save the result to f.txt", "<1 as text>");
    writes("Calculate 5 + 3 and write it to f.txt", "<1 as text>");
}

#[test]
fn another_language_is_told_and_not_run() {
    let tools = samples(&[]);
    for text in [
        "Schreibe hallo nach x.txt",
        "Zeige das Wetter in Berlin",
        "Buche bitte einen Flug und ein Hotel",
        "Calculate 5 + 3. Schreibe hallo nach x.txt",
        "Mu\u{e9}strame el clima en Madrid",
        "Calcola 5 + 3",
        "\u{8ba1}\u{7b97} sqrt(16) + 3",
        "Leggi file notes.txt",
        "notes.txt anzeigen",
        "N\u{e4}yt\u{e4} s\u{e4}\u{e4} Helsinki",
        "Get weather for Oslo. Pisz x.txt",
    ] {
        let problems = planned(&tools, text).problems();
        let expected = "does not begin with a known verb, and codeyard reads only English";
        assert!(
            problems.len() == 1 && problems[0].contains(expected),
            "{text}: {problems:?}"
        );
    }
    for text in [
        "Was kostet das Wetter in Berlin?",
        "Quel temps fait-il \u{e0} Paris ?",
    ] {
        assert_eq!(planned(&tools, text).problems().len(), 1, "{text}");
    }
    for text in [
        "notes.txt",
        "weather Berlin",
        "San Francisco weather",
        "files in src/",
        "forecast for Oslo",
    ] {
        let plan = planned(&tools, text);
        assert!(plan.problems().is_empty(), "{text}: {:?}", plan.problems());
    }
}
