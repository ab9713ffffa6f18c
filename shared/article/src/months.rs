//! Months by name.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The number of a month by its name or abbreviation in one of the languages of [`MONTHS`].
pub(crate) fn month(word: &str) -> Option<i8> {
    let chars = word.chars().count();
    if chars < if word.is_ascii() { 3 } else { 2 } || chars > 12 || word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    NUMBERS.get(word.to_lowercase().as_str()).copied()
}

/// The numbers by every name.
static NUMBERS: LazyLock<HashMap<&'static str, i8>> =
    LazyLock::new(|| MONTHS.iter().flat_map(|(names, number)| names.split(' ').map(|name| (name, *number))).collect());

/// As dates have them (in the genitive where there is one): English, Italian, German, French, Spanish, Portuguese, Dutch,
/// Romanian, Swedish, Danish, Norwegian, Finnish, Polish, Czech, Slovak, Hungarian, Turkish, Indonesian, Greek, Russian,
/// Ukrainian, Bulgarian, Serbian, Arabic (of Egypt, and of the Levant where it is one word), Persian as it writes the
/// Gregorian ones, Hebrew, Hindi, Bengali, Thai.
const MONTHS: [(&str, i8); 12] = [
    (
        "jan january gen gennaio januar jänner janvier janv ene enero janeiro januari ianuarie tammikuuta sty stycznia ledna \
         januára január ocak ιανουαρίου ιαν января янв січня януари јануар يناير ژانویه ינואר בינואר जनवरी জানুয়ারি มกราคม \
         มค",
        1,
    ),
    (
        "feb february febbraio februar février févr fevrier febrero fev fevereiro februari februarie helmikuuta lut lutego \
         února februára február şubat φεβρουαρίου φεβ февраля фев лютого февруари фебруар فبراير شباط فوریه פברואר בפברואר \
         फरवरी फ़रवरी ফেব্রুয়ারি กุมภาพันธ์ กพ",
        2,
    ),
    (
        "mar march marzo märz mrz mars março maart mrt martie maaliskuuta marca března marts március mart maret \
         μαρτίου μαρ марта мар березня март مارس آذار מרץ במרץ मार्च মার্চ มีนาคม มีค",
        3,
    ),
    (
        "apr april aprile avril avr abr abril aprilie huhtikuuta kwi kwietnia dubna apríla április nisan απριλίου απρ \
         апреля апр квітня април أبريل ابريل إبريل نيسان آوریل אפריל באפריל अप्रैल এপ্রিল เมษายน เมย",
        4,
    ),
    (
        "may mai mag maggio mayo maio mei maj maja toukokuuta května mája május mayıs μαΐου μαΐ μαϊ мая травня май мај مايو \
         أيار مه מאי במאי मई মে พฤษภาคม พค",
        5,
    ),
    (
        "jun june giu giugno juni juin junio junho iunie kesäkuuta cze czerwca června júna június haziran ιουνίου ιουν июня \
         июн червня юни јун يونيو يونيه حزيران ژوئن יוני ביוני जून জুন มิถุนายน มิย",
        6,
    ),
    (
        "jul july lug luglio juli juillet juil julio julho iulie heinäkuuta lip lipca července júla július temmuz ιουλίου \
         ιουλ июля июл липня юли јул يوليو يوليه تموز ژوئیه יולי ביולי जुलाई জুলাই กรกฎาคม กค",
        7,
    ),
    (
        "aug august ago agosto août aout augustus elokuuta sie sierpnia srpna augusta augusztus augusti ağustos agustus \
         αυγούστου αυγ августа авг серпня август أغسطس اغسطس آب اوت אוגוסט באוגוסט अगस्त আগস্ট สิงหาคม สค",
        8,
    ),
    (
        "sep sept september set settembre septembre septiembre setembro septembrie syyskuuta wrz września září septembra \
         szeptember eylül σεπτεμβρίου σεπ сентября сен вересня септември септембар سبتمبر أيلول سپتامبر ספטמבר בספטמבר \
         सितंबर सितम्बर সেপ্টেম্বর กันยายน กย",
        9,
    ),
    (
        "oct october ott ottobre okt oktober octobre octubre out outubro octombrie lokakuuta paź października října októbra \
         október ekim οκτωβρίου οκτ октября окт жовтня октомври октобар أكتوبر اكتوبر اکتبر אוקטובר באוקטובר अक्टूबर अक्तूबर \
         অক্টোবর ตุลาคม ตค",
        10,
    ),
    (
        "nov november novembre noviembre novembro noiembrie marraskuuta lis listopada listopadu novembra kasım νοεμβρίου νοε \
         ноября ноя ноември новембар نوفمبر نوامبر נובמבר בנובמבר नवंबर नवम्बर নভেম্বর พฤศจิกายน พย",
        11,
    ),
    (
        "dec december dic dicembre dez dezember desember décembre decembre déc diciembre dezembro decembrie joulukuuta gru \
         grudnia prosince decembra aralık desember δεκεμβρίου δεκ декабря дек грудня декември децембар ديسمبر دسامبر דצמבר \
         בדצמבר दिसंबर दिसम्बर ডিসেম্বর ธันวาคม ธค",
        12,
    ),
];
