//! Tests that boxes, pointers, leads and the site's name are recognized by structure in any language.

use crate::story::{FIRST, REST, assert_parts, read, read_at};

/// Returns the text of an article with markup after its first paragraph (`within`) and after its last (`below`).
fn text(within: &str, below: &str) -> String {
    let text = format!("<h1>A walk at the weir</h1>{FIRST}{within}{REST}{below}");
    read(&format!("<title>A walk</title><div class=page>{text}</div>")).text
}

#[test]
fn boxes_and_pointers_within_the_text_are_left_out() {
    let bare = text("", "");
    for dropped in [
        "<div class=x1><p>خبرهای شهر را در ایمیل بگیرید</p><input type=email placeholder=x><input type=submit></div>",
        "<div><div><h3>Stay up to date</h3><p>Get notified when there is something new, and go whenever you like.</p></div><span><input name=your-email></span></div>",
        "<div><iframe src=/v></iframe><p>Regardez aussi notre reportage</p></div>",
        "<div><div><video src=/v></video></div><div>ভিডিওটি দেখতে এখানে চাপ দিন</div></div>",
        "<div><h2>اقرأ أيضا</h2><ul><li>1<a href=/n/1>خمس قرى عربية تشرب من ضباب الجبال</a></li></ul></div>",
        "<div class=berita-terkait><p>Jembatan gantung putus, dan siswa menyeberang dengan ban sejak hari Senin pagi.</p></div>",
        "<div class='infinite next-article'><p>Ski tracks open earlier than the town had thought, said the club on Monday evening.</p></div>",
    ] {
        assert_eq!(text(dropped, ""), bare, "{dropped}");
    }
    for kept in [
        "<p>Who wants to come along writes to the keeper: <a href=/k>keeper</a>, or asks at the gate in the morning.</p>",
        "<p>His rule: nobody opens a gate alone.</p>",
        "<p>The keeper has a film of it.</p><div><iframe src=/v></iframe></div>",
        "<div><h2>What the film shows</h2><iframe src=/v></iframe></div>",
        "<p>These are told more often than others:</p><ul><li><a href=/n/1>What the keeper saw on the first day</a></li></ul>",
        "<div class=subscriber-preview><p>It had been eleven years, and the lock was silent all that time.</p></div>",
    ] {
        let last =
            kept.rsplit("</").find_map(|part| part.rsplit_once('>').filter(|(_, text)| text.len() > 12)).unwrap().1;
        assert!(text(kept, "").contains(last), "{kept}\n{}", text(kept, ""));
    }
}

#[test]
fn what_stands_below_the_text_is_judged_by_its_place() {
    let bare = text("", "");
    let comments = "<div><b>vert</b>, 22:48</div>she has only moved, and I have seen her there.<p>I made a cup of tea at once when I read it, and another.</p>";
    for dropped in [
        &format!("<a name=comments></a>{comments}"),
        &format!("<div><span><a id=comments></a></span><div>{comments}</div></div>"),
        "<h2><a href=/n/1>冬至吃什么南北网友吵翻了</a></h2><h2><a href=/n/2>列车员一路护送乐器回到家乡</a></h2>",
        "<div id=komentar><p>May the teacher be well and have her boat for many years to come.</p></div>",
    ] {
        assert_eq!(text("", dropped), bare, "{dropped}");
    }
    let card = "<a href=/c><div>How to read a tariff without weeping</div><div>Standing charges, bands and the one line that matters</div>\
        <div>Crumb and Kiln by Ines Example</div></a>";
    let end = "<p>Would he do it again? Yes, but slower.</p>";
    assert_eq!(text("", &format!("{card}{end}")), text("", end));
    let notes = "<h3>Notes</h3><div><span>No bus? The keeper’s neighbour takes walkers back to the station for a cake.</span></div>";
    assert!(text("", notes).ends_with("for a cake."), "{}", text("", notes));
    let top = format!("<a href=#comments id=comments>3 comments</a>{FIRST}{REST}");
    assert!(read(&format!("<h1>A walk</h1><div>{top}</div>")).text.contains("In autumn"));
}

