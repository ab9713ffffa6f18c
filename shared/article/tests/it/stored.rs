//! Pages whose markup has no text: the text is in `<noscript>`, in JSON-LD, or in the data of the page's scripts.

use crate::story::{WALK, assert_parts, read};
use curlew_article::{Limits, measure};

/// Asserts that the text of a page is the three paragraphs of [`WALK`], found by the rule `from`, and contains none of
/// `others`.
fn assert_walk(body: &str, from: &str, others: &[&str]) {
    let article = read(&format!("<title>A walk</title><div id=root><h1>A walk along the weir</h1></div>{body}"));
    assert_eq!(article.from, from, "{body}\n{}", article.text);
    assert_parts(&article.text, &WALK, others);
}

fn paragraphs() -> String {
    WALK.map(|line| format!("<p>{line}</p>")).concat()
}

/// Returns a text as a JSON string.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

const MENU: &str = "Subscribe to the paper of the valley and read of everything that happens on both banks.";

#[test]
fn a_page_for_browsers_without_scripts_is_read() {
    let inner = format!("<nav><a href=/>Home</a></nav><article>{}</article>", paragraphs());
    assert_walk(&format!("<noscript>{inner}</noscript>"), "noscript", &["Home"]);
    let shown = format!("<article>{}</article><noscript><p>{}</p></noscript>", paragraphs(), MENU.repeat(6));
    assert_walk(&shown, "article", &["Subscribe"]);
}

#[test]
fn the_data_of_a_pages_scripts_is_read_where_the_markup_has_no_text() {
    let lines = WALK.map(|line| format!("{{\"type\":\"paragraph\",\"value\":{}}}", quoted(line))).join(",");
    let menu = quoted(MENU);
    let page = |body: &str| format!("{{\"props\":{{\"menu\":[{{\"t\":{menu}}}],\"post\":{{\"body\":{body}}}}}}}");
    let html = quoted(&paragraphs());
    for data in [page(&html), page(&format!("[{lines}]")), page(&quoted(&WALK.join("\n\n")))] {
        assert_walk(&format!("<script id=__NEXT_DATA__ type=application/json>{data}</script>"), "data", &["Subscribe"]);
        assert_walk(&format!("<script>window.__PRELOADED_STATE__ = {data};go()</script>"), "data", &["Subscribe"]);
        assert_walk(
            &format!("<script>window.__NUXT__=JSON.parse({});</script>", quoted(&data)),
            "data",
            &["Subscribe"],
        );
        let (one, two) = data.split_at(data.len() / 2);
        let push = |piece: &str| format!("<script>self.__next_f.push([1,{}])</script>", quoted(piece));
        assert_walk(&format!("{}{}", push(&format!("3:{one}")), push(&format!("{two}\n"))), "data", &["Subscribe"]);
    }
    let html = paragraphs();
    let row = format!("2:I[1]\n1f:T{:x},{html}4:[]\n", html.len());
    assert_walk(&format!("<script>self.__next_f.push([1,{}])</script>", quoted(&row)), "data", &[]);
}

#[test]
fn the_elements_of_a_stream_are_read_as_the_markup_that_they_make() {
    let [one, two, three] = WALK;
    let (before, after) = one.split_at(one.find("crosses").unwrap());
    let data = [
        r##"1:["$","nav",null,{"className":"menu","children":["$","ul",null,{"children":[["$","li",null,{"children":"MENU"}]]}]}]"##,
        r##"2:["$","article",null,{"className":"post","children":[["$","h2",null,{"children":"To the lock"}],["$","p","0",{"children":["BEFORE",["$","strong",null,{"children":"crosses"}],["$","$L4",null,{"href":"/m","children":" the"}]," AFTER",["$","code",null,{"children":3}]]}],"##,
        r##"["$","$L5",null,{"post":{"body":"TWO","id":"x"}}],["$","div",null,{"dangerouslySetInnerHTML":{"__html":"<p>THREE</p>"}}],["$","style",null,{"children":"a style that has as many words as any other line here"}]]}]"##,
    ];
    let data = format!("{}\n{}{}\n", data[0], data[1], data[2]);
    let (menu, rest) = (MENU, after.trim_start_matches("crosses the "));
    let put = [("MENU", menu), ("BEFORE", before), ("AFTER", rest), ("TWO", two), ("THREE", three)];
    let data = put.iter().fold(data, |data, (name, text)| data.replace(name, text));
    let body = format!("<script>self.__next_f.push([1,{}])</script>", quoted(&data));
    let article = read(&format!("<title>A walk</title>{body}"));
    assert_eq!(article.from, "data");
    assert_eq!(article.text, ["To the lock", &format!("{one}3"), two, three].join("\n\n"));
}

