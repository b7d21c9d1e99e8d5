//! Private keys, encoded JSON Web Tokens, passwords in addresses, published samples.

use memdir_core::secrets::{redact_secrets, scan_secrets};

use crate::token::{ALNUM, BASE64, Random, URL, body};

fn rules(text: &str) -> Vec<String> {
    scan_secrets(text).into_iter().map(|one| one.rule).collect()
}

fn line(words: &str) -> String {
    format!("{0}{words}{0}", "-".repeat(5))
}

fn block(random: &mut Random, kind: &str, lines: usize, end: &str) -> String {
    let mut block = line(&format!("BEGIN {kind}")) + end;
    for _ in 0..lines {
        block += &(random.text(BASE64, 64) + end);
    }
    block + &line(&format!("END {kind}"))
}

const KEYS: &[&str] = &[
    "PRIVATE KEY",
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
    "private key",
];

#[test]
fn a_private_key_goes_as_a_whole() {
    let mut random = Random::new(21);
    for kind in KEYS {
        for end in ["\n", "\r\n", "\\n", "\\r\\n", "\n    "] {
            for lines in [1, 3, 30] {
                let key = block(&mut random, kind, lines, end);
                let text = format!("the key:\n```\n{key}\n```\nand more");
                assert_eq!(rules(&text), ["private-key"], "{text}");
                let expected = "the key:\n```\n[secret removed: private-key]\n```\nand more";
                assert_eq!(redact_secrets(&text), expected);
            }
        }
    }
}

#[test]
fn two_private_keys_are_two() {
    let mut random = Random::new(22);
    let text = format!(
        "{} between {}",
        block(&mut random, KEYS[1], 4, "\n"),
        block(&mut random, KEYS[2], 4, "\n")
    );
    let removed = "[secret removed: private-key]";
    assert_eq!(
        redact_secrets(&text),
        format!("{removed} between {removed}")
    );
}

#[test]
fn a_header_alone_takes_nothing_with_it() {
    let mut random = Random::new(23);
    let header = line("BEGIN PRIVATE KEY");
    let key = block(&mut random, "RSA PRIVATE KEY", 4, "\n");
    let text = format!("It begins with {header}, as all do.\n\n{key}\n");
    let expected =
        format!("It begins with {header}, as all do.\n\n[secret removed: private-key]\n");
    assert_eq!(redact_secrets(&text), expected);
}

#[test]
fn a_public_footer_does_not_save_a_private_key() {
    let mut random = Random::new(24);
    let key = block(&mut random, "PRIVATE KEY", 4, "\n").replace("END PRIVATE", "END PUBLIC");
    assert_eq!(rules(&key), ["private-key"]);
}

#[test]
fn what_is_no_private_key() {
    let mut random = Random::new(25);
    let short = format!(
        "{}\n{}\n{}\n",
        line("BEGIN PRIVATE KEY"),
        random.text(BASE64, 63),
        line("END PRIVATE KEY")
    );
    let words = format!(
        "{}\nhere goes the key that the ops team hands out, and please do not commit it to any repository\n{}",
        line("BEGIN PRIVATE KEY"),
        line("END PRIVATE KEY")
    );
    let texts = [
        block(&mut random, "PUBLIC KEY", 4, "\n"),
        block(&mut random, "CERTIFICATE", 9, "\n"),
        block(&mut random, "PRIVATE KEY", 0, "\n"),
        short.clone(),
        format!("{short}{short}"),
        words,
        // Its footer and the key that follows are not its own.
        format!("{short}ssh-ed25519 {}\n", random.text(BASE64, 68)),
        // Prose beside a header, and the code of who reads one.
        format!(
            "It begins with {}, as {} do.",
            line("BEGIN PRIVATE KEY"),
            "all keys here ".repeat(20)
        ),
        format!(
            "if (!pem.startsWith('{}')) throw new InvalidKeyError(pemWithoutArmourAndWhitespace.decodeBase64ToBytes(subjectPublicKeyInfoAlgorithm, pemEncodingOfPrivateKey));",
            line("BEGIN PRIVATE KEY")
        ),
        format!("{}{}", line("BEGIN PRIVATE KEY"), "x".repeat(100)) + &line("END PRIVATE KEY"),
        line("BEGIN PRIVATE KEY") + &".".repeat(100) + &line("END PRIVATE KEY"),
    ];
    for text in &texts {
        assert_eq!(rules(text), Vec::<String>::new(), "{text}");
    }
}

