use super::*;

fn pushed(push: impl Fn(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    push(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn numbers_are_plain_and_trimmed() {
    for (text, want) in [
        ("67234.12", "67234.12"),
        ("67234.1200", "67234.12"),
        ("100", "100"),
        ("100.00", "100"),
        ("0", "0"),
        ("0.000", "0"),
        ("-0.5", "-0.5"),
        ("0.0000000000000000000000000001", "0.0000000000000000000000000001"),
        ("79228162514264337593543950335", "79228162514264337593543950335"),
        ("10000000000000000000", "10000000000000000000"),
        ("10000000000000000001.00000001", "10000000000000000001.00000001"),
    ] {
        assert_eq!(pushed(|out| push_decimal(out, Decimal::from_str_exact(text).unwrap())), want);
    }
    for power in 0..20 {
        for number in [10u64.pow(power) - 1, 10u64.pow(power), 10u64.pow(power).saturating_mul(9)] {
            assert_eq!(pushed(|out| push_u64(out, number)), number.to_string());
        }
    }
    assert_eq!(pushed(|out| push_u64(out, u64::MAX)), u64::MAX.to_string());
    assert_eq!(pushed(|out| push_scaled(out, true, 15, 4)), "-0.0015");
    for (number, scale, want) in
        [(0, 4, "0.0000"), (99_999_999, 7, "9.9999999"), (100, 2, "1.00"), (100_000_000, 7, "10.0000000"), (7, 0, "7")]
    {
        assert_eq!(pushed(|out| push_scaled(out, false, number, scale)), want);
    }
}

#[test]
fn numbers_are_written_as_the_library_writes_them() {
    let mut seed = fastrand::Rng::with_seed(2);
    for _ in 0..20_000 {
        let below = 10i128.pow(seed.u32(1..=28));
        let number = Decimal::from_i128_with_scale(seed.i128(-below..below), seed.u32(0..=28));
        assert_eq!(pushed(|out| push_decimal(out, number)), number.normalize().to_string());
    }
}

#[test]
fn times_are_written_as_the_model_writes_them() {
    let mut seed = fastrand::Rng::with_seed(3);
    let edges = [0, 951_782_400_000, 951_868_799_999, 253_402_300_799_999, 253_402_300_800_000, -1, i64::MAX, i64::MIN];
    for time in edges.into_iter().chain((0..20_000).map(|_| seed.i64(0..253_402_300_800_000))).map(UnixMs) {
        assert_eq!(pushed(|out| push_time(out, time)), format!("\"{time}\""));
    }
    let mut times = Times::default();
    for time in edges.into_iter().chain((0..20_000).map(|n| 1_796_036_400_000 + n * seed.i64(0..20))).map(UnixMs) {
        assert_eq!(pushed(|out| times.clone().push(out, time)), format!("\"{time}\""));
        times.push(&mut Vec::new(), time);
    }
}

#[test]
fn texts_are_escaped() {
    for text in ["plain", "a\"b", "back\\slash", "\u{1}\n", "é牛", "", "in eight bytes a\"b", "\u{1f}1234567", "!#[]~\u{7f} è"] {
        assert_eq!(serde_json::from_str::<String>(&pushed(|out| push_str(out, text))).unwrap(), text);
    }
    let mut seed = fastrand::Rng::with_seed(5);
    for _ in 0..20_000 {
        let text: String = (0..seed.usize(..20)).map(|_| seed.char('\0'..'\u{90}')).collect();
        assert_eq!(pushed(|out| push_str(out, &text)), serde_json::to_string(&text).unwrap());
        let plain = text.bytes().all(|b| b >= 0x20 && b != b'"' && b != b'\\');
        assert_eq!(is_plain(text.as_bytes()), plain);
    }
}
