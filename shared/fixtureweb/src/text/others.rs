//! German, French, Spanish and Japanese sentence banks.

use super::Bank;

/// German: woods and paths.
pub(crate) const WALD: Bank = Bank {
    lang: "de",
    titles: &[
        "Ein Herbsttag am {p}", "Der alte Grenzstein beim {p}", "Pilze suchen am {p}", "Stille Wege um den {p}", "Das Forsthaus am {p}",
        "Nach dem Sturm: der {p}", "Morgens am {p}",
    ],
    openings: &[
        "Der Weg zum {p} beginnt hinter dem Bahnhof und führt zuerst an einer langen Hecke entlang.",
        "Im {m} riecht es am {p} nach nassem Laub und kaltem Rauch.",
        "{a} kennt den {p} seit {n} Jahren und findet noch immer neue Pfade.",
    ],
    body: &[
        "Unter den Buchen ist der Boden weich, und jeder Schritt klingt wie auf einem Teppich.",
        "Nach {n} Minuten erreicht man eine Lichtung, auf der früher ein Köhler arbeitete.",
        "Die Förster haben hier junge Eichen gepflanzt und mit Reisig gegen die Rehe geschützt.",
        "Ein Schwarzspecht trommelte so laut, dass selbst der Hund stehen blieb.",
        "Wer genau hinsieht, entdeckt am Stamm die Spuren eines Blitzes.",
        "Der Bach führt in diesem Jahr wenig Wasser, doch an der Furt wird man trotzdem nass.",
        "Auf der alten Karte heißt die Stelle ganz anders, und niemand weiß mehr, warum.",
        "{a} erzählte von Wintern, in denen man den Weg nur an den Zaunpfählen erkannte.",
        "Zwischen den Fichten stehen {n} Ameisenhügel, einer höher als der andere.",
        "Im Gasthaus gibt es Suppe, dunkles Brot und eine Bank in der Sonne.",
        "Vom Hochsitz sieht man bei klarer Luft bis zum {q}.",
        "Der Sturm hat viele Kronen gebrochen, aber am Boden keimt schon wieder alles.",
        "Für den Rückweg empfiehlt sich der obere Pfad, denn unten stehen die Wiesen unter Wasser.",
    ],
    closings: &[
        "Am Abend blieb nur das Rauschen der Bäume und ein wenig Harz an den Händen.",
        "Die Karte zur Runde liegt wie immer im Gasthaus aus.",
    ],
    places: &["Erlensee", "Hirschberg", "Mühlgrund", "Steinernen Tisch", "Dachsbau", "Eichwald", "Rabenfelsen"],
    people: &["Anneliese Brandt", "Jonas Eichner", "Greta Holm", "Matthias Lohse"],
    months: &[
        "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember",
    ],
};

/// French: the coast.
pub(crate) const LITTORAL: Bank = Bank {
    lang: "fr",
    titles: &[
        "Marée basse à {p}", "Le sentier des douaniers de {p}", "Une cabane à {p}", "Les dunes de {p} en {m}", "Le phare de {p}, la nuit",
        "Ramasser des coques à {p}", "Carnet de {p}",
    ],
    openings: &[
        "À {p}, on règle sa montre sur la marée plutôt que sur l’église.",
        "Nous sommes arrivés à {p} un matin de {m}, avec {n} degrés et beaucoup de vent.",
        "{a} habite {p} depuis toujours et n’a jamais vu deux fois la même plage.",
    ],
    body: &[
        "Le chemin longe la falaise, puis descend vers une anse de galets ronds et gris.",
        "Les oyats retiennent le sable mieux que toutes les palissades posées depuis {n} ans.",
        "Au large, un chalutier tournait lentement, suivi d’un nuage de goélands.",
        "La cabane du garde est repeinte chaque printemps, toujours dans le même bleu.",
        "On trouve au marché des bigorneaux, du beurre salé et les nouvelles du port.",
        "Par grand vent, les promeneurs s’abritent derrière le vieux four à chaux.",
        "{a} nous a montré comment lire l’heure du retour dans la couleur de l’eau.",
        "Le musée conserve une carte marine tachée de café et d’encre violette.",
        "En {m}, les oies bernaches se posent par centaines sur la vasière.",
        "Il faut {n} minutes pour rejoindre l’îlot, et un peu moins pour en revenir.",
        "Les enfants construisent des barrages que la mer emporte sans se fâcher.",
        "Depuis le banc de pierre, on aperçoit le clocher de {q} quand l’air est sec.",
        "Le soir, les fenêtres s’allument une à une comme pour répondre au phare.",
    ],
    closings: &[
        "Nous reviendrons à {p} quand les tempêtes auront changé le dessin de la plage.",
        "Le carnet se referme ici, avec un peu de sable entre les pages.",
    ],
    places: &["Port-Brume", "Kerlouan-le-Vieux", "la Pointe Claire", "Sainte-Ondine", "l’Anse aux Mouettes", "Roc-Plat", "Vaucourt-Plage"],
    people: &["Maëlle Guérin", "Bastien Lacombe", "Odile Perrault", "Yann Tréhour"],
    months: &[
        "janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre",
    ],
};