/// A block without its footer, and lines that break nowhere in a word.
fn unclosed(random: &mut Random, lines: usize, end: &str) -> String {
    let key = block(random, "RSA PRIVATE KEY", lines, end);
    let footer = line("END RSA PRIVATE KEY");
    key.strip_suffix(&format!("{end}{footer}"))
        .unwrap()
        .to_owned()
}

#[test]
fn a_private_key_without_its_footer_goes_up_to_its_last_line() {
    let mut random = Random::new(32);
    let removed = "[secret removed: private-key]";
    let fields =
        "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF0123456789ABCDEF\n\n";
    for end in [
        "\n",
        "\r\n",
        "\\n",
        "\n    ",
        "\n> ",
        "\n# ",
        "\\n\" +\n    \"",
    ] {
        for lines in [1, 2, 20] {
            let key = unclosed(&mut random, lines, end);
            for after in [
                "",
                "\n",
                "\nand then more, of which we know nothing at all\n",
                "\n----END RSA PRIVATE KEY----\n",
                "\n-----END RSA PRIVATE KEY\n",
                "\nsee /usr/share/doc/openssl/README1 and https://intranet.test/Keys2/AndMoreOfThem\n",
            ] {
                let text = format!("the key: {key}{after}");
                assert_eq!(
                    redact_secrets(&text),
                    format!("the key: {removed}{after}"),
                    "{text}"
                );
                assert_eq!(rules(&redact_secrets(&text)), Vec::<String>::new());
            }
            let header = line("BEGIN RSA PRIVATE KEY");
            let with_fields = key.replace(&format!("{header}{end}"), &format!("{header}{fields}"));
            assert_eq!(redact_secrets(&with_fields), removed);
        }
        for last in ["q8Zt0LmW3x==", "Zt0LmW3x", "abcdefg="] {
            let key = unclosed(&mut random, 5, end);
            let text = format!("{key}{end}{last}\nnext");
            assert_eq!(redact_secrets(&text), format!("{removed}\nnext"), "{text}");
        }
    }
}

#[test]
fn a_private_key_without_its_footer_ends_before_the_next_block() {
    let mut random = Random::new(33);
    let removed = "[secret removed: private-key]";
    for kind in ["CERTIFICATE", "PUBLIC KEY"] {
        let other = block(&mut random, kind, 9, "\n");
        let text = format!("{}\n{other}\n", unclosed(&mut random, 20, "\n"));
        assert_eq!(redact_secrets(&text), format!("{removed}\n{other}\n"));
    }
    let whole = block(&mut random, "PRIVATE KEY", 9, "\n");
    let text = format!("{}\n{whole}\n", unclosed(&mut random, 20, "\n"));
    assert_eq!(redact_secrets(&text), format!("{removed}\n{removed}\n"));
}

#[test]
fn a_footer_in_a_comment_does_not_end_a_private_key() {
    let mut random = Random::new(34);
    let key = block(&mut random, "PRIVATE KEY", 9, "\n");
    let header = line("BEGIN PRIVATE KEY");
    let comment = format!("{header}\n(up to {} it is secret)", line("END PRIVATE KEY"));
    let text = format!("{}\nnext", key.replace(&header, &comment));
    assert_eq!(redact_secrets(&text), "[secret removed: private-key]\nnext");
}

