//! Tests of elements within a line (unknown and hidden ones, formulas, ruby) and of shadow trees.

use crate::story::{FIRST, read};

const LAST: &str = "<p>Whoever has more time can go on to the lock, where the keeper opens the gates by hand for two or three boats a \
    day and likes to be asked about the floods that he has seen.</p>";

fn text_of(html: &str) -> String {
    read(html).text
}

/// Returns the paragraphs of an article between its first and its last one.
fn between(markup: &str) -> Vec<String> {
    let article = format!("<article><h1>A walk at the weir</h1>{FIRST}{markup}{LAST}</article>");
    let text = text_of(&format!("<title>A walk</title>{article}"));
    let mut lines: Vec<String> = text.split("\n\n").map(str::to_owned).collect();
    assert!(lines.len() >= 2 && lines[0].starts_with("The walk"), "{text}");
    assert!(lines.pop().is_some_and(|last| last.starts_with("Whoever")), "{text}");
    lines.split_off(1)
}

#[test]
fn elements_that_html_does_not_know_are_part_of_their_line() {
    let rest = "and the clerk of the town wrote it into the ledger before the bells rang for noon.";
    for (markup, line) in [
        ("The <term-note>paddle gate</term-note> stood open,", "The paddle gate stood open,"),
        ("At <clock-time at=5>ten</clock-time>, <a-person><b>Mrs Weir</b></a-person> came,", "At ten, Mrs Weir came,"),
        ("In <st1:place><st1:City>Weirham</st1:City></st1:place> it rained<o:p></o:p>,", "In Weirham it rained,"),
        ("It made <output>12</output> turns <g-emoji>🐟</g-emoji> <blink>now</blink>,", "It made 12 turns 🐟 now,"),
        ("A boat <meta itemprop=x content=y><link itemprop=z href=/>came by,", "A boat came by,"),
        ("The <button aria-expanded=false>gate</button>, a <button>board</button>, fell,", "The gate, a board, fell,"),
        ("It <ins><x-y>was <z-z>not</z-z></x-y></ins> shut,", "It was not shut,"),
    ] {
        assert_eq!(between(&format!("<p>{markup} {rest}</p>")), [format!("{line} {rest}")], "{markup}");
    }
    let boxes = format!("<x-part><p>One of them, {rest}</p><p>Another one, {rest}</p></x-part>");
    assert_eq!(between(&boxes), [format!("One of them, {rest}"), format!("Another one, {rest}")]);
    let page = format!("<title>A walk</title><x-menu><a href=/a>Menu</a></x-menu><x-main>{FIRST}{LAST}</x-main>");
    assert!(text_of(&page).starts_with("The walk") && text_of(&page).ends_with("has seen."), "{}", text_of(&page));
}

#[test]
fn what_is_hidden_within_a_line_takes_nothing_but_itself() {
    let rest = "was opened at dawn by the keeper, who had not slept, and by both of his sons.";
    for hidden in [
        "<span hidden><div>a board that lets water through</div></span>",
        "<span style='display:none'><x-note>a board</x-note></span>",
        "<span aria-hidden=true><x-icon name=gate></x-icon></span>",
        "<i class=sr-only><ul><li>a board</li><li>a gate</li></ul></i>",
        "<span class=visually-hidden>a board<br>of wood</span>",
        "<a href=#x aria-hidden=true><svg></svg><x-i></x-i></a>",
    ] {
        let line = between(&format!("<div>The paddle gate{hidden} {rest}</div>"));
        assert_eq!(line, [format!("The paddle gate {rest}")], "{hidden}");
        let list = format!("<ul><li>The north gate {hidden}</li><li>{hidden} The south gate</li></ul>");
        let listed = between(&format!("<h2>The gate {hidden}</h2><p>It {rest}</p>{list}"));
        assert_eq!(listed, ["The gate", &format!("It {rest}"), "The north gate", "The south gate"], "{hidden}");
    }
    // A script may show a longer text, but that text is separate from the text before and after it.
    let long = "Nobody sees this until the button is pressed, which few do. ".repeat(5);
    for hidden in [format!("<span hidden><div>{long}</div></span>"), format!("<span hidden><p>{long}</p>{long}</span>")]
    {
        let kept = between(&format!("<div>The paddle gate of the mill {hidden} {rest}</div>")).join("\n");
        assert!(kept.starts_with("The paddle gate of the mill") && kept.ends_with(rest), "{hidden}: {kept}");
    }
    // The same applies to other parts within a line.
    let counted = "<div>The paddle gate <span class=comments-count><div>12 comments</div></span></div>";
    assert_eq!(between(&format!("{counted}<p>It {rest}</p>")), ["The paddle gate", &format!("It {rest}")]);
}

