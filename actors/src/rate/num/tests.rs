use super::*;

fn num(text: &str) -> Num {
    text.parse().unwrap()
}

#[test]
fn numbers_are_written_plain_and_read_back() {
    for text in
        ["0", "1", "67234.125", "1000", "0.0000118", "0.0000000000000000000000000000000000123", "12340000000000000000000000000000000"]
    {
        assert_eq!(num(text).to_string(), text);
    }
    for (text, want) in [("0100.500", "100.5"), ("0.0", "0"), ("000", "0"), ("100.0", "100")] {
        assert_eq!(num(text).to_string(), want);
    }
    for bad in ["", ".", "1.", ".5", "-1", "+1", "1e3", "1_0", "12345678901234567890123456789012345", "١", " 1"] {
        assert_eq!(bad.parse::<Num>(), Err(NumError), "{bad}");
    }
    assert_eq!(Num::from(Decimal::from_str_exact("12.50").unwrap()), num("12.5"));
}

#[test]
fn sums_are_exact_to_28_digits_and_half_even_beyond() {
    assert_eq!(num("0.1").plus(num("0.2")), num("0.3"));
    assert_eq!(num("67234.12").mean(num("67234.13")), num("67234.125"));
    assert_eq!(num("1234567890123456789012345678").plus(num("0.5")), num("1234567890123456789012345678"));
    assert_eq!(num("1234567890123456789012345679").plus(num("0.5")), num("1234567890123456789012345680"));
    assert_eq!(num("1234567890123456789012345678").plus(num("0.500001")), num("1234567890123456789012345679"));
    assert_eq!(num("1000000000000000000000000000000").plus(num("0.000000000000000001")), num("1000000000000000000000000000000"));
    assert_eq!(num("5").distance(num("7.25")), num("2.25"));
    assert_eq!(num("0").plus(num("0.000000000000000000000000000000000000000000001")).to_string().len(), 47);
    assert_eq!(num("3").half(), num("1.5"));
    assert_eq!(num("67234.123456789012345").product(num("1.00075")), num("67284.54904938160410425875"));
    assert_eq!(num("1.0000000000000000000000000005").product(num("1.0000000000000000000000000001")).to_string().len(), 29);
}

#[test]
fn how_a_number_is_written_makes_no_difference() {
    let mut seed = fastrand::Rng::with_seed(4);
    let mut number = || {
        let digits = seed.u32(1..=28);
        Num::of(seed.u128(1..10u128.pow(digits)), seed.i32(-40..20))
    };
    for _ in 0..20_000 {
        let (a, b) = (number(), number());
        let [written_a, written_b] = [a, b].map(|n| num(&n.to_string()));
        assert_eq!(a.plus(b), written_a.plus(written_b), "{a} {b}");
        assert_eq!(a.distance(b), written_a.distance(written_b), "{a} {b}");
        assert_eq!(a.times(b), written_a.times(written_b), "{a} {b}");
        assert_eq!(a.inverse(), written_a.inverse(), "{a}");
        assert_eq!((a.ratio(b, 8), a.cmp(&b)), (written_a.ratio(written_b, 8), written_a.cmp(&written_b)), "{a} {b}");
        assert_eq!(a.plus(b).half(), written_b.mean(written_a), "{a} {b}");
    }
    let (round, fine) = (num("100000000000000"), num("1234.5678901234567890123456789"));
    assert_eq!(round.distance(fine), num("99999999998765.43210987654321"), "a round number keeps its digits");
}

#[test]
fn products_and_inverses_have_18_digits_rounded_once() {
    assert_eq!(num("60003").times(num("0.9990503495")), num("59946.0181210485"));
    assert_eq!(num("3").inverse(), Some(num("0.333333333333333333")));
    assert_eq!(num("0.0000166667").inverse(), Some(num("59999.8800002399995")));
    assert_eq!(num("7").inverse(), Some(num("0.142857142857142857")));
    assert_eq!(num("1000").inverse(), Some(num("0.001")));
    assert_eq!(Num::ZERO.inverse(), None);
    // Digits 19 to 28 are exactly half, and what is beyond decides.
    assert_eq!(num("1.0000000000000000050000000001").times(Num::ONE), num("1.00000000000000001"));
    assert_eq!(num("1.000000000000000005").times(Num::ONE), num("1"));
    assert_eq!(num("1.00000000000000001500").times(Num::ONE), num("1.00000000000000002"));
    assert_eq!(num("0.000000000000000001").times(num("0.000000000000000001")).to_string(), format!("0.{}1", "0".repeat(35)));
}

#[test]
fn comparisons_and_ratios_are_exact() {
    assert!(num("0.00000000000000000000000000000001") < num("10000000000000000000000"));
    assert!(num("1") < num("1.0000000000000000000000000001"));
    assert_eq!(Num::cmp_products(num("0.02"), num("100"), num("2"), Num::ONE), Ordering::Equal);
    assert_eq!(Num::cmp_products(num("0.02"), num("100.0000000000000000000000001"), num("2"), Num::ONE), Ordering::Greater);
    assert_eq!(Num::cmp_products(Num::ZERO, num("100"), num("2"), Num::ONE), Ordering::Less);
    assert_eq!(num("1").ratio(num("3"), 4), Some(3333));
    assert_eq!(num("0.5").ratio(num("10000"), 4), Some(0), "a tie goes to the even");
    assert_eq!(num("1.5").ratio(num("10000"), 4), Some(2));
    assert_eq!(num("1").ratio(Num::ZERO, 4), None);
    assert_eq!(num("1000000000000000000000000000000").ratio(num("0.00000000000000000001"), 4), None, "beyond 128 bits");
    assert_eq!(num("0.000000000000000000000000000000000000000001").ratio(num("1000000000000000"), 4), Some(0));
}

#[test]
fn a_median_is_the_middle_or_the_mean_of_two() {
    let of = |numbers: &[u64]| median(numbers.iter().map(|number| Num::new(*number, 0)));
    assert_eq!(of(&[]), None);
    assert_eq!(of(&[7]), Some(num("7")));
    assert_eq!(of(&[9, 1, 2]), Some(num("2")));
    assert_eq!(of(&[2, 1]), Some(num("1.5")));
    assert_eq!(of(&[5, 4, 1, 9, 8, 2]), Some(num("4.5")));
    let far = ["0.000000000000000000000000000000001", "7000000000000000", "2", "3"].map(num);
    assert_eq!(median(far.into_iter()), Some(num("2.5")), "of numbers that no one exponent holds");
    assert_eq!(range(far.into_iter()), Some((far[0], far[1])));
    assert_eq!(range(["3.5", "0.25", "20"].map(num).into_iter()), Some((num("0.25"), num("20"))));
    assert_eq!(range(std::iter::empty::<Num>()), None);
}
