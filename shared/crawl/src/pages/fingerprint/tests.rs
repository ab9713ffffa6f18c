#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and shows what it measures")]

use super::of_text;
use curlew_policy::chance::{between, mix};
use curlew_search::COPY_BITS;

const ARTICLE: &str = "The ferry that links the two shores of the lake has been out of service since Tuesday, when a rope \
    caught in its rudder within sight of the pier. Nobody was hurt, and the forty passengers were taken ashore in fishing \
    boats before dusk. The company expects the part to arrive from the yard on Friday; until then a bus drives around the \
    northern end, which takes an hour longer and costs the same. Pupils of the school on the far side have been given their \
    lessons at the town hall. The harbour master said that the rope was part of an old net, and asked everybody who mends \
    nets on the quay to take home what they cut off. It is the third time in two years that the ferry has been stopped by \
    something afloat, and the council will talk about a grating in front of the rudder when it meets next month. The oldest \
    of the passengers, who has crossed the lake each market day for sixty years, said that she had never seen the town from \
    a fishing boat before and would not mind doing it again.";

/// Texts in each script, each with the changes of a copy.
const COPIES: &[(&str, &[(&str, &str)])] = &[
    (
        "Traghetto fermo da martedì: una cima si è impigliata nel timone davanti al molo. Nessun ferito, e i quaranta \
         passeggeri sono stati portati a riva dalle barche dei pescatori. Il pezzo di ricambio arriverà venerdì dal \
         cantiere; fino ad allora un autobus fa il giro del lago, ci mette un'ora di più e costa lo stesso. Il comandante \
         del porto ha chiesto a chi ripara le reti sul molo di portare a casa gli avanzi.",
        &[
            ("Traghetto", "TRAGHETTO"),
            ("molo. Nessun", "molo! Nessun"),
            ("venerdì", "sabato"),
            ("cantiere;", "cantiere –"),
        ],
    ),
    (
        "湖の両岸を結ぶ渡し船は、火曜日に桟橋の目の前で舵に綱が絡まり、それ以来運休している。けが人はなく、四十人の乗客は日暮れ前に漁船で岸へ運ばれた。\
         部品は金曜日に造船所から届く見込みで、それまでは北の端を回るバスが走る。一時間余計にかかるが、料金は変わらない。\
         港長は、綱は古い網の一部だったと述べ、埠頭で網を繕う人々に切れ端を持ち帰るよう求めた。\
         二年間で渡し船が漂流物のために止まるのはこれで三度目であり、町議会は来月の会合で舵の前に格子を付けるかどうかを話し合う。六十年来、市の日ごとに湖を渡ってきた最年長の乗客は、漁船から町を眺めたのは初めてで、もう一度乗ってもいいと笑った。",
        &[("金曜日", "土曜日"), ("かかるが、", "かかるが"), ("笑った。", "笑った。(了)")],
    ),
    (
        "连接湖两岸的渡船自星期二起停航,当时一根绳子在码头前缠住了船舵。没有人受伤,四十名乘客在天黑前由渔船送上岸。\
         公司预计零件将于星期五从船厂运到;在此之前有一辆公共汽车绕行北端,多花一个小时,票价相同。港务长说绳子是旧渔网的一部分,\
         并请在码头上补网的人把剪下的碎片带回家。这是两年来渡船第三次因水中漂浮物而停航,市议会下个月将讨论在船舵前安装格栅。",
        &[("星期五从船厂运到;", "星期六从船厂运到。")],
    ),
    (
        "호수의 두 기슭을 잇는 나룻배는 화요일에 선착장 바로 앞에서 밧줄이 키에 감긴 뒤로 운항을 멈추었다. 다친 사람은 없었고 승객 마흔 명은 해 지기 전에 \
         고깃배를 타고 뭍으로 옮겨졌다. 부품은 금요일에 조선소에서 올 예정이며 그때까지는 버스가 북쪽 끝을 돌아 다닌다. 한 시간이 더 걸리지만 요금은 같다. \
         항만장은 밧줄이 낡은 그물의 일부였다고 말하고 부두에서 그물을 깁는 사람들에게 자투리를 집으로 가져가 달라고 부탁했다.",
        &[("금요일", "토요일")],
    ),
    (
        "เรือข้ามฟากหยุดให้บริการตั้งแต่วันอังคาร เพราะเชือกพันหางเสือหน้าท่าเรือ ไม่มีใครบาดเจ็บ และผู้โดยสารสี่สิบคนถูกพาขึ้นฝั่งด้วยเรือประมงก่อนค่ำ \
         อะไหล่จะมาจากอู่ในวันศุกร์ จนกว่าจะถึงวันนั้นมีรถเมล์วิ่งอ้อมทางเหนือ ใช้เวลานานกว่าหนึ่งชั่วโมงแต่ราคาเท่าเดิม",
        &[("วันศุกร์", "วันเสาร์")],
    ),
    (
        "Паром, который связывает два берега озера, не ходит со вторника, когда прямо у причала в руль попала верёвка. Никто \
         не пострадал, а сорок пассажиров до темноты доставили на берег рыбацкие лодки. Деталь привезут с верфи в пятницу; \
         до тех пор вокруг северного конца ходит автобус, это на час дольше и стоит столько же. Начальник порта попросил \
         всех, кто чинит сети на набережной, уносить обрезки домой.",
        &[("пятницу", "субботу")],
    ),
];

