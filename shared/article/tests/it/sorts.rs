//! Pages of sorts other than news: threads, recipes, products, galleries, guides. Each has the markup of one kind of
//! software, and shows one general cause of text lost or boilerplate kept.

use curlew_article::{Article, Limits, extract};

fn read(html: &str) -> Article {
    extract(html, &"https://site.example.org/pages/a".parse().unwrap(), &Limits::default()).unwrap()
}

/// Asserts that the text has all of some parts and none of others.
fn assert_text(html: &str, parts: &[&str], others: &[&str]) {
    let article = read(html);
    for part in parts {
        assert!(article.text.contains(part), "'{part}' is missing in {}:\n{}", article.from, article.text);
    }
    for other in others {
        assert!(!article.text.contains(other), "'{other}' is kept in {}:\n{}", article.from, article.text);
    }
}

/// Three paragraphs, long enough to be distinguished from their surroundings.
const WALK: [&str; 3] = [
    "The walk along the weir begins at the old mill, crosses the meadow where herons stand in winter, and ends at the bridge, from \
     where a bus leads back to the station every hour.",
    "Whoever has more time can go on to the lock, where the keeper opens the gates by hand for two or three boats a day, and likes \
     to be asked about the floods.",
    "In autumn the path is closed for a few weeks, since the county lays new stones along the bank and needs all of it for its \
     carts, so that walkers take the road.",
];
/// Sentences too short for a paragraph of an article.
const SHORT: [&str; 6] = [
    "Wash the leaves in cold water and let them drain.",
    "Melt the butter over a small fire until it smells of nuts.",
    "Add the leaves and a pinch of salt, and stir.",
    "Pour in the cream after five minutes.",
    "Let it all simmer with the lid on for a quarter of an hour.",
    "Serve it hot with bread from the day before.",
];

#[test]
fn a_section_of_teasers_within_the_text_ends_with_its_last_link() {
    let link = "<p><a href=/other>Another of our walks, with a ferry</a></p>";
    let rest: String = SHORT.iter().map(|line| format!("<p>{line}</p>")).collect();
    for name in ["Read more", "Trending", "Up next", "Most read", "Meistgelesen", "Читайте также"] {
        for teasers in [link, "", "<ul><li><a href=/1>The ferry</a></li><li><a href=/2>The lock by night</a></li></ul>"]
        {
            let section = format!("<h4>{name}</h4>{teasers}");
            let page = format!(
                "<article><h1>A walk along the weir</h1><p>{}</p><p>{}</p>{section}{rest}<p>{}</p></article>",
                WALK[0], WALK[1], WALK[2]
            );
            assert_text(&page, &[SHORT[0], SHORT[3], SHORT[5], WALK[2]], &["Another of our", "The ferry", name]);
        }
    }
    // In a box of its own a section is left out whole, as is one below the text.
    let teasers: String = SHORT.iter().take(3).map(|line| format!("{link}<p>{line}</p>")).collect();
    let section = format!("<div class=x><h4>Read more</h4>{teasers}</div>");
    for (inside, below) in [(&*section, ""), ("", &*format!("<h4>Read more</h4>{teasers}"))] {
        let page = format!(
            "<article><h1>A walk along the weir</h1><p>{}</p><p>{}</p>{inside}<p>{}</p>{below}</article>",
            WALK[0], WALK[1], WALK[2]
        );
        assert_text(&page, &[WALK[1], WALK[2]], &[SHORT[0], SHORT[1], "Another of our", "Read more"]);
    }
}