/// Base64 with padding.
fn base64(text: &str) -> String {
    let letters = BASE64.as_bytes();
    let (lower, upper) = (&letters[..26], &letters[26..52]);
    let standard = [upper, lower, &letters[52..]].concat();
    let mut encoded = String::new();
    for three in text.as_bytes().chunks(3) {
        let mut bytes = [0; 4];
        bytes[1..=three.len()].copy_from_slice(three);
        let value = u32::from_be_bytes(bytes);
        for at in 0..4 {
            let six = usize::try_from(value >> (18 - 6 * at) & 63).unwrap();
            encoded.push(if at > u32::try_from(three.len()).unwrap() {
                '='
            } else {
                char::from(standard[six])
            });
        }
    }
    encoded
}

fn jwt(random: &mut Random) -> String {
    let plain = |text: &str| base64(text).replace('=', "");
    let header = plain("{\"alg\":\"HS256\",\"typ\":\"JWT\"}");
    let payload = plain(&format!(
        "{{\"sub\":\"{}\",\"iat\":1}}",
        random.text(ALNUM, 12)
    ));
    format!("{header}.{payload}.{}", body(random, URL, 42) + "w")
}

#[test]
fn a_json_web_token_in_base64_is_found_over_its_lines() {
    let mut random = Random::new(26);
    for _ in 0..50 {
        let jwt = jwt(&mut random);
        assert_eq!(rules(&jwt), ["jwt"]);
        let encoded = base64(&jwt);
        let text = format!("data: {encoded}\nnext");
        assert_eq!(
            redact_secrets(&text),
            "data: [secret removed: jwt-base64]\nnext",
            "{text}"
        );
        let lines: Vec<&str> = encoded
            .as_bytes()
            .chunks(64)
            .map(|line| str::from_utf8(line).unwrap())
            .collect();
        for end in ["\n", "\r\n"] {
            let redacted = redact_secrets(&format!("data:\n{}\nthe next line", lines.join(end)));
            assert!(
                redacted.starts_with("data:\n[secret removed: jwt-base64]"),
                "{redacted}"
            );
            assert!(redacted.ends_with("\nthe next line"), "{redacted}");
            assert!(redacted.len() < 80, "{redacted}");
        }
    }
    let other = ["ZXlK", &"q8Zt0LmW3xVb".repeat(8)].concat();
    assert_eq!(rules(&other), Vec::<String>::new());
}

#[test]
fn what_follows_a_json_web_token_stays() {
    let mut random = Random::new(35);
    for _ in 0..20 {
        let (jwt, other) = (jwt(&mut random), jwt(&mut random));
        for (text, expected) in [
            (
                format!("https://h.io/{jwt}/docs/setup"),
                "https://h.io/[]/docs/setup",
            ),
            (format!("{jwt}/{other}"), "[]/[]"),
            (format!("{jwt}+x"), "[]+x"),
            (format!("{jwt}--then"), "[]--then"),
        ] {
            let expected = expected.replace("[]", "[secret removed: jwt]");
            assert_eq!(redact_secrets(&text), expected, "{text}");
        }
    }
}

#[test]
fn passwords_in_addresses_go_and_the_rest_stays() {
    let mut random = Random::new(27);
    for scheme in ["https", "postgres", "mongodb+srv", "redis", "amqp"] {
        for password in [
            random.text(ALNUM, 16),
            "hunter2".to_owned(),
            "p@ss!w0rd%21$x".to_owned(),
            "9f.x-~_=".to_owned(),
            "pa(ss)w0rd".to_owned(),
            "p'w0rd".to_owned(),
            "h\u{F6}r7\u{A7}x".to_owned(),
            "$uper.s3cret".to_owned(),
            "$3cr3t".to_owned(),
        ] {
            for user in ["app", "", "deploy.bot", "j%40corp", "\u{FC}"] {
                let text =
                    format!("set `URL={scheme}://{user}:{password}@db.corp.test:5432/x?a=b`, then");
                let expected = format!(
                    "set `URL={scheme}://{user}:[secret removed: url-credentials]@db.corp.test:5432/x?a=b`, then"
                );
                assert_eq!(redact_secrets(&text), expected);
                assert_eq!(rules(&expected), Vec::<String>::new());
            }
        }
    }
}

