//! Pages other than news: threads, recipes, products, galleries, guides.

use crate::story::{WALK, assert_parts, read};

/// Asserts that the text of a page has all of `parts` and none of `others`.
fn assert_text(html: &str, parts: &[&str], others: &[&str]) {
    assert_parts(&read(html).text, parts, others);
}

fn walk() -> String {
    WALK.map(|text| format!("<p>{text}</p>")).concat()
}

/// Sentences that are too short for a paragraph of an article.
const SHORT: [&str; 6] = [
    "Wash the leaves in cold water and let them drain.",
    "Melt the butter over a small fire until it smells of nuts.",
    "Add the leaves and a pinch of salt, and stir.",
    "Pour in the cream after five minutes.",
    "Let it all simmer with the lid on for a quarter of an hour.",
    "Serve it hot with bread from the day before.",
];

#[test]
fn all_posts_of_a_thread_are_its_text() {
    let post = |n: usize| {
        let said = format!("<div class=Post-body><p>{n}. {}</p><p>{}</p></div>", WALK[n % 3], SHORT[n % 6]);
        format!("<article class=Post><h3><a href=/u/{n}>walker{n}</a></h3>{said}</article>")
    };
    let posts: String = (0..5).map(post).collect();
    let parts: Vec<String> = (0..5).map(|n| format!("{n}. {}", WALK[n % 3])).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let thread = format!("<nav><a href=/>Home</a></nav><main><h1>Which way along the weir?</h1>{posts}</main>");
    assert_text(&thread, &parts, &["Home"]);
    let entry = |n: usize| {
        let head = format!("<div class=time>1{n}:05</div><div class=head>Number {n} at the gate</div>");
        format!("<li>{head}<div>{n}. {}</div></li>", WALK[n % 3])
    };
    let entries: String = (0..5).map(entry).collect();
    assert_text(&format!("<div class=l><h1>The flood, live</h1><ul class=feed>{entries}</ul></div>"), &parts, &[]);
}

#[test]
fn articles_that_are_teasers_are_not_joined_with_the_article() {
    let teaser = |n: usize| format!("<article><h3><a href=/{n}>Story number {n}</a></h3><p>{}</p></article>", SHORT[n]);
    let teasers: String = (0..4).map(teaser).collect();
    let parts: Vec<String> =
        (1..=4).map(|day| format!("<p>Day {day}. {}</p>", WALK.join(&format!("</p><p>{day}. ")))).collect();
    let page = format!(
        "<article><h1>A walk along the weir</h1><div class=article-body>{}</div></article><div class=more>{teasers}</div>",
        parts.concat()
    );
    assert_text(&page, &["Day 1", "Day 4", WALK[2]], &["Story number", SHORT[1]]);
}

#[test]
fn the_steps_of_a_list_are_text_though_no_paragraph_stands_below_them() {
    let steps: String = SHORT.iter().map(|step| format!("<li><div class=step-text>{step}</div></li>")).collect();
    let things = ["200 g leaves", "50 g butter", "1 cup of cream"];
    let things = things.map(|thing| format!("<div class=field__item>{thing}</div>")).concat();
    let page = format!(
        "<article><h1>Leaves in cream</h1><p>{}</p><div class=field><div class=field__label>Ingredients</div>{things}</div>\
        <h3>How it is done</h3><ul>{steps}</ul></article>",
        WALK[0]
    );
    assert_text(&page, &["How it is done", SHORT[0], SHORT[5]], &[]);
}