#[test]
fn children_of_a_stream_that_begin_with_text_are_one_paragraph() {
    let rows = WALK.iter().zip(["old ", "keeper ", "closed "]).zip(1..).map(|((line, word), number)| {
        let (before, after) = line.split_once(word).unwrap();
        let [before, after] = [before, after].map(quoted);
        format!(
            r#"{number}:["$","$L3",null,{{"children":[{before},["$","em",null,{{"children":"{word}"}}],{after}]}}]"#
        )
    });
    let data = rows.collect::<Vec<_>>().join("\n");
    let article = read(&format!("<title>A walk</title><script>self.__next_f.push([1,{}])</script>", quoted(&data)));
    assert_eq!((article.from, article.text), ("data", WALK.join("\n\n")));
}

#[test]
fn words_of_menus_in_data_are_no_text() {
    let words = (0..60).map(|n| format!("\"k{n}\":{}", quoted(&format!("{n} {MENU}")))).collect::<Vec<_>>().join(",");
    let html = format!(
        "<title>A walk</title><p>Enable scripts.</p><script type=application/json>{{\"messages\":{{{words}}}}}</script>"
    );
    assert!(!read(&html).text.contains("Subscribe"));
}

#[test]
fn the_steps_of_linked_data_are_read() {
    let [one, two, three] = WALK.map(quoted);
    let how = format!(
        "{{\"@type\":\"HowTo\",\"name\":\"A walk\",\"step\":[{{\"@type\":\"HowToSection\",\"name\":\"To the lock\",\"itemListElement\":[\
         {{\"@type\":\"HowToStep\",\"text\":{one}}},{{\"@type\":\"HowToStep\",\"text\":{two}}}]}},{{\"@type\":\"HowToStep\",\"text\":{three}}}]}}"
    );
    assert_walk(&format!("<script type=application/ld+json>{how}</script>"), "jsonld", &[]);
    let recipe = format!(
        "{{\"@type\":\"Recipe\",\"name\":\"A walk\",\"recipeIngredient\":[\"Two boots\",\"A flask of tea\"],\"recipeInstructions\":[{one},{two},{three}]}}"
    );
    let text = format!("<script type=application/ld+json>{recipe}</script>");
    assert_walk(&text, "jsonld", &[]);
    assert!(read(&text).text.starts_with("Two boots\n\nA flask of tea\n\nThe walk"));
}

#[test]
fn data_is_read_in_proportion_to_its_length() {
    let page = |many: usize| {
        let deep = format!("{}{}{}", "[".repeat(100), quoted(WALK[0]), "]".repeat(100));
        let data = vec![deep; many].join(",");
        let noscript = "<b><div>".repeat(many);
        format!("<title>A walk</title><script type=application/json>[{data}]</script><noscript>{noscript}</noscript>")
    };
    let steps =
        |many| measure(&page(many), &"https://site.example.org/a".parse().unwrap(), &Limits::default()).1.total();
    let (one, two) = (steps(1_000), steps(2_000));
    assert!(two <= one * 5 / 2 + 2_500_000, "{one} steps, and {two} for twice the page");
}
