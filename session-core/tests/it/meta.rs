//! What the members of `meta.json` may be, and what is written of odd values.

use session_core::{Meta, MetaFault, Timestamp, parse_time};

fn meta(members: &str) -> Result<Meta, MetaFault> {
    Meta::parse(format!(r#"{{"name":"oaks",{members}}}"#).as_bytes())
}

#[test]
fn a_time_is_a_text_null_or_no_metadata() {
    const SPRING: &str = "2026-03-20T14:46:00Z";
    let spring = parse_time(SPRING);
    type Of = fn(Meta) -> Option<Timestamp>;
    for (field, of) in [("created", (|meta| meta.created) as Of), ("updated", |meta| meta.updated)] {
        for (value, wanted) in [
            (format!(r#"{field:?}:"{SPRING}""#), Some(spring)),
            (format!(r#"{field:?}:null"#), Some(None)),
            (format!(r#"{field:?}:"0001-01-01T00:00:00Z""#), Some(None)),
            (format!(r#"{field:?}:"{SPRING}",{field:?}:null"#), Some(spring)),
            (format!(r#"{field:?}:"{SPRING}",{field:?}:"0001-01-01T00:00:00Z""#), Some(None)),
            (format!(r#"{field:?}:"in spring""#), None),
            (format!(r#"{field:?}:"""#), None),
            (format!(r#"{field:?}:1774017960"#), None),
            (format!(r#"{field:?}:["{SPRING}"]"#), None),
        ] {
            let wanted = wanted.ok_or(MetaFault::WrongType { field });
            assert_eq!(meta(&value).map(of), wanted, "{value}");
        }
    }
}

#[test]
fn a_cost_is_a_number_that_can_be_held_null_or_no_metadata() {
    for (value, wanted) in [
        ("0", Some(0.0)),
        ("-0.0", Some(0.0)),
        ("0.0025", Some(0.0025)),
        ("25e-4", Some(0.0025)),
        ("1e-999", Some(0.0)),
        ("1.7976931348623157e308", Some(f64::MAX)),
        ("0.5,\"cost\":null", Some(0.5)),
        ("1e999", None),
        ("-1e999", None),
        ("\"0.5\"", None),
        ("true", None),
        ("{}", None),
    ] {
        let wanted = wanted.ok_or(MetaFault::WrongType { field: "cost" });
        assert_eq!(meta(&format!("\"cost\":{value}")).map(|meta| meta.cost), wanted, "{value}");
    }
}

#[test]
fn a_cost_is_written_in_its_shortest_form_and_only_if_it_says_something() {
    for (cost, wanted) in [
        (0.0, None),
        (-0.0, None),
        (f64::NAN, None),
        (f64::INFINITY, None),
        (f64::NEG_INFINITY, None),
        (0.1 + 0.2, Some("0.30000000000000004")),
        (-2.5, Some("-2.5")),
        (1e-6, Some("0.000001")),
        (9.9e-7, Some("9.9e-7")),
        (1e20, Some("100000000000000000000")),
        (1e21, Some("1e+21")),
        (-1.5e300, Some("-1.5e+300")),
    ] {
        let text = String::from_utf8(Meta { cost, ..Meta::default() }.to_json()).expect("JSON is text");
        let written = text.lines().find_map(|line| line.trim_start().strip_prefix("\"cost\": "));
        assert_eq!(written, wanted, "{cost}");
        let again = Meta::parse(text.as_bytes()).expect("what is written can be read").cost;
        assert_eq!(again, if wanted.is_some() { cost } else { 0.0 }, "{cost}");
    }
}

#[test]
fn each_fault_of_metadata_is_told_in_its_own_words() {
    for (bytes, says) in [
        (&b""[..], "not JSON: ends where a value should be, 0 bytes in"),
        (b"{\"name\":\"oa", "not JSON: ends inside a string, 11 bytes in"),
        (b"[\"oaks\"]", "JSON, but not an object"),
        (b"{\"name\":\"oaks\",\"Title\":[]}", "title has the wrong type"),
    ] {
        assert_eq!(Meta::parse(bytes).expect_err("it is none").to_string(), says);
    }
}
