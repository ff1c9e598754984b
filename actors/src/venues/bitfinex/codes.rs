//! Bitfinex's names of assets.

/// Bitfinex's own codes, where they differ from everybody's; its UST was never TerraUSD.
const OWN_CODES: &[(&str, &str)] = &[
    ("USDT", "UST"),
    ("USDC", "UDC"),
    ("TUSD", "TSD"),
    ("EURT", "EUT"),
    ("EURS", "EUS"),
    ("USTC", "TERRAUST"),
    ("LUNC", "LUNA"),
    ("LUNA", "LUNA2"),
    ("ALGO", "ALG"),
    ("AMPL", "AMP"),
    ("ATOM", "ATO"),
    ("BCH", "BCHN"),
    ("DASH", "DSH"),
    ("DATA", "DAT"),
    ("ID", "IDX"),
    ("IOTA", "IOT"),
    ("IQ", "IQX"),
    ("MANA", "MNA"),
    ("MDOGE", "DOG"),
    ("PNT", "EDO"),
    ("QASH", "QSH"),
    ("QTUM", "QTM"),
    ("RBTC", "RBT"),
    ("STORJ", "STJ"),
    ("VSYS", "VSY"),
    ("WAXP", "WAX"),
    ("XEC", "BCHABC"),
];

pub(super) fn own(code: &str) -> &str {
    OWN_CODES.iter().find(|(plain, _)| *plain == code).map_or(code, |(_, own)| own)
}

pub(super) fn plain(code: &str) -> &str {
    OWN_CODES.iter().find(|(_, own)| *own == code).map_or(code, |(plain, _)| plain)
}
