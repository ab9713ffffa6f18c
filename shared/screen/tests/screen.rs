//! Pages that must be kept out, pages that must not, and those that are hard to tell apart from them.

use curlew_screen::{REJECT_AT, Screening, Topic, TopicScore, Verdict, judge, screen};

/// Title, text, language.
type Page = (&'static str, &'static str, &'static str);

const ADULT: &[Page] = &[
    (
        "Hot MILF gets fucked hard in free porn video",
        "Watch this horny milf in our best amateur porn of the week. She loves big cock and begs for more until the \
         creampie at the end. Thousands of hardcore porn videos, naked girls and live sex cams are waiting for you. \
         No sign-up, all xxx videos are free.",
        "en",
    ),
    (
        "Chapter 7: The lodger",
        "She was naked and aroused when he came in. He pushed her onto the bed, kissed her nipples, and her moans grew \
         louder with every thrust. Her wet pussy tightened around him; she screamed that he should fuck her harder. \
         His cock was deeper than ever, her tits bounced, and both came in one long orgasm, cum dripping on the sheets.",
        "en",
    ),
    (
        "Escort girls in your town",
        "Sexy girls for a casual hookup tonight. Our escort service sends the hottest call girl to your hotel: \
         striptease, bdsm, oral sex, threesome with two busty babes. Discreet, every fetish is welcome.",
        "en",
    ),
    ("P0rn and s3x", "Fr33 p0rn for all: h0rny m1lf, b1g t1ts, p0rnstar vide0s, big c0ck, dripping cum, n@ked girls.", "en"),
    (
        "Video porno gratis: mogli vogliose",
        "I migliori video porno italiani con casalinghe vogliose e troie in calore. Pompini, scopate selvagge, sesso \
         anale e tette enormi: tutto gratis e senza registrazione. Guarda le ragazze nude in webcam e la chat erotica.",
        "it",
    ),
    (
        "Annunci hot a Milano",
        "Trans escort e accompagnatrici di lusso per incontri hot. Massaggio erotico, sesso orale, padrona e \
         sottomesso, scambio di coppia. Chiama ora, sono eccitata e vogliosa.",
        "it",
    ),
    (
        "Geile MILF privat",
        "Kostenlose Pornos mit nassen Fotzen: geile Milf wird gefickt, dicke Titten, Analsex und Blasen. Sexkontakte und \
         Livesex, nackte Nutten warten auf dich.",
        "de",
    ),
    (
        "Vidéos porno amateur",
        "Du porno gratuit avec des salopes qui aiment sucer une grosse bite. Plan cul, sodomie, gros nichons et \
         gorge profonde : les femmes nues de ta ville t'attendent.",
        "fr",
    ),
    (
        "Vídeos porno caseros",
        "Porno gratis: zorras follando, mamadas, tetas grandes y coño mojado. Chicas desnudas en webcam porno y \
         relatos eróticos cada día.",
        "es",
    ),
];

const OFFENSIVE: &[Page] = &[
    (
        "They are subhuman scum",
        "These dirty immigrants are vermin, parasites and invaders who infest our towns. Deport them all. White power! \
         We will not be replaced by an inferior race while the jews control the papers.",
        "en",
    ),
    (
        "Basta con questa feccia",
        "Sporchi negri e zingari di merda: parassiti, invasori, bestie. Affondate i barconi e affogateli tutti, è la \
         sola cura contro i clandestini di merda. Viva il duce, boia chi molla.",
        "it",
    ),
    ("Ausländer raus", "Dreckige Juden und Kanaken, dieses Gesindel ist Ungeziefer. Untermenschen und Parasiten, sieg heil.", "de"),
];

const GAMBLING: &[Page] = &[
    (
        "Best online casinos with no deposit bonus",
        "Play slots for real money at the best online casinos not on GamStop. Claim free spins and a welcome bonus of \
         200%, check the wagering requirements, and enjoy live dealers, blackjack and roulette with instant payouts. \
         Use our bonus code and bet now.",
        "en",
    ),
    (
        "Migliori casino online non AAMS",
        "Bonus senza deposito, giri gratis e slot online gratis: registrati e gioca nei migliori siti scommesse. \
         Roulette online, casino dal vivo e bonus di benvenuto, con prelievo immediato delle vincite.",
        "it",
    ),
];

const DRUGS: &[Page] = &[
    (
        "Buy Viagra online without prescription",
        "Cheap Viagra and generic Cialis from a Canadian pharmacy. No prescription needed, discreet shipping, money back \
         guarantee. Also Kamagra, Xanax for sale and weight loss pills. Order now.",
        "en",
    ),
    (
        "Viagra senza ricetta",
        "Comprare Viagra e Cialis generico nella farmacia online senza ricetta: spedizione anonima, prezzo scontato, \
         pillole dimagranti e Kamagra. Ordina ora, soddisfatti o rimborsati.",
        "it",
    ),
];

const VIOLENCE: &[Page] = &[(
    "Real gore: uncensored execution video",
    "The best gore videos of the week: a beheading video, a mutilated corpse, guts spilled on the road and a severed \
     head. Uncut gore and torture videos every day; watch them die.",
    "en",
)];

/// Texts about such things, and texts that only sound like them.
const PASS: &[Page] = &[
    (
        "Curlews return to the marsh",
        "The first birds came at the end of March. Walkers are asked to keep dogs on a lead until the chicks have \
         fledged, and the hides on the western bank are open again from eight to six.",
        "en",
    ),
    (
        "What to know about erectile dysfunction",
        "Trouble with getting an erection is common, and treatment helps most patients. A doctor will ask about other \
         diseases, sexual desire and medicines, and may examine the penis. Sildenafil, sold as Viagra, and tadalafil, \
         sold as Cialis, need a prescription; never take pills from a website without prescription. Side effects \
         include headache. Talk to your clinic if symptoms last, since heart disease may be the cause.",
        "en",
    ),
    (
        "Vaginal birth after a caesarean",
        "Most women can give birth through the vagina after an earlier caesarean. The midwife and the doctor explain \
         the risks; the hospital keeps a theatre ready. Breast feeding can begin at once. Sex is possible again when \
         the wound has healed and the patient feels ready.",
        "en",
    ),
    (
        "Court jails man over revenge porn",
        "A man who put nude pictures and a sex video of his former partner on a porn site was sentenced to two years. \
         The judge said the victim had been humiliated. Police found forty explicit videos and pornography on his \
         phone. Campaigners want the law on deepfake porn and leaked nudes to be changed; a minister told parliament \
         that legislation on online pornography would follow.",
        "en",
    ),
    (
        "Sex education in schools: what parents ask",
        "From the age of eleven pupils learn about puberty, sex, contraception, condoms and consent. Teachers answer \
         questions on masturbation, pornography and sexting without embarrassment. Parents may see the curriculum.",
        "en",
    ),
    (
        "Footballer called a faggot and a nigger: club fined",
        "The player reported that supporters had shouted racist abuse and the slurs 'nigger' and 'faggot' at him. \
         Police are investigating a hate crime. The charity that supports victims of racism asked the league for \
         education of fans, and the club was fined according to a spokesman.",
        "en",
    ),
    (
        "How propaganda made people into vermin",
        "The historian shows how newspapers before the war called Jews parasites and vermin, and how the word \
         Untermensch came into school books. The exhibition in the museum quotes speeches on the master race and ends \
         with the testimony of survivors. History, the professor says, begins with words.",
        "en",
    ),
    (
        "Gambling harm: clinics see more young patients",
        "More people than ever seek treatment for addiction to online casinos and betting, the health service said. \
         Researchers found that free bets and bonus offers draw in students. A regulator may ban free spins, and \
         parliament debates a law on slot machines. One patient lost his savings to online slots and roulette.",
        "en",
    ),
    (
        "War crimes trial hears of massacre",
        "The court heard how soldiers killed two hundred villagers in what prosecutors call a massacre. Survivors told \
         the judges of torture and of corpses in the river. The former general denies the charges.",
        "en",
    ),
    (
        "Great tits and blue tits at the feeder",
        "Great tits come first, then the blue tits; a cock pheasant walks below. Our breast of duck recipe needs a hot \
         pan, and the Virgin Islands were never so far away. Moby Dick stands on the shelf beside the titmouse book.",
        "en",
    ),
    (
        "Mens rea, Scunthorpe and the class of Essex",
        "Assess the passage on the analysis of cockpit instruments, the peacock, the shuttlecock and the document from \
         Sussex. Dickens wrote of a mass of grass; the therapist and the assassin sat in the cumulative heat.",
        "en",
    ),
    (
        "Casino Royale at sixty",
        "The novel that made Bond gamble at the roulette table is shown again in a film festival. The director says \
         that the casino, the baccarat game and the poker of later years stand for the odds of the cold war.",
        "en",
    ),
    (
        "Tumore al seno, lo screening salva la vita",
        "Il tumore al seno è il più frequente nelle donne. La mammografia è gratuita dai cinquanta anni: la paziente \
         viene chiamata dall'ospedale, i medici danno la diagnosi in pochi giorni e la terapia comincia subito. Anche \
         il controllo del capezzolo e dei seni nudi davanti allo specchio serve alla prevenzione.",
        "it",
    ),
    (
        "Disfunzione erettile, quando andare dall'urologo",
        "Il medico chiede dell'erezione, del desiderio sessuale e dei farmaci presi, poi visita il pene. Il sildenafil \
         (Viagra) e il tadalafil (Cialis) si danno con ricetta medica; comprare pillole su internet senza ricetta è \
         pericoloso, dice la clinica. I sintomi possono venire da una malattia del cuore.",
        "it",
    ),
    (
        "Revenge porn, condannato l'ex fidanzato",
        "Il tribunale ha condannato a due anni l'uomo che aveva diffuso video porno e foto di lei nuda. La procura \
         aveva chiesto tre anni. La polizia postale ha trovato sul telefono materiale pornografico e altri video \
         erotici. L'avvocato della vittima: una sentenza che applica il codice penale. Il Parlamento discute la legge.",
        "it",
    ),
    (
        "Insulti razzisti allo stadio, aperta un'inchiesta",
        "Dagli spalti si è sentito gridare 'negro di merda' al difensore. La procura ha aperto un'inchiesta per odio \
         razziale, la questura ha identificato tre persone e il giudice sportivo ha chiuso il settore. Il ministro: \
         educazione nelle scuole e diritti umani.",
        "it",
    ),
    (
        "Ludopatia, il comune limita le slot",
        "Il sindaco spegne le slot machine vicino alle scuole: il gioco d'azzardo e le scommesse online, dice lo studio \
         dell'università, portano debiti e dipendenza. I medici seguono duecento pazienti; chi ha perso tutto nei \
         casino online può chiamare l'associazione.",
        "it",
    ),
    (
        "Le pene previste dal codice e il Mar Nero",
        "Le pene detentive restano sette. Il gelato nel cono costa due euro, il culo di bottiglia si ricicla, e le navi \
         tornano dal Mar Nero con l'olio extra vergine. Il sesso debole? Uno stereotipo, dice il libro.",
        "it",
    ),
    (
        "La ricetta della domenica: la torta della nonna",
        "Sbattete le uova con lo zucchero, aggiungete la farina e il latte, e cuocete per quaranta minuti. La quota di \
         burro può scendere. Il bonus: una manciata di pinoli tostati, e un piacere per tutti.",
        "it",
    ),
    (
        "Dicke Nebel über dem Watt",
        "Der Nebel war dick, und der Brachvogel rief. Die Fahrt mit dem Amateurfunk an Bord dauerte drei Stunden; die \
         Schwanzflosse eines Wals war zu sehen.",
        "de",
    ),
    (
        "Le cul-de-sac et la cote",
        "La rue est un cul-de-sac. Le lait maternel au sein, dit le médecin, protège des maladies; les patientes de \
         l'hôpital reçoivent un traitement gratuit.",
        "fr",
    ),
    (
        "Corrida de toros, el congreso debate la ley",
        "La corrida de toros divide al congreso. El cono de helado cuesta dos euros y la polla de agua anida en el \
         humedal, según la universidad.",
        "es",
    ),
];

fn result((title, text, language): Page) -> Screening {
    screen(title, text, Some(language))
}

fn must_reject(pages: &[Page], topic: Topic) {
    for page in pages {
        let result = result(*page);
        assert_eq!(result.verdict, Verdict::Reject, "{} {:?}", page.0, result.topics);
        assert_eq!(result.topics.first().map(|t| t.topic), Some(topic), "{} {:?}", page.0, result.topics);
        assert!(result.rejected_for().contains(&topic.to_string()));
        let unknown = screen(page.0, page.1, None);
        assert_eq!(unknown.verdict, Verdict::Reject, "without a language: {} {:?}", page.0, unknown.topics);
    }
}

#[test]
fn pages_of_a_topic_are_rejected() {
    must_reject(ADULT, Topic::Adult);
    must_reject(OFFENSIVE, Topic::Offensive);
    must_reject(GAMBLING, Topic::Gambling);
    must_reject(DRUGS, Topic::Drugs);
    must_reject(VIOLENCE, Topic::Violence);
}

#[test]
fn pages_about_a_topic_pass() {
    for page in PASS {
        let result = result(*page);
        assert_eq!(result.verdict, Verdict::Pass, "{} {:?}", page.0, result.topics);
        assert!(result.rejected_for().is_empty());
        let unknown = screen(page.0, page.1, None);
        assert_eq!(unknown.verdict, Verdict::Pass, "without a language: {} {:?}", page.0, unknown.topics);
    }
}

#[test]
fn clear_pages_lie_well_apart() {
    let rejected = [ADULT, OFFENSIVE, GAMBLING, DRUGS, VIOLENCE].concat();
    let high = |p: &Page| result(*p).topics.first().map_or(0.0, |t| t.score);
    let lowest = rejected.iter().map(high).fold(1.0, f32::min);
    let highest = PASS.iter().map(high).fold(0.0, f32::max);
    assert!(lowest > REJECT_AT + 0.05 && highest < REJECT_AT - 0.05, "rejected from {lowest}, passed up to {highest}");
}

#[test]
fn a_word_in_passing_does_not_reject_a_page() {
    let (_, text, _) = PASS[0];
    for word in ["porn", "fuck", "casino", "viagra", "slut", "massacre", "milf", "nigger"] {
        let page = format!("{text} {text} {text} Somebody had written {word} on the wall of the hide.");
        assert_eq!(screen(PASS[0].0, &page, Some("en")).verdict, Verdict::Pass, "{word}");
    }
}

#[test]
fn density_counts_not_only_number() {
    let (title, text, _) = ADULT[1];
    let thin = format!("{text} {}", PASS[0].1.repeat(60));
    let score = |text: &str| screen(title, text, Some("en")).topics.first().map_or(0.0, |t| t.score);
    assert!(score(text) > score(&thin) + 0.1);
}

#[test]
fn context_cannot_be_stuffed_in() {
    let (title, text, _) = ADULT[0];
    let stuffed = format!("{text} Doctor, hospital, school, court, judge, police, university, museum, law, health.");
    assert_eq!(screen(title, &stuffed, Some("en")).verdict, Verdict::Reject);
}

#[test]
fn a_words_meaning_is_that_of_the_pages_language() {
    let german = screen("Dick und rund", "Der Hund ist dick. Sehr dick. Ein dick belegtes Brot.", Some("de-AT"));
    assert_eq!(german, Screening { verdict: Verdict::Pass, topics: vec![] });
    let (title, text, _) = ADULT[4];
    assert_eq!(screen(title, text, Some("it-IT")).verdict, Verdict::Reject);
    assert_eq!(screen(title, text, Some("IT")).verdict, Verdict::Reject);
}

#[test]
fn nothing_in_nothing_out() {
    let empty = Screening { verdict: Verdict::Pass, topics: vec![] };
    assert_eq!(screen("", "", None), empty);
    assert_eq!(screen("", "", Some("xx")), empty);
    assert_eq!(screen("日本語", "これは鳥の話です。", Some("ja")), empty);
}

#[test]
fn other_scorers_join() {
    let image = TopicScore { topic: Topic::Adult, score: 0.9 };
    let words = TopicScore { topic: Topic::Adult, score: 0.2 };
    let faint = TopicScore { topic: Topic::Drugs, score: 0.01 };
    let both = judge([words, image, faint]);
    assert_eq!(both, Screening { verdict: Verdict::Reject, topics: vec![image] });
    assert_eq!(judge([words]).verdict, Verdict::Pass);
}

#[test]
fn it_is_written_as_the_command_line_prints_it() {
    let written = serde_json::to_value(result(ADULT[0])).unwrap_or_default();
    assert_eq!(written["verdict"], "reject");
    assert_eq!(written["topics"][0]["topic"], "adult");
    assert!(written["topics"][0]["score"].as_f64().is_some_and(|s| (0.5..=1.0).contains(&s)));
}

#[test]
fn time_grows_with_the_text_only() {
    let nasty = ["sex ".repeat(120_000), "pornporn".repeat(60_000), "orgasm".repeat(80_000), "a@".repeat(250_000)];
    let began = std::time::Instant::now();
    for text in &nasty {
        let _ = screen(text, text, None);
    }
    assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
}
