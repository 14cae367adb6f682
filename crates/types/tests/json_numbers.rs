//! The number forms of canonical JSON. It must never take an expectation from the printer under
//! test: texts are spelled out, or come from another writer.

use mainstay_types::json::{JsonError, Place, Value, parse};
use proptest::prelude::*;

fn float_text(number: f64) -> String {
    Value::float(number)
        .expect("the number is finite")
        .to_canonical()
}

#[test]
fn floats_have_their_ecmascript_form() {
    let cases: &[(f64, &str)] = &[
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.0, "-1"),
        (0.1, "0.1"),
        (-1.5, "-1.5"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1.0 / 3.0, "0.3333333333333333"),
        (123.456, "123.456"),
        (1e6, "1000000"),
        (0.000001, "0.000001"),
        (0.00000123, "0.00000123"),
        (1e-7, "1e-7"),
        (-1e-7, "-1e-7"),
        (1.23e-7, "1.23e-7"),
        (0.0000009999999999999997, "9.999999999999997e-7"),
        (1e20, "100000000000000000000"),
        (999999999999999900000.0, "999999999999999900000"),
        (1e21, "1e+21"),
        (-1e21, "-1e+21"),
        (1.0000000000000001e21, "1.0000000000000001e+21"),
        (1.5e300, "1.5e+300"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::MIN, "-1.7976931348623157e+308"),
        (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
        (f64::from_bits(1), "5e-324"),
        (f64::EPSILON, "2.220446049250313e-16"),
        (9007199254740991.0, "9007199254740991"),
        (9007199254740992.0, "9007199254740992"),
        (295147905179352830000.0, "295147905179352830000"),
        (4.5, "4.5"),
        (2e-3, "0.002"),
        (1e23, "1e+23"),
    ];
    for (number, expected) in cases {
        assert_eq!(float_text(*number), *expected);
        let back = parse(expected)
            .expect("a number is JSON")
            .as_f64()
            .expect("a number");
        assert_eq!(back, *number, "{expected} reads back");
    }
}

#[test]
fn neighbours_at_the_edges_of_the_forms_stay_apart() {
    // Doubles by their bits, chosen by RFC 8785 where printers are known to slip.
    let cases: &[(u64, &str)] = &[
        (0x8000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ];
    for (bits, expected) in cases {
        assert_eq!(
            float_text(f64::from_bits(*bits)),
            *expected,
            "bits {bits:016x}"
        );
    }
}

#[test]
fn of_two_equally_near_texts_the_even_one_is_taken() {
    // Doubles are 0.25 apart here, so each of these is exact and needs one digit after the point.
    for (whole, quarters, expected) in [
        (1424953923781206.0, 0.25, "1424953923781206.2"),
        (1424953923781206.0, 0.75, "1424953923781206.8"),
        (-1424953923781207.0, -0.25, "-1424953923781207.2"),
        (2251799813685247.0, 0.75, "2251799813685247.8"),
    ] {
        assert_eq!(float_text(whole + quarters), expected);
    }
}

#[test]
fn integers_are_exact_to_the_last_digit() {
    let cases = [
        (Value::from(u64::MAX), "18446744073709551615"),
        (Value::from(i64::MIN), "-9223372036854775808"),
        (Value::from(9_007_199_254_740_993_i64), "9007199254740993"),
        (
            Value::from(i128::MIN),
            "-170141183460469231731687303715884105728",
        ),
        (
            Value::from(i128::MAX),
            "170141183460469231731687303715884105727",
        ),
        (
            Value::from(1_u128 << 127),
            "170141183460469231731687303715884105728",
        ),
        (
            Value::from(u128::MAX),
            "340282366920938463463374607431768211455",
        ),
        (Value::from(usize::MAX), &usize::MAX.to_string()),
        (Value::from(isize::MIN), &isize::MIN.to_string()),
        (Value::from(0_u8), "0"),
    ];
    for (value, text) in cases {
        assert_eq!(value.to_canonical(), text);
        assert_eq!(parse(text), Ok(value));
    }
}

#[test]
fn one_number_has_one_value_however_it_is_spelled() {
    for (spelled, canonical) in [
        ("1.0", "1"),
        ("1e0", "1"),
        ("10E-1", "1"),
        ("-0", "0"),
        ("-0.0e5", "0"),
        ("1E2", "100"),
        ("0.10", "0.1"),
        ("1e21", "1e+21"),
        ("0.0000001", "1e-7"),
        ("1e-400", "0"),
    ] {
        let value = parse(spelled).expect("a number is JSON");
        assert_eq!(value.to_canonical(), canonical);
        assert_eq!(parse(canonical), Ok(value), "{spelled} equals {canonical}");
    }
    assert_eq!(Value::float(1.0), Ok(Value::Int(1)));
    assert_eq!(
        Value::float(1e20),
        Ok(Value::Int(100_000_000_000_000_000_000))
    );
}

#[test]
fn an_integer_and_a_float_of_other_text_stay_apart() {
    let integer = parse("1000000000000000000000").expect("10^21 is JSON");
    let float = parse("1e21").expect("10^21 is JSON");
    assert_eq!(integer, Value::Int(10_i128.pow(21)));
    assert_ne!(integer, float);
    assert_eq!(integer.as_f64(), float.as_f64());
}

#[test]
fn an_integer_beyond_ours_becomes_the_nearest_double() {
    let beyond = "340282366920938463463374607431768211456";
    assert_eq!(
        parse(beyond).map(|v| v.to_canonical()),
        Ok("3.402823669209385e+38".to_owned())
    );
    let below = "-170141183460469231731687303715884105729";
    assert_eq!(
        parse(below).map(|v| v.to_canonical()),
        Ok("-1.7014118346046923e+38".to_owned())
    );
}

#[test]
fn what_no_finite_double_holds_is_refused() {
    for number in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let refused = JsonError::NotFinite {
            at: Place::Path("$".to_owned()),
        };
        assert_eq!(Value::float(number), Err(refused.clone()));
        assert_eq!(Value::try_from(number), Err(refused));
    }
    for text in [
        "[1, 1e400]",
        "[1, -1e309]",
        &format!("[1, {}]", "9".repeat(400)),
    ] {
        let error = parse(text).expect_err("no double holds it");
        assert_eq!(error.reason(), "JSON_NOT_FINITE");
        assert_eq!(error.position().map(|at| at.byte), Some(4));
    }
}

