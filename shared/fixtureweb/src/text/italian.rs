//! Italian sentence banks.

use super::Bank;

const MESI: [&str; 12] = [
    "gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre",
    "dicembre",
];

const NOMI: [&str; 8] = [
    "Livia Marangoni", "Tommaso Ferri", "Adele Prandi", "Corrado Nobili", "Irene Bassetti", "Paolo Vigano",
    "Giulia Cattani", "Ettore Salvi",
];

/// Mountain paths and huts.
pub(crate) const MONTAGNA: Bank = Bank {
    lang: "it",
    titles: &[
        "Salita al {p} con la prima neve", "Un rifugio sopra {p}", "Il sentiero dimenticato di {p}", "Alba sulla cresta di {p}",
        "Tre giorni attorno a {p}", "Le marmotte di {p}", "Acqua e sassi: il torrente di {p}", "Come si legge il cielo a {p}",
    ],
    openings: &[
        "Siamo partiti da {p} prima delle sei, quando la valle era ancora piena di nebbia.",
        "Chi arriva a {p} dalla strada bassa non immagina quanto silenzio ci sia dietro il primo tornante.",
        "Il cartello all’inizio del sentiero di {p} promette {n} minuti di cammino, ma conviene contarne il doppio.",
        "A {p} l’autunno comincia quando i larici cambiano colore tutti nella stessa notte.",
    ],
    body: &[
        "Il bosco finisce di colpo e lascia il posto a un prato inclinato, pieno di genziane e di pietre piatte.",
        "Alla fontana di legno abbiamo riempito le borracce, perché più in alto l’acqua si trova soltanto fino a {m}.",
        "Il gestore del rifugio, {a}, racconta che quest’anno il ghiaione si è mosso di {n} metri.",
        "Un gruppo di camosci ci ha guardati a lungo prima di sparire dietro il costone.",
        "Il tratto con le catene è breve e ben fissato, ma con la roccia bagnata chiede attenzione.",
        "Dalla sella si vedono insieme il lago e la pianura, divisi da una lama di luce.",
        "Per il ritorno abbiamo scelto la mulattiera militare, più lunga e molto più dolce per le ginocchia.",
        "Le nuvole si sono alzate verso le undici e il vento ha cominciato a portare odore di pioggia.",
        "Nel quaderno di vetta l’ultima firma era di {n} giorni prima, scritta a matita e quasi cancellata.",
        "Vecchie travi e un muro a secco ricordano che qui si falciava il fieno fino agli anni sessanta.",
        "Consigliamo scarponi alti, una mantella leggera e una carta di carta, perché il telefono non prende.",
        "Sul versante nord la neve resiste nei canali anche in {m}, compatta e sporca di terra.",
        "La minestra d’orzo costava quanto un caffè in città e valeva da sola la salita.",
        "Chi ha poco tempo può fermarsi al bivio di {q}, dove una panca guarda tutta la conca.",
        "Il rumore del torrente accompagna ogni passo e copre perfino le campane della valle.",
        "Abbiamo contato {n} ometti di pietra tra il pascolo e la forcella, alcuni rifatti da poco.",
    ],
    closings: &[
        "Siamo tornati alla macchina con le ginocchia stanche e la voglia di ripartire presto.",
        "Il prossimo appunto parlerà del versante opposto, meno noto e più selvatico.",
        "Scrivete pure se trovate il sentiero cambiato: aggiorneremo la traccia di {p}.",
    ],
    places: &["Pian dei Cervi", "Malga Fosca", "Cima Verdana", "Passo del Corvo", "Val Sorda", "Monte Lumina", "Alpe Ronchera", "Forcella Grigia", "Prato Alto"],
    people: &NOMI,
    months: &MESI,
};