#[test]
fn a_heading_that_leads_home_is_the_site_and_not_the_headline() {
    for page in [
        "<title>Notes at the Window &raquo; Blog Archive &raquo; Of waiting at the weir</title><h1><a href=/>Notes at the Window</a></h1><h2><a href=/news/a-story>Of waiting at the weir</a></h2>",
        "<title>notes &amp; windows — Of waiting at the weir</title><meta property=og:title content='Of waiting at the weir'><a href='https://site.example.org'><h1>notes &amp; windows</h1></a><h2>Of waiting at the weir</h2>",
        "<title>a window: Of waiting at the weir</title><div id=header><a href='http://www.site.example.org/'>a window</a></div><h3>Of waiting at the weir</h3>",
        "<title>Of waiting at the weir : The Window</title><p><a href=/>The Window</a></p>",
        "<title>The Window: Of waiting at the weir</title><h1><a href='https://site.example.org/news/'>The Window</a></h1><h3>Of waiting at the weir</h3>",
        "<title>Solved - Of waiting at the weir | The Window</title><h1><a href=/s><span class='label label--green'>Solved</span></a> Of waiting at the <i class=prefix-x></i>weir <b class=article-label>Essay</b></h1>",
        "<title></title><h1><b class=label>Of waiting at the weir</b></h1>",
    ] {
        let title = read(&format!("{page}<div>{FIRST}{REST}</div>")).title;
        assert_eq!(title.as_deref(), Some("Of waiting at the weir"), "{page}");
    }
    // On the home page itself, the heading is the page's title.
    let home = format!("<title>The Window - notes on waiting</title><h1><a href=/>The Window</a></h1>{FIRST}{REST}");
    assert_eq!(read_at(&home, "https://site.example.org/").title.as_deref(), Some("The Window"));
}

#[test]
fn labels_around_a_writers_name_are_no_part_of_it() {
    let head = "<title>A walk at the weir</title><h1>A walk at the weir</h1>";
    let author = |line: &str| read(&format!("{head}{line}<div>{FIRST}{REST}</div>")).author;
    for line in [
        "<div><span class=meta-prep-author>Veröffentlicht am</span> <a href=/x>9. Februar 2011</a> von <span class='author vcard'><a href=/author/ada>Ada Example</a></span></div>",
        "<div class=post-author>Pubblicato da Ada Example</div>",
        "<div class=byline-top>Publicerad 06:00, 12 mar 2021</div><div class=author><p>Ada Example</p></div>",
        "<div class=author>Ada Example ada.example@site.example.org</div>",
        "<div><span>By <a href=/about>Ada Example</a></span><span>7 min read</span></div>",
        "<div class=penulis>Ada Example</div>",
        "<meta name=author content='Weir Editions, S.L.'><div class=byline>Ada Example</div>",
        "<meta name=author content='Redacción'><div>Por <span class=vcard><span class=fn>Ada Example</span></span></div>",
        "<p class=info><time>04.10.2016 09:30</time> von Ada Example (Comments: 2)</p>",
        "<span class=submitted>Ne, 16/05/2010 - 20:14 — <a href=/uzivatel/ada>Ada Example</a></span>",
        "<div id=w_article_author><span>Ada Example / WEIRHAM</span></div>",
        "<meta property=og:site_name content='The Weir Times'><meta name=author content='Ada Example The Weir Times'>",
        "<meta name=author content=Weirtimes.com.tr><p class=news-reporter>Ada Example</p>",
        "<span class=posted>Posted by Ada Example at October  5, 2004 11:18 PM</span>",
        "<span>Napsal uživatel Ada Example</span>",
        "<div class=byline><span><a href=/redakteur/ada>Ada Example</a> from the weir</span></div>",
        "<div class=x_author__info><span class=x_author__name>Ada Example</span><span class=x_author__role>Reporter at the weir</span></div>",
        "<div class=post_author_ada><p>Monday, 7:40: this is what a post by Ada says, which goes on for more than any line \
            about a writer would, and then for some more, since posts have their writers in their classes, too.</p></div><i class=username>Ada Example</i>",
    ] {
        assert_eq!(author(line).as_deref(), Some("Ada Example"), "{line}");
    }
    let two = "<p>par <span class='vcard author'><a class=fn href=ada>Ada Example</a></span>, \
        <span class='vcard author'><a class=fn href=ben>Ben Example</a></span></p>";
    assert_eq!(author(two).as_deref(), Some("Ada Example, Ben Example"));
    let with_data = |name: &str| author(&format!("<meta name=author content='{name}'>{two}"));
    assert_eq!(with_data("Ada Example").as_deref(), Some("Ada Example, Ben Example"));
    assert_eq!(with_data("Ben Example").as_deref(), Some("Ben Example"));
    let below = |line: &str| read(&format!("{head}<div>{FIRST}{REST}</div>{line}")).author;
    for line in [
        "<div>Posté par <span>Ada Example</span> à 20:14 - <a href=/s>Le pays</a></div>",
        "<p>Geschrieben von <a href=/authors/1>Ada Example</a> in <a href=/c>Wege</a> um 09:12</p>",
        "<div>... von <a href=https://ada.example.net/>Ada Example</a> um 22:17h | in <a href=/l>links</a></div>",
    ] {
        assert_eq!(below(line).as_deref(), Some("Ada Example"), "{line}");
    }
    assert_eq!(below("<p>By signing up, you agree to 2 things.</p>"), None);
    assert_eq!(below("<p>Di un treno che non arriva (14)</p>"), None);
}

