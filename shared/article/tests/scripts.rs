//! Pages in scripts without spaces between words, and in systems of other countries: what is measured by width
//! must not pass over them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use curlew_article::{Article, Limits, explain, extract};

fn read(html: &str, url: &str) -> Article {
    extract(html, &url.parse().unwrap(), &Limits::default()).unwrap()
}

const JAPANESE: &str = "<html lang=ja><head><title>港の古い灯台、十年ぶりに公開 - みなと新聞</title><meta property=og:site_name content=みなと新聞></head><body>\
    <div id=gnavi><ul><li><a href=/>ホーム</a></li><li><a href=/s>社会</a></li><li><a href=/e>経済</a></li></ul></div>\
    <div class=kiji><h1>港の古い灯台、十年ぶりに公開</h1><div class=day>2026年5月1日 9時30分</div><div><a href=/share>シェア</a></div>\
    <div class=honbun>港の入り口に立つ古い灯台が一日の朝、十年ぶりに一般に公開された。改修の工事は昨年の秋に終わっていた。<br><br>\
    市の担当者は「子どもたちに海の歴史を知ってもらいたい」と話した。灯台は明治の初めに建てられ、石の壁は当時のままだという。<br><br>\
    訪れた人は百段を超える階段を上り、霧の晴れた海を眺めた。公開は秋まで続き、雨の日は休みとなる。</div>\
    <div><a href=/1>関連記事はこちら</a></div></div>\
    <div class=rank><h2>アクセスランキング</h2><ul><li><a href=/2>駅前の書店が閉店へ</a></li><li><a href=/3>新しい橋の工事が始まる</a></li></ul></div>\
    <div class=copy>© みなと新聞 無断転載を禁じます</div></body></html>";

#[test]
fn a_japanese_page_of_divs_and_line_breaks_is_read() {
    let article = read(JAPANESE, "https://minato.example.jp/kiji/81");
    assert_eq!(article.title.as_deref(), Some("港の古い灯台、十年ぶりに公開"));
    for part in ["十年ぶりに一般に公開された", "海の歴史を知ってもらいたい", "雨の日は休みとなる"]
    {
        assert!(article.text.contains(part), "{part}: {}", article.text);
    }
    for other in ["ホーム", "シェア", "関連記事", "ランキング", "書店が閉店", "無断転載", "9時30分"]
    {
        assert!(!article.text.contains(other), "{other}: {}", article.text);
    }
    assert_eq!(article.language.as_deref(), Some("ja"));
    assert_eq!(article.published.map(|at| at.day()).as_deref(), Some("2026-05-01"));
}

const KOREAN: &str = "<html lang=ko><head><title>항구의 옛 등대, 십 년 만에 문 열다 | 항구일보</title><meta property=og:site_name content=항구일보>\
    <meta property=article:published_time content=2026-05-01T09:30:00+09:00></head><body>\
    <nav><a href=/>홈</a> <a href=/s>사회</a></nav><div class=view><h3 class=tit>항구의 옛 등대, 십 년 만에 문 열다</h3>\
    <div class=info>김하늘 기자 | 입력 2026.05.01 09:30</div><ul><li><a href=/f>페이스북</a></li><li><a href=/k>카카오톡</a></li></ul>\
    <div id=articleBody><p>항구 어귀에 서 있는 옛 등대가 1일 아침 십 년 만에 시민에게 문을 열었다. 보수 공사는 지난해 가을에 끝났다.</p>\
    <p>시 관계자는 “아이들이 바다의 역사를 알게 되기를 바란다”고 말했다. 등대의 돌벽은 처음 지어진 그대로라고 한다.</p>\
    <p>찾아온 사람들은 백 개가 넘는 계단을 올라 안개가 걷힌 바다를 바라보았다. 공개는 가을까지 이어진다.</p>\
    <p>저작권자 © 항구일보 무단 전재 및 재배포 금지</p></div>\
    <div><h4>관련기사</h4><ul><li><a href=/1>역 앞 서점 문 닫는다</a></li><li><a href=/2>새 다리 공사 시작</a></li></ul></div></div></body></html>";

#[test]
fn a_korean_page_is_read_without_its_buttons_and_notices() {
    let article = read(KOREAN, "https://hangu.example.kr/news/81");
    assert_eq!(article.title.as_deref(), Some("항구의 옛 등대, 십 년 만에 문 열다"));
    for part in ["시민에게 문을 열었다", "바다의 역사를", "가을까지 이어진다"] {
        assert!(article.text.contains(part), "{part}: {}", article.text);
    }
    for other in ["페이스북", "무단 전재", "관련기사", "서점", "기자 |"] {
        assert!(!article.text.contains(other), "{other}: {}", article.text);
    }
    let by = article.published_by.unwrap();
    assert_eq!((by.from, by.zone), ("opengraph", Some(540)));
}

#[test]
fn a_chinese_page_is_read_without_its_notices() {
    let html = "<html lang=zh-CN><body><div class=nav><a href=/>首页</a><a href=/n>新闻</a></div><h1>港口老灯塔时隔十年重新开放</h1>\
        <div class=info>2026年5月1日 来源：港口晚报</div><div class=content>\
        <p>五月一日上午，矗立在港口入口的老灯塔时隔十年重新向市民开放。修缮工程已于去年秋天完工。</p>\
        <p>市里的负责人表示，希望孩子们了解大海的历史。灯塔建于一百多年前，石墙仍保持着当年的样子。</p>\
        <p>来访者登上一百多级台阶，眺望雾散后的大海。开放将持续到秋天，雨天暂停。</p><p>（责任编辑：王小明）</p></div>\
        <div class=xg><h3>相关阅读</h3><ul><li><a href=/1>站前书店即将关门</a></li></ul></div></body></html>";
    let article = read(html, "https://gangkou.example.cn/a/81.html");
    assert!(article.text.contains("重新向市民开放") && article.text.contains("雨天暂停"), "{}", article.text);
    for other in ["首页", "责任编辑", "站前书店", "来源："] {
        assert!(!article.text.contains(other), "{other}: {}", article.text);
    }
    assert_eq!(article.published.map(|at| at.day()).as_deref(), Some("2026-05-01"));
}

#[test]
fn an_explanation_tells_what_was_weighed_and_why_lines_are_left_out() {
    let (article, why) =
        explain(KOREAN, &"https://hangu.example.kr/news/81".parse().unwrap(), &Limits::default()).unwrap();
    assert_eq!(article, read(KOREAN, "https://hangu.example.kr/news/81"));
    let chosen: Vec<_> = why.voices.iter().filter(|voice| voice.chosen).collect();
    assert_eq!(chosen.iter().map(|voice| voice.from).collect::<Vec<_>>(), [article.from]);
    assert!(why.voices.iter().any(|voice| voice.from == "density" && voice.agreement > 0.0));
    let left_out = |part: &str| why.lines.iter().find(|line| line.text.contains(part)).unwrap().left_out;
    assert_eq!(left_out("시민에게 문을"), None);
    assert_eq!(left_out("무단 전재"), Some("about the page, not of its matter"));
}