/// Home cooking.
pub(crate) const CUCINA: Bank = Bank {
    lang: "it",
    titles: &[
        "La zuppa di farro come la fanno a {p}", "Pane di patate, ricetta di {p}", "Cosa cucinare in {m} con poche verdure",
        "Gli gnocchi della domenica a {p}", "Conservare i pomodori: il metodo di {p}", "Una torta di mele senza burro da {p}",
        "Il brodo lento di {p}", "Polenta e funghi sulla strada per {p}",
    ],
    openings: &[
        "Questa ricetta ci arriva da {p}, dove {a} la prepara ogni {m} per tutta la famiglia.",
        "Bastano {n} minuti di pazienza e una pentola pesante per portare in tavola il sapore di {p}.",
        "Nelle cucine di {p} non si butta niente, e questo piatto lo dimostra meglio di ogni discorso.",
        "Ho provato questa preparazione per la prima volta a {p}, in una sera di pioggia.",
    ],
    body: &[
        "Lasciate i legumi in acqua fredda per tutta la notte e cambiatela almeno due volte.",
        "Il soffritto deve appassire piano, con il coperchio appoggiato e la fiamma al minimo.",
        "Aggiungete il sale soltanto alla fine, altrimenti la buccia diventa dura.",
        "Un cucchiaio di olio crudo e qualche foglia di salvia cambiano il profumo di tutto il piatto.",
        "Se l’impasto si attacca alle mani, spolverate il piano con poca farina e fatelo riposare {n} minuti.",
        "La crosta del formaggio, lavata e raschiata, dà al brodo una rotondità che il dado non conosce.",
        "Per {n} persone servono circa tre etti di farina e due uova grandi.",
        "Il forno va scaldato bene prima, perché il calore dal basso asciuga il fondo senza bruciarlo.",
        "Chi ama i sapori forti può unire un’acciuga e un pezzetto di peperoncino.",
        "Nella versione di {a} ci sono anche le castagne, lessate a parte e aggiunte a pezzi grossi.",
        "Il giorno dopo è ancora più buona, riscaldata adagio con un bicchiere d’acqua.",
        "Le verdure vanno tagliate tutte della stessa misura, così cuociono insieme.",
        "In {m} si trovano zucche piccole e sode, perfette per questa preparazione.",
        "Assaggiate spesso e fidatevi del naso più che dell’orologio.",
        "Con gli avanzi si fanno ottime crocchette, passate nel pane grattugiato e dorate in padella.",
    ],
    closings: &[
        "Servite in piatti caldi, con una fetta di pane abbrustolito e un bicchiere di vino giovane.",
        "Se provate una variante raccontatecela: le migliori finiscono nel quaderno di casa.",
        "La prossima settimana torniamo a {p} per imparare il ripieno delle feste.",
    ],
    places: &["Borgo San Lio", "Castelvento", "Roccapiana", "Montedoro", "Valle Ombrosa", "Pieve Vecchia", "Torre Salina", "Campolungo", "Acquaviva Alta"],
    people: &NOMI,
    months: &MESI,
};

/// Local news of a small town.
pub(crate) const BORGO: Bank = Bank {
    lang: "it",
    titles: &[
        "Riapre la biblioteca di {p} dopo i lavori", "{p}, il mercato torna in piazza", "Nuova corriera tra {p} e la stazione",
        "Il consiglio di {p} approva la pista ciclabile", "Scuola di {p}: orto in cortile", "{p} pianta {n} tigli lungo il viale",
        "A {p} un archivio per le vecchie fotografie", "Il ponte di {p} chiuso per due settimane",
    ],
    openings: &[
        "La notizia era nell’aria da {m} e ieri sera è arrivata la conferma del comune di {p}.",
        "Più di {n} persone hanno seguito l’incontro pubblico nella palestra di {p}.",
        "Da lunedì a {p} cambia qualcosa che gli abitanti chiedevano da anni.",
        "{p} si prepara a una stagione di cantieri, ma questa volta con un calendario chiaro.",
    ],
    body: &[
        "I lavori costeranno poco più di {n} mila euro, coperti per metà da un fondo regionale.",
        "L’assessora {a} ha spiegato che il progetto nasce da un questionario distribuito nelle case.",
        "Alcuni commercianti temono per i parcheggi, altri sperano in più passaggio a piedi.",
        "Il tratto più vecchio risale al primo dopoguerra ed era segnato sulle mappe con un altro nome.",
        "Gli orari saranno affissi alla fermata e pubblicati sul sito del comune entro la fine di {m}.",
        "La cooperativa locale metterà a disposizione due furgoni e una decina di volontari.",
        "Un comitato di genitori ha raccolto {n} firme per chiedere anche un attraversamento illuminato.",
        "Secondo i tecnici il terreno è stabile, ma servono nuove grondaie prima dell’inverno.",
        "Durante la prova generale la corriera ha impiegato meno del previsto, nonostante la pioggia.",
        "La maestra {a} racconta che i bambini hanno scelto da soli le piante da mettere lungo il muro.",
        "Nel vecchio magazzino sono stati trovati registri e cartoline di quasi un secolo fa.",
        "La spesa tornerà in consiglio a {m}, quando saranno note le offerte delle imprese.",
        "Il parroco ha offerto il salone per le riunioni finché la sala civica resterà chiusa.",
        "Chi abita a {q} potrà usare lo stesso biglietto per tutta la giornata.",
        "La banda del paese suonerà all’inaugurazione, con un programma breve e qualche sorpresa.",
    ],
    closings: &[
        "Il prossimo incontro è fissato per le nove di sera, con ingresso libero.",
        "Per informazioni resta aperto lo sportello al piano terra del municipio di {p}.",
        "Torneremo sull’argomento non appena saranno pubblicati i verbali.",
    ],
    places: &["Collesanto", "Pontelungo", "Villanova al Rio", "San Martino in Poggio", "Castel Ginepro", "Lago Piccolo", "Serravento", "Monterivo", "Fontebuona"],
    people: &NOMI,
    months: &MESI,
};

