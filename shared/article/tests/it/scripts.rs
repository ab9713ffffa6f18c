//! Pages in writing systems without spaces, and pages of other countries. Rules that measure width must work for them,
//! too.

use crate::story::{assert_parts, read_at};
use curlew_article::{Limits, explain};

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
    let article = read_at(JAPANESE, "https://minato.example.jp/kiji/81");
    assert_eq!(article.title.as_deref(), Some("港の古い灯台、十年ぶりに公開"));
    let parts = ["十年ぶりに一般に公開された", "海の歴史を知ってもらいたい", "雨の日は休みとなる"];
    let others = ["ホーム", "シェア", "関連記事", "ランキング", "書店が閉店", "無断転載", "9時30分"];
    assert_parts(&article.text, &parts, &others);
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
    let article = read_at(KOREAN, "https://hangu.example.kr/news/81");
    assert_eq!(article.title.as_deref(), Some("항구의 옛 등대, 십 년 만에 문 열다"));
    let parts = ["시민에게 문을 열었다", "바다의 역사를", "가을까지 이어진다"];
    assert_parts(&article.text, &parts, &["페이스북", "무단 전재", "관련기사", "서점", "기자 |"]);
    assert_eq!(article.author.as_deref(), Some("김하늘"));
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
    let article = read_at(html, "https://gangkou.example.cn/a/81.html");
    assert_parts(&article.text, &["重新向市民开放", "雨天暂停"], &["首页", "责任编辑", "站前书店", "来源："]);
    assert_eq!(article.published.map(|at| at.day()).as_deref(), Some("2026-05-01"));
}

/// Pages in other writing systems: a line with language, headline, date, three words of a menu and the title of a list
/// of other articles, followed by three paragraphs.
const PAGES: &str = "\
ar|إعادة فتح المنارة القديمة في الميناء|الجمعة ١ مايو ٢٠٢٦ - ٠٩:٣٠|الرئيسية|أخبار|رياضة|اقرأ أيضا
أعيد صباح الجمعة فتح المنارة القديمة عند مدخل الميناء أمام الجمهور للمرة الأولى منذ عشر سنوات، بعد انتهاء أعمال الترميم في الخريف.
وقال مسؤول في المدينة إنه يأمل أن يتعرف الأطفال على تاريخ البحر، فالجدران الحجرية ما زالت كما كانت يوم بنائها قبل مئة عام.
وصعد الزوار أكثر من مئة درجة ليشاهدوا البحر بعد أن انقشع الضباب، ويستمر الافتتاح حتى الخريف ويتوقف في أيام المطر.
ru|Старый маяк снова открыт|1 мая 2026, 09:30|Главная|Новости|Спорт|Читайте также
Утром в пятницу старый маяк у входа в гавань впервые за десять лет открыли для посетителей, ремонт закончился ещё осенью.
Представитель города сказал, что надеется познакомить детей с историей моря, ведь каменные стены остались такими же, как были.
Гости поднялись более чем на сто ступеней и увидели море, когда рассеялся туман. Маяк будет открыт до осени, кроме дождливых дней.
el|Ο παλιός φάρος άνοιξε ξανά|Παρασκευή, 1 Μαΐου 2026|Αρχική|Ειδήσεις|Σπορ|Διαβάστε επίσης
Το πρωί της Παρασκευής ο παλιός φάρος στην είσοδο του λιμανιού άνοιξε για το κοινό, για πρώτη φορά μετά από δέκα χρόνια.
Εκπρόσωπος του δήμου είπε ότι ελπίζει τα παιδιά να γνωρίσουν την ιστορία της θάλασσας, γιατί οι τοίχοι είναι όπως τότε.
Οι επισκέπτες ανέβηκαν περισσότερα από εκατό σκαλιά και είδαν τη θάλασσα όταν διαλύθηκε η ομίχλη το μεσημέρι.
hi|पुराना प्रकाशस्तंभ फिर खुला|प्रकाशित: १ मई २०२६, ०९:३०|मुखपृष्ठ|समाचार|खेल|यह भी पढ़ें
शुक्रवार की सुबह बंदरगाह के प्रवेश पर खड़ा पुराना प्रकाशस्तंभ दस साल बाद पहली बार लोगों के लिए खोला गया, मरम्मत पिछले साल पूरी हुई थी।
शहर के एक अधिकारी ने कहा कि उन्हें उम्मीद है कि बच्चे समुद्र का इतिहास जानेंगे, क्योंकि पत्थर की दीवारें आज भी वैसी ही हैं।
आने वालों ने सौ से अधिक सीढ़ियाँ चढ़कर समुद्र को देखा, जब कोहरा छँट गया था। यह पतझड़ तक खुला रहेगा, बारिश के दिनों को छोड़कर।
th|ประภาคารเก่าเปิดอีกครั้ง|เผยแพร่ 1 พ.ค. 2569 09:30 น.|หน้าแรก|ข่าว|กีฬา|ข่าวที่เกี่ยวข้อง
เช้าวันศุกร์ ประภาคารเก่าที่ปากอ่าวเปิดให้ประชาชนเข้าชมเป็นครั้งแรกในรอบสิบปี หลังจากงานบูรณะเสร็จสิ้นเมื่อฤดูใบไม้ร่วงปีก่อน โดยกำแพงหินยังคงเหมือนเดิมทุกประการ
เจ้าหน้าที่ของเมืองกล่าวว่าอยากให้เด็กได้รู้จักประวัติศาสตร์ของทะเล และเชิญชวนให้ครอบครัวมาเยี่ยมชมในวันหยุด เพราะค่าเข้าชมถูกและมีรถรับส่งจากสถานีกลาง
ผู้มาเยือนเดินขึ้นบันไดกว่าร้อยขั้นเพื่อมองทะเลหลังหมอกจาง การเปิดให้เข้าชมจะมีไปจนถึงฤดูใบไม้ร่วง ยกเว้นวันที่ฝนตกหนัก ซึ่งทางเมืองจะแจ้งล่วงหน้า
ko|항구의 옛 등대 문 열다|입력 2026. 5. 1. 오전 9:30 수정 2026. 5. 3.|홈|뉴스|스포츠|관련기사
항구 어귀에 서 있는 옛 등대가 1일 아침 십 년 만에 시민에게 문을 열었다. 보수 공사는 지난해 가을에 모두 끝났다.
시 관계자는 아이들이 바다의 역사를 알게 되기를 바란다고 말했다. 등대의 돌벽은 처음 지어진 그대로라고 한다.
찾아온 사람들은 백 개가 넘는 계단을 올라 안개가 걷힌 바다를 바라보았다. 공개는 가을까지 이어진다고 한다.
ja|港の古い灯台、公開|公開日：令和8年5月1日　更新日：令和8年5月3日|ホーム|ニュース|スポーツ|関連記事
港の入り口に立つ古い灯台が一日の朝、十年ぶりに一般に公開された。改修の工事は昨年の秋に終わっていたという。
市の担当者は、子どもたちに海の歴史を知ってもらいたいと話した。灯台は明治の初めに建てられたものである。
訪れた人は百段を超える階段を上り、霧の晴れた海を眺めた。公開は秋まで続き、雨の日は休みとなる予定だ。";