#[test]
fn passwords_that_are_none_stay() {
    let passwords = [
        "password",
        "PASSWORD",
        "<password>",
        "${PASSWORD}",
        "$PASSWORD",
        "{password}",
        "{{ password }}",
        "pass",
        "xxxx",
        "****",
        "...",
        "app",
        "your-password",
        "my_password",
        "DB_PASSWORD",
        "%s",
        "secret",
        "changeme",
        "",
        "a",
        "x-oauth-basic",
        "s3cr...",
        "$pass_word1",
        "${DB_PASS1}",
        "$(DB_PASS1)",
        "%(password)s",
        "(password)",
        "\u{5BC6}\u{7801}\u{5BC6}\u{7801}",
        "[secret removed: url-credentials]",
    ];
    for password in passwords {
        let text = format!("postgres://app:{password}@db.corp.test/x");
        assert_eq!(rules(&text), Vec::<String>::new(), "{text}");
    }
    for host in [
        "example.com",
        "db.example.org",
        "host",
        "HOST",
        "",
        "db.example",
        "[secret removed: github-pat]",
    ] {
        let text = format!("postgres://app:q8Zt0LmW3xVb@{host}/x");
        assert_eq!(rules(&text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_password_goes_whatever_the_host() {
    let removed = "[secret removed: url-credentials]";
    for host in [
        "[::1]",
        "[fe80::1]:5432",
        "$HOST",
        "${HOST}",
        "$(HOST)",
        "{host}",
        "{{ host }}",
        "<host>",
        "%s:5432",
        "%(host)s",
        "\u{65E5}\u{672C}.jp",
    ] {
        for (start, end) in [
            ("postgres://app:", "/x"),
            ("\"postgres:\\/\\/app:", "\\/x\""),
        ] {
            let text = format!("{start}q8Zt0LmW3xVb@{host}{end}");
            assert_eq!(
                redact_secrets(&text),
                format!("{start}{removed}@{host}{end}")
            );
        }
    }
}

#[test]
fn a_password_ends_with_what_is_around_the_address() {
    let removed = "[secret removed: url-credentials]";
    for (before, after) in [
        ("connect('", "','me@corp.test')"),
        ("(", "),me@corp.test"),
        ("'", "' <me@corp.test>"),
        ("DB=", "\0MAIL=me@corp.test\0"),
        ("\u{89C1}", "\u{FF0C}me@corp.test"),
    ] {
        let text = format!("{before}postgres://app:q8Zt0LmW3xVb@db.corp.test{after}");
        let expected = format!("{before}postgres://app:{removed}@db.corp.test{after}");
        assert_eq!(redact_secrets(&text), expected);
    }
}

#[test]
fn a_port_is_no_password() {
    for text in [
        "http://h:8080,foo@bar.com",
        "http://h:8080&x@y.com",
        "http://10.0.0.1:8080-foo@bar",
        "redis://10.0.0.1:6379,foo@bar.com",
        "amqp://localhost:5672;foo@bar.com",
        "(http://h:8080),foo@bar.com",
        "'http://h:8080','foo@bar.com'",
        "A=redis://h:6379\0MAIL=foo@bar.com",
        "http://h:8080\u{FF0C}foo@bar.com",
    ] {
        assert_eq!(rules(text), Vec::<String>::new(), "{text}");
    }
    for text in [
        "redis://app:8080-foo@h",
        "https://app:80xq71@h",
        "redis://:63790@h",
    ] {
        assert_eq!(rules(text), ["url-credentials"], "{text}");
    }
}

#[test]
fn a_token_in_an_address_is_that_token() {
    let mut random = Random::new(28);
    let token = format!("{}{}", "ghp_", random.text(ALNUM, 36));
    for text in [
        format!("https://{token}@github.com/a/b"),
        format!("https://{token}:x-oauth-basic@github.com/a/b"),
        format!("https://x-access-token:{token}@github.com/a/b"),
        format!("https://intranet.test/?a=b&token={token}&c=d"),
        format!("https://intranet.test/{token}/x"),
        format!("https://intranet.test/?next=a%3D{token}"),
    ] {
        assert_eq!(rules(&text), ["github-pat"], "{text}");
        assert_eq!(
            redact_secrets(&text),
            text.replace(&token, "[secret removed: github-pat]")
        );
    }
}

#[test]
fn the_key_of_a_storage_account_goes_and_its_name_stays() {
    let mut random = Random::new(29);
    let key = random.text(BASE64, 86) + "==";
    let text = format!("AccountName=a;AccountKey={key};EndpointSuffix=b");
    let expected =
        "AccountName=a;AccountKey=[secret removed: azure-storage-account-key];EndpointSuffix=b";
    assert_eq!(redact_secrets(&text), expected);
}

#[test]
fn two_that_overlap_are_one() {
    let mut random = Random::new(30);
    // An instance's own prefix stays.
    let body = random.text(ALNUM, 20);
    assert_eq!(
        redact_secrets(&format!("corp-{}{body}.", "glpat-")),
        "corp-[secret removed: gitlab-pat]."
    );
    // The long one wins over the short one inside.
    let inner = format!("{}{}", "glpat-", random.text(ALNUM, 20));
    let outer = format!("{}{inner}-{}", "sk-ant-oat01-", random.text(URL, 60) + "x");
    assert_eq!(
        redact_secrets(&outer),
        "[secret removed: anthropic-oauth-token]"
    );
}

#[test]
fn what_was_cut_short_by_a_token_is_a_token() {
    let mut random = Random::new(31);
    // The first is none in the text, and would be one beside a note.
    let github = format!("{}{}", "ghp_", random.text(ALNUM, 36));
    for first in [
        format!("{}{}-", "glpat-", random.text(ALNUM, 19)),
        format!("{}{}.", "dp.pt.", random.text(ALNUM, 43)),
    ] {
        let redacted = redact_secrets(&format!("{first}{github}"));
        assert_eq!(redact_secrets(&redacted), redacted);
        assert_eq!(rules(&redacted), Vec::<String>::new(), "{redacted}");
    }
}

// What is told not to be found: changing that is a change of what the documentation says.
#[test]
fn what_is_split_or_encoded_once_more_is_not_found() {
    let mut random = Random::new(31);
    let token = format!("{}{}", "ghp_", random.text(ALNUM, 36));
    let (head, tail) = token.split_at(20);
    for text in [
        format!("{head}\n{tail}"),
        format!("{head}\r\n{tail}"),
        format!("{head} {tail}"),
        base64(&token),
        base64(&base64(&token)),
    ] {
        assert_eq!(rules(&text), Vec::<String>::new(), "{text}");
        assert_eq!(redact_secrets(&text), text);
    }
    assert_eq!(rules(&token), ["github-pat"]);
}

#[test]
fn a_line_of_fifty_megabytes_is_searched_to_its_end() {
    let mut random = Random::new(32);
    let token = format!("{}{}", "ghp_", random.text(ALNUM, 36));
    let mut text = "no line end here, ".repeat(50_000_000 / 18);
    let start = text.len();
    text.push_str(&token);
    let found = scan_secrets(&text);
    let place = found.iter().map(|one| (one.line, one.start, one.end));
    assert_eq!(place.collect::<Vec<_>>(), [(1, start, text.len())]);
    let redacted = redact_secrets(&text);
    assert!(redacted.ends_with("no line end here, [secret removed: github-pat]"));
}