#[test]
fn an_initial_that_screen_readers_do_not_get_begins_its_word() {
    let rest = "upon a time the keeper of the weir wrote the height of the water into a book.";
    for initial in [
        "<span aria-hidden=true>O</span>nce",
        "<span aria-hidden=true class=initial>O</span><span class=sr-only>O</span>nce",
        "<span class=sr-only>O</span><span aria-hidden=true>O</span><span>nce</span>",
        "<span>O</span>nce",
    ] {
        assert_eq!(between(&format!("<p>{initial} {rest}</p>")), [format!("Once {rest}")], "{initial}");
    }
    let small = between(&format!("<p>A gate {}ever shuts, {rest}</p>", "<span aria-hidden=true>n</span>"));
    assert_eq!(small, [format!("A gate never shuts, {rest}")]);
    let icon = between(&format!("<p><i aria-hidden=true>x</i><span>Close</span> {rest}</p>"));
    assert_eq!(icon, [format!("Close {rest}")], "the letter of an icon font");
    for icon in ["<i aria-hidden=true>add</i>", "<i aria-hidden=true>✓</i>", "<i aria-hidden=true>x</i> "] {
        assert_eq!(between(&format!("<p>{icon}Once {rest}</p>")), [format!("Once {rest}")], "{icon}");
    }
}

#[test]
fn formulas_are_read_once_and_in_their_sentence() {
    let math = "<math>\n  <semantics>\n    <mrow> <mi>Q</mi> <mo>=</mo> <msub><mi>A</mi><mn>1</mn></msub> <mi>v</mi> </mrow>\n    \
        <annotation-xml encoding=MathML-Content><apply><csymbol>subscript</csymbol></apply></annotation-xml>\
        <annotation encoding=application/x-tex>Q = A_{1}\\,v</annotation></semantics></math>";
    let rest = "by the rule that the clerks had learned at school and then forgotten again.";
    for formula in [
        "MATH",
        "<b class=katex><b class=katex-mathml>MATH</b><b class=katex-html aria-hidden=true><b>Q</b><b>=</b></b></b>",
        "<mjx-a><mjx-math aria-hidden=true><mjx-mi><mjx-c>Q</mjx-c></mjx-mi></mjx-math><mjx-b>MATH</mjx-b></mjx-a>",
        "<span><span style='display: none'>MATH</span><img src=/q.svg aria-hidden=true alt='Q = A_1 v'></span>",
    ] {
        let line = between(&format!("<p>The flow is {} {rest}</p>", formula.replace("MATH", math)));
        assert_eq!(line, [format!("The flow is Q=A1v {rest}")], "{formula}");
    }
    let table = "<table><tr><th>Gate</th><th>Error</th></tr><tr><td>North</td><td><math><mn>2</mn><mo>×</mo><mn>3</mn></math></td></tr></table>";
    assert_eq!(between(table), ["Gate | Error", "North | 2×3"]);
    let page = format!("<h1>On {math} and <ruby>水<rt>みず</rt></ruby></h1>{FIRST}{LAST}");
    let title = read(&page).title.unwrap_or_default();
    assert!(title.starts_with("On Q") && title.ends_with("v and 水"), "{title:?}");
}

#[test]
fn readings_beside_characters_are_no_text() {
    let rest =
        "は毎朝その高さを帳面に書きとめたが、春の洪水まで誰もそれを見せてくれとは言わなかったという話が残っている。";
    for ruby in [
        "<ruby><rb>水門番</rb><rp>（</rp><rt>すいもんばん</rt><rp>）</rp></ruby>",
        "<ruby>水<rt>すい</rt>門<rt>もん</rt>番<rtc><rt>みずもり</rt></rtc></ruby>",
        "<ruby><rb>水</rb><rb>門番</rb><rtc>すいもんばん</rtc></ruby>",
    ] {
        assert_eq!(between(&format!("<p>第一の{ruby}{rest}</p>")), [format!("第一の水門番{rest}")], "{ruby}");
    }
}

