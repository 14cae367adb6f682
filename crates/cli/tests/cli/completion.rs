//! `completion`.

use crate::support::say;

#[test]
fn each_shell_gets_a_script_that_knows_the_commands() {
    for (shell, part) in [
        ("bash", "complete -F _mainstay"),
        ("zsh", "#compdef mainstay"),
        ("fish", "complete -c mainstay"),
    ] {
        let script = say(&["completion", shell]).data();
        for word in [part, "terminate", "in-doubt", "payloads", "effects"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn an_unknown_shell_is_a_wrong_argument() {
    let said = say(&["completion", "csh"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("csh"), "{said:?}");
}