#[test]
fn a_section_of_teasers_within_the_text_ends_with_its_last_link() {
    let article = |inside: &str, below: &str| {
        let [one, two, three] = WALK;
        format!(
            "<article><h1>A walk along the weir</h1><p>{one}</p><p>{two}</p>{inside}<p>{three}</p>{below}</article>"
        )
    };
    let link = "<p><a href=/other>Another of our walks, with a ferry</a></p>";
    let rest: String = SHORT.iter().map(|line| format!("<p>{line}</p>")).collect();
    for name in ["Read more", "Trending", "Up next", "Most read", "Meistgelesen", "Читайте также"] {
        for teasers in [link, "", "<ul><li><a href=/1>The ferry</a></li><li><a href=/2>The lock by night</a></li></ul>"]
        {
            let page = article(&format!("<h4>{name}</h4>{teasers}{rest}"), "");
            assert_text(&page, &[SHORT[0], SHORT[3], SHORT[5], WALK[2]], &["Another of our", "The ferry", name]);
        }
    }
    // A section in a separate box is left out completely, like one below the text.
    let teasers: String = SHORT.iter().take(3).map(|line| format!("{link}<p>{line}</p>")).collect();
    let section = format!("<div class=x><h4>Read more</h4>{teasers}</div>");
    for (inside, below) in [(&*section, ""), ("", &*format!("<h4>Read more</h4>{teasers}"))] {
        let page = article(inside, below);
        assert_text(&page, &[WALK[1], WALK[2]], &[SHORT[0], SHORT[1], "Another of our", "Read more"]);
    }
}

#[test]
fn names_of_layouts_do_not_condemn_running_text() {
    for class in ["sidebar-grid__content", "cta-padding", "has-sidebar", "toc-column", "share-layout"] {
        let parts: String =
            WALK.iter().chain(&SHORT).map(|line| format!("<div class='{class}'><p>{line}</p></div>")).collect();
        let other = WALK.join("</p><p>").replace("the", "that");
        let page = format!("<main><h1>A walk along the weir</h1>{parts}<section><p>{other}</p></section></main>");
        assert_text(&page, &[WALK[0], WALK[2], SHORT[4]], &[]);
    }
    // The same names exclude links.
    let links: String = (0..6).map(|n| format!("<li><a href=/{n}>Walk number {n}</a></li>")).collect();
    let links = format!("<div class=sidebar-grid__content><ul>{links}</ul></div>");
    let page = format!("<main><h1>A walk along the weir</h1>{}{links}</main>", walk());
    assert_text(&page, &[WALK[0]], &["Walk number"]);
}

#[test]
fn parts_of_one_name_are_believed_or_not_together() {
    // Captions are the text of a gallery.
    let caption = |text| format!("<div class=slide__caption><p>{text}</p></div>");
    let slides = WALK.map(|text| format!("<div class=slide><img src=/a.jpg>{}</div>", caption(text))).concat();
    let page = format!("<article><h1>The weir in pictures</h1><p>{}</p>{slides}</article>", SHORT[4]);
    assert_text(&page, &WALK, &[]);
    // In an article, captions are left out.
    let caption = "<div class=img__caption>The weir in May, seen from the bridge.</div>";
    let page = format!("<article><h1>A walk along the weir</h1>{}{caption}</article>", walk());
    assert_text(&page, &WALK, &["seen from the bridge"]);
}

#[test]
fn the_name_of_a_heading_does_not_condemn_it() {
    let part = |(n, text)| format!("<h2 class=anchorWithStickyNavbar>Part {n} of the way</h2><p>{text}</p>");
    let parts: String = WALK.iter().enumerate().map(part).collect();
    let page = format!("<article><h1>A walk along the weir</h1>{parts}</article>");
    assert_text(&page, &["Part 0 of the way", "Part 1 of the way", "Part 2 of the way"], &[]);
}

#[test]
fn headings_between_containers_of_the_text_are_kept() {
    let fold = |(n, text)| {
        format!("<details><summary><h2>Question {n}</h2></summary><div class=rte><p>{text}</p></div></details>")
    };
    let folds: String = WALK.iter().enumerate().map(fold).collect();
    let page = format!("<main><h1>The weir</h1><div class=price>9 €</div>{folds}</main>");
    assert_text(&page, &["Question 1", "Question 2", WALK[1]], &["9 €"]);
}