#[test]
fn the_boxes_of_a_table_that_lays_out_the_page_are_no_rows_of_data() {
    let menu: String =
        (0..8).map(|n| format!("<img src=w.gif> <a href=l{n}.htm>The lines of letter {n}</a><br>")).collect();
    let news = "<b>What is new</b><br>Trip photos added<br><hr>Best viewed at 800 x 600";
    let side = format!("<font size=-1><b>Go to:</b><br>{menu}<hr>{news}</font>");
    let rows = "<tr><th>Name</th><th>Built by</th></tr><tr><td>Clarice</td><td>Kerr, 1903</td></tr><tr><td>Duchess</td><td>Hunt, 1889</td></tr>";
    let day = "<p>On day N the keeper writes into his book how high the water stands, who came to the gate, and what the herons did while he was away.</p>";
    let days: String = (1..5).map(|n| day.replace('N', &n.to_string())).collect();
    let main = format!("<h1>A walk at the weir</h1><hr>{FIRST}{days}<table border=1>{rows}</table>{REST}");
    let page = format!(
        "<title>A walk at the weir</title><center><table width=760><tr><td colspan=2>Ken’s pages</td></tr>\
         <tr><td width=150>{side}</td><td>{main}</td></tr><tr><td colspan=2>You are visitor number <img src=c.gif> since 1997<br>Hosted free of charge by Weirnet</td></tr></table></center>"
    );
    let text = read(&page).text;
    let others = ["Go to", "letter", "Trip photos", "Best viewed", "Ken’s", "visitor", "Hosted"];
    assert_parts(&text, &["The walk along", "Built by", "Hunt, 1889", "In autumn the path"], &others);
}

#[test]
fn the_sign_of_a_link_to_a_heading_is_not_part_of_it() {
    for sign in ["¶", "🔗", "#", " #", " §"] {
        let heading =
            |level: u8, words: &str| format!("<h{level}>{words}<a class=headerlink href=#x>{sign}</a></h{level}>");
        let page = format!("{}{FIRST}{}{REST}", heading(1, "The weir"), heading(2, "Its lock"));
        let article = read(&format!("<title>The weir - Handbook 4.2</title><main>{page}</main>"));
        assert_eq!(article.title.as_deref(), Some("The weir"), "{sign}");
        assert!(article.text.contains("Its lock\n"), "{sign}: {}", article.text);
    }
    assert_eq!(read("<title>Notes on C#</title><h1>Notes on C#</h1>").title.as_deref(), Some("Notes on C#"));
}

#[test]
fn a_label_before_the_headline_is_no_part_of_the_text_and_the_byline_is_sought_below_it() {
    let page = format!(
        "<title>The weir falls</title><meta property=og:title content='The weir falls'><p>By Ada Menu</p><p>One</p><p>Two</p>\
         <main><h2>Another</h2><h1><span>Report:</span>The weir falls</h1><p>By Ada Example</p>{FIRST}{REST}</main>"
    );
    let article = read(&page);
    assert_eq!((article.title.as_deref(), article.author.as_deref()), (Some("The weir falls"), Some("Ada Example")));
    assert!(!article.text.contains("Report:"), "{}", article.text);
}

#[test]
fn a_day_that_rdfa_states_is_the_day_of_publication_however_it_is_written_on_the_page() {
    let submitted =
        "<span property='dc:date dc:created' content='2012-06-04T21:10:33+02:00'>by Ada, Mo, 06/04/2012 - 21:10</span>";
    let article = read(&format!("<html lang=de><h1>The weir</h1>{submitted}{FIRST}{REST}"));
    assert_eq!(article.published.map(|day| day.to_string()[..10].to_owned()).as_deref(), Some("2012-06-04"));
}

#[test]
fn two_sources_that_agree_on_more_than_the_headline_yield_to_the_one_within() {
    let long = "A lighthouse gets its siren back - The Harbour, 14.05.2024";
    let page = format!(
        "<title>{long}</title><meta property=og:title content='A lighthouse gets its siren back'>\
         <article itemscope itemtype=https://schema.org/Article><div itemprop=headline>{long}</div>{FIRST}{REST}</article>"
    );
    assert_eq!(read(&page).title.as_deref(), Some("A lighthouse gets its siren back"));
}

#[test]
fn a_label_of_its_own_before_the_headline_is_not_part_of_it() {
    let page = |between: &str| {
        let head = r#"<title>By the lake: She counts the fog</title><meta property=og:title content='She counts the fog'><script type="application/ld+json">{"@type":"NewsArticle","headline":"She counts the fog"}</script>"#;
        let heading = format!("<h1><span>By the lake<i>:</i></span>{between}<span>She counts the fog</span></h1>");
        read(&format!("{head}<article>{heading}{FIRST}{REST}</article>")).title
    };
    assert_eq!(page("").as_deref(), Some("She counts the fog"));
    assert_eq!(page(" ").as_deref(), Some("By the lake: She counts the fog"));
}