/// Vegetable gardens.
pub(crate) const GIARDINO: Bank = Bank {
    lang: "it",
    titles: &[
        "Seminare le fave a {p}", "L’orto di {p} in {m}", "Lumache e cenere: appunti da {p}", "Il compost lento di {p}",
        "Potare i meli vecchi a {p}", "Le rose antiche di {p}", "Un muretto a secco per l’orto di {p}", "Quanta acqua serve davvero a {p}",
    ],
    openings: &[
        "Il terreno di {p} è pesante e trattiene l’acqua, perciò ogni lavoro va pensato in anticipo.",
        "In {m} l’orto sembra fermo, ma sotto la pacciamatura succede di tutto.",
        "Abbiamo chiesto ad {a} di mostrarci come prepara le aiuole a {p}.",
        "Dopo {n} giorni senza pioggia si capisce quali piante hanno radici profonde.",
    ],
    body: &[
        "Uno strato di foglie secche alto una mano basta a tenere lontane quasi tutte le erbe.",
        "Le file vanno orientate da nord a sud, così il sole arriva su entrambi i lati.",
        "Conviene annaffiare la sera, vicino al piede, senza bagnare le foglie.",
        "I semi tenuti in una scatola di latta germinano bene anche dopo tre anni.",
        "Le api arrivano appena fiorisce la borragine e restano fino a {m}.",
        "Chi ha poco spazio può far salire i fagioli sul mais, come si faceva un tempo.",
        "La cenere del camino va usata con misura, perché rende il terreno più calcareo.",
        "Un catino d’acqua con qualche sasso attira uccelli e ricci, ottimi alleati contro i parassiti.",
        "Quest’anno le zucchine hanno dato {n} frutti per pianta, quasi troppi per una famiglia.",
        "Le talee di rosmarino radicano meglio se si tolgono le foglie basse e si usa sabbia umida.",
        "Il vento di {q} asciuga presto le foglie e tiene lontana la peronospora.",
        "Meglio zappare poco e spesso, rompendo soltanto la crosta.",
        "Le piantine comprate al mercato hanno bisogno di qualche giorno all’ombra prima del trapianto.",
        "Nel vecchio pozzo il livello è sceso di {n} centimetri rispetto alla primavera.",
        "Con le canne raccolte lungo il fosso si fanno sostegni leggeri che durano due stagioni.",
    ],
    closings: &[
        "Nel prossimo quaderno parleremo di semi scambiati tra vicini.",
        "Se il gelo arriva presto, un telo leggero basta a salvare le insalate.",
        "La regola di {a} resta la migliore: guardare molto e toccare poco.",
    ],
    places: &["Cascina Betulla", "Orto Grande", "Ca’ del Fico", "Villa Menta", "Podere Lungo", "Le Ghiaie", "Rio Secco", "La Spalliera", "Poggio Fiorito"],
    people: &NOMI,
    months: &MESI,
};