/// Returns a page of services with folded panels, each made by `panel` from its number and text.
fn accordion(panel: impl Fn(usize, &str) -> String) -> String {
    let panels: String = WALK.iter().enumerate().map(|(n, text)| panel(n, text)).collect();
    let links: String = (0..12).map(|n| format!("<li><a href=/{n}>Department {n}</a></li>")).collect();
    let foot = "<footer><p>© Town of Weir. All rights reserved.</p></footer>";
    format!("<nav><ul>{links}</ul></nav><div class=wrap><h1>Services of the weir</h1>{panels}</div>{foot}")
}

#[test]
fn panels_of_an_accordion_are_text_though_they_are_folded() {
    let shut = ["style='display:none'", "hidden", "aria-hidden=true"];
    for how in shut {
        let bare = accordion(|n, text| {
            let button = format!("<button aria-expanded=false>Stretch number {n}</button>");
            format!("<div class=item>{button}<div class=panel {how}><p>{text}</p></div></div>")
        });
        let in_headings = accordion(|n, text| {
            let button = format!("<h3><button aria-expanded=false>Stretch number {n}</button></h3>");
            format!("{button}<div class=panel {how}><p>{text}</p></div>")
        });
        let plain = accordion(|n, text| format!("<h3>Stretch number {n}</h3><div {how}><p>{text}</p></div>"));
        for page in [bare, in_headings, plain] {
            assert_text(&page, &["Stretch number 1", WALK[0], WALK[1], WALK[2]], &["Department", "All rights"]);
        }
    }
}

#[test]
fn what_is_hidden_besides_accordions_stays_out() {
    let hidden = |text: &str| format!("<div style='display:none'><p>{text}</p></div>");
    let each = |part: fn(&str) -> String| ["one", "two", "three"].map(part).concat();
    let page = |more: String| format!("<main><h1>The weir</h1>{}{more}</main>", walk());
    let dialogs = ["one", "two", "three"].map(|n| hidden(&format!("This is dialog {n}, which nobody sees."))).concat();
    assert_text(&(page(String::new()) + &dialogs), &WALK, &["dialog one", "dialog three"]);
    let unquoted =
        |n: &str| format!("<h3>Panel {n}</h3><div hidden data-nosnippet><p>Secret {n} is kept here.</p></div>");
    assert_text(&page(each(unquoted)), &WALK, &["Secret"]);
    let tiny = |n: &str| {
        format!("<h3>Panel {n}</h3><div style='display:block;font-size:0'><p>Bait {n} is for machines.</p></div>")
    };
    assert_text(&page(each(tiny)), &WALK, &["Bait"]);
    let two =
        ["name", "address"].map(|what| format!("<h3>Sign in</h3>{}", hidden(&format!("Your {what} is needed here."))));
    assert_text(&page(two.concat()), &WALK, &["is needed"]);
}

#[test]
fn what_stands_before_the_main_element_is_no_article_however_long() {
    let choice = "We and our partners store information on your device and read it there, for measurement of our audience and for \
                  advertisements that fit your interests.";
    let notice: String = (1..9).map(|n| format!("<p>{choice} This is purpose number {n} of our list.</p>")).collect();
    let text = walk();
    for attributes in ["", "class=cookie-consent", "class=entry-content", "id=layer aria-modal=true"] {
        for main in ["<main>", "<main id=content class=site-main>", "<div role=main>"] {
            let page = format!("<div {attributes}>{notice}</div>{main}<h1>A walk along the weir</h1>{text}");
            assert_text(&page, &WALK, &["purpose number"]);
        }
    }
}

#[test]
fn an_article_before_a_main_element_without_a_headline_is_read() {
    let text = walk();
    let teaser = |n| format!("<h3><a href=/{n}>Walk {n}</a></h3><p>It leads along the river to the next town.</p>");
    let teasers: String = (1..5).map(teaser).collect();
    let page = format!("<div><h1>A walk along the weir</h1>{text}</div><main><h2>More walks</h2>{teasers}</main>");
    assert_text(&page, &WALK, &[]);
}

