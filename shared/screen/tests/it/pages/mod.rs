//! Pages written for the tests of screening; nothing of them was on the web.
//!
//! Over 500 lines because it is data only, and one list of each kind is easier to weigh against the others.

/// Title, text, language.
pub(crate) type Page = (&'static str, &'static str, &'static str);

/// Pornography and offers of sex.
pub(crate) const ADULT: &[Page] = &[
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
    (
        "P0rn and s3x",
        "Fr33 p0rn for all: h0rny m1lf, b1g t1ts, p0rnstar vide0s, big c0ck, dripping cum, n@ked girls.",
        "en",
    ),
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
    (
        "Naughty college girls gone wild",
        "Explicit adult content: uncensored XXX clips of naughty college girls in lingerie. Watch them strip naked, \
         play with sex toys and enjoy wild group sex. Must be 18 or older to enter.",
        "en",
    ),
    (
        "My neighbour's wife",
        "I slid my hand under her skirt and felt how wet she was. She unzipped me and took my cock in her mouth, \
         sucking until I moaned. Then I bent her over the table and fucked her from behind until we both came.",
        "en",
    ),
    (
        "Donne nude e sesso esplicito",
        "Foto hard e video hot di ragazze nude che fanno sesso davanti alla webcam. Porno amatoriale, orgasmi e \
         scopate senza limiti. Vietato ai minori.",
        "it",
    ),
    ("XXX movies", "Free xxx movies and porn pictures.", "en"),
    (
        "Sesso a pagamento a Roma",
        "Bellissima ragazza sexy offre massaggi erotici, sesso orale e anale, senza preservativo. Escort disponibile \
         24 ore.",
        "it",
    ),
    (
        "Mature escort independent",
        "I am a busty mature escort offering sensual massage, oral sex, role play and bdsm. Incalls only. Horny \
         gentlemen welcome.",
        "en",
    ),
    (
        "Hentai doujin free",
        "Read free uncensored hentai: busty schoolgirl gets creampie by tentacles. Thousands of xxx comics, futanari, \
         milf.",
        "en",
    ),
    (
        "Racconto: la vicina",
        "Mi sbottonò i pantaloni e cominciò a succhiarmi il cazzo. Aveva due tette enormi e la figa bagnata. La \
         scopai sul tavolo finché non venni dentro di lei.",
        "it",
    ),
];

/// Slurs, hate and abuse.
pub(crate) const OFFENSIVE: &[Page] = &[
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
    (
        "Ausländer raus",
        "Dreckige Juden und Kanaken, dieses Gesindel ist Ungeziefer. Untermenschen und Parasiten, sieg heil.",
        "de",
    ),
    (
        "All immigrants are animals and must be exterminated",
        "They are rats and vermin. Kill them all, every last muslim and every jew. Our race is superior and theirs is \
         inferior. Exterminate them before they breed.",
        "en",
    ),
    (
        "Negri tornate al vostro paese",
        "Odio i negri e gli ebrei, andrebbero bruciati tutti. Sono parassiti, bestie, una razza inferiore che sporca \
         l'Italia.",
        "it",
    ),
    (
        "Vaffanculo",
        "Sei uno stronzo di merda, vaffanculo coglione, testa di cazzo, figlio di puttana. Bastardi, siete tutti \
         delle merde.",
        "it",
    ),
    (
        "To the guy in the van",
        "You fucking piece of shit, fuck you asshole, stupid motherfucker and your bitch of a mother. Go to hell you \
         bastard, fuck off and die.",
        "en",
    ),
    (
        "Ebrei, i veri padroni",
        "Gli ebrei sono parassiti che controllano le banche. La razza ebraica va eliminata: ai forni! Sporchi ebrei, \
         feccia.",
        "it",
    ),
    (
        "Kill all of them",
        "White race must stand up. Niggers and muslims rape our women and jews pay for it. Race war now.",
        "en",
    ),
];

/// Advertising of gambling.
pub(crate) const GAMBLING: &[Page] = &[
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
    (
        "Vinci subito alle slot",
        "Le slot online con jackpot più alto, giri gratis e bonus di benvenuto fino a 1000 euro. Scommetti ora sulle \
         partite con le migliori quote.",
        "it",
    ),
    (
        "Win big at slots tonight",
        "Spin the reels and win real money! Sign up for a casino bonus, free spins and jackpots. Our online casino \
         has blackjack, roulette and poker.",
        "en",
    ),
];

/// Advertising of medicines without prescription.
pub(crate) const DRUGS: &[Page] = &[
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

/// Violence shown for its own sake.
pub(crate) const VIOLENCE: &[Page] = &[(
    "Real gore: uncensored execution video",
    "The best gore videos of the week: a beheading video, a mutilated corpse, guts spilled on the road and a severed \
     head. Uncut gore and torture videos every day; watch them die.",
    "en",
)];

/// Texts about such things, and texts that only sound like them.
pub(crate) const PASS: &[Page] = &[
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
    (
        "La guerra di Troia raccontata ai ragazzi",
        "Il cavallo di Troia entrò nella città e i greci uscirono di notte. Elena, la donna più bella, tornò a \
         Sparta.",
        "it",
    ),
    (
        "Spaghetti alla puttanesca",
        "Soffriggete l'aglio con le olive, i capperi e le acciughe, poi aggiungete i pomodori. La ricetta della nonna \
         vuole finocchi crudi e fichi a parte, e un pizzico di peperoncino.",
        "it",
    ),
    (
        "Cannabis, il Parlamento discute la legalizzazione",
        "Il disegno di legge sulla cannabis arriva in aula. Secondo il ministro il consumo di cocaina tra i giovani \
         cresce. I medici chiedono farmaci con ricetta per i pazienti.",
        "it",
    ),
    (
        "El coche negro",
        "El coche negro estaba en la calle. La chica con el vestido negro y los ojos negros miraba la noche, y un \
         gato negro cruzaba con las gallinas negras. Todo era negro como la tinta.",
        "es",
    ),
    (
        "Prostitution in nineteenth-century London",
        "Brothels lined the streets and prostitutes were arrested under the Contagious Diseases Acts. Feminist \
         reformers argued that the laws punished women while men who paid for sex went free. The historian uses \
         police records and hospital registers.",
        "en",
    ),
    (
        "Naked and afraid of nothing: the nude in Renaissance painting",
        "Titian's nude Venus and Michelangelo's naked David changed how artists showed the body. Breasts, thighs and \
         the penis were studied from ancient statues; the erotic was never far away. The museum shows sixty drawings.",
        "en",
    ),
    (
        "Film review: a drama of lust",
        "Two teenagers discover sex over a summer in Spain. There is nudity, some fucking and a good deal of smoking, \
         but the director is more interested in desire than in bodies. The script is funny, and the sex scenes are \
         tender.",
        "en",
    ),
    (
        "Stupro di gruppo, arrestati tre giovani",
        "La ragazza ha raccontato ai carabinieri la violenza sessuale subita. I tre sono accusati di stupro. Il \
         giudice ha disposto il carcere. Il video con scene di sesso era stato diffuso nelle chat.",
        "it",
    ),
    (
        "Lotto e Superenalotto, i numeri vincenti di oggi",
        "Ecco i numeri estratti. Il jackpot sale a 50 milioni. Nessun sei, vincite per i cinque. Il gioco è vietato \
         ai minori e può causare dipendenza.",
        "it",
    ),
    (
        "Poker night raises money for hospice",
        "The village hall hosted a poker and roulette evening with play money. The winner took home a hamper, the \
         hospice two thousand pounds, and nobody lost more than a fiver.",
        "en",
    ),
    (
        "How to talk to your teenager about porn",
        "Many teenagers have seen porn by the age of thirteen. Ask open questions, stay calm, and explain that sex on \
         screen is not like sex in life. Nude selfies and sexting can be a crime if the person is under eighteen. \
         Schools and doctors can help.",
        "en",
    ),
    (
        "Reclaiming the word queer",
        "Dyke, fag and queer were slurs before activists turned them round. A linguist at the university explains why \
         some older gay men still hate the word, and what the law says about hate speech.",
        "en",
    ),
    (
        "Kill the process",
        "If the program hangs, kill it: find the dead child processes and execute the command. The master process \
         will die too; the slave database stays up. Abort, retry, fail.",
        "en",
    ),
    (
        "The Dirty Dozen: bloody good fun",
        "A bloody war film with massacres, killings and corpses by the dozen, slaughtered enemies and a severed head, \
         yet oddly funny. The director knows what he is doing.",
        "en",
    ),
    (
        "Jews and Muslims share a street festival",
        "Jews, Muslims and Christians of the quarter set up tables in the street. A rabbi and an imam cut the bread. \
         Many immigrants from Morocco brought sweets; the Jewish bakery gave the rest. Old people recalled how the \
         street was before.",
        "en",
    ),
    (
        "Sbarchi a Lampedusa, duecento migranti nella notte",
        "Duecento immigrati sono arrivati nella notte su tre barconi. La Lega parla di invasione di clandestini, le \
         opposizioni di razzismo. Gli stranieri sono stati portati nell'hotspot.",
        "it",
    ),
    (
        "Rats in the subway",
        "Rats breed fast. The city wants to exterminate them, but vermin and cockroaches come back when rubbish is \
         left out. Inferior traps do not help; last year ten thousand animals were killed.",
        "en",
    ),
    (
        "Raising a litter of labradors",
        "The bitch should be two years old before you breed. Keep her in a clean box; a wet floor makes puppies sick. \
         Suckling starts at once. The breed is friendly and the animals need exercise.",
        "en",
    ),
    (
        "Storia della razza bovina chianina",
        "La razza chianina è tra le più antiche. Le bestie, bianche, pascolano in primavera; una razza inferiore per \
         resa ma superiore per gusto.",
        "it",
    ),
    (
        "Bikini trends this summer",
        "Sexy, strappy and bold: the new bikinis show more skin. Models wore lingerie tops over naked shoulders; the \
         bra is back as outerwear, and panties come high.",
        "en",
    ),
    (
        "Romanzo rosa: l'estate di Giulia",
        "Giulia si innamora di un pescatore. Un bacio, una notte di passione, il desiderio e l'addio: un romanzo \
         d'amore con qualche scena di sesso e molta malinconia.",
        "it",
    ),
    (
        "Serie A, quote e pronostici della giornata",
        "Il Napoli è favorito secondo i bookmaker: la quota della vittoria è 1,60. La Juventus ospita il Lecce, \
         l'Inter va a Bergamo. Le probabili formazioni e gli arbitri.",
        "it",
    ),
    (
        "I vibratori fanno bene alla salute?",
        "Secondo uno studio pubblicato su una rivista medica la masturbazione e l'uso di sex toys aiutano il \
         pavimento pelvico. La sessuologa: l'orgasmo riduce lo stress. I medici consigliano di parlarne senza \
         vergogna.",
        "it",
    ),
    (
        "Onlyfans star opens up about earnings",
        "The 24-year-old model earned a million last year from nude photos. Some call it porn, she calls it work. Her \
         mother, a nurse, was shocked at first. Tax took half.",
        "en",
    ),
    (
        "Opioids: how oxycodone conquered small towns",
        "Pills were everywhere: oxycodone, tramadol and later fentanyl. Doctors wrote a prescription for every pain, \
         pharmacies shipped millions of tablets. The company paid a fine. Rehab beds are scarce.",
        "en",
    ),
    (
        "Charlie Hebdo ten years on",
        "The killers shot twelve people dead. The blood, the bodies, the murdered cartoonists: survivors remember the \
         massacre. Muslims and Jews marched together.",
        "en",
    ),
];