/// Books and reading.
pub(crate) const LIBRI: Bank = Bank {
    lang: "it",
    titles: &[
        "Rileggere «{p}» vent’anni dopo", "Perché «{p}» parla ancora di noi", "Una nota su «{p}»", "«{p}» e l’arte di finire una storia",
        "I margini di «{p}»", "Chi traduce «{p}»", "Cinque pagine da «{p}»", "La copertina perduta di «{p}»",
    ],
    openings: &[
        "Ho ritrovato «{p}» in fondo a uno scaffale, con un biglietto del tram infilato a pagina {n}.",
        "Ci sono libri che aspettano, e «{p}» è uno di questi.",
        "La nuova edizione di «{p}» esce in {m}, con una prefazione di {a}.",
        "Nel gruppo di lettura abbiamo discusso «{p}» per quasi tre ore.",
    ],
    body: &[
        "La trama si racconta in due righe, ma la voce del narratore rimane in testa per settimane.",
        "L’autrice lavora per sottrazione e lascia che siano gli oggetti a dire quello che i personaggi tacciono.",
        "Il capitolo del treno è forse il più riuscito, con quel dialogo interrotto {n} volte.",
        "La traduzione sceglie parole semplici e un ritmo lungo, adatto alla lettura ad alta voce.",
        "Colpisce la precisione con cui vengono descritte le stanze, come se la casa fosse la vera protagonista.",
        "Qualcuno ha trovato lento il centro del libro, altri lo considerano la sua parte migliore.",
        "Nelle ultime pagine il tempo si restringe e ogni frase pesa di più.",
        "Il confronto con «{q}» viene naturale, anche se i due romanzi guardano in direzioni opposte.",
        "In un’intervista {a} ha detto di averlo scritto in {n} settimane, quasi senza correzioni.",
        "La carta è spessa, il carattere generoso, e per una volta anche l’indice serve a qualcosa.",
        "Ho sottolineato poche righe, tutte dedicate alla luce del pomeriggio.",
        "Chi cerca una morale resterà deluso: il finale apre una porta e non entra.",
        "Lo consiglierei a chi viaggia spesso e non ama le valigie piene.",
        "Le note in fondo al volume sono brevi e raccontano piccole storie parallele.",
    ],
    closings: &[
        "Il quaderno resta aperto: i commenti più belli arrivano sempre con qualche mese di ritardo.",
        "Ci vediamo in {m} con un racconto breve di {a}.",
        "Per ora lo rimetto sullo scaffale, ma in una posizione più comoda.",
    ],
    places: &["Le stanze d’inverno", "Il custode del faro", "Sabbia fine", "La linea dei pioppi", "Un’estate a matita", "Il nome delle barche", "Lettere da Porto Nebbia", "La casa dei contrari", "Quasi ottobre"],
    people: &NOMI,
    months: &MESI,
};

/// Streets and buildings of old towns.
pub(crate) const STRADE: Bank = Bank {
    lang: "it",
    titles: &[
        "I portici di {p}", "Una piazza da guardare piano: {p}", "Le botteghe chiuse di {p}", "Il liberty nascosto di {p}",
        "Camminare di notte a {p}", "Le scale di {p}", "La stazione di {p}, cent’anni dopo", "I cortili di {p}",
    ],
    openings: &[
        "A {p} conviene arrivare a piedi, dal lato del fiume, quando le facciate sono ancora in ombra.",
        "Il quartiere di {p} è cresciuto in fretta, e si vede da come cambiano le finestre.",
        "Per {n} anni nessuno ha aperto il portone verde di {p}.",
        "La guida tascabile dedica a {p} soltanto tre righe, e sono tre righe sbagliate.",
    ],
    body: &[
        "Le colonne sono di una pietra chiara che al tramonto prende il colore del miele.",
        "Sul cornicione restano {n} mascheroni, ognuno con un’espressione diversa.",
        "L’architetto {a} disegnò anche le maniglie, oggi quasi tutte sostituite.",
        "Il selciato pende verso il centro, dove una canaletta raccoglie ancora la pioggia.",
        "Nel cortile interno un glicine enorme regge quello che rimane della ringhiera.",
        "La bottega del rilegatore apre soltanto di mattina e profuma di colla e di cuoio.",
        "Una lapide ricorda l’alluvione di {m}, quando l’acqua arrivò al primo piano.",
        "Gli affreschi della volta sono stati puliti da poco e mostrano un cielo sorprendentemente blu.",
        "Di sera le lampade basse disegnano archi sul muro e il passo rallenta da solo.",
        "Un anziano del posto giura che sotto la piazza corre una galleria fino a {q}.",
        "I restauri hanno tolto le insegne al neon e riportato alla luce vecchie scritte dipinte.",
        "Dal ballatoio si vede la torre dell’acqua, ormai circondata dalle case nuove.",
        "Il caffè all’angolo serve ancora le bibite nelle bottiglie di vetro spesso.",
        "Le scale salgono di {n} gradini e cambiano direzione tre volte senza avvisare.",
    ],
    closings: &[
        "Vale la pena di tornarci in {m}, con una luce più bassa e meno gente.",
        "La passeggiata finisce dove era cominciata, ma sembra un’altra città.",
        "Il mese prossimo cammineremo verso {q}.",
    ],
    places: &["Via dei Cordai", "Piazza delle Erbe Vecchie", "Borgo Nuovo", "Largo Santa Fosca", "Contrada Mulini", "Calle Lunga", "Porta a Ponente", "Vicolo del Forno", "Corso Ombra"],
    people: &NOMI,
    months: &MESI,
};
