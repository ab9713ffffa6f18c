//! Names in dates: zones and months.

/// Minutes east of Greenwich that a zone's name means. RFC 5322 §4.3 wants unknown single letters taken as UTC.
pub(super) fn zone(name: &str) -> Option<i64> {
    ZONES.iter().find(|(names, _)| names.split(' ').any(|n| n == name)).map(|(_, minutes)| *minutes)
}

const ZONES: [(&str, i64); 37] = [
    ("z gmt utc ut wet a b c d e f g h i k l m n o p q r s u v w x y", 0),
    ("cet met mez bst west wat", 60),
    ("cest mest mesz eet sast cat", 120),
    ("msk eest trt eat idt", 180),
    ("msd gst", 240),
    ("irst", 210),
    ("pkt yekt", 300),
    ("ist", 330),
    ("npt", 345),
    ("bdt", 360),
    ("ict wib", 420),
    ("hkt sgt awst pht wita myt", 480),
    ("jst kst wit", 540),
    ("acst", 570),
    ("aest kdt", 600),
    ("acdt", 630),
    ("aedt", 660),
    ("nzst", 720),
    ("nzdt", 780),
    ("azot", -60),
    ("ndt", -150),
    ("adt brt art", -180),
    ("nst", -210),
    ("ast at edt clt", -240),
    ("est cdt et", -300),
    ("cst mdt ct", -360),
    ("mst pdt mt", -420),
    ("pst akdt pt", -480),
    ("akst", -540),
    ("hst", -600),
    ("sst", -660),
    ("chst", 600),
    ("fjt", 720),
    ("cot pet", -300),
    ("uyt", -180),
    ("vet", -240),
    ("wst", 480),
];

/// The month that a name begins like, in the languages that feeds are found to use in dates.
pub(super) fn month(name: &str) -> Option<i32> {
    if name.chars().count() < 3 {
        return None;
    }
    let begins = |names: &str| names.split(' ').filter(|n| name.starts_with(n)).map(str::len).max().unwrap_or(0);
    // The longest beginning decides: "marras" is Finnish November, "mar" is March.
    let best = MONTHS.iter().enumerate().map(|(i, names)| (begins(names), i)).max_by_key(|(length, _)| *length)?;
    (best.0 > 0).then(|| i32::try_from(best.1 + 1).ok())?
}

const MONTHS: [&str; 12] = [
    "jan ene gen \u{44f}\u{43d}\u{432} \u{3b9}\u{3b1}\u{3bd} sty tammi oca led s\u{ed}\u{10d}",
    "feb fev f\u{e9}v \u{444}\u{435}\u{432} \u{3c6}\u{3b5}\u{3b2} lut helmi \u{15f}ub \u{fa}no lju",
    "mar m\u{e4}r mrt m\u{e1}r \u{43c}\u{430}\u{440} \u{3bc}\u{3b1}\u{3c1} \u{3bc}\u{3ac}\u{3c1} maalis b\u{159}e bre",
    "apr abr avr \u{e1}pr \u{430}\u{43f}\u{440} \u{3b1}\u{3c0}\u{3c1} kwi huhti nis dub",
    "may mai maj mag mei m\u{e1}j \u{43c}\u{430}\u{439} \u{43c}\u{430}\u{44f} \u{3bc}\u{3b1}\u{3ca} \u{3bc}\u{3ac}\u{3b9} \u{3bc}\u{3b1}\u{3b9} touko kv\u{11b}",
    "jun juin giu j\u{fa}n \u{438}\u{44e}\u{43d} \u{3b9}\u{3bf}\u{3c5}\u{3bd} \u{3b9}\u{3bf}\u{3cd}\u{3bd} cze kes\u{e4} haz \u{10d}erven",
    "jul juil lug j\u{fa}l \u{438}\u{44e}\u{43b} \u{3b9}\u{3bf}\u{3c5}\u{3bb} \u{3b9}\u{3bf}\u{3cd}\u{3bb} lip hein\u{e4} tem \u{10d}ervenec",
    "aug ago aou ao\u{fb} \u{430}\u{432}\u{433} \u{3b1}\u{3c5}\u{3b3} \u{3b1}\u{3cd}\u{3b3} sie elo a\u{11f}u srp",
    "sep set szept \u{441}\u{435}\u{43d} \u{3c3}\u{3b5}\u{3c0} wrz syys eyl z\u{e1}\u{159}",
    "oct okt out ott \u{43e}\u{43a}\u{442} \u{3bf}\u{3ba}\u{3c4} pa\u{17a} loka eki \u{159}\u{ed}j",
    "nov \u{43d}\u{43e}\u{44f} \u{3bd}\u{3bf}\u{3b5} \u{3bd}\u{3bf}\u{3ad} lis marras kas",
    "dec dez dic d\u{e9}c \u{434}\u{435}\u{43a} \u{3b4}\u{3b5}\u{3ba} gru joulu ara pro",
];