/// Spanish: patios and kitchen gardens.
pub(crate) const PATIO: Bank = Bank {
    lang: "es",
    titles: &[
        "El patio de {p} en {m}", "Cómo regar menos en {p}", "Los naranjos de {p}", "Semillas viejas de {p}", "Una sombra para {p}",
        "Las macetas de {p}", "Vecinos y tomates en {p}",
    ],
    openings: &[
        "En {p} el agua siempre ha sido un asunto de vecinos, y todavía se nota.",
        "El patio de {p} tiene {n} macetas, y ninguna es igual a otra.",
        "{a} empezó la huerta de {p} con un saco de tierra y mucha curiosidad.",
    ],
    body: &[
        "Por la mañana se riega despacio, antes de que el sol llegue a la pared blanca.",
        "Las hierbas aromáticas crecen mejor entre piedras, donde el agua se va deprisa.",
        "Un emparrado de {n} metros basta para bajar varios grados la temperatura de la casa.",
        "Los tomates antiguos tienen la piel fina y un sabor que no viaja bien.",
        "En {m} se recogen las naranjas más dulces y se podan las ramas que miran al suelo.",
        "{a} guarda las semillas en sobres de papel, con la fecha y el nombre de quien las dio.",
        "La acequia pasa por detrás del muro y todavía se abre por turnos.",
        "Con las cáscaras y las hojas secas se hace un abono oscuro que huele a bosque.",
        "Las lagartijas vigilan las tapias y mantienen a raya a los mosquitos.",
        "Después de {n} días de viento, conviene atar de nuevo las cañas de las judías.",
        "El jazmín cubre la escalera y perfuma hasta la calle de al lado.",
        "Desde la azotea se ve la torre de {q} y, más lejos, los olivos.",
        "Nadie recuerda quién plantó el granado, pero todos saben cuándo está maduro.",
    ],
    closings: &[
        "La próxima semana hablaremos de sombras, toldos y esparto.",
        "Si alguien quiere semillas, basta con llamar a la puerta azul.",
    ],
    places: &["Fuente Clara", "Huerta Baja", "Villa Almendro", "San Roque del Valle", "Peñarrubia", "Las Norias", "Alcor Viejo"],
    people: &["Lucía Herrero", "Andrés Molina", "Pilar Quintana", "Mateo Salvatierra"],
    months: &[
        "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
    ],
};

/// Japanese: mountain paths.
pub(crate) const YAMAMICHI: Bank = Bank {
    lang: "ja",
    titles: &[
        "{p}の秋を歩く", "{p}の古い茶屋", "雨上がりの{p}", "{p}から見た朝日", "{p}の小さな橋", "{m}の{p}", "{p}で聞いた鳥の声",
        "{p}の石仏を訪ねて",
    ],
    openings: &[
        "朝六時に駅を出て、まだ霧の残る{p}の登り口に着いたのは七時を少し過ぎたころだった。",
        "{p}へ向かう道は、地図では短く見えるが、歩いてみると思いのほか長い。",
        "{a}さんに教えてもらった{p}の道は、{m}になると落ち葉ですっかり隠れてしまう。",
    ],
    body: &[
        "杉の林を抜けると急に空が開け、谷の向こうに青い山並みが重なって見えた。",
        "小さな沢を三度渡り、苔むした石段を{n}段ほど登ると、古い祠の前に出る。",
        "茶屋の主人は、昔はこの道を塩や魚を背負った人が毎日通ったのだと話してくれた。",
        "足もとには栗の殻が散らばり、どこかで鹿の鳴く声が聞こえた。",
        "峠の風は冷たく、温かいお茶と握り飯がいつもよりずっとおいしく感じられる。",
        "道しるべの文字はほとんど消えていたが、指でなぞると村の名前が読み取れた。",
        "{m}の終わりには雪が降り、ここから先は春まで通れなくなるという。",
        "谷川の水は澄んでいて、手を入れると痛いほど冷たかった。",
        "写真を撮るために立ち止まると、静けさが耳の奥まで染み込んでくるようだった。",
        "下りは急な坂が続くので、杖を一本持っていくと膝がずいぶん楽になる。",
        "里に近づくにつれて柿の木が増え、干し柿を吊るした軒先が見えてきた。",
        "{a}さんは{n}年もこの道を歩き続け、季節ごとの変化を細かく書き留めている。",
    ],
    closings: &["また次の季節に、同じ道を反対側から歩いてみたいと思う。", "帰りの汽車の窓から、さっき越えた峠が夕日に赤く染まって見えた。"],
    places: &["白雲峠", "笹原山", "霧ヶ沢", "石割坂", "鈴鳴渓谷", "月影の森", "古杉道", "風待峠", "水上の里"],
    people: &["高見", "森下", "石川", "小野寺"],
    months: &["一月", "二月", "三月", "四月", "五月", "六月", "七月", "八月", "九月", "十月", "十一月", "十二月"],
};