/// The number another writer's shortest digits stand for, as sign, digits and power of ten.
fn decimal(text: &str) -> (bool, String, i32) {
    let (negative, text) = text
        .strip_prefix('-')
        .map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().expect("an exponent is a number");
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let power = exponent - i32::try_from(fraction.len()).expect("short");
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let kept = digits.trim_end_matches('0');
    let zeros = i32::try_from(digits.len() - kept.len()).expect("short");
    (negative, kept.to_owned(), power + zeros)
}

fn any_finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>()
            .prop_map(f64::from_bits)
            .prop_filter("finite", |f| f.is_finite()),
        -1e22..1e22,
        -1e-5..1e-5,
        any::<i64>().prop_map(|i| i as f64),
        // Between 2^50 and 2^51 doubles are 0.25 apart: every odd quarter is a tie.
        ((1_i64 << 52)..(1_i64 << 53)).prop_map(|quarters| quarters as f64 / 4.0),
        (any::<i32>(), -320..300_i32).prop_map(|(m, e)| f64::from(m) * 10_f64.powi(e)),
    ]
    .prop_filter("finite and not zero", |f| f.is_finite() && *f != 0.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn a_float_reads_back_to_the_same_bits(number in any_finite()) {
        let text = float_text(number);
        let rust: f64 = text.parse().expect("a number");
        prop_assert_eq!(rust.to_bits(), number.to_bits());
        let ours = parse(&text).expect("JSON").as_f64().expect("a number");
        prop_assert_eq!(ours.to_bits(), number.to_bits());
    }

    #[test]
    fn a_float_has_the_digits_of_another_shortest_printer(number in any_finite()) {
        let theirs = serde_json::to_string(&number).expect("finite");
        prop_assert_eq!(decimal(&float_text(number)), decimal(&theirs));
    }

    #[test]
    fn a_float_has_an_exponent_exactly_outside_the_plain_range(number in any_finite()) {
        let size = number.abs();
        prop_assert_eq!(float_text(number).contains('e'), !(1e-6..1e21).contains(&size));
    }

    #[test]
    fn integers_print_as_rust_prints_them(signed in any::<i128>(), unsigned in any::<u128>()) {
        prop_assert_eq!(Value::from(signed).to_canonical(), signed.to_string());
        prop_assert_eq!(Value::from(unsigned).to_canonical(), unsigned.to_string());
        prop_assert_eq!(parse(&unsigned.to_string()).expect("JSON").as_u128(), Some(unsigned));
    }
}