fn apart(one: &str, other: &str) -> u32 {
    of_text(one).unwrap().distance(of_text(other).unwrap())
}

#[test]
fn a_copy_with_another_frame_is_known() {
    let copies = [
        format!("By our correspondent at the lake.\n\n{ARTICLE}"),
        format!("{ARTICLE}\n\nFirst published elsewhere; shared with their kind permission."),
        ARTICLE.to_uppercase(),
        ARTICLE.replace(". ", ".\n\n").replace(", ", " – "),
        ARTICLE.replace("Tuesday", "Wednesday").replace("forty", "forty-one").replace("fishing boat ", "trawler "),
    ];
    let distances: Vec<u32> = copies.iter().map(|copy| apart(ARTICLE, copy)).collect();
    assert_eq!((distances[2], distances[3]), (0, 0), "case, paragraphs and punctuation are not looked at");
    assert!(distances.iter().all(|d| *d <= COPY_BITS), "{distances:?}");
}

#[test]
fn copies_are_known_in_every_script_and_texts_of_one_subject_are_not_taken_for_copies() {
    for (text, changes) in COPIES {
        let copy = &changes.iter().fold(text.to_string(), |copy, (old, new)| copy.replace(old, new));
        assert!(copy != text && apart(text, copy) <= COPY_BITS, "{} differ: {text}", apart(text, copy));
    }
    let all: Vec<&str> = COPIES.iter().map(|(text, _)| *text).chain([ARTICLE]).collect();
    for (at, text) in all.iter().enumerate() {
        for other in &all[..at] {
            assert!(apart(text, other) > 2 * COPY_BITS, "{} differ: {text} and {other}", apart(text, other));
        }
    }
}

#[test]
fn the_more_words_differ_the_more_bits_do() {
    let changed = |percent: u64, seed: u64| {
        let words = ARTICLE.split(' ').enumerate();
        let new = words.map(|(at, word)| {
            let is_new = between(mix(seed + at as u64), 1, 100) <= percent;
            if is_new { format!("w{}", mix(seed ^ at as u64)) } else { word.to_owned() }
        });
        apart(ARTICLE, &new.collect::<Vec<_>>().join(" "))
    };
    let mean = |percent: u64| (0..50).map(|seed| changed(percent, seed * 1_000)).sum::<u32>() / 50;
    let means = [2, 5, 10, 20, 50].map(mean);
    println!("texts with 2, 5, 10, 20 and 50 % of their words changed: {means:?} bits on average");
    assert!(means.is_sorted(), "{means:?}");
    assert!(means[0] <= COPY_BITS && means[3] > COPY_BITS, "{means:?}");
}

/// Uses the labelled texts of the screening tests: 602 short texts on many subjects in six languages.
#[test]
fn texts_that_have_only_their_language_in_common_are_never_close() {
    let lines = include_str!("../../../../screen/tests/it/labelled.jsonl").lines();
    let texts: Vec<String> = lines
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["text"].as_str().unwrap().to_owned())
        .filter(|text| text.chars().count() >= 250)
        .collect();
    let prints: Vec<_> = texts.iter().map(|text| of_text(text).unwrap()).collect();
    let pairs = prints.iter().enumerate().flat_map(|(at, p)| prints[..at].iter().map(|other| p.distance(*other)));
    let (closest, count, sum) = pairs.fold((64, 0u32, 0u32), |(low, n, sum), d| (low.min(d), n + 1, sum + d));
    println!("texts: {count} pairs, the closest {closest} bits apart, on average {}", sum / count);
    assert!(count > 50_000, "{count} pairs");
    assert!(closest > COPY_BITS && (28..=34).contains(&(sum / count)), "{closest} {}", sum / count);
}

#[test]
fn what_has_no_words_has_no_fingerprint_and_one_word_has_one() {
    assert_eq!(of_text(""), None);
    assert_eq!(of_text(" …!? \n\u{301}"), None);
    assert!(of_text("ferry").is_some() && of_text("ferry") != of_text("boat"));
    assert!(of_text("湖").is_some());
    // Records store fingerprints, so they must be the same in every version.
    assert_eq!(of_text(ARTICLE).unwrap().to_string(), "cf5d106f5e57d63f");
}