#[test]
fn links_that_are_signs_and_numbers_of_pages_are_no_text() {
    let note = "His letter of complaint is bound into the back of the book that the clerk kept.";
    for sign in ["↩", "↩︎", "↑", "[^]", "⏎"] {
        assert_eq!(between(&format!("<p>{note} <a href=#ref1>{sign}</a></p>")), [note], "{sign}");
    }
    let glued = "His letter of complaintSIGN is bound into the back of the book that the clerk kept.";
    for sign in [
        "<sup id=ref1><a href=#fn1 role=doc-noteref>1</a></sup>",
        "<a href=#fn1 class=footnote-ref>[12]</a>",
        "<sup class=reference><a href=#note-1><span>[</span>a<span>]</span></a></sup>",
        "<sup><a href=#fn1 data-footnote-ref>†</a></sup>",
    ] {
        assert_eq!(between(&format!("<p>{}</p>", glued.replace("SIGN", sign))), [note], "{sign}");
    }
    for sign in
        ["<sup>3</sup>", "<a href=#year>2</a>", "<sup><a href=#all>All</a></sup>", "<sup><a href=/5>5</a></sup>"]
    {
        assert_ne!(between(&format!("<p>{}</p>", glued.replace("SIGN", sign))), [note], "{sign}");
    }
    for number in ["Page 1 of 3", "Seite 2/7", "Pagina 1 di 3", "1 / 4 ページ", "第1页，共3页"] {
        assert_eq!(between(&format!("<p>{number}</p>")), [""; 0], "{number}");
    }
    for text in ["On page 1 of the 3 books it stands", "Page 3 of 1", "Lock 1 of 3"] {
        assert_eq!(between(&format!("<p>{text}</p><p>{note}</p>")), [text, note], "{text}");
    }
}

#[test]
fn a_declared_shadow_tree_is_read_with_its_slots_filled() {
    let whole = |body: &str| text_of(&format!("<title>A walk</title>{body}"));
    let lines = format!("{FIRST}{LAST}");
    let bare = whole(&format!("<main>{lines}</main>"));
    for body in [
        "<x-app><template shadowrootmode=open><style>p{}</style><main>ONETWO<slot></slot></main></template></x-app>",
        "<x-app><template shadowrootmode=closed><main><slot>Nothing here</slot></main></template>ONETWO</x-app>",
        "<x-app>TWO<template shadowrootmode=OPEN><main><slot name=a></slot><slot></slot></main></template>\
         <div slot=a>ONE</div></x-app>",
        "<x-app><template shadowrootmode=open><main>ONE<x-in><template shadowrootmode=open><slot></slot></template>\
         <slot name=b></slot></x-in></main></template><div slot=b>TWO</div></x-app>",
        "<x-app><template shadowrootmode=open><main>ONE<slot>TWO</slot></main></template>\n</x-app>",
        "<x-app><template shadowrootmode=open><main>ONETWO</main></template><p>Please switch on your scripts.</p></x-app>",
    ] {
        assert_eq!(whole(&body.replace("ONE", FIRST).replace("TWO", LAST)), bare, "{body}");
    }
    // A list item cannot have a shadow tree.
    let item = format!("<main>{FIRST}<ul><li><template shadowrootmode=open><b>x</b></template>{LAST}</li></ul></main>");
    assert!(whole(&item).contains("Whoever has more time"), "{item}");
    assert_eq!(whole(&format!("<template><p>Row</p></template><template shadowrootmode=x>{lines}</template>")), "");
}

#[test]
fn code_keeps_its_lines_and_neither_their_numbers_nor_the_names_of_icons_nor_links_for_editing_are_text() {
    let code = "let gate = 1;\nlet lock = 2;";
    for markup in [
        "<pre>let gate = 1;<br>let lock = 2;</pre>",
        "<pre><code><span class=ln>1</span>let gate = 1;\n<span class=ln>2</span>let lock = 2;\n</code></pre>",
        "<table><tr><td class='rouge-gutter gl'><pre class=lineno>1\n2\n</pre></td>\
         <td><pre>let gate = 1;\nlet lock = 2;\n</pre></td></tr></table>",
        "<table><tr><td class=linenos><div class=linenodiv><pre>1\n2</pre></div></td>\
         <td><pre>let gate = 1;\nlet lock = 2;</pre></td></tr></table>",
    ] {
        assert_eq!(between(markup), [code], "{markup}");
    }
    let rest = "stood open, and the clerk of the town wrote it into the ledger before the bells rang for noon.";
    let icon = format!("<p>The gate <i class=material-icons>open_in_new</i>{rest}</p>");
    assert_eq!(between(&icon), [format!("The gate {rest}")]);
    let section =
        format!("<h2>The gate<span class=mw-editsection>[<a href=/edit>edit</a>]</span></h2><p>It {rest}</p>");
    assert_eq!(between(&section), ["The gate".to_owned(), format!("It {rest}")]);
}