/// Returns a page with a menu, a headline, a line with its date, three paragraphs and a list of other articles.
fn page(facts: &str, paragraphs: &[&str]) -> String {
    let [language, headline, dated, menu @ .., others] = &facts.split('|').collect::<Vec<_>>()[..] else { panic!() };
    let menu: String = menu.iter().map(|word| format!("<li><a href=/m>{word}</a></li>")).collect();
    let text: String = paragraphs.iter().map(|text| format!("<p>{text}</p>")).collect();
    let more: String = (0..3).map(|n| format!("<li><a href=/{n}>{headline} {n}</a></li>")).collect();
    format!(
        "<html lang={language}><head><title>{headline} | Port News</title></head><body><ul>{menu}</ul><div><h1>{headline}</h1>\
         <div>{dated}</div><div>{text}</div></div><div><h3>{others}</h3><ul>{more}</ul></div></body></html>"
    )
}

#[test]
fn pages_in_other_scripts_are_read_with_their_dates() {
    for lines in PAGES.lines().collect::<Vec<_>>().chunks(4) {
        let html = page(lines[0], &lines[1..]);
        let article = read_at(&html, "https://port.example.org/news/81");
        assert_eq!(article.published.map(|at| at.day()).as_deref(), Some("2026-05-01"), "{html}\n{article:?}");
        assert_eq!(article.text.split("\n\n").count(), 3, "{}", article.text);
        let title = article.title.unwrap();
        assert!(html.contains(&format!("<h1>{title}</h1>")), "{title}");
        assert_eq!(article.language.map(|tag| html.contains(&format!("<html lang={tag}>"))), Some(true), "{html}");
    }
}

#[test]
fn an_explanation_tells_what_was_weighed_and_why_lines_are_left_out() {
    let (article, why) =
        explain(KOREAN, &"https://hangu.example.kr/news/81".parse().unwrap(), &Limits::default()).unwrap();
    assert_eq!(article, read_at(KOREAN, "https://hangu.example.kr/news/81"));
    let chosen: Vec<_> = why.candidates.iter().filter(|extractor| extractor.chosen).collect();
    assert_eq!(chosen.iter().map(|extractor| extractor.from).collect::<Vec<_>>(), [article.from]);
    assert!(why.candidates.iter().any(|extractor| extractor.from == "density" && extractor.agreement > 0.0));
    let left_out = |part: &str| why.lines.iter().find(|line| line.text.contains(part)).unwrap().left_out.as_deref();
    assert_eq!(left_out("시민에게 문을"), None);
    assert_eq!(left_out("무단 전재"), Some("about the page, not of its matter"));
}