#[test]
fn what_customers_say_is_no_part_of_a_product() {
    let about = walk();
    let said = "<p>I have walked with it since May, and it holds.</p><p>It came with a scratch on one side.</p>";
    for reviews in [
        format!("<div class='product-reviews list'><h3>What others think</h3>{said}</div>"),
        format!("<h2>Customer reviews</h2>{said}"),
        format!("<div><h2>Kundenbewertungen</h2>{said}</div>"),
    ] {
        let page = format!("<main><h1>A walking stick</h1><div><h2>Description</h2>{about}</div>{reviews}</main>");
        assert_text(&page, &WALK, &["since May", "a scratch"]);
    }
}

#[test]
fn posts_that_repeat_the_headline_in_a_link_are_no_teasers() {
    let long: String = (0..6).map(|n| format!("<p>{} {n}</p>", WALK[n % 3])).collect();
    let title = "A walk along the weir";
    let answer =
        |n| format!("<h3><a href=/thread?p={n}#p{n}>Re: {title}</a></h3><div>I went there too, on day {n}.</div>");
    let answers: String = (1..5).map(answer).collect();
    let page = format!("<title>{title}</title><main><h2>{title}</h2>{long}{answers}</main>");
    assert_text(&page, &["on day 1", "on day 4"], &[]);
}

#[test]
fn a_menu_without_links_is_one_of_dishes() {
    let dish = |n: usize| {
        format!(
            "<div class=menu-item><div class=menu-item-title>Dish {n} of the evening</div>\
             <div class=menu-item-description>With butter, herbs of our garden and bread number {n}</div></div>"
        )
    };
    let dishes: String = (1..8).map(dish).collect();
    let menu = "<div class=menu><a href=/>Home</a> <a href=/menu>Menu</a> <a href=/book>Book a table</a></div>";
    let page = format!(
        "{menu}<main><h1>Menu</h1><p>We cook what the boats land before noon, over oak.</p><div class=menus>{dishes}</div>\
         </main><footer>Harbour inn</footer>"
    );
    let parts = ["what the boats land", "herbs of our garden", "bread number 6"];
    assert_text(&page, &parts, &["Book a table", "Harbour inn"]);
}

#[test]
fn what_is_marked_as_a_panel_is_text_though_it_is_folded_alone() {
    for panel in ["role=tabpanel", "role=region aria-labelledby=t2", "class=accordion-body", "class='tab-pane fade'"] {
        for how in ["hidden", "style='display:none'", "aria-hidden=true"] {
            let page = format!(
                "<main><h1>Walks along the weir</h1><ul role=tablist><li role=tab>One</li><li role=tab id=t2>Two</li></ul>\
                 <div role=tabpanel><p>{}</p></div><div {panel} {how}><p>{}</p></div>\
                 <div class=dialog {how}><p>{}</p></div></main>",
                WALK[0], WALK[1], WALK[2]
            );
            assert_text(&page, &[WALK[0], WALK[1]], &[WALK[2]]);
        }
    }
}

#[test]
fn a_carousel_of_quotes_is_text_and_one_of_teasers_is_not() {
    let quotes = "<div class='carousel slide'><div><blockquote><p>We had to switch the lights off to get our guests out.</p>\
                  </blockquote></div><div><blockquote><p>It rained all day and nobody minded at all.</p></blockquote></div></div>";
    let teasers = "<div class='carousel slide'><div><a href=/1>The other walk along the canal</a></div><div>\
                   <a href=/2>The walk up to the tower</a></div></div>";
    let page = format!("<main><h1>A walk along the weir</h1>{}{quotes}{}{teasers}</main>", walk(), SHORT[0]);
    assert_text(&page, &[WALK[0], "switch the lights off"], &["along the canal"]);
}
